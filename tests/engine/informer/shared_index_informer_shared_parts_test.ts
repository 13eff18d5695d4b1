import { derive, type Mutable, onlyFields, onlyMetadata } from "@kube/informer";
import { ConfigMap, Pod } from "@kube/informer/kinds/core/v1";
import { configMap, pod } from "@kube/informer/testing";
import { assert, assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { internals } from "../../../src/engine/errors/internals.ts";
import { SharedIndexInformer } from "../../../src/engine/informer/shared_index_informer.ts";
import { FactoryFixture } from "./_factory_fixture.ts";

/** A pod and its informer, whose handlers read each version. */
class Following extends FactoryFixture {
  /** Sets the phase of the pod. */
  async phase(phase: string): Promise<void> {
    this.server.patch(Pod, "shop/a", { status: { phase } });
    await this.tick();
  }
}

const POD = { name: "a", namespace: "shop", labels: { app: "web" }, node: "n1" };

Deno.test("Each handler is given versions that share what has not changed, at its own speed", async () => {
  await using fixture = new Following();
  fixture.server.create(Pod, pod(POD));
  const pods = fixture.informers.forResource(Pod);
  const seen: Pod[] = [];
  let release = (): void => {};
  const late: Pod[] = [];
  pods.addEventHandler({ onAdd: ({ object }) => seen.push(object), onUpdate: ({ object }) => seen.push(object) });
  pods.addEventHandler({
    onAdd: () => new Promise<void>((resolve) => release = resolve),
    onUpdate: ({ object, previous }) => {
      assertStrictEquals(object.spec, previous.spec);
      late.push(object);
    },
  });
  await fixture.start();
  for (const phase of ["Pending", "Failed", "Unknown"]) await fixture.phase(phase);
  release();
  await fixture.tick();
  assertEquals(late, seen.slice(1));
  const [first, ...rest] = seen;
  for (const next of rest) {
    assertStrictEquals(next.spec, first.spec);
    assertStrictEquals(next.metadata.labels, first.metadata.labels);
    assert(next.metadata !== first.metadata && next.status !== first.status);
  }
  assertEquals(rest.map(({ status }) => status?.phase), ["Pending", "Failed", "Unknown"]);
});

Deno.test("previous that is read behind its object shares its parts, and so does a deleted object", async () => {
  await using fixture = new Following();
  fixture.server.create(Pod, pod(POD));
  const pods = fixture.informers.forResource(Pod);
  const specs: unknown[] = [];
  pods.addEventHandler({
    onUpdate: (event) => specs.push(event.object.spec, event.previous.spec),
    onDelete: ({ object }) => specs.push(object.spec),
  });
  await fixture.start();
  await fixture.phase("Failed");
  fixture.server.delete(Pod, "shop/a");
  await fixture.tick();
  assert(specs.length >= 3);
  assertEquals(new Set(specs).size, 1);
});

Deno.test("A version of a relist shares the parts of what was read before", async () => {
  await using fixture = new Following();
  fixture.server.create(Pod, pod(POD));
  const pods = fixture.informers.forResource(Pod);
  await fixture.start();
  const first = pods.lister.get("shop/a")!;
  fixture.server.patch(Pod, "shop/a", { status: { phase: "Failed" } });
  fixture.server.forceRelist();
  await fixture.tick(5_000);
  const second = pods.lister.get("shop/a")!;
  assertEquals([second.status?.phase, fixture.asked.filter((it) => it === "list").length], ["Failed", 2]);
  assertStrictEquals(second.spec, first.spec);
});

Deno.test("A version behind a restored snapshot shares the parts of what was read of that", async () => {
  await using fixture = new Following();
  fixture.server.create(Pod, pod(POD));
  const before = fixture.informers.forResource(Pod);
  await fixture.start();
  const bytes = await Array.fromAsync(before.snapshot());
  const later = new SharedIndexInformer(fixture.client.resource(Pod), {});
  await later.restore(ReadableStream.from(bytes));
  const first = later.lister.get("shop/a")!;
  void later.run();
  await fixture.phase("Failed");
  await fixture.tick();
  const second = later.lister.get("shop/a")!;
  assertEquals(second.status?.phase, "Failed");
  assertStrictEquals(second.spec, first.spec);
  await Promise.all([later[Symbol.asyncDispose](), fixture.tick()]);
});

Deno.test("The response to a write that is read over the cache shares the parts of the cached object", async () => {
  await using fixture = new Following();
  fixture.server.create(Pod, pod({ ...POD, labels: { app: "größe" } }));
  const pods = fixture.informers.forResource(Pod);
  await fixture.start();
  const first = pods.lister.get("shop/a")!;
  const overlay = pods[internals].sync.overlay();
  const patch = { type: "merge", body: { status: { phase: "Failed" } } } as const;
  const written = fixture.client.resource(Pod).patch("a", patch, { subresource: "status" });
  await fixture.tick();
  overlay.cover("shop/a", { dueMs: Infinity, isOver: () => false }, await written);
  const second = overlay.lister.get("shop/a")!;
  assertEquals(second.status?.phase, "Failed");
  assertStrictEquals(second.spec, first.spec);
  assertStrictEquals(second.metadata.labels, first.metadata.labels);
});

Deno.test("Reduced objects and objects with managedFields share their parts as they are cached", async () => {
  for (
    const [resource, options] of [
      [onlyFields(Pod, ["metadata.labels", "spec.containers", "status.phase"]), {}],
      [onlyMetadata(Pod), {}],
      [Pod, { managedFields: "keep" }],
      [Pod, { parse: "eager" }],
    ] as const
  ) {
    await using fixture = new Following();
    fixture.server.create(Pod, pod(POD));
    const pods = fixture.informers.forResource(resource as typeof Pod, options);
    await fixture.start();
    const first = pods.lister.get("shop/a")!;
    await fixture.phase("Failed");
    const second = pods.lister.get("shop/a")!;
    assert(first !== second, fixture.errors.join());
    assert(Object.isFrozen(second) && Object.isFrozen(second.metadata));
    assertStrictEquals(second.metadata.labels, first.metadata.labels, resource.representation);
    if (first.spec !== undefined) assertStrictEquals(second.spec, first.spec);
  }
});

Deno.test("Nobody who writes into what was shared changes what others are shown", async () => {
  await using fixture = new Following();
  fixture.server.create(Pod, pod(POD));
  const pods = fixture.informers.forResource(Pod);
  const errors: unknown[] = [];
  const shown: unknown[] = [];
  pods.addEventHandler({
    onUpdate: ({ object, previous }) => {
      for (const given of [object, previous] as Mutable<Pod>[]) {
        errors.push(assertThrows(() => given.spec.nodeName = "other", TypeError));
        errors.push(assertThrows(() => given.metadata.labels!.app = "other", TypeError));
        errors.push(assertThrows(() => given.spec.containers.push(given.spec.containers[0]), TypeError));
      }
    },
  });
  pods.addEventHandler({
    onUpdate: ({ object: { metadata, spec } }) => shown.push(metadata.labels?.app, spec.nodeName),
  });
  await using derived = derive(
    pods,
    ({ metadata: { name }, spec, status }) => ({ metadata: { name }, spec, own: [status?.phase] }),
  );
  await fixture.start();
  await fixture.tick();
  await fixture.phase("Failed");
  await fixture.tick();
  const output = derived.lister.get("a") as unknown as { own: unknown[]; spec: { nodeName: string } };
  assertStrictEquals(output.spec as unknown, pods.lister.get("shop/a")!.spec);
  assertThrows(() => output.own.push("x"), TypeError);
  assertThrows(() => output.spec.nodeName = "other", TypeError);
  assertEquals([errors.length, shown], [6, ["web", "n1"]]);
});

Deno.test("A transform is given an object of its own, and freeze: false shares nothing", async () => {
  for (const freeze of [true, false]) {
    await using fixture = new Following({ freeze });
    fixture.server.create(Pod, pod(POD));
    const changed = fixture.informers.forResource(Pod, {
      transform: (given) => {
        (given as Mutable<Pod>).spec.nodeName += "x";
        return given;
      },
    });
    await fixture.start();
    const first = changed.lister.get("shop/a")!;
    await fixture.phase("Failed");
    const second = changed.lister.get("shop/a")!;
    assertEquals([first.spec.nodeName, second.spec.nodeName], ["n1x", "n1x"]);
    assert(first.spec !== second.spec);
    assertEquals(Object.isFrozen(second.spec), freeze);
  }
  await using fixture = new Following({ freeze: false });
  fixture.server.create(Pod, pod(POD));
  const pods = fixture.informers.forResource(Pod);
  await fixture.start();
  const first = pods.lister.get("shop/a") as Mutable<Pod>;
  await fixture.phase("Failed");
  first.spec.nodeName = "mine";
  assertEquals(pods.lister.get("shop/a")!.spec.nodeName, "n1");
  assertEquals(pods.memory().sharedBytes, 0);
});

Deno.test("The texts of deleted objects are given up", async () => {
  await using fixture = new FactoryFixture();
  const { informers, server } = fixture;
  const create = (name: string): void => void server.create(ConfigMap, configMap({ name, namespace: "shop" }));
  for (let i = 0; i < 300; i++) create(`m${i}`);
  const maps = informers.forResource(ConfigMap);
  await fixture.start();
  maps.lister.list();
  const each = maps.memory().sharedBytes / 300;
  for (let i = 0; i < 300; i++) server.delete(ConfigMap, `shop/m${i}`);
  await fixture.tick();
  assertEquals(maps.indexer.size, 0);
  assert(maps.memory().sharedBytes < 80 * each, String(maps.memory().sharedBytes / each));
});

Deno.test("When memory is short sharing ends first, and nothing else does; it begins again when there is room", async () => {
  await using fixture = new FactoryFixture({ maxBytes: 1_000_000 });
  const { informers, server, errors } = fixture;
  const text = "x".repeat(1_000);
  for (let i = 0; i < 40; i++) {
    server.create(ConfigMap, configMap({ name: `m${i}`, namespace: "shop", data: { text } }));
  }
  const maps = informers.forResource(ConfigMap);
  await fixture.start();
  const unread = informers.countedBytes!;
  maps.lister.list();
  const read = informers.countedBytes!;
  assert(read > 1.6 * unread, `${unread} ${read}`);
  assertEquals(maps.memory().sharedBytes, read - unread);
  assertEquals(maps.status().memory!.bytes, read);
  const touch = async (value: string): Promise<readonly [before: unknown, after: unknown]> => {
    const before = maps.lister.get("shop/m1")!.data;
    server.patch(ConfigMap, "shop/m1", { metadata: { annotations: { value } } });
    await fixture.tick();
    return [before, maps.lister.get("shop/m1")!.data];
  };
  assertStrictEquals(...await touch("a"));
  informers.maxBytes = Math.round(1.3 * unread);
  const [before, after] = await touch("b");
  assertEquals(before, after);
  assert(before !== after);
  assertEquals([maps.memory().sharedBytes, maps.status().state, errors], [0, "live", []]);
  informers.maxBytes = 1_000_000;
  await touch("c");
  assertStrictEquals(...await touch("d"));
});
