// Conversion webhooks of the fake server.
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { Client } from "../../../src/engine/client/client.ts";
import { CustomResourceDefinition } from "../../../src/engine/kinds/apiextensions/v1.ts";
import { installCrds } from "../../../src/operator/schema/mod.ts";
import { FakeApiServer } from "../../../src/testing/mod.ts";
import { type AdmissionOperation, installWebhooks, Webhooks } from "../../../src/operator/webhooks/mod.ts";
import { BrokenWebhook } from "../../support/conversions/failures.ts";
import { OldSite, playSites, Site, siteHistory, siteWebhooks } from "../../support/conversions/play.ts";

const url = "https://hooks";

// deno-lint-ignore no-explicit-any -- objects of both versions
type Loose = any;

/** A fake with both versions, and how often its webhook was asked. */
async function served(
  webhooks = siteWebhooks(fail),
  before?: (client: Client) => Promise<void>,
): Promise<Loose> {
  const server = new FakeApiServer();
  const asked: string[][] = [];
  server.serveWebhooks(async (request) => {
    const { request: { objects } } = await request.clone().json();
    if (objects !== undefined) asked.push(Object.keys(objects[0]));
    return await webhooks.fetch(request);
  });
  const client = new Client({ server: "http://fake", transport: server, namespace: "default" });
  await before?.(client);
  await installWebhooks(client, webhooks, { url });
  return {
    server,
    client,
    webhooks,
    asked,
    old: client.resource(OldSite) as Loose,
    sites: client.resource(Site) as Loose,
  };
}

function fail(error: unknown): never {
  throw error;
}

Deno.test("the versions of a kind hold the same objects: reads, lists, watches, versions and deletions", async () => {
  const { server, client, old, sites } = await served();
  using _ = client;
  const from = (await sites.list()).resourceVersion;
  const metadata = { name: "a", labels: { tier: "web" }, finalizers: ["example.com/held"] };
  const made = await old.create({ metadata, spec: { image: "x", replicas: 1 } });
  const read = await sites.get("a");
  assertEquals(read.spec, { container: { image: "x" }, replicas: 1 });
  assertEquals(read.metadata, made.metadata);
  const status = await sites.update({ ...read, status: { ready: true } }, { subresource: "status" });
  assertEquals((await old.get("a")).status, { ready: true });
  const next = await old.update({ ...await old.get("a"), spec: { image: "y" } });
  assertEquals(next.metadata.generation, 2);
  assertEquals((await sites.list({ labelSelector: "tier=web" })).items.map(({ spec }: Loose) => spec), [
    { container: { image: "y" } },
  ]);
  await assertRejects(() => sites.update({ ...status, spec: read.spec }), Error, "the object has been modified");
  await sites.delete("a");
  assert((await old.get("a")).metadata.deletionTimestamp !== undefined);
  await old.patch("a", { type: "merge", body: { metadata: { finalizers: null } } });
  assertEquals(await sites.getOrUndefined("a"), undefined);
  for (const collection of [sites, old]) {
    const events: unknown[] = [];
    for await (const { type, object } of collection.watch({ resourceVersion: from })) {
      const { spec: { container, image } } = object;
      events.push([type, container ?? image]);
      if (type === "DELETED") break;
    }
    const image = (image: string): unknown => collection === sites ? { image } : image;
    assertEquals(events, [
      ["ADDED", image("x")],
      ["MODIFIED", image("x")],
      ["MODIFIED", image("y")],
      ["MODIFIED", image("y")],
      ["DELETED", image("y")],
    ]);
  }
  assertEquals(server.keys(Site), []);
});

Deno.test("what a conversion does not keep is lost, in the version that was written too", async () => {
  const forgetful = new Webhooks().convert(Site, OldSite, {
    toHub: ({ spec: { image } }) => ({ spec: { container: { image, unknown: "dropped" } as never } }),
    fromHub: ({ spec: { container } }) => ({ spec: { image: container?.image } }),
  });
  const { client, old, sites } = await served(forgetful);
  using _ = client;
  const made = await old.create({ metadata: { name: "a" }, spec: { image: "x", replicas: 1 } });
  assertEquals(made.spec, { image: "x" });
  assertEquals((await sites.get("a")).spec, { container: { image: "x" } });
  const dry = await old.create({ metadata: { name: "b" }, spec: { image: "x", replicas: 1 } }, { dryRun: true });
  assertEquals([dry.spec, await sites.getOrUndefined("b")], [{ image: "x" }, undefined]);
});

Deno.test("annotations and labels that a conversion empties are absent, as on a real server", async () => {
  const emptying = new Webhooks().convert(Site, OldSite, {
    toHub: ({ spec: { image } }) => ({ metadata: { labels: {}, annotations: {} }, spec: { container: { image } } }),
    fromHub: ({ spec: { container } }) => ({ spec: { image: container?.image } }),
  });
  const { client, old, sites } = await served(emptying);
  using _ = client;
  await old.create({ metadata: { name: "a", labels: { l: "1" }, annotations: { x: "y" } }, spec: { image: "x" } });
  const { metadata } = await sites.get("a");
  assertEquals(["labels" in metadata, "annotations" in metadata], [false, false]);
});

Deno.test("an operator moves to another version and back: applies have parts of objects converted", async () => {
  const play = async (client: Client, releases: readonly (0 | 1 | 2)[]): Promise<void> => {
    for (let seed = 0; seed < 10; seed++) {
      const writes = releases.flatMap((release) => siteHistory(seed)[release]);
      for (const result of await playSites(client, `site-${seed}`, writes)) assert("object" in result);
    }
  };
  const { client, asked } = await served(undefined, async (client) => {
    await installCrds(client, [OldSite]);
    await play(client, [0]);
  });
  using _ = client;
  await play(client, [1, 2]);
  assertEquals((await client.resource(Site).list()).items.length, 10);
  const lacks = (name: string): boolean => asked.some((members: string[]) => !members.includes(name));
  assertEquals([lacks("metadata"), lacks("spec"), lacks("apiVersion")], [true, true, false]);
});

Deno.test("a test finds a conversion that takes objects as complete", async () => {
  using server = new FakeApiServer();
  const webhook = new BrokenWebhook();
  server.serveWebhooks(webhook);
  using client = new Client({ server: "http://fake", transport: server, namespace: "default" });
  const [refused, ...answers] = await webhook.answers(client, { url });
  assertEquals(refused, [
    500,
    "InternalError",
    "conversion webhook for example.com/v1alpha1, Kind=Site failed: no such site",
  ]);
  const messages = answers.filter((answer) => Array.isArray(answer)).map(([, , message]) => message);
  const returned = "conversion webhook for example.com/v1alpha1, Kind=Site returned ";
  assertEquals(messages.filter((it) => it.startsWith(returned)).map((it) => it.slice(returned.length)), [
    "0 objects, expected 1",
    "invalid object at index 0: invalid groupVersion (expected example.com/v1, received example.com/v2)",
    "invalid object at index 0: invalid kind (expected Site, received Other)",
    "invalid object: must have the same name: broken-10 != other",
    "invalid object: must have the same namespace: default != other",
    "invalid object: must have the same UID: UID != other",
    "invalid object: must have the same name: broken-13 != ",
  ]);
  const [, , last] = answers.at(-1) as string[];
  assertStringIncludes(
    last,
    "failed to prune fields: failed add back owned items: failed to convert pruned object at version example.com/v1alpha1: " +
      "conversion webhook for example.com/v1, Kind=Site failed: Cannot convert a part of a Site",
  );
  assertEquals(answers.length, 20);
});

Deno.test("webhooks get a write in their version, and their changes are converted back", async () => {
  const seen: unknown[] = [];
  const webhooks = siteWebhooks(fail)
    .mutate(Site, ({ draft }) => {
      draft.spec.container = { image: `${draft.spec.container.image}:1` };
    })
    .validate(Site, ({ object, old }) => void seen.push([object.apiVersion, object.spec, old?.spec]), {
      matchConditions: [{ name: "image", expression: "object.spec.container.image != 'no:1'" }],
    })
    .validate(Site, ({ old }) => void seen.push(["gone", old?.spec]), {
      name: "deletes.example.com",
      operations: ["DELETE"] as AdmissionOperation[],
    });
  const { client, old } = await served(webhooks);
  using _ = client;
  const made = await old.create({ metadata: { name: "a" }, spec: { image: "x" } });
  assertEquals(made.spec, { image: "x:1" });
  await old.update({ ...made, spec: { image: "y" } });
  await old.create({ metadata: { name: "b" }, spec: { image: "no" } });
  await old.delete("a");
  assertEquals(seen, [
    ["example.com/v1", { container: { image: "x:1" } }, undefined],
    ["example.com/v1", { container: { image: "y:1" } }, { container: { image: "x:1" } }],
    ["gone", { container: { image: "y:1" } }],
  ]);
});

Deno.test("objects from before the webhook, and those of the test itself, are converted before the next request", async () => {
  const server = new FakeApiServer();
  using client = new Client({ server: "http://fake", transport: server, namespace: "default" });
  await installCrds(client, [OldSite]);
  const [old, sites] = [client.resource(OldSite), client.resource(Site)];
  await old.create({ metadata: { name: "a" }, spec: { image: "x" } });
  const webhooks = siteWebhooks(fail);
  await installWebhooks(client, webhooks, { url });
  assertEquals((await sites.list()).items.length, 0); // nobody converts
  server.serveWebhooks(webhooks);
  assertEquals((await sites.list()).items.map(({ spec }) => spec.container), [{ image: "x" }]);
  server.create(OldSite, { metadata: { name: "b", namespace: "default" }, spec: { image: "y" } });
  const found = await server.until(Site, "default/b", (site) => site !== undefined);
  assertEquals(found?.spec.container, { image: "y" });
  server.update(Site, { ...found!, spec: { container: { image: "z" } } });
  assertEquals((await old.get("b")).spec, { image: "z" });
  const current = server.get(Site, "default/b")!;
  server.update(Site, { ...current, metadata: { ...current.metadata, labels: { tier: "web" } } });
  assertEquals((await old.get("b")).metadata.labels, { tier: "web" });
  const before = server.get(OldSite, "default/b")!;
  server.update(OldSite, { ...before, spec: { image: "first" } });
  for (let turn = 0; turn < 5; turn++) await Promise.resolve(); // its conversion has begun
  server.update(OldSite, { ...server.get(OldSite, "default/b")!, spec: { image: "during" } });
  assertEquals((await sites.get("b")).spec, { container: { image: "during" } });
  server.delete(OldSite, "default/b");
  assertEquals(await sites.getOrUndefined("b"), undefined);
  // A version that is no longer served, and a CRD that is gone.
  const crds = client.resource(CustomResourceDefinition);
  const name = Site.crd.metadata.name!;
  await crds.patch(name, { type: "merge", body: { status: { storedVersions: ["v1"] } } }, { subresource: "status" });
  const crd = await crds.get(name) as Loose;
  const draft = { metadata: { name: "a" }, spec: { container: { image: "z" } } };
  const versions = crd.spec.versions.map((it: Loose) => ({ ...it, served: it.storage }));
  const unserved = await crds.update({ ...crd, spec: { ...crd.spec, versions } }) as Loose;
  const options = { fieldManager: "operator", force: true, dryRun: true };
  const owners = (await sites.apply(draft, options)).metadata.managedFields;
  // The server converts what others manage in a version that it does not serve.
  assertEquals(owners?.map(({ apiVersion }) => apiVersion).sort(), ["example.com/v1", "example.com/v1alpha1"]);
  await crds.update({
    ...unserved,
    spec: { ...crd.spec, versions: crd.spec.versions.filter(({ storage }: Loose) => storage) },
  });
  assertEquals((await sites.list()).items.length, 1);
  await assertRejects(() => old.list(), Error, "404");
  const refusal = "request to convert CR to an invalid group/version: example.com/v1alpha1";
  await assertRejects(() => sites.apply(draft, { fieldManager: "operator", force: true }), Error, refusal);
  // Updates go on, and change no owner, so that the next apply fails, too.
  const { managedFields } = (await sites.get("a")).metadata;
  const updated = await sites.patch("a", { type: "merge", body: { spec: { container: { image: "updated" } } } });
  assertEquals([updated.spec.container.image, updated.metadata.managedFields], ["updated", managedFields]);
  await assertRejects(() => sites.apply(draft, { fieldManager: "operator", force: true }), Error, refusal);
  await crds.delete(name);
  await assertRejects(() => sites.list(), Error, "404");
});

Deno.test("a conversion that fails for an object of the test refuses the requests of its kind", async () => {
  const webhooks = new Webhooks({ onError: () => {} }).convert(Site, OldSite, {
    toHub: () => {
      throw new Error("no such image");
    },
    fromHub: () => ({ spec: { image: "" } }),
  });
  const { server, client, sites } = await served(webhooks);
  using _ = client;
  server.create(OldSite, { metadata: { name: "a", namespace: "default" }, spec: { image: "x" } });
  for (let at = 0; at < 2; at++) {
    const answer = await server.fetch(new Request("http://fake/apis/example.com/v1/sites"));
    assertEquals(answer.status, 500);
    assertStringIncludes(
      (await answer.json()).message,
      "conversion webhook for example.com/v1alpha1, Kind=Site failed",
    );
  }
  assertEquals((await client.resource(CustomResourceDefinition).list()).items.length, 1);
  server.delete(OldSite, "default/a");
  assertEquals((await sites.list()).items, []);
});
