import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { FakeApiServer } from "../../../../src/testing/mod.ts";
import { ask, ConfigMap, fiveMaps, MAPS, Pod, Widget } from "../../../support/servers/fake_server.ts";
import { statusObject } from "../../../support/servers/transport.ts";

const NOW = (): number => Date.UTC(2026, 10, 21, 13, 6, 37, 123);

function maps(options = {}): FakeApiServer {
  const server = new FakeApiServer({ now: NOW, ...options });
  fiveMaps(server);
  return server;
}

// deno-lint-ignore no-explicit-any -- an answer
const names = (list: any): string[] => list.items.map((item: any) => item.metadata.name);

Deno.test("FakeApiServer escapes what HTML would read in its JSON, and allows no cache to keep it", async () => {
  const server = new FakeApiServer();
  server.create(ConfigMap, { metadata: { namespace: "answers", name: "map-0" }, data: { k: "<&>" } });
  const { text, headers } = await ask(server, MAPS);
  assert(text.includes('"data":{"k":"\\u003c\\u0026\\u003e"}'), text);
  assertEquals(headers.get("cache-control"), "no-cache, private");
});

Deno.test("FakeApiServer reads later pages at the version of the first", async () => {
  const server = maps();
  const first = await ask(server, `${MAPS}?limit=2`);
  server.delete(ConfigMap, "answers/map-2");
  server.create(ConfigMap, { metadata: { namespace: "answers", name: "map-1a" } });
  server.patch(ConfigMap, "answers/map-4", { data: { k: "later" } });
  const { json } = await ask(server, `${MAPS}?continue=${first.json.metadata.continue}`);
  assertEquals([names(json), json.metadata.resourceVersion], [["map-2", "map-3", "map-4"], "6"]);
  assertEquals(json.items[2].data, { k: "0" });
});

Deno.test("FakeApiServer pages through all namespaces in the order of keys", async () => {
  const server = new FakeApiServer();
  for (const namespace of ["b", "a-b", "a"]) {
    for (const name of ["y", "x"]) server.create(ConfigMap, { metadata: { namespace, name } });
  }
  const seen: string[] = [];
  const left: unknown[] = [];
  let token = "";
  do {
    const { json } = await ask(server, `/api/v1/configmaps?limit=1&continue=${token}`);
    for (const { metadata } of json.items) seen.push(`${metadata.namespace}/${metadata.name}`);
    left.push(json.metadata.remainingItemCount);
    token = json.metadata.continue ?? "";
  } while (token !== "");
  // "-" comes before "/".
  assertEquals(seen, ["a-b/x", "a-b/y", "a/x", "a/y", "b/x", "b/y"]);
  assertEquals(left, [5, 4, 3, 2, 1, undefined]);
});

Deno.test("FakeApiServer sends no remainingItemCount with a selector", async () => {
  const { json } = await ask(maps(), `${MAPS}?limit=1&labelSelector=colour%3Dred`);
  assertEquals(names(json), ["map-0"]);
  assertEquals(json.metadata.remainingItemCount, undefined);
  assertNotEquals(json.metadata.continue, undefined);
});

Deno.test("FakeApiServer lists any version of a random history exactly until that is compacted", async () => {
  const server = new FakeApiServer({ seed: 7 });
  const snapshots = new Map<string, string>();
  const present = new Set<string>();
  let state = 12345;
  for (let step = 0; step < 300; step++) {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    const name = `m-${state % 12}`;
    const key = `answers/${name}`;
    if (!present.has(key)) {
      server.create(ConfigMap, { metadata: { namespace: "answers", name }, data: { step: String(step) } });
      present.add(key);
    } else if (state % 3 === 0) {
      server.delete(ConfigMap, key);
      present.delete(key);
    } else server.patch(ConfigMap, key, { data: { step: String(step) } });
    const contents = server.list(ConfigMap).map(({ metadata, data }) => `${metadata.name}=${data?.step}`).join(" ");
    snapshots.set(server.resourceVersion, contents);
    if (step === 150) {
      server.compact();
      snapshots.clear();
      snapshots.set(server.resourceVersion, contents);
    }
  }
  assertEquals(snapshots.size, 150);
  for (const [version, contents] of snapshots) {
    const { json } = await ask(server, `${MAPS}?resourceVersion=${version}&resourceVersionMatch=Exact`);
    // deno-lint-ignore no-explicit-any -- an item
    const listed = json.items.map((item: any) => `${item.metadata.name}=${item.data.step}`).join(" ");
    assertEquals(listed, contents, `at version ${version}`);
  }
});

Deno.test("FakeApiServer forgets the oldest writes beyond the length of its history", async () => {
  const server = maps({ history: 3 });
  assertEquals((await ask(server, `${MAPS}?resourceVersion=3&resourceVersionMatch=Exact`)).json.items.length, 2);
  assertEquals((await ask(server, `${MAPS}?resourceVersion=2&resourceVersionMatch=Exact`)).status, 410);
  for (let index = 1; index < 5_000; index++) server.patch(ConfigMap, "answers/map-0", { data: { k: String(index) } });
  assertEquals((await ask(server, `${MAPS}?resourceVersion=5002&resourceVersionMatch=Exact`)).status, 200);
  assertEquals((await ask(server, `${MAPS}?resourceVersion=5001&resourceVersionMatch=Exact`)).status, 410);
});

Deno.test("FakeApiServer lists a name once that was deleted, compacted and created again", async () => {
  const server = maps();
  for (let round = 0; round < 3; round++) {
    server.delete(ConfigMap, "answers/map-2");
    server.compact();
    server.create(ConfigMap, { metadata: { namespace: "answers", name: "map-2" } });
    assertEquals(names((await ask(server, MAPS)).json), ["map-0", "map-1", "map-2", "map-3", "map-4"]);
  }
  assertEquals(server.keys(ConfigMap).length, 5);
});

Deno.test("FakeApiServer refuses a version of the future", async () => {
  const server = maps();
  const { status, json, headers } = await ask(server, `${MAPS}?resourceVersion=99999999`);
  assertEquals(status, 504);
  assertEquals(headers.get("retry-after"), "1");
  assertEquals(
    json,
    statusObject(504, "Timeout", "Timeout: Too large resource version: 99999999, current: 6", {
      details: {
        causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
        retryAfterSeconds: 1,
      },
    }),
  );
});

Deno.test("FakeApiServer selects by labels and fields", async () => {
  const server = maps();
  const both = `${MAPS}?labelSelector=colour%20in%20(blue)&fieldSelector=metadata.name!%3Dmap-3`;
  assertEquals(names((await ask(server, both)).json), ["map-1"]);
  server.create(Pod, {
    metadata: { name: "a" },
    spec: { nodeName: "n-1", containers: [] },
    status: { phase: "Running" },
  });
  server.create(Pod, { metadata: { name: "b" }, spec: { containers: [] } });
  const pods = async (selector: string): Promise<string[]> =>
    names((await ask(server, `/api/v1/pods?fieldSelector=${encodeURIComponent(selector)}`)).json);
  assertEquals(await pods("spec.nodeName=n-1"), ["a"]);
  assertEquals(await pods("spec.nodeName="), ["b"]);
  assertEquals(await pods("status.phase!=Running,metadata.namespace=default"), ["b"]);
  assertEquals(await pods("metadata.name==a"), ["a"]);
});

Deno.test("FakeApiServer refuses invalid list options as the server does", async () => {
  const server = maps();
  const cases: [path: string, status: number, message: RegExp][] = [
    [`${MAPS}?fieldSelector=nonsense`, 400, /^invalid selector: 'nonsense'; can't understand 'nonsense'$/],
    ["/api/v1/pods?fieldSelector=spec.foo%3D1", 400, /^field label not supported: spec.foo$/],
    [`${MAPS}?labelSelector=a%20in%20(`, 400, /^unable to parse requirement: /],
    [`${MAPS}?limit=2&continue=xyz`, 400, /^invalid continue token: continue key is not valid: /],
    [
      `${MAPS}?resourceVersionMatch=Exact&resourceVersion=0`,
      422,
      /resourceVersionMatch "exact" is forbidden for resourceVersion "0"/,
    ],
    [
      `${MAPS}?resourceVersionMatch=Near&resourceVersion=3`,
      422,
      /Unsupported value: "Near": supported values: "Exact", "NotOlderThan", ""/,
    ],
  ];
  for (const [path, status, message] of cases) {
    const answer = await ask(server, path);
    assertEquals([answer.status, answer.json.reason], [status, status === 400 ? "BadRequest" : "Invalid"], path);
    assertMatch(answer.json.message, message);
  }
});

Deno.test("FakeApiServer returns metadata of custom resources and of one object alone on request", async () => {
  const server = maps();
  const accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
  server.create(Widget, { metadata: { namespace: "answers", name: "a", labels: { z: "1" } }, spec: { size: 1 } });
  const widgets = await ask(server, "/apis/example.com/v1/widgets", { headers: { accept } });
  // The keys of custom resources' metadata are in a struct's order here.
  assertEquals(
    Object.keys(widgets.json.items[0].metadata).slice(0, 4),
    ["name", "namespace", "uid", "resourceVersion"],
  );
  const one = await ask(server, `${MAPS}/map-0`, {
    headers: { accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1" },
  });
  assertEquals(Object.keys(one.json), ["kind", "apiVersion", "metadata"]);
});

Deno.test("FakeApiServer picks the best type of an Accept header, else answers 406", async () => {
  const server = maps();
  const list = (accept: string) => ask(server, `${MAPS}?limit=1`, { headers: { accept } });
  assertEquals((await list("application/cbor, application/json;q=0.9")).json.kind, "ConfigMapList");
  assertEquals(
    (await list("application/json;as=Table;g=meta.k8s.io;v=v1beta1, application/json")).json.kind,
    "ConfigMapList",
  );
  assertEquals((await list("*/*")).status, 200);
  const { status, json } = await list("application/cbor");
  assertEquals([status, json.reason, json.details], [406, "NotAcceptable", {}]);
  assertMatch(json.message, /^406: Not Acceptable\n\nAvailable representations: application\/json/);
});

Deno.test("FakeApiServer indents JSON for browsers and with pretty=true", async () => {
  const server = maps();
  const plain = await ask(server, `${MAPS}?limit=1`);
  const browser = await ask(server, `${MAPS}?limit=1`, { headers: { "user-agent": "Mozilla/5.0" } });
  assertEquals(browser.text, JSON.stringify(plain.json, null, 2));
  assertEquals((await ask(server, `${MAPS}?limit=1&pretty=true`)).text, browser.text);
  const declined = await ask(server, `${MAPS}?limit=1&pretty=false`, { headers: { "user-agent": "curl/8" } });
  assertEquals(declined.text, plain.text);
});

Deno.test("FakeApiServer writes lists in chunks of the given size, split anywhere", async () => {
  const whole = (await ask(maps(), MAPS)).text;
  for (const chunkBytes of [1, 7, 1_000]) {
    const response = await maps({ chunkBytes }).fetch(new Request(`http://fake${MAPS}`));
    const sizes: number[] = [];
    let text = "";
    for await (const chunk of response.body!) {
      sizes.push(chunk.length);
      text += new TextDecoder().decode(chunk);
    }
    assertEquals(text, whole);
    assertEquals(sizes.slice(0, -1).every((size) => size === chunkBytes), true);
    assert(sizes.at(-1)! <= chunkBytes);
  }
});

Deno.test("FakeApiServer writes byte streams that BYOB readers can read", async () => {
  const whole = (await ask(maps(), MAPS)).text;
  const response = await maps().fetch(new Request(`http://fake${MAPS}`));
  const reader = response.body!.getReader({ mode: "byob" });
  const decoder = new TextDecoder();
  let text = "";
  let buffer = new ArrayBuffer(100);
  for (;;) {
    const { done, value } = await reader.read(new Uint8Array(buffer));
    if (done) break;
    text += decoder.decode(value, { stream: true });
    buffer = value.buffer as ArrayBuffer;
  }
  assertEquals(text, whole);
});

Deno.test("FakeApiServer breaks the body of a list when the request is aborted, before or while it is read", async () => {
  for (const reads of [0, 1]) {
    const controller = new AbortController();
    const server = maps({ chunkBytes: reads === 0 ? 65_536 : 10 });
    const response = await server.fetch(new Request(`http://fake${MAPS}`, { signal: controller.signal }));
    const reader = response.body!.getReader();
    for (let read = 0; read < reads; read++) await reader.read();
    const reason = new Error("enough");
    controller.abort(reason);
    let caught: unknown;
    try {
      for (;;) if ((await reader.read()).done) break;
    } catch (error) {
      caught = error;
    }
    assertEquals(caught, reason);
  }
});
