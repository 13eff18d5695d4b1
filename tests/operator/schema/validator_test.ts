// What checks objects of a defined kind: `validate()`, the client, informers, controllers, and the fake server.
import { Client, copyOf, SharedInformerFactory, StatusError } from "@kube/informer";
import { Pod } from "@kube/informer/kinds/core/v1";
import { Reconciler } from "@kube/informer/reconcile";
import { defineKind, type KindOf } from "@kube/informer/schema";
import { FakeApiServer, FakeTime } from "@kube/informer/testing";
import { assert, assertEquals, assertRejects } from "@std/assert";

const Website = defineKind({
  group: "example.com",
  version: "v1",
  kind: "Website",
  plural: "websites",
  spec: {
    type: "object",
    required: ["image"],
    properties: {
      image: { type: "string", minLength: 1 },
      replicas: { type: "integer", minimum: 0, default: 1 },
      ports: {
        type: "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
        items: {
          type: "object",
          required: ["name"],
          properties: { name: { type: "string" }, port: { type: "integer", maximum: 65_535 } },
        },
      },
      labels: { type: "object", additionalProperties: { type: "string", maxLength: 5 } },
    },
  },
  status: { type: "object", properties: { ready: { type: "boolean" } } },
});
type Website = KindOf<typeof Website>;

/** A server that takes any Website, like a server whose CRD allows more than the schema here. */
const Loose = {
  group: "example.com",
  version: "v1",
  plural: "websites",
  kind: "Website",
  scope: "Namespaced",
} as const;

const fields = (causes: readonly { readonly field?: string }[]): unknown[] => causes.map(({ field }) => field);

Deno.test("validate() finds what the server would refuse, behind defaults and without unknown fields", async () => {
  assertEquals(await Website.validate({ metadata: { name: "a" }, spec: { image: "x", unknown: 1 } }), []);
  const [cause, ...others] = await Website.validate({ metadata: { name: "a" }, spec: { image: "", replicas: -1 } });
  assertEquals(cause, {
    reason: "FieldValueInvalid",
    message: 'Invalid value: "": spec.image in body should be at least 1 chars long',
    field: "spec.image",
  });
  assertEquals(fields(others), ["spec.replicas"]);
  assertEquals(fields(await Website.validate({ metadata: { name: "a" } })), ["spec"]);
});

Deno.test("validate() and the fake server drop nulls in maps, and check objects within objects, as the server does", async () => {
  const Holder = defineKind({
    group: "example.com",
    version: "v1",
    kind: "Holder",
    plural: "holders",
    spec: {
      type: "object",
      properties: {
        labels: { type: "object", additionalProperties: { type: "string" } },
        sizes: { type: "object", additionalProperties: { type: "integer", default: 1 } },
        count: { type: "integer", maxProperties: 0 },
        template: {
          type: "object",
          "x-kubernetes-embedded-resource": true,
          "x-kubernetes-preserve-unknown-fields": true,
        },
      },
    },
  });
  const server = new FakeApiServer({ resources: [Holder] });
  using client = new Client({ server: "http://fake", transport: server, namespace: "shop" });
  const metadata = { name: "a", labels: { a: "b" }, unknown: 1 };
  const spec = {
    labels: { a: "x", b: null },
    sizes: { a: null },
    template: { apiVersion: "v1", kind: "Pod", metadata, spec: { c: 1 } },
  };
  const object = { metadata: { name: "a" }, spec: spec as never };
  assertEquals(await Holder.validate(object), []);
  const made = await client.resource(Holder).create(object);
  const template = { apiVersion: "v1", kind: "Pod", metadata: { name: "a", labels: { a: "b" } }, spec: { c: 1 } };
  assertEquals(made.spec as unknown, { labels: { a: "x" }, sizes: { a: 1 }, template });
  // The fields of an object where a number belongs are dropped first.
  assertEquals((await Holder.validate({ metadata: { name: "a" }, spec: { count: { a: 1 } } })).length, 1);
  for (
    const [template, fields_] of [
      [{ apiVersion: "v1" }, ["spec.template.kind"]],
      [{ apiVersion: "a/b/c", kind: "a b" }, ["spec.template.apiVersion", "spec.template.kind"]],
      [{ apiVersion: "", kind: 1 }, ["spec.template.apiVersion", "spec.template.kind"]],
    ] as const
  ) {
    assertEquals(fields(await Holder.validate({ metadata: { name: "a" }, spec: { template } })), [...fields_]);
  }
});

Deno.test("validate() of an update does not check what has not changed, by the keys of maps and lists of type map", async () => {
  const wrong = {
    metadata: { name: "a" },
    spec: { image: "", ports: [{ name: "a", port: 70_000 }, { name: "b", port: 1 }], labels: { a: "too long" } },
  };
  assertEquals(fields(await Website.validate(wrong)), ["spec.image", "spec.ports[0].port", "spec.labels.a"]);
  const validate = async (spec: object): Promise<unknown[]> =>
    fields(await Website.validate({ ...wrong, spec: { ...wrong.spec, ...spec } }, { previous: wrong }));
  assertEquals(await validate({}), []);
  assertEquals(await validate({ replicas: 2 }), []);
  assertEquals(await validate({ ports: [{ name: "b", port: 2 }, { name: "a", port: 70_000 }] }), []);
  assertEquals(await validate({ ports: [{ name: "a", port: 70_001 }] }), ["spec.ports[0].port"]);
  assertEquals(await validate({ ports: [{ name: "c", port: 70_000 }] }), ["spec.ports[0].port"]);
  assertEquals(await validate({ labels: { a: "too long", b: "also long" } }), ["spec.labels.b"]);
  assertEquals(await validate({ image: undefined }), ["spec.image"]);
});

Deno.test("A client with the option validate refuses wrong objects before it sends them", async () => {
  const server = new FakeApiServer({ resources: [Loose] });
  using client = new Client({ server: "http://fake", transport: server, namespace: "shop", validate: true });
  const websites = client.resource(Website);
  const error = await assertRejects(
    () => websites.create({ metadata: { name: "a" }, spec: { image: "", replicas: 1 } }),
    StatusError,
    `Cannot create "websites.example.com/a" in namespace "shop": 422 Invalid: Website.example.com "a" is invalid: spec.image`,
  );
  assertEquals([error.status.code, fields(error.status.details!.causes!)], [422, ["spec.image"]]);
  assertEquals(server.requests, []);
  const made = await websites.create({ metadata: { name: "a" }, spec: { image: "x" } });
  await assertRejects(() => websites.update({ ...copyOf(made), spec: { image: "" } }), StatusError, "422");
  await assertRejects(
    () => websites.update({ ...copyOf(made), spec: { image: "" } }, { subresource: "status" }),
    StatusError,
    "422",
  );
  assertEquals(server.requests.length, 1);
  await websites.patch("a", { type: "merge", body: { spec: { image: "" } } }); // no complete object
  using trusting = new Client({ server: "http://fake", transport: server, namespace: "shop" });
  await trusting.resource(Website).create({ metadata: { name: "b" }, spec: { image: "" } });
  await client.resource(Pod).create({ metadata: { name: "p" }, spec: { containers: [{ name: "a", image: "x" }] } });
});

Deno.test("A reconciler does not clean up an object that has become invalid, and reports its finalizers", async () => {
  using time = new FakeTime();
  const server = new FakeApiServer({ resources: [Loose] });
  using client = new Client({ server: "http://fake", transport: server });
  await using informers = new SharedInformerFactory(client, { validate: true });
  const reconciled: string[] = [];
  const errors: string[] = [];
  await using reconciler = new Reconciler(
    client,
    Website,
    ({ key, object }) => void reconciled.push(`${key} ${object?.spec.image}`),
    { informers, onError: (error) => errors.push(String(error)) },
  );
  const running = reconciler.run();
  server.create(Website, {
    metadata: { name: "a", namespace: "shop", finalizers: ["example.com/b"] },
    spec: { image: "x" },
  });
  await time.tickAsync(1_000);
  assertEquals(reconciled.splice(0), ["shop/a x"]);
  server.patch(Website, "shop/a", { spec: { image: "" } });
  await time.tickAsync(1_000);
  assertEquals(reconciled.splice(0), []);
  assert(
    /Cannot reconcile "shop\/a": it does not fit .* keeps the finalizers "example.com\/b"/.test(errors.join()),
    errors.join(),
  );
  server.patch(Website, "shop/a", { spec: { image: "y" } });
  await time.tickAsync(1_000);
  assertEquals(reconciled, ["shop/a y"]);
  await reconciler[Symbol.asyncDispose]();
  await running;
});

Deno.test("The fake server follows the schema of a defined kind", async () => {
  const server = new FakeApiServer({ resources: [Website] });
  using client = new Client({ server: "http://fake", transport: server, namespace: "shop" });
  const websites = client.resource(Website);
  const made = await websites.create({ metadata: { name: "a" }, spec: { image: "x" } });
  assertEquals(made.spec, { image: "x", replicas: 1 });
  await assertRejects(
    () => websites.create({ metadata: { name: "b" }, spec: { image: "" } }),
    StatusError,
    "spec.image",
  );
  const status = await websites.patch("a", { type: "merge", body: { status: { ready: true } } }, {
    subresource: "status",
  });
  assertEquals(status.status, { ready: true });
  // A kind that the server does not know yet comes with its schema, too.
  const other = new FakeApiServer();
  other.create(Website, { metadata: { name: "a", namespace: "shop" }, spec: { image: "" } });
  using second = new Client({ server: "http://fake", transport: other, namespace: "shop" });
  await assertRejects(
    () => second.resource(Website).create({ metadata: { name: "b" }, spec: { image: "" } }),
    StatusError,
    "spec.image",
  );
  // What was wrong before may stay; what changes may not.
  await second.resource(Website).patch("a", { type: "merge", body: { spec: { replicas: 2 } } });
  await assertRejects(
    () => second.resource(Website).patch("a", { type: "merge", body: { spec: { replicas: -2 } } }),
    StatusError,
    "spec.replicas",
  );
});
