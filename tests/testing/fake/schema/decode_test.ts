import { assertEquals } from "@std/assert";
import { schemaOfOpenApi, type Struct } from "../../../../src/operator/schema/values/object_schema.ts";
import { validateCustom } from "../../../../src/operator/schema/values/validate.ts";
import type { JsonObject } from "../../../../src/engine/api/json.ts";
import { FakeApiServer } from "../../../../src/testing/mod.ts";
import { defineCustomKinds, fakeServer } from "../../../support/twin/servers.ts";
import { checkStrictBodies } from "../../../support/twin/strict_bodies.ts";

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
