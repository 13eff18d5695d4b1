import { assert, assertEquals, assertThrows } from "@std/assert";
import { Random } from "../../../../src/testing/fake/random.ts";
import { readProtobuf } from "../../../../src/testing/fake/schema/protobuf.ts";
import { schemaOf } from "../../../../src/testing/fake/schema/schema.ts";
import type { Schema, Struct } from "../../../../src/operator/schema/values/object_schema.ts";
import { SCHEMA_TEXTS } from "../../../../src/testing/fake/schema/texts.ts";
import type { Json, JsonObject, MutableJson } from "../../../../src/engine/api/json.ts";
import { FakeApiServer } from "../../../../src/testing/mod.ts";
import { type Answer, MAPS, Widget } from "../../../support/servers/fake_server.ts";
import { body, encode, message } from "./_protobuf.ts";

Deno.test("readProtobuf reads strings, maps, bytes and times, and leaves out zero values", () => {
  const metadata = message([1, "a"], [2, ""], [7, 0], [8, message([1, 1_767_225_600])], [
    11,
    message([1, "l"], [2, "x"]),
  ]);
  const map = message([1, metadata], [2, message([1, "k"], [2, "größer"])], [
    3,
    message([1, "b"], [2, new Uint8Array([0, 255])]),
  ]);
  assertEquals(readProtobuf(body("v1", "ConfigMap", map)), {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "a", creationTimestamp: "2026-01-01T00:00:00Z", labels: { l: "x" } },
    data: { k: "größer" },
    binaryData: { b: "AP8=" },
  });
});

Deno.test("readProtobuf reads lists, inlined messages, numbers that may be strings, and zeros that must be kept", () => {
  const volume = message([1, "v"], [2, message([2, message()])]);
  const resources = message([1, message([1, "cpu"], [2, message([1, "100m"])])]);
  const probe = message([1, message([2, message([2, message([1, 1], [3, "http"])])])], [4, 300]);
  const container = message([1, "c"], [3, "sh"], [3, "-c"], [8, resources], [10, probe]);
  const template = message([2, message([1, volume], [2, container], [4, 0])]);
  const spec = message([1, 0], [3, template], [7, 1]);
  assertEquals(readProtobuf(body("apps/v1", "Deployment", message([2, spec]))), {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: {},
    spec: {
      replicas: 0,
      selector: null,
      template: {
        metadata: {},
        spec: {
          volumes: [{ name: "v", emptyDir: {} }],
          containers: [{
            name: "c",
            command: ["sh", "-c"],
            resources: { limits: { cpu: "100m" } },
            livenessProbe: { httpGet: { port: "http" }, periodSeconds: 300 },
          }],
          terminationGracePeriodSeconds: 0,
        },
      },
      strategy: {},
      paused: true,
    },
    status: {},
  });
});

Deno.test("readProtobuf reads a negative number where a string may be", () => {
  const probe = message([1, message([2, message([2, message([1, 0], [2, -42])])])]);
  const pod = message([2, message([2, message([1, "c"], [10, probe])])]);
  assertEquals(readProtobuf(body("v1", "Pod", pod)), {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {},
    spec: { containers: [{ name: "c", resources: {}, livenessProbe: { httpGet: { port: -42 } } }] },
    status: {},
  });
});

Deno.test("readProtobuf drops fields that it does not know, returns the type of other kinds, and throws for broken messages", () => {
  assertEquals(readProtobuf(body("example.com/v1", "Widget", message([1, "x"]))), {
    apiVersion: "example.com/v1",
    kind: "Widget",
  });
  const map = message([1, message([1, "a"], [99, 1])], [99, "x"]);
  assertEquals(
    readProtobuf(body("v1", "ConfigMap", map)),
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } },
  );
  assertThrows(() => readProtobuf(new TextEncoder().encode("{}")), Error, "does not begin");
  const whole = body("v1", "ConfigMap", message([1, message([1, "name"])]));
  for (const size of [whole.length - 1, whole.length - 4]) {
    assertThrows(() => readProtobuf(whole.subarray(0, size)), Error, "its protobuf ends inside");
  }
  assertThrows(
    () => readProtobuf(body("v1", "Pod", message([2, message([4, "x"])]))),
    Error,
    "bytes in place of a number",
  );
  assertThrows(() => readProtobuf(body("v1", "Pod", message([2, 1]))), Error, "a number in place of bytes");
});

Deno.test("readProtobuf reads long bytes", () => {
  const secret = readProtobuf(body("v1", "Secret", message([2, message([1, "k"], [2, new Uint8Array(200_000)])])));
  assertEquals((secret.data as { k: string }).k.length, 266_668);
});

Deno.test("readProtobuf reads bodies of requests that are no resources", () => {
  const options = {
    gracePeriodSeconds: 0,
    preconditions: { uid: "u" },
    propagationPolicy: "Foreground",
    dryRun: ["All"],
  };
  for (
    const [apiVersion, kind, object] of [
      ["apps/v1", "DeleteOptions", options],
      ["example.com/v1", "DeleteOptions", options],
      ["autoscaling/v1", "Scale", { metadata: { name: "a" }, spec: { replicas: 2 }, status: { replicas: 0 } }],
      ["policy/v1", "Eviction", { metadata: { name: "a" }, deleteOptions: options }],
      ["v1", "Binding", { metadata: { name: "a" }, target: { kind: "Node", name: "n" } }],
      ["authorization.k8s.io/v1", "SelfSubjectAccessReview", {
        metadata: {},
        spec: { nonResourceAttributes: { path: "/healthz", verb: "get" } },
        status: { allowed: false },
      }],
      ["authentication.k8s.io/v1", "TokenRequest", {
        metadata: {},
        spec: { audiences: ["a"], expirationSeconds: 600, boundObjectRef: null },
        status: { token: "", expirationTimestamp: null },
      }],
    ] as const
  ) {
    const [version, group = ""] = apiVersion.split("/").reverse();
    const struct = schemaOf(group, version, kind) ?? schemaOf("", "v1", kind)!;
    assertEquals(
      readProtobuf(body(apiVersion, kind, encode(struct, object as JsonObject))),
      { apiVersion, kind, ...object },
    );
  }
});

Deno.test("readProtobuf reads random objects of every built-in kind as Go prints them", () => {
  const random = new Random(20_260_101);
  let kinds = 0;
  for (const text of Object.values(SCHEMA_TEXTS)) {
    const [apiVersion, ...blocks] = text.split("\n\n");
    const [version, group = ""] = apiVersion.split("/").reverse();
    for (const [, kind] of blocks.map((block) => /^(\w+) kind/.exec(block) ?? [])) {
      const struct = kind === undefined ? undefined : schemaOf(group, version, kind);
      if (struct === undefined) continue;
      kinds++;
      for (let i = 0; i < 8; i++) {
        const object = randomObject(random, struct, 0);
        const read = readProtobuf(body(apiVersion, kind, encode(struct, object)));
        assertEquals(read, { kind, apiVersion, ...object }, `${kind} ${i}`);
        assertEquals(JSON.stringify(read), JSON.stringify({ kind, apiVersion, ...object }));
      }
    }
  }
  assert(kinds > 70, `${kinds} kinds`);
});

/** An object as Go prints it: with the zero values that it writes, and without those that it leaves out. */
function randomObject(random: Random, struct: Struct, depth: number): MutableJson {
  const object: MutableJson = {};
  for (const [name, { schema, pointer, omitEmpty }] of struct.fields) {
    if (name === "kind" || name === "apiVersion") { if (struct.fields.get(name)!.number === 0) continue; }
    const optional = pointer || schema.type === "list" || schema.type === "map";
    const zero = optional || schema.type === "bytes" || schema.type === "any" || schema.type === "time" ||
        schema.type === "microTime"
      ? null
      : ({ string: "", boolean: false, quantity: "0" } as Record<string, Json>)[schema.type] ?? 0;
    const absent = schema.type !== "struct" || pointer ? random.below(100) < (depth > 5 && optional ? 100 : 50) : false;
    const value = absent ? zero : randomValue(random, schema, depth + 1);
    if (!(omitEmpty && (value === zero && (!pointer || absent)))) object[name] = value;
  }
  return object;
}

function randomValue(random: Random, schema: Schema, depth: number): Json {
  const some = <T>(make: () => T): T[] => Array.from({ length: 1 + random.below(2) }, make);
  const word = (): string => random.text(1 + random.below(5), 'abcäö€\n"');
  switch (schema.type) {
    case "struct":
      return randomObject(random, schema, depth);
    case "list":
      return some(() => randomValue(random, schema.items, depth));
    case "map":
      return Object.fromEntries(some(() => [word(), randomValue(random, schema.values, depth)]));
    case "int32":
      return random.below(2 ** 32) - 2 ** 31;
    case "int64":
      return random.below(2 ** 32) * 1_000 - 2 ** 40;
    case "number":
      return random.next() * 1_000 - 500;
    case "boolean":
      return random.below(2) === 0;
    case "bytes":
      return btoa(random.text(1 + random.below(9), "a\u0000\u00ff"));
    case "time":
      return new Date((random.below(2 ** 31) - 2 ** 28) * 1_000).toISOString().replace(".000", "");
    case "microTime":
      return new Date(random.below(2 ** 31) * 1_000).toISOString().replace(
        "000Z",
        String(random.below(1e6)).padStart(6, "0") + "Z",
      );
    case "quantity":
      return random.pick(["1", "100m", "2Gi", "-3"]);
    case "intOrString":
      return random.pick<Json>([80, -1, "http", "25%"]);
    case "any":
      return schema.union === undefined
        ? random.pick<Json>([{ a: [1, null] }, [], "x", 3])
        : randomValue(random, random.pick([...schema.union.fields.values()]).schema, depth);
    default:
      return word();
  }
}

Deno.test("FakeApiServer accepts protobuf, answers in JSON, and records the request", async () => {
  const server = new FakeApiServer();
  const post = async (body: Uint8Array<ArrayBuffer>): Promise<Pick<Answer, "status" | "json">> => {
    const headers = {
      "content-type": "application/vnd.kubernetes.protobuf",
      accept: "application/vnd.kubernetes.protobuf,application/json",
    };
    const response = await server.fetch(new Request(`http://fake${MAPS}`, { method: "POST", headers, body }));
    return { status: response.status, json: await response.json() };
  };
  const created = await post(
    body("v1", "ConfigMap", message([1, message([1, "a"])], [2, message([1, "k"], [2, "v"])])),
  );
  assertEquals([created.status, created.json.data], [201, { k: "v" }]);
  assertEquals(JSON.parse(server.requests[0].body!).data, { k: "v" });
  const broken = await post(new Uint8Array([1, 2, 3]));
  assertEquals([broken.status, broken.json.reason], [400, "BadRequest"]);
});

Deno.test("FakeApiServer answers protobuf of custom kinds by 415, and of what it does not serve by 404", async () => {
  using server = new FakeApiServer();
  server.create(Widget, { metadata: { name: "made", namespace: "default" } });
  const post = async (path: string, bytes: Uint8Array<ArrayBuffer>): Promise<[number, string]> => {
    const headers = { "content-type": "application/vnd.kubernetes.protobuf" };
    const response = await server.fetch(new Request(`http://fake${path}`, { method: "POST", headers, body: bytes }));
    const text = await response.text();
    return [response.status, text.startsWith("{") ? JSON.parse(text).reason : text.trim()];
  };
  const widget = body("example.com/v1", "Widget", message());
  assertEquals(await post("/apis/example.com/v1/namespaces/default/widgets", widget), [415, "UnsupportedMediaType"]);
  assertEquals(await post("/apis/nowhere.io/v1/namespaces/default/things", widget), [404, "404 page not found"]);
  assertEquals(await post("/api/v1/namespaces/default/things", body("v1", "Thing", message())), [404, "NotFound"]);
  assertEquals(await post(MAPS, widget), [400, "BadRequest"]);
});

Deno.test("FakeApiServer answers in JSON where protobuf comes first, and by 406 where nothing else is accepted", async () => {
  using server = new FakeApiServer();
  for (const form of ["", ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"]) {
    const get = (accept: string): Promise<Response> =>
      server.fetch(new Request(`http://fake${MAPS}`, { headers: { accept } }));
    const type = `application/vnd.kubernetes.protobuf${form}`;
    const answer = await get(`${type},application/json${form},application/json`);
    assertEquals(answer.headers.get("content-type"), "application/json");
    assertEquals((await answer.json()).kind, form === "" ? "ConfigMapList" : "PartialObjectMetadataList");
    const refused = await get(type);
    assertEquals([refused.status, (await refused.json()).code], [406, 406]);
  }
});
