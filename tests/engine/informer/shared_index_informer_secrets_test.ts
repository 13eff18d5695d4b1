import { assert, assertEquals, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import { onlyFields } from "../../../src/engine/api/fields.ts";
import type { KubernetesObject } from "../../../src/engine/api/object.ts";
import { asTable, onlyMetadata, type Resource, SECRET_ANNOTATIONS } from "../../../src/engine/api/resource.ts";
import type { StoredSnapshot } from "../../../src/engine/api/stores.ts";
import { field } from "../../../src/engine/entry/path.ts";
import type { InformerEvent } from "../../../src/engine/informer/events/event.ts";
import { SharedIndexInformer } from "../../../src/engine/informer/shared_index_informer.ts";
import { ConfigMap, Secret } from "../../../src/engine/kinds/core/v1.ts";
import { InformerRelay } from "../../../src/relay/server/informer_relay.ts";
import { FactoryFixture } from "./_factory_fixture.ts";

const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";
const REFUSED =
  'informers do not keep it. Create the informer with secretData: "keep", or read the object with client.get()';

/** A factory on a fake server that has one Secret. */
class SecretFixture extends FactoryFixture {
  constructor() {
    super();
    this.write("login", "UExBTlRFRA==");
  }

  write(name: string, password: string): void {
    const annotations = { [LAST_APPLIED]: JSON.stringify({ data: { password } }), team: "shop" };
    const secret = { metadata: { name, namespace: "shop", annotations }, type: "Opaque", data: { password } };
    if (this.server.get(Secret, `shop/${name}`) === undefined) this.server.create(Secret, secret);
    else this.server.update(Secret, { ...this.server.get(Secret, `shop/${name}`)!, ...secret } as never);
  }
}

/** The beginning that all planted data has. */
const PLANTED = "UExBTlRFR";

Deno.test("SharedIndexInformer keeps no data of Secrets, in texts, objects, events or earlier states", async () => {
  for (const options of [{}, { parse: "eager" }, { freeze: true }, { managedFields: "keep" }] as const) {
    await using fixture = new SecretFixture();
    const secrets = new SharedIndexInformer<Secret>(fixture.client.resource(Secret), options);
    const running = secrets.run();
    const kept: unknown[] = [];
    const keepTexts = (): void => {
      for (const entry of secrets.entries) kept.push((entry as { readonly text?: unknown }).text ?? entry.object);
    };
    const note = (event: Exclude<InformerEvent<Secret>, { readonly type: "synced" }>): void => {
      keepTexts();
      kept.push(event.metadata, event.object, event.type === "updated" ? event.previous : undefined);
    };
    secrets.addEventHandler({ onAdd: note, onUpdate: note, onDelete: note });
    await fixture.tick();
    fixture.write("login", "UExBTlRFRDI=");
    await fixture.tick();
    fixture.write("later", "UExBTlRFRA==");
    await fixture.tick();
    fixture.server.delete(Secret, "shop/later");
    await fixture.tick();
    const shown = kept.map((part) => JSON.stringify(part) ?? "");
    assertEquals(shown.filter((text) => text.includes(PLANTED)), []);
    assert(shown.filter((text) => text.includes("Opaque")).length >= 9, shown.join("\n"));
    assertEquals(kept.some((part) => typeof part === "string"), !("parse" in options), "unread texts were seen");
    assertEquals(JSON.stringify(secrets.lister.get("shop/login")?.metadata.annotations), `{"team":"shop"}`);
    await Promise.all([secrets[Symbol.asyncDispose](), running, fixture.tick()]);
  }
});

Deno.test("reading the data of a cached Secret throws an error that names the option, and copies and JSON do not", async () => {
  await using fixture = new SecretFixture();
  const secrets = fixture.informers.forResource(Secret);
  await fixture.start();
  const secret = secrets.lister.get("shop/login") as Secret;
  for (const name of ["data", "stringData"] as const) {
    assertThrows(() => secret[name], TypeError, `Cannot read "${name}" of a Secret: ${REFUSED}`);
  }
  assertEquals(JSON.parse(JSON.stringify(secret)).type, "Opaque");
  assertEquals([Object.keys({ ...secret }).includes("data"), structuredClone(secret).type], [false, "Opaque"]);
  assertEquals(Object.entries(secret).length, 4);
  assert(Deno.inspect(secret).includes("Opaque"));
  assertThrows(() => field("data.password" as string)(secret), TypeError, REFUSED);
  assertThrows(() => secrets.lister.list({ fieldSelector: "data.password=x" }), TypeError, REFUSED);
  assertEquals(secrets.lister.list({ fieldSelector: "type=Opaque" }).length, 1);
  // A transform may set it.
  const own = new SharedIndexInformer<Secret>(fixture.client.resource(Secret), {
    transform: (secret) => Object.assign(secret, { data: { length: "1" } }),
  });
  const alone = own.run();
  await fixture.tick();
  assertEquals(own.lister.get("shop/login")?.data, { length: "1" });
  await Promise.all([own[Symbol.asyncDispose](), alone, fixture.tick()]);
});

Deno.test("field of the data of Secrets reports an error, from unread text too", async () => {
  await using fixture = new SecretFixture();
  const secrets = fixture.informers.forResource(Secret, { indexers: { password: field("data.password" as string) } });
  await fixture.start();
  assertEquals(secrets.indexer.indexValues("password"), []);
  assertEquals(fixture.errors, [
    `secrets: Cannot add "shop/login" to index "password": Cannot read "data" of a Secret: ${REFUSED}`,
  ]);
});

Deno.test("a cached Secret cannot be written, and one that was read by the client can", async () => {
  await using fixture = new SecretFixture();
  const { client, server, informers } = fixture;
  const secrets = informers.forResource(Secret);
  await fixture.start();
  const cached = secrets.lister.get("shop/login") as Secret;
  const resource = client.resource(Secret);
  for (const object of [cached, { ...cached, type: "x" }, { ...cached, metadata: { ...cached.metadata } }]) {
    await assertRejects(
      () => resource.update(object as never),
      TypeError,
      "it is reduced to the fields beside its data",
    );
  }
  const read = await resource.get("login");
  assertEquals(read.data, { password: "UExBTlRFRA==" });
  await resource.update({ ...read, immutable: true } as never);
  assertEquals(server.get(Secret, "shop/login")?.data, { password: "UExBTlRFRA==" });
  assertEquals((await resource.list()).items[0].data, { password: "UExBTlRFRA==" });
});

Deno.test("SharedInformerFactory keeps the data of Secrets in another informer, which asks for it by name", async () => {
  await using fixture = new SecretFixture();
  const { informers } = fixture;
  const lean = informers.forResource(Secret);
  const whole = informers.forResource(Secret, { secretData: "keep", indexers: { password: field("data.password") } });
  assertStrictEquals<unknown>(informers.forResource(Secret, { secretData: "keep" }), whole);
  assertStrictEquals<unknown>(informers.forResource(Secret), lean);
  await fixture.start();
  assertEquals(whole.lister.get("shop/login")?.data, { password: "UExBTlRFRA==" });
  assertEquals(whole.indexer.indexKeys("password", "UExBTlRFRA=="), ["shop/login"]);
  assertEquals(whole.lister.get("shop/login")?.metadata.annotations?.[LAST_APPLIED] !== undefined, true);
  assertThrows(() => (lean.lister.get("shop/login") as Secret).data, TypeError);
  assertEquals(fixture.errors.length, 1);
  assert(fixture.errors[0].includes("the other objects with data in all namespaces"), fixture.errors[0]);
  assertThrows(
    () => informers.forResource(ConfigMap, { secretData: "keep" }),
    TypeError,
    'the option "secretData" is only for informers of Secrets',
  );
});

Deno.test("informers of the metadata and of the table of Secrets keep no data either", async () => {
  await using fixture = new SecretFixture();
  const metadata = fixture.informers.forResource(onlyMetadata(Secret));
  const rows = fixture.informers.forResource(asTable(Secret));
  const named = fixture.informers.forResource(Secret, { fields: ["data.password"], secretData: "keep" });
  await fixture.start();
  const kept = [metadata, rows].flatMap(({ entries }) =>
    [...entries] as { readonly text?: unknown; readonly object: unknown }[]
  );
  assertEquals(kept.length, 2);
  for (const { text, object } of kept) assert(!JSON.stringify([text, object]).includes(PLANTED));
  assertEquals((metadata.lister.get("shop/login") as Partial<Secret>).data, undefined);
  assertThrows(() => rows.lister.get("shop/login")?.object.data, TypeError, REFUSED);
  // Named fields are asked for by name.
  assertEquals(named.lister.get("shop/login")?.data?.password, "UExBTlRFRA==");
});

/** The annotations that hold data, and one that only this program knows. */
const COPIES = [...SECRET_ANNOTATIONS, "example.com/backup"];

/** A Secret whose data, text data and annotations each hold another text that begins as all planted data does. */
function planted(name: string, round: string): Secret {
  const copies = COPIES.map((annotation) => [annotation, `${PLANTED}:${round}:${annotation}`]);
  return {
    metadata: { name, namespace: "shop", annotations: { ...Object.fromEntries(copies), team: "shop" } },
    type: "Opaque",
    data: { password: btoa(`${PLANTED}:${round}`) },
    stringData: { text: `${PLANTED}:${round}:text` },
  } as unknown as Secret;
}

/** The parts of texts that show planted data. */
const DATA_TEXTS = [PLANTED, btoa(PLANTED).slice(0, 8)];

/**
 * Names of representations, whether what is kept of them has data where it is asked for, and whether it is refused
 * where not.
 */
const REPRESENTATIONS: readonly (readonly [string, Resource<KubernetesObject>, boolean, boolean])[] = [
  ["complete", Secret, true, false],
  ["the metadata", onlyMetadata(Secret), true, false],
  ["rows", asTable(Secret) as Resource<KubernetesObject>, true, false],
  ["no fields", onlyFields(Secret, []), false, false],
  ["the type", onlyFields(Secret, ["type"]), false, false],
  ["another annotation", onlyFields(Secret, ['metadata.annotations["team"]' as "metadata"]), false, false],
  ["all annotations", onlyFields(Secret, ["metadata.annotations"]), true, false],
  ["all of the metadata", onlyFields(Secret, ["metadata"]), true, false],
  [
    "all of the metadata and the managed fields",
    onlyFields(Secret, ["metadata", "metadata.managedFields"]),
    true,
    false,
  ],
  ["one key of the data", onlyFields(Secret, ["data.password"]), true, true],
  ["the data", onlyFields(Secret, ["data", "type"]), true, true],
  ["the text data", onlyFields(Secret, ["stringData"]), true, true],
  ["a copy", onlyFields(Secret, [`metadata.annotations["${LAST_APPLIED}"]` as "metadata"]), true, true],
  [
    "a copy of this program",
    onlyFields(Secret, ['metadata.annotations["example.com/backup"]' as "metadata"]),
    true,
    true,
  ],
];

for (const [name, resource, hasData, isRefused] of REPRESENTATIONS) {
  for (const keep of [undefined, "keep"] as const) {
    Deno.test(`Secrets, ${name}, ${keep === undefined ? "without" : "with"} keep: no place has data that was not asked for`, async () => {
      const written = new Map<string, string>();
      const store = {
        get: () => Promise.resolve(undefined),
        set: async (key: string, { bytes }: StoredSnapshot) => {
          written.set(key, await new Blob(await Array.fromAsync(bytes) as BlobPart[]).text());
          return true;
        },
      };
      await using fixture = new FactoryFixture({ secretAnnotations: ["example.com/backup"], snapshots: { store } });
      const { server, informers } = fixture;
      server.create(Secret, planted("login", "1"));
      if (isRefused && keep === undefined) {
        assertThrows(() => informers.forResource(resource), TypeError, `of a Secret: ${REFUSED}`);
        return;
      }
      const secrets = informers.forResource(resource, { secretData: keep });
      const places = new Map<string, string[]>(["cache", "events", "texts"].map((place) => [place, []]));
      const note = (event: Exclude<InformerEvent<KubernetesObject>, { readonly type: "synced" }>): void => {
        const { metadata, object } = event;
        places.get("events")!.push(JSON.stringify([metadata, object, event.type === "updated" && event.previous]));
      };
      secrets.addEventHandler({ onAdd: note, onUpdate: note, onDelete: note });
      await fixture.start();
      server.update(Secret, { ...server.get(Secret, "shop/login")!, ...planted("login", "2") } as Secret);
      await fixture.tick();
      for (const entry of secrets.entries) {
        const { text } = entry as { readonly text?: string | Uint8Array };
        if (text !== undefined) {
          places.get("texts")!.push(typeof text === "string" ? text : new TextDecoder().decode(text));
        }
        places.get("cache")!.push(JSON.stringify([entry.metadata, entry.object]));
      }
      await using relay = new InformerRelay(informers, { collections: { secrets: { resource, secretData: keep } } });
      const answers = Promise.all(["/api/secrets", "/api/secrets?fields=metadata"].map(async (path) => {
        const local = { remoteAddr: { hostname: "127.0.0.1" } };
        return await (await relay.fetch(new Request(`http://localhost${path}`), local)).text();
      }));
      await fixture.tick();
      places.set("relay", await answers);
      places.set("memory", [JSON.stringify(secrets.memory())]);
      server.delete(Secret, "shop/login");
      await fixture.tick();
      server.create(Secret, planted("login", "3"));
      await fixture.tick();
      const snapshots = { refused: "", text: "" };
      try {
        snapshots.text = await new Response(secrets.snapshot()).text();
      } catch (error) {
        snapshots.refused = (error as Error).message;
      }
      places.set("snapshot", [snapshots.text]);
      const isKept = hasData && keep === "keep";
      assertEquals(secrets.keepsSecretData, isKept);
      assertEquals(snapshots.refused.includes("it has the data of Secrets"), isKept);
      await Promise.all([informers.shutdown(), fixture.tick()]);
      places.set("snapshots of the factory", [...written.values()]);
      assertEquals(written.size, isKept ? 0 : 1);
      for (const [place, texts] of places) {
        const found = texts.filter((text) => DATA_TEXTS.some((data) => text.includes(data)));
        if (!isKept) assertEquals(found, [], place);
        if (isKept && (place === "cache" || place === "events" || place === "relay")) assert(found.length > 0, place);
      }
    });
  }
}

Deno.test("informers of all metadata of Secrets keep the annotations that hold no data", async () => {
  await using fixture = new SecretFixture();
  const secrets = fixture.informers.forResource(Secret, { fields: ["metadata"] });
  await fixture.start();
  assertEquals(JSON.stringify(secrets.lister.get("shop/login")?.metadata.annotations), `{"team":"shop"}`);
  assertEquals(secrets.lister.get("shop/login")?.metadata.managedFields, undefined);
});
