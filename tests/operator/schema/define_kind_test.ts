// Kinds that are defined in TypeScript: their resources, types, CRDs, and what is refused.
import type { Apply, Client, IntOrString, MergePatch, Mutable, ObjectDraft } from "@kube/informer";
import { defineKind, type KindOf, SchemaError, type ValueOf } from "@kube/informer/schema";
import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import * as v from "npm:valibot@1.5.0";
import { toStandardJsonSchema } from "npm:@valibot/to-json-schema@1.8.0";
import { type } from "npm:arktype@2.2.10";
import { z } from "npm:zod@4.6.7";

/** `true` if two types are the same. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false;

/** Fails to compile for other types than `true`. */
function holds<_ extends true>(): void {}

const NAMES = { group: "example.com", version: "v1", kind: "Website", plural: "websites" } as const;

const Website = defineKind({
  ...NAMES,
  shortNames: ["web"],
  categories: ["all"],
  scope: "Cluster",
  description: "A website.",
  columns: [{ name: "Image", type: "string", jsonPath: ".spec.image", priority: 1 }],
  scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
  selectableFields: [".spec.image"],
  rules: [{ rule: "self.metadata.name.size() < 20" }],
  deprecationWarning: "use v2",
  spec: {
    type: "object",
    required: ["image", "ports"],
    properties: {
      image: { type: "string" },
      replicas: { type: "integer", default: 1 },
      mode: { type: "string", enum: ["fast", "slow"] },
      port: { "x-kubernetes-int-or-string": true },
      ports: {
        type: "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
        items: {
          type: "object",
          required: ["name", "protocol"],
          properties: {
            name: { type: "string" },
            port: { type: "integer" },
            protocol: { type: "string", enum: ["TCP", "UDP"] },
          },
        },
      },
      labels: { type: "object", additionalProperties: { type: "string" } },
      owner: { type: ["string", "null"] },
      extra: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
      template: {
        type: "object",
        "x-kubernetes-embedded-resource": true,
        "x-kubernetes-preserve-unknown-fields": true,
      },
      kind: { const: "web" },
    },
  },
  status: { type: "object", properties: { replicas: { type: "integer" } } },
});
type Website = KindOf<typeof Website>;

Deno.test("a defined kind is a resource, with a CRD of all options", () => {
  const { group, version, plural, kind, scope, shortNames, categories, crd } = Website;
  assertEquals(
    [group, version, plural, kind, scope, shortNames, categories],
    ["example.com", "v1", "websites", "Website", "Cluster", ["web"], ["all"]],
  );
  assertEquals(crd.metadata, { name: "websites.example.com" });
  const { versions, ...spec } = crd.spec;
  assertEquals(spec, {
    group: "example.com",
    scope: "Cluster",
    names: {
      kind: "Website",
      listKind: "WebsiteList",
      plural: "websites",
      singular: "website",
      shortNames: ["web"],
      categories: ["all"],
    },
  });
  const [{ schema, ...first }] = versions;
  assertEquals(first as unknown, {
    name: "v1",
    served: true,
    storage: true,
    deprecated: true,
    deprecationWarning: "use v2",
    subresources: {
      status: {},
      scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
    },
    additionalPrinterColumns: [{ name: "Image", type: "string", jsonPath: ".spec.image", priority: 1 }],
    selectableFields: [{ jsonPath: ".spec.image" }],
  });
  assertEquals(schema as unknown, {
    openAPIV3Schema: {
      description: "A website.",
      type: "object",
      required: ["spec"],
      "x-kubernetes-validations": [{ rule: "self.metadata.name.size() < 20" }],
      properties: {
        spec: {
          type: "object",
          required: ["image", "ports"],
          properties: {
            image: { type: "string" },
            replicas: { type: "integer", default: 1 },
            mode: { type: "string", enum: ["fast", "slow"] },
            port: { "x-kubernetes-int-or-string": true },
            ports: {
              type: "array",
              "x-kubernetes-list-type": "map",
              "x-kubernetes-list-map-keys": ["name"],
              items: {
                type: "object",
                required: ["name", "protocol"],
                properties: {
                  name: { type: "string" },
                  port: { type: "integer" },
                  protocol: { type: "string", enum: ["TCP", "UDP"] },
                },
              },
            },
            labels: { type: "object", additionalProperties: { type: "string" } },
            owner: { type: "string", nullable: true },
            extra: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
            template: {
              type: "object",
              "x-kubernetes-embedded-resource": true,
              "x-kubernetes-preserve-unknown-fields": true,
            },
            kind: { type: "string", enum: ["web"] },
          },
        },
        status: { type: "object", properties: { replicas: { type: "integer" } } },
      },
    },
  });
  assert(Object.isFrozen(Website));
});

Deno.test("a rule of the whole object can read its name", async () => {
  const spec = { image: "nginx", ports: [] };
  assertEquals(await Website.validate({ metadata: { name: "short" }, spec }), []);
  const [{ message }] = await Website.validate({ metadata: { name: "a-website-of-a-long-name" }, spec });
  assertStringIncludes(message!, "failed rule: self.metadata.name.size() < 20");
});

Deno.test("a CRD serves older versions of a kind, and stores the newest", () => {
  const spec = { type: "object", properties: { image: { type: "string" } } } as const;
  const Old = defineKind({ ...NAMES, version: "v1beta1", spec });
  const { crd } = defineKind({ ...NAMES, spec, olderVersions: [Old] });
  assertEquals(crd.spec.versions.map(({ name, served, storage }) => [name, served, storage]), [
    ["v1", true, true],
    ["v1beta1", true, false],
  ]);
  const Ended = defineKind({ ...NAMES, version: "v1beta1", spec, served: false });
  const next = defineKind({ ...NAMES, spec, olderVersions: [Ended] }).crd;
  assertEquals(next.spec.versions.map(({ served }) => served), [true, false]);
});

Deno.test("the types of a defined kind are those of its schema", () => {
  type Spec = Website["spec"];
  holds<Same<Spec["image"], string>>();
  holds<Same<Spec["replicas"], number | undefined>>();
  holds<Same<Extract<Spec["mode"], "fast" | "slow">, "fast" | "slow">>();
  holds<Same<Spec["port"], IntOrString | undefined>>();
  holds<Same<Spec["labels"], { readonly [name: string]: string } | undefined>>();
  holds<Same<Spec["owner"], string | null | undefined>>();
  holds<Same<Spec["kind"], "web" | undefined>>();
  holds<Same<Website["metadata"]["namespace"], undefined>>();
  holds<Same<NonNullable<Website["status"]>["replicas"], number | undefined>>();
  const ports: Spec["ports"] = [];
  assertEquals(ports, []);
  const check = (website: Website, client: Client): void => {
    const draft: ObjectDraft<Website> = {
      metadata: { name: "a" },
      spec: { image: "x", ports: [{ name: "a", protocol: "TCP" }], mode: "fast" },
    };
    const apply: Apply<Website> = { metadata: { name: "a" }, spec: { ports: [{ name: "b" }] } };
    const patch: MergePatch<Website> = { spec: { replicas: null } };
    const copy = website as Mutable<Website>;
    copy.spec.replicas = 2;
    void client.resource(Website).create(draft);
    void [apply, patch, website.spec.extra?.any, website.spec.template?.kind];
    // @ts-expect-error -- an unknown field
    void client.resource(Website).create({ metadata: { name: "a" }, spec: { image: "x", ports: [], imag: "y" } });
    // @ts-expect-error -- a required field is missing
    void client.resource(Website).create({ metadata: { name: "a" }, spec: { image: "x" } });
    // @ts-expect-error -- another value
    void client.resource(Website).create({ metadata: { name: "a" }, spec: { image: "x", ports: [], mode: "warp" } });
    const port = { name: "a", protocol: "IP" } as const;
    // @ts-expect-error -- another value of a required enum in a list
    void client.resource(Website).create({ metadata: { name: "a" }, spec: { image: "x", ports: [port] } });
    // @ts-expect-error -- an element of a list of type map needs its key
    const wrong: Apply<Website> = { metadata: { name: "a" }, spec: { ports: [{ port: 1 }] } };
    // @ts-expect-error -- the cache's object
    website.spec.replicas = 2;
    void wrong;
  };
  assertEquals(typeof check, "function");
  type Defs = ValueOf<
    { readonly $defs: { readonly Port: { readonly type: "integer" } }; readonly $ref: "#/$defs/Port" }
  >;
  holds<Same<Defs, number>>();
  holds<
    Same<ValueOf<{ readonly anyOf: readonly [{ readonly type: "string" }, { readonly type: "null" }] }>, string | null>
  >();
});

Deno.test("schemas of libraries have the types of what users write", async () => {
  const Zod = defineKind({
    ...NAMES,
    spec: z.object({ image: z.string().min(1), replicas: z.int().min(0).default(1) }),
  });
  holds<Same<KindOf<typeof Zod>["spec"]["image"], string>>();
  holds<Same<KindOf<typeof Zod>["spec"]["replicas"], number | undefined>>();
  const Valibot = defineKind({
    ...NAMES,
    spec: toStandardJsonSchema(
      v.object({ image: v.pipe(v.string(), v.minLength(1)), replicas: v.optional(v.number()) }),
    ),
  });
  holds<Same<KindOf<typeof Valibot>["spec"]["replicas"], number | undefined>>();
  const Ark = defineKind({ ...NAMES, spec: type({ image: "string >= 1", "replicas?": "number" }) });
  holds<Same<KindOf<typeof Ark>["spec"]["image"], string>>();
  for (const { validate } of [Zod, Valibot, Ark]) {
    assertEquals(await validate({ metadata: { name: "a" }, spec: { image: "x" } }), []);
    const [cause] = await validate({ metadata: { name: "a" }, spec: { image: "" } });
    assertEquals(cause.field, "spec.image");
  }
});

Deno.test("a kind that no server takes is refused where it is defined, with paths and remedies", () => {
  const error = assertThrows(() =>
    defineKind({
      ...NAMES,
      plural: "Web_Sites",
      columns: [{ name: "A", type: "string", jsonPath: "spec.a" }],
      spec: {
        type: "object",
        required: ["imag"],
        properties: { image: { type: "string", pattern: "(" }, list: { type: "array" } },
      },
    }), SchemaError);
  assertStringIncludes(error.message, "Cannot define a kind: ");
  assert(error.faults.some(({ path }) => path.startsWith("spec")), error.message);
  const paths = (spec: object): unknown[] => {
    const error = assertThrows(() => defineKind({ ...NAMES, spec: spec as { type: "object" } }), SchemaError);
    return error.faults.map(({ path }) => path);
  };
  assertEquals(paths({ type: "object", properties: { list: { type: "array" } } }), ["spec.list.items"]);
  assertEquals(paths({ type: "object", properties: { a: { type: "strng" } } }), ["spec.a.type"]);
  const faults = (more: object): unknown[] => {
    const fields = { type: "object", properties: { group: { type: "string" } } } as const;
    return assertThrows(() => defineKind({ ...NAMES, spec: fields, ...more }), SchemaError).faults.map((it) => it.path);
  };
  assertEquals(faults({ group: "example" }), ["group"]);
  assertEquals(faults({ plural: "Sites" })[0], "plural");
  assertEquals(faults({ version: "V1" })[0], "version");
  assertEquals(faults({ shortNames: ["S"] }), ["shortNames[0]"]);
  assertEquals(faults({ columns: [{ name: "A", type: "string", jsonPath: "spec.a" }] }), ["columns[0].jsonPath"]);
  assertEquals(faults({ selectableFields: [".spec.a"] }), ["selectableFields[0]"]);
  assertEquals(
    faults({ scale: { specReplicasPath: "a", statusReplicasPath: ".status.a" } })[0],
    "scale.specReplicasPath",
  );
  assertEquals(paths({ type: "object", properties: { group: { type: "strng" } } }), ["spec.group.type"]);
  assertThrows(() => defineKind({ ...NAMES, spec: undefined as never }), SchemaError, "spec");
  assertThrows(
    () => defineKind({ ...NAMES, sepc: {} } as never),
    TypeError,
    'there is no option "sepc". Did you mean "spec"?',
  );
});

Deno.test("validate() of a kind with a wrong rule rejects with the place of the rule", async () => {
  const rule = { rule: "self.b == 1" };
  const Wrong = defineKind({
    ...NAMES,
    spec: { type: "object", properties: { a: { type: "string" } }, "x-kubernetes-validations": [rule] },
  });
  const error = await Wrong.validate({ metadata: { name: "a" }, spec: {} }).catch((error) => error);
  assert(error instanceof SchemaError);
  assertEquals(error.faults.map(({ path }) => path), ["spec.x-kubernetes-validations[0].rule"]);
});

Deno.test("a schema with more than 1,000 fields within each other is refused by name", async () => {
  const nested = (levels: number): object => {
    let schema: object = { type: "string" };
    for (let level = 0; level < levels; level++) schema = { type: "object", properties: { a: schema } };
    return schema;
  };
  const kind = defineKind({ ...NAMES, spec: nested(999) as never }) as unknown as typeof Website;
  assertEquals(await kind.validate({ metadata: { name: "a" }, spec: { a: { a: {} } } }), []);
  for (const levels of [1_000, 20_000]) {
    const { message } = assertThrows(() => defineKind({ ...NAMES, spec: nested(levels) as never }), SchemaError);
    assertStringIncludes(message, "spec");
    assertStringIncludes(message, "it is nested more than 2000 deep. Flatten it");
  }
});
