import { assertEquals } from "@std/assert";
import { ConfigMap } from "../../../src/kinds/core/v1.ts";
import { configMap, FakeApiServer } from "../../../src/testing/mod.ts";
import { writeProtobuf } from "../../../src/testing/wire/protobuf.ts";
import { watched } from "../../client/protobuf/_messages.ts";

const PROTOBUF = "application/vnd.kubernetes.protobuf";
const PATH = "http://fake/api/v1/namespaces/default/configmaps";

function form(kind: string): string {
  return `as=${kind};g=meta.k8s.io;v=v1`;
}

async function answer(server: FakeApiServer, path: string, accept: string): Promise<[type: string, bytes: Uint8Array]> {
  const response = await server.fetch(new Request(`${PATH}${path}`, { headers: { accept } }));
  return [response.headers.get("content-type")!, new Uint8Array(await response.arrayBuffer())];
}

Deno.test("FakeApiServer answers lists and gets of metadata in protobuf where that comes first", async () => {
  using server = new FakeApiServer();
  server.create(ConfigMap, configMap({ name: "a", labels: { b: "1", a: "ä" } }));
  for (const [path, kind] of [["", "PartialObjectMetadataList"], ["/a", "PartialObjectMetadata"]] as const) {
    const json = `application/json;${form(kind)}`;
    const [jsonType, text] = await answer(server, path, `${json},${PROTOBUF};${form(kind)}`);
    const [type, bytes] = await answer(server, path, `${PROTOBUF};${form(kind)},${json},application/json`);
    assertEquals([type, jsonType], [PROTOBUF, "application/json"]);
    assertEquals(bytes, writeProtobuf(JSON.parse(new TextDecoder().decode(text))));
  }
});

Deno.test("FakeApiServer has no protobuf of complete objects, and passes over a media type that asks for it", async () => {
  using server = new FakeApiServer();
  const [type] = await answer(server, "", `${PROTOBUF},application/json`);
  assertEquals(type, "application/json");
  const refused = await server.fetch(new Request(PATH, { headers: { accept: PROTOBUF } }));
  assertEquals(refused.status, 406);
  await refused.body?.cancel();
});

Deno.test("FakeApiServer sends a watch of metadata in frames, with bookmarks, faults and errors", async () => {
  using server = new FakeApiServer();
  const { metadata: { resourceVersion } } = server.create(ConfigMap, configMap({ name: "a" }));
  const query = `?watch=1&allowWatchBookmarks=true&resourceVersion=${resourceVersion}`;
  const accept = `${PROTOBUF};${form("PartialObjectMetadata")}`;
  const watch = async (): Promise<ReadableStream<Uint8Array>> =>
    (await server.fetch(new Request(`${PATH}${query}`, { headers: { accept } }))).body!;

  const body = await watch();
  server.create(ConfigMap, configMap({ name: "b" }));
  server.duplicateNext(ConfigMap);
  server.delete(ConfigMap, "b");
  server.bookmark(ConfigMap);
  server.failWatches({ code: 410, reason: "Expired", message: "too old" }, ConfigMap);
  const { changes, error } = watched([new Uint8Array(await new Response(body).arrayBuffer())]);
  assertEquals(
    changes.map((change) => change.type === "BOOKMARK" ? change.type : `${change.type} ${change.entry.key}`),
    [
      "ADDED default/b",
      "DELETED default/b",
      "DELETED default/b",
      "BOOKMARK",
    ],
  );
  assertEquals(String(error), 'StatusError: Cannot go on watching "pods": 410 Expired: too old');

  for (const where of ["line", "object"] as const) {
    const body = await watch();
    server.corruptNext(ConfigMap, where);
    server.create(ConfigMap, configMap({ name: where }));
    server.endWatches(ConfigMap);
    const { error } = watched([new Uint8Array(await new Response(body).arrayBuffer())]);
    assertEquals((error as Error).name, "DecodeError");
  }
});
