import { assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { DecodeError } from "../../../src/api/status.ts";
import type { KubernetesObject } from "../../../src/api/object.ts";
import { copyOf } from "../../../src/api/object.ts";
import { metadataOf, type Resource } from "../../../src/api/resource.ts";
import { Client } from "../../../src/client/client.ts";
import { SharedIndexInformer } from "../../../src/informer/shared_index_informer.ts";
import { ConfigMap, Secret } from "../../../src/kinds/core/v1.ts";
import { configMap, FakeApiServer } from "../../../src/testing/mod.ts";
import { FakeTime } from "../../support/fake_time.ts";
import { listBytes, partial } from "./_messages.ts";

const PROTOBUF = "application/vnd.kubernetes.protobuf";
const LIST = ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
const ONE = ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

/** A transport that answers everything in the same way, and keeps the headers. */
function answering(
  contentType: string,
  body: () => BodyInit,
): { fetch(request: Request): Promise<Response>; accept: string[] } {
  const accept: string[] = [];
  return {
    accept,
    fetch: (request) => {
      accept.push(request.headers.get("accept")!);
      return Promise.resolve(new Response(body(), { headers: { "content-type": contentType } }));
    },
  };
}

async function keysOf(client: Client, resource: Resource<KubernetesObject>): Promise<string[]> {
  const keys: string[] = [];
  for await (const { entries } of client.resource(resource).listEntries()) keys.push(...entries.map(({ key }) => key));
  return keys;
}

Deno.test("listEntries and watchChanges ask for metadata in protobuf, then in JSON, and read either", async () => {
  const items = [partial({ name: "a", namespace: "shop", uid: "u", resourceVersion: "1" })];
  const json = JSON.stringify({ kind: "PartialObjectMetadataList", apiVersion: "meta.k8s.io/v1", metadata: {}, items });
  for (const [type, body] of [[PROTOBUF, listBytes(items).slice()], ["application/json", json]] as const) {
    const transport = answering(type, () => body);
    using client = new Client({ server: "http://wire", transport });
    assertEquals(await keysOf(client, metadataOf(ConfigMap)), ["shop/a"]);
    assertEquals(transport.accept, [`${PROTOBUF}${LIST},application/json${LIST},application/json`]);
  }
  const transport = answering(`${PROTOBUF};stream=watch`, () => new Uint8Array());
  using client = new Client({ server: "http://wire", transport });
  for await (const changes of client.resource(metadataOf(ConfigMap)).watchChanges()) assertEquals(changes, []);
  assertEquals(transport.accept, [`${PROTOBUF}${ONE},application/json${ONE},application/json`]);
});

Deno.test("metadata that came in protobuf cannot be written, as metadata that came in JSON", async () => {
  const items = [partial({ name: "a", namespace: "shop", uid: "u", resourceVersion: "1" })];
  using client = new Client({ server: "http://wire", transport: answering(PROTOBUF, () => listBytes(items).slice()) });
  for await (const { entries } of client.resource(metadataOf(ConfigMap)).listEntries()) {
    for (const { object } of entries) {
      assertThrows(() => copyOf(object as KubernetesObject), TypeError, "reduced to its metadata");
    }
  }
});

Deno.test("metadata of Secrets without their data is asked for in JSON, whose reader leaves the applied copy out", async () => {
  const transport = answering(
    "application/json",
    () => JSON.stringify({ kind: "SecretList", metadata: {}, items: [] }),
  );
  using client = new Client({ server: "http://wire", transport });
  const secrets = client.resource(metadataOf(Secret));
  for (const secretData of ["drop", "keep"] as const) {
    for await (const { entries } of secrets.listEntries({ secretData })) assertEquals(entries, []);
  }
  assertEquals(transport.accept.map((types) => types.includes(PROTOBUF)), [false, true]);
});

Deno.test("a list of complete objects that comes in protobuf is refused, with its content type", async () => {
  using client = new Client({ server: "http://wire", transport: answering(PROTOBUF, () => listBytes([]).slice()) });
  const error = await assertRejects(() => keysOf(client, ConfigMap as Resource<KubernetesObject>), DecodeError);
  assertStringIncludes(error.message, `the answer is "${PROTOBUF}" and not JSON`);
});

for (const streamingList of ["on", "off"] as const) {
  Deno.test(`an informer of metadata in protobuf recovers from damaged frames and expired versions, with streaming list ${streamingList}`, async () => {
    using time = new FakeTime();
    using server = new FakeApiServer({ chunkBytes: 97 });
    const types = new Set<string>();
    using client = new Client({
      server: "http://fake",
      transport: {
        fetch: async (request) => {
          const response = await server.fetch(request);
          types.add(response.headers.get("content-type")!);
          return response;
        },
      },
    });
    for (const name of ["a", "b", "c"]) server.create(ConfigMap, configMap({ name, labels: { name } }));
    const errors: unknown[] = [];
    await using informer = new SharedIndexInformer(client.resource(metadataOf(ConfigMap)), {
      reflector: { streamingList },
      onError: (error) => errors.push(error),
    });
    informer.run();
    while (!informer.hasSynced) await time.tickAsync(100);
    let written = 0;
    const settled = async (): Promise<void> => {
      const { metadata: { resourceVersion } } = server.create(ConfigMap, configMap({ name: `last-${++written}` }));
      let seen = false;
      void informer.atLeast(resourceVersion!).then(() => seen = true);
      while (!seen) await time.tickAsync(100);
      const { items } = await client.resource(metadataOf(ConfigMap)).list();
      const expected = items.map(({ metadata: { managedFields: _, ...metadata }, ...rest }) => ({ ...rest, metadata }));
      const byName = (a: KubernetesObject, b: KubernetesObject): number => a.metadata.name < b.metadata.name ? -1 : 1;
      assertEquals(informer.lister.list().toSorted(byName), expected as KubernetesObject[]);
    };
    await settled();
    for (const where of ["line", "object"] as const) {
      server.corruptNext(ConfigMap, where);
      server.patch(ConfigMap, "default/a", { metadata: { annotations: { where: "ä\n" + where } } });
      await settled();
    }
    server.truncateWatches(ConfigMap, "nextEvent");
    server.delete(ConfigMap, "b");
    await settled();
    server.forceRelist();
    server.delete(ConfigMap, "c");
    await settled();
    assertEquals(errors.filter((error) => error instanceof DecodeError).length, 2);
    assertEquals(
      [...types].filter((type) => type.startsWith(PROTOBUF)).sort(),
      [PROTOBUF, `${PROTOBUF};stream=watch`].slice(streamingList === "on" ? 1 : 0),
    );
  });
}
