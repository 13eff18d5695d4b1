import { assertEquals, assertThrows } from "@std/assert";
import { FakeApiServer } from "../../../src/testing/mod.ts";
import { PROTOBUF_KINDS, PROTOBUF_MESSAGES, readProtobuf, UnknownMessage } from "../../../src/testing/wire/protobuf.ts";
import { type Answer, MAPS } from "../../support/fake_server.ts";

type Part = readonly [field: number, value: string | number | Uint8Array];

/** A message: numbers are written as varints, all else with its length. */
function message(...parts: readonly Part[]): Uint8Array<ArrayBuffer> {
  const bytes: number[] = [];
  const varint = (value: number): void => {
    let rest = BigInt.asUintN(64, BigInt(value));
    for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
    bytes.push(Number(rest));
  };
  for (const [field, value] of parts) {
    varint(field * 8 + (typeof value === "number" ? 0 : 2));
    if (typeof value === "number") varint(value);
    else {
      const raw = typeof value === "string" ? new TextEncoder().encode(value) : value;
      varint(raw.length);
      bytes.push(...raw);
    }
  }
  return new Uint8Array(bytes);
}

function body(apiVersion: string, kind: string, object: Uint8Array): Uint8Array<ArrayBuffer> {
  const envelope = message([1, message([1, apiVersion], [2, kind])], [2, object]);
  return new Uint8Array([0x6b, 0x38, 0x73, 0, ...envelope]);
}

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
    spec: {
      replicas: 0,
      template: {
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
      paused: true,
    },
  });
});

Deno.test("readProtobuf reads a negative number where a string may be", () => {
  const probe = message([1, message([2, message([2, message([1, 0], [2, -42])])])]);
  const pod = message([2, message([2, message([1, "c"], [10, probe])])]);
  assertEquals(readProtobuf(body("v1", "Pod", pod)), {
    apiVersion: "v1",
    kind: "Pod",
    spec: { containers: [{ name: "c", livenessProbe: { httpGet: { port: -42 } } }] },
  });
});

Deno.test("readProtobuf names unknown kinds and fields, and throws for broken messages", () => {
  const unknown = (bytes: Uint8Array): string => assertThrows(() => readProtobuf(bytes), UnknownMessage).message;
  assertEquals(unknown(body("example.com/v1", "Widget", message())), "the kind Widget of example.com/v1");
  assertEquals(unknown(body("v1", "ConfigMap", message([99, "x"]))), "field 99 of ConfigMap");
  assertThrows(() => readProtobuf(new TextEncoder().encode("{}")), Error, "does not begin");
  const whole = body("v1", "ConfigMap", message([1, message([1, "name"])]));
  for (const size of [whole.length - 1, whole.length - 4]) {
    assertThrows(() => readProtobuf(whole.subarray(0, size)), Error, "its protobuf ends inside");
  }
});

Deno.test("readProtobuf defines every message that its messages refer to", () => {
  const plain = ["string", "int", "bool", "double", "bytes", "quantity", "raw", "time", "microtime", "intorstring"];
  for (const fields of Object.values(PROTOBUF_MESSAGES)) {
    for (const field of fields.split("|").filter((field) => field !== "")) {
      const type = field.split(" ")[2].replace(/[*{}]/g, "");
      assertEquals([field, type in PROTOBUF_MESSAGES || plain.includes(type)], [field, true]);
    }
  }
  for (const kind of Object.values(PROTOBUF_KINDS)) assertEquals(kind in PROTOBUF_MESSAGES, true);
});

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
  const unknown = await post(body("apps/v1", "StatefulSet", message()));
  assertEquals([unknown.status, unknown.json.reason, unknown.json.message], [
    415,
    "UnsupportedMediaType",
    "the fake server does not read the kind StatefulSet of apps/v1 in protobuf; send JSON: the content type of the " +
    "client is application/json (in client-go ContentType of rest.Config)",
  ]);
  const broken = await post(new Uint8Array([1, 2, 3]));
  assertEquals([broken.status, broken.json.reason], [400, "BadRequest"]);
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
