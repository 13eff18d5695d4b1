import { assert, assertEquals, assertThrows } from "@std/assert";
import { schemaOf, structNamed } from "../../../../src/testing/fake/schema/schema.ts";
import {
  type ListOf,
  type Schema,
  schemaOfKind,
  schemaOfOpenApi,
  type Struct,
} from "../../../../src/operator/schema/values/object_schema.ts";
import { SCHEMA_TEXTS } from "../../../../src/testing/fake/schema/texts.ts";
import type { JsonObject } from "../../../../src/engine/api/json.ts";

/** The schema at a path of fields; lists and maps are those of their elements. */
function at(struct: Struct, ...path: readonly string[]): Schema {
  let schema: Schema = struct;
  for (const name of path) {
    while (schema.type === "list" || schema.type === "map") {
      schema = schema.type === "list" ? schema.items : schema.values;
    }
    schema = (schema as Struct).fields.get(name)!.schema;
  }
  return schema;
}

function reach(schema: Schema, seen: Set<string>): void {
  if (schema.type === "list") return reach(schema.items, seen);
  if (schema.type === "map") return reach(schema.values, seen);
  if (schema.type !== "struct") return schema.union === undefined ? undefined : reach(schema.union, seen);
  if (seen.has(schema.name)) return;
  seen.add(schema.name);
  for (const { schema: inner } of schema.fields.values()) reach(inner, seen);
  for (const embedded of schema.inlined.values()) reach(embedded, seen);
}

Deno.test("every built-in type is read, and belongs to a kind", () => {
  const seen = new Set<string>();
  let types = 0;
  for (const [id, text] of Object.entries(SCHEMA_TEXTS)) {
    const [apiVersion, ...blocks] = text.split("\n\n");
    types += blocks.length;
    for (const block of blocks) {
      const [name, ...marks] = block.split("\n")[0].split(" ");
      if (!marks.includes("kind") && id !== "meta/v1") continue;
      const [version, group = ""] = apiVersion.split("/").reverse();
      reach(id === "meta/v1" ? structNamed(`meta/v1.${name}`) : schemaOf(group, version, name)!, seen);
    }
  }
  assert(types > 500, `${types} types`);
  assertEquals(seen.size, types);
});

Deno.test("the schema of a pod has types, keys, enums, pointers and numbers as Go and OpenAPI have them", () => {
  const pod = schemaOf("", "v1", "Pod")!;
  assertEquals([...pod.fields.keys()], ["kind", "apiVersion", "metadata", "spec", "status"]);
  assertEquals(pod.name, "core/v1.Pod");
  const { items: _items, ...containers } = at(pod, "spec", "containers") as Schema & { items: Schema };
  assertEquals(containers, { type: "list", list: "map", keys: ["name"], mergeKey: "name" } as unknown);
  const { items: _ports, ...ports } = at(pod, "spec", "containers", "ports") as Schema & { items: Schema };
  assertEquals(
    ports,
    { type: "list", list: "map", keys: ["containerPort", "protocol"], mergeKey: "containerPort" } as unknown,
  );
  assertEquals(at(pod, "spec", "nodeSelector"), { type: "map", values: { type: "string" }, atomic: true });
  assertEquals(at(pod, "metadata", "labels"), { type: "map", values: { type: "string" }, atomic: false });
  assertEquals(
    at(pod, "metadata", "finalizers"),
    { type: "list", items: { type: "string" }, list: "set", keys: [], mergeKey: "" },
  );
  assertEquals((at(pod, "spec", "tolerations") as { mergeKey?: string }).mergeKey, undefined);
  assertEquals(
    at(pod, "spec", "containers", "resources", "limits"),
    { type: "map", values: { type: "quantity" }, atomic: false },
  );
  assertEquals(at(pod, "spec", "containers", "livenessProbe", "httpGet", "port"), { type: "intOrString" });
  assertEquals(at(pod, "status", "startTime"), { type: "time" });
  const spec = structNamed("core/v1.PodSpec").fields;
  assertEquals(spec.get("dnsPolicy")!.allowed, ["ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"]);
  const { required, omitEmpty, pointer, number } = spec.get("containers")!;
  assertEquals(
    { required, omitEmpty, pointer, number },
    { required: true, omitEmpty: false, pointer: false, number: 2 },
  );
  assertEquals([spec.get("hostUsers")!.pointer, spec.get("hostUsers")!.omitEmpty], [true, true]);
  const port = structNamed("core/v1.ContainerPort").fields;
  assertEquals([port.get("protocol")!.default, port.get("containerPort")!.default], ["TCP", undefined]);
});

Deno.test("defaults that are Go code are those of the server; what depends on other fields has none", () => {
  const defaultOf = (type: string, field: string): unknown => structNamed(type).fields.get(field)!.default;
  assertEquals(defaultOf("core/v1.Probe", "periodSeconds"), 10);
  assertEquals(defaultOf("core/v1.PodSpec", "securityContext"), {});
  assertEquals(defaultOf("core/v1.EphemeralContainer", "terminationMessagePath"), "/dev/termination-log");
  assertEquals(defaultOf("core/v1.HostPathVolumeSource", "type"), "");
  assertEquals(defaultOf("storage/v1.CSIDriverSpec", "podInfoOnMount"), false);
  assertEquals(defaultOf("apps/v1.RollingUpdateDeployment", "maxSurge"), "25%");
  assertEquals(defaultOf("core/v1.Container", "imagePullPolicy"), undefined, "by the tag of the image");
  assertEquals(defaultOf("core/v1.ServiceSpec", "clusterIP"), undefined, "drawn");
  assertEquals(defaultOf("core/v1.ServicePort", "targetPort"), undefined, "the port");
});

Deno.test("fields of embedded types are among those of the type, in Go's order, and have numbers in their own", () => {
  const probe = structNamed("core/v1.Probe");
  assertEquals([...probe.fields.keys()].slice(0, 5), ["exec", "httpGet", "tcpSocket", "grpc", "initialDelaySeconds"]);
  assertEquals(probe.inlined.get(1)!.name, "core/v1.ProbeHandler");
  assertEquals([probe.fields.get("httpGet")!.number, probe.inlined.get(1)!.fields.get("httpGet")!.number], [0, 2]);
  assertEquals(probe.fields.get("httpGet")!.schema, probe.inlined.get(1)!.fields.get("httpGet")!.schema);
});

Deno.test("types are atomic or keep keys by themselves, and a field may say otherwise", () => {
  assert(structNamed("core/v1.ObjectReference").atomic);
  assert(!(at(schemaOf("", "v1", "PersistentVolume")!, "spec", "claimRef") as Struct).atomic);
  assertEquals(
    ["core/v1.Volume", "apps/v1.DeploymentStrategy", "core/v1.Container"].map((name) => structNamed(name).retainKeys),
    [true, true, false],
  );
});

Deno.test("types that contain themselves, and values of several types, are read", () => {
  const props = structNamed("apiextensions/v1.JSONSchemaProps");
  assertEquals(props.fields.get("not")!.schema, props);
  const items = props.fields.get("items")!.schema;
  assert(items.type === "any");
  assertEquals([...items.union!.fields.keys()], ["schema", "jSONSchemas"]);
  assertEquals(props.fields.get("x-kubernetes-int-or-string")!.number, 40);
});

Deno.test("kinds are found by group, version and kind; bodies of requests too", () => {
  assertEquals(schemaOf("autoscaling", "v1", "Scale")!.name, "autoscaling/v1.Scale");
  assertEquals(schemaOf("policy", "v1", "Eviction")!.name, "policy/v1.Eviction");
  assertEquals(schemaOf("", "v1", "Binding")!.name, "core/v1.Binding");
  assertEquals(schemaOf("authentication.k8s.io", "v1", "TokenRequest")!.name, "authentication/v1.TokenRequest");
  assertEquals(schemaOf("apps", "v1", "DeleteOptions")!.name, "meta/v1.DeleteOptions");
  assertEquals(schemaOf("apps", "v1", "DeploymentSpec"), undefined, "a type, but no kind");
  assertEquals(schemaOf("apps.example.com", "v1", "Deployment"), undefined);
  assertEquals(schemaOf("apps", "v2", "Deployment"), undefined);
  assertThrows(() => structNamed("core/v1.Nothing"), Error, `"core/v1.Nothing": no built-in type`);
});

const META: Schema = { type: "any" };
const string: JsonObject = { type: "string" };

function read(rules: JsonObject): Schema {
  return schemaOfOpenApi(rules, META);
}

Deno.test("schemaOfOpenApi reads scalars", () => {
  const types = ([
    [string, "string"],
    [{ type: "integer" }, "int64"],
    [{ type: "integer", format: "int32" }, "int32"],
    [{ type: "number" }, "number"],
    [{ type: "boolean" }, "boolean"],
    [{ "x-kubernetes-int-or-string": true }, "intOrString"],
    [{ "x-kubernetes-preserve-unknown-fields": true }, "any"],
  ] as const).map(([rules, type]) => [read(rules), { type, rules }]);
  for (const [found, wanted] of types) assertEquals(found, wanted as Schema);
});

Deno.test("schemaOfOpenApi reads lists by their type, and as atomic without one", () => {
  const items = { type: "object", properties: { port: { type: "integer" } } };
  const list = (extensions: JsonObject): ListOf => read({ type: "array", items, ...extensions }) as ListOf;
  const keys = { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port", "protocol"] };
  assertEquals([list(keys).list, list(keys).keys], ["map", ["port", "protocol"]]);
  assertEquals(list({ "x-kubernetes-list-type": "set" }).list, "set");
  assertEquals([list({}).list, list({}).mergeKey], ["atomic", undefined]);
  assertEquals((list({}).items as Struct).fields.get("port")?.schema.type, "int64");
});

Deno.test("schemaOfOpenApi reads structs and maps, with what fields require", () => {
  const level = { type: "string", enum: ["low", "high"], default: "low" };
  const struct = read({
    type: "object",
    required: ["size"],
    properties: {
      size: { type: "integer", nullable: true },
      level,
      labels: { type: "object", additionalProperties: string, "x-kubernetes-map-type": "atomic" },
      free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    },
  }) as Struct;
  const { size, level: levelField, labels, free } = Object.fromEntries(struct.fields);
  assertEquals([size.required, size.nullable, levelField.required, levelField.nullable], [true, true, false, false]);
  assertEquals([levelField.default, levelField.allowed], ["low", ["low", "high"]]);
  assertEquals([labels.schema.type, (labels.schema as Struct).atomic, struct.atomic], ["map", true, false]);
  assertEquals([(free.schema as Struct).open, struct.open], [true, false]);
});

Deno.test("schemaOfKind adds the metadata of all kinds, and keeps everything without a schema", () => {
  const struct = schemaOfKind({ type: "object", properties: { spec: { type: "object" } } }, META);
  assertEquals([...struct.fields.keys()], ["spec", "apiVersion", "kind", "metadata"]);
  assertEquals(struct.fields.get("metadata")?.schema, META);
  const free = schemaOfKind(undefined, META);
  assertEquals([...free.fields.keys(), free.open], ["apiVersion", "kind", "metadata", true]);
});
