import { assert, assertEquals, assertThrows } from "@std/assert";
import { Random } from "../../../../src/testing/fake/random.ts";
import { readProtobuf } from "../../../../src/testing/fake/schema/decode.ts";
import { type Schema, schemaOf, schemaOfOpenApi, type Struct } from "../../../../src/testing/fake/schema/schema.ts";
import { SCHEMA_TEXTS } from "../../../../src/testing/fake/schema/texts.ts";
import { validateCustom } from "../../../../src/testing/fake/schema/validate.ts";
import type { Json, JsonObject, MutableJson } from "../../../../src/testing/fake/wire/json.ts";
import { FakeApiServer } from "../../../../src/testing/mod.ts";
import { type Answer, MAPS, Widget } from "../../../support/fake_server.ts";
import { checkLimits } from "../../../support/twin/limits.ts";
import { defineCustomKinds, fakeServer } from "../../../support/twin/servers.ts";
import { checkStrictBodies } from "../../../support/twin/strict_bodies.ts";
import { body, encode, message } from "./_protobuf.ts";

interface Checked {
  readonly code: number;
  readonly warnings: readonly string[];
  // deno-lint-ignore no-explicit-any -- each test knows the members that it reads
  readonly body: any;
}

/** Sends a request as a client would. */
async function send(server: FakeApiServer, method: string, path: string, body: unknown): Promise<Checked> {
  const headers = { "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json" };
  const request = new Request(`http://fake${path}`, { method, headers, body: JSON.stringify(body) });
  const response = await server.fetch(request);
  const warning = response.headers.get("warning");
  const warnings = warning === null ? [] : warning.split(/, (?=299)/).map((text) => JSON.parse(text.slice(6)));
  return { code: response.status, warnings, body: await response.json() };
}

const DEFAULT_MAPS = "/api/v1/namespaces/default/configmaps";
const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
const SECRETS = "/api/v1/namespaces/default/secrets";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
const BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";

const MISMATCHES: readonly (readonly [path: string, members: object, message: string])[] = [
  [
    DEFAULT_MAPS,
    { data: { a: 1 } },
    "json: cannot unmarshal number into Go struct field ConfigMap.data of type string",
  ],
  [
    DEFAULT_MAPS,
    { immutable: "yes" },
    "json: cannot unmarshal string into Go struct field ConfigMap.immutable of type bool",
  ],
  [
    DEPLOYMENTS,
    { spec: { replicas: 1.5 } },
    "json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32",
  ],
  [
    DEPLOYMENTS,
    { spec: { template: { spec: { containers: "x" } } } },
    "json: cannot unmarshal string into Go struct field PodSpec.spec.template.spec.containers of type []v1.Container",
  ],
  [
    DEPLOYMENTS,
    { spec: { template: { spec: { containers: [{ resources: { limits: { cpu: "abc" } } }] } } } },
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
  ],
  [SECRETS, { data: { a: "%%" } }, "illegal base64 data at input byte 0"],
  [
    LEASES,
    { spec: { renewTime: "x" } },
    'parsing time "x" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "x" as "2006"',
  ],
  [
    BUDGETS,
    { spec: { minAvailable: true } },
    "json: cannot unmarshal bool into Go struct field PodDisruptionBudgetSpec.spec.minAvailable of type int32",
  ],
];

Deno.test("a value of another type is refused in the words of the server", async () => {
  const server = new FakeApiServer();
  for (const [path, members, message] of MISMATCHES) {
    const { code, body } = await send(server, "POST", path, { metadata: { name: "a" }, ...members });
    assertEquals(
      [code, body.reason, body.message.replace(/^.*cannot be handled as an? \w+: /, "")],
      [400, "BadRequest", message],
    );
  }
});

Deno.test("unknown fields are dropped, with a warning, in silence, or refused", async () => {
  const server = new FakeApiServer();
  const object = { metadata: { name: "a", labels: {}, odd: 1 }, data: { k: "v" }, spec: { a: [{ b: 1 }] } };
  const texts = ['unknown field "metadata.odd"', 'unknown field "spec"'];
  const warned = await send(server, "POST", `${DEFAULT_MAPS}?dryRun=All`, object);
  assertEquals(
    [warned.code, warned.warnings, warned.body.spec, warned.body.metadata.odd],
    [201, texts, undefined, undefined],
  );
  const { spec, ...others } = object;
  const turned = await send(server, "POST", `${DEFAULT_MAPS}?dryRun=All`, { spec, ...others });
  assertEquals(turned.warnings, texts.toReversed());
  const ignored = await send(server, "POST", `${DEFAULT_MAPS}?dryRun=All&fieldValidation=Ignore`, object);
  assertEquals([ignored.code, ignored.warnings, ignored.body.spec], [201, [], undefined]);
  const refused = await send(server, "POST", `${DEFAULT_MAPS}?dryRun=All&fieldValidation=Strict`, object);
  assertEquals([refused.code, refused.body.message], [
    400,
    `ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: ${texts.join(", ")}`,
  ]);
  const other = await send(server, "POST", `${DEFAULT_MAPS}?fieldValidation=Maybe`, object);
  assertEquals([other.code, other.body.details.causes[0].field], [422, "fieldValidation"]);
});

Deno.test("members that a body has twice are reported in the words and in the order of the server", async () => {
  using server = fakeServer();
  await defineCustomKinds(server);
  await checkStrictBodies(server, "default");
});

Deno.test("a body of a custom kind without a schema is read as any JSON", async () => {
  const server = new FakeApiServer();
  server.define({ group: "example.com", version: "v1", plural: "widgets", kind: "Widget", scope: "Namespaced" });
  const body = `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"},"spec":[{"a":1,"a":2}]}`;
  const headers = { "content-type": "application/json" };
  const response = await server.fetch(new Request(`http://fake${WIDGETS}`, { method: "POST", headers, body }));
  assertEquals(response.headers.get("warning"), '299 - "duplicate field \\"spec[0].a\\""');
  await response.body?.cancel();
});

Deno.test("a hundred faults of a body are reported, and a long text is read", async () => {
  const server = new FakeApiServer();
  const long = "\\n".repeat(500_000);
  const data = Array.from({ length: 150 }, (_, at) => `"k${at}":"1","k${at}":${JSON.stringify(at === 0 ? "x" : "y")}`);
  const body = `{"metadata":{"name":"a"},"data":{"long":"${long}",${data.join(",")}}}`;
  const headers = { "content-type": "application/json" };
  const request = new Request(`http://fake${DEFAULT_MAPS}`, { method: "POST", headers, body });
  const response = await server.fetch(request);
  assertEquals(response.headers.get("warning")?.split(", 299").length, 100);
  await response.body?.cancel();
});

Deno.test("values are stored as the server writes them", async () => {
  const server = new FakeApiServer();
  const { body } = await send(server, "POST", LEASES, {
    metadata: { name: "a", labels: null, annotations: {} },
    spec: { renewTime: "2026-01-02T03:04:05.500000+01:00", leaseTransitions: 0 },
  });
  assertEquals(body.spec, { renewTime: "2026-01-02T02:04:05.500000Z", leaseTransitions: 0 });
  assertEquals([body.metadata.labels, body.metadata.annotations], [undefined, undefined]);
  const maps = await send(server, "POST", DEFAULT_MAPS, { metadata: { name: "a" }, data: { c: "", a: "", b: "" } });
  assertEquals(Object.keys(maps.body.data), ["a", "b", "c"]);
  const event = await send(server, "POST", "/api/v1/namespaces/default/events", {
    metadata: { name: "a" },
    involvedObject: { namespace: "default", kind: "Pod", name: "p" },
    count: 0,
  });
  // Go leaves out what is zero and may be omitted, and writes the rest.
  const { metadata: _, involvedObject: __, kind: ___, apiVersion: ____, ...rest } = event.body;
  assertEquals(rest, {
    source: {},
    firstTimestamp: null,
    lastTimestamp: null,
    eventTime: null,
    reportingComponent: "",
    reportingInstance: "",
  });
});

Deno.test("what a test creates itself is neither checked nor completed, unless that is asked for", async () => {
  const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { a: 1 } };
  const resource = { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", scope: "Namespaced" } as const;
  const lenient = new FakeApiServer();
  assertEquals((lenient.create(resource as never, map as never) as unknown as typeof map).data, { a: 1 });
  const strict = new FakeApiServer({ schemas: { fixtures: true } });
  let refused = "";
  try {
    strict.create(resource as never, map as never);
  } catch (error) {
    refused = (error as Error).message;
  }
  assertEquals(refused.includes("cannot unmarshal number"), true, refused);
  const off = new FakeApiServer({ schemas: { requests: false } });
  assertEquals((await send(off, "POST", DEFAULT_MAPS, map)).body.data, { a: 1 });
});

const WIDGETS = "/apis/example.com/v1/namespaces/default/widgets";

const SCHEMA = {
  type: "object",
  required: ["spec"],
  properties: {
    spec: {
      type: "object",
      required: ["size"],
      properties: {
        size: { type: "integer", minimum: 1, maximum: 9 },
        color: { type: "string", enum: ["red", "blue"], default: "red" },
        code: { type: "string", pattern: "\\A[a-z]+\\z", maxLength: 3 },
        free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        tags: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set", maxItems: 2 },
        ports: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["port", "protocol"],
          items: {
            type: "object",
            required: ["port"],
            properties: { port: { type: "integer" }, protocol: { type: "string", default: "TCP" } },
          },
        },
        share: { "x-kubernetes-int-or-string": true },
        note: { type: "string", nullable: true },
      },
    },
  },
};

function widgets(): FakeApiServer {
  return new FakeApiServer({
    resources: [{
      group: "example.com",
      version: "v1",
      plural: "widgets",
      kind: "Widget",
      scope: "Namespaced",
      openAPIV3Schema: SCHEMA,
    }],
  });
}

Deno.test("objects of a custom kind are pruned, and get the defaults of its schema", async () => {
  const { code, warnings, body } = await send(widgets(), "POST", WIDGETS, {
    apiVersion: "example.com/v1",
    kind: "Widget",
    metadata: { name: "a" },
    spec: { size: 1, odd: 1, code: null, note: null, free: { any: [1] }, ports: [{ port: 1, x: 1 }] },
  });
  assertEquals([code, warnings], [201, ['unknown field "spec.odd"', 'unknown field "spec.ports[0].x"']]);
  assertEquals(
    body.spec,
    { size: 1, color: "red", note: null, free: { any: [1] }, ports: [{ port: 1, protocol: "TCP" }] },
  );
});

Deno.test("unknown fields of a custom kind are refused in the words of the server", async () => {
  const object = { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "a" }, spec: { size: 1, odd: 1 } };
  const { code, body } = await send(widgets(), "POST", `${WIDGETS}?fieldValidation=Strict`, object);
  const why = 'Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "spec.odd"';
  assertEquals([code, body.message], [400, why]);
});

Deno.test("limits of containers get the defaults of a server", async () => {
  using server = fakeServer();
  await checkLimits(server, "default");
});

Deno.test("persistent volumes get the defaults of their kind alone", async () => {
  const spec = { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/tmp" } };
  const { body } = await send(new FakeApiServer(), "POST", "/api/v1/persistentvolumes", {
    metadata: { name: "a" },
    spec,
  });
  assertEquals([body.spec.persistentVolumeReclaimPolicy, body.spec.volumeMode], ["Retain", "Filesystem"]);
});

const FAULTS: readonly (readonly [spec: object, reason: string, field: string, message: string])[] = [
  [{}, "FieldValueRequired", "spec.size", "Required value"],
  [
    { size: "x" },
    "FieldValueTypeInvalid",
    "spec.size",
    'Invalid value: "string": spec.size in body must be of type integer: "string"',
  ],
  [
    { size: 0 },
    "FieldValueInvalid",
    "spec.size",
    "Invalid value: 0: spec.size in body should be greater than or equal to 1",
  ],
  [
    { size: 1, color: "green" },
    "FieldValueNotSupported",
    "spec.color",
    'Unsupported value: "green": supported values: "red", "blue"',
  ],
  [
    { size: 1, code: "A" },
    "FieldValueInvalid",
    "spec.code",
    `Invalid value: "A": spec.code in body should match '\\A[a-z]+\\z'`,
  ],
  [
    { size: 1, ports: [null] },
    "FieldValueTypeInvalid",
    "spec.ports[0]",
    'Invalid value: "null": spec.ports[0] in body must be of type object: "null"',
  ],
  [{ size: 1, code: "abcd" }, "FieldValueTooLong", "spec.code", "Too long: may not be more than 3 bytes"],
  [{ size: 1, tags: ["a", "a"] }, "FieldValueDuplicate", "spec.tags[1]", 'Duplicate value: "a"'],
  [{ size: 1, tags: ["a", "b", "c"] }, "FieldValueTooMany", "spec.tags", "Too many: 3: must have at most 2 items"],
  [
    { size: 1, ports: [{ port: 1 }, { port: 1 }] },
    "FieldValueDuplicate",
    "spec.ports[1]",
    'Duplicate value: {"port":1,"protocol":"TCP"}',
  ],
  [
    { size: 1, share: true },
    "FieldValueTypeInvalid",
    "spec.share",
    'Invalid value: "boolean": spec.share in body must be of type integer,string: "boolean"',
  ],
];

Deno.test("objects of a custom kind are checked by the rules of its schema", async () => {
  const server = widgets();
  for (const [spec, reason, field, message] of FAULTS) {
    const { code, body } = await send(server, "POST", WIDGETS, {
      apiVersion: "example.com/v1",
      kind: "Widget",
      metadata: { name: "a" },
      spec,
    });
    assertEquals([code, body.details?.causes], [422, [{ reason, message, field }]]);
  }
});

Deno.test("alternatives and replicas of a custom kind are refused in the words of the server", () => {
  const alternatives = [{ type: "integer" }, { type: "string" }];
  const spec = {
    type: "object",
    properties: {
      port: { "x-kubernetes-int-or-string": true, anyOf: alternatives },
      size: { type: "string", enum: ["Small"] },
      one: { type: "integer", oneOf: [{ minimum: 1 }, { maximum: 5 }] },
      all: { type: "integer", allOf: [{ minimum: 1 }, { maximum: 5 }] },
    },
  };
  const schema = schemaOfOpenApi({ type: "object", properties: { spec } }, { type: "any" }) as Struct;
  const scale = { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" };
  const causesOf = (object: JsonObject): unknown =>
    validateCustom(schema, object, scale).map(({ field, message }) => `${field}: ${message}`);
  assertEquals(causesOf({ spec: { port: true } }), [
    'spec.port: Invalid value: "boolean": spec.port in body must be of type integer,string: "boolean"',
    '<nil>: Invalid value: "": "spec.port" must validate at least one schema (anyOf)',
    'spec.port: Invalid value: "boolean": spec.port in body must be of type integer: "boolean"',
  ]);
  assertEquals(causesOf({ spec: { size: 1 } }), [
    'spec.size: Invalid value: "integer": spec.size in body must be of type string: "integer"',
    'spec.size: Unsupported value: 1: supported values: "Small"',
  ]);
  assertEquals(causesOf({ spec: { one: 3, all: 9 } }), [
    '<nil>: Invalid value: "": "spec.one" must validate one and only one schema (oneOf). Found 2 valid alternatives',
    "spec.all: Invalid value: 9: spec.all in body should be less than or equal to 5",
    '<nil>: Invalid value: "": "spec.all" must validate all the schemas (allOf)',
  ]);
  assertEquals(causesOf({ spec: { replicas: -1 }, status: { replicas: 2 ** 31 } }), [
    ".spec.replicas: Invalid value: -1: should be a non-negative integer",
    ".status.replicas: Invalid value: 2147483648: should be less than or equal to 2147483647",
  ]);
  assertEquals(causesOf({ spec: { replicas: "two" } }), [
    ".spec.replicas: Invalid value: 0: .spec.replicas accessor error: two is of the type string, expected int64",
  ]);
});

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
