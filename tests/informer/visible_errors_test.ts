import { assertEquals } from "@std/assert";
import { SharedIndexInformer } from "../../src/informer/shared_index_informer.ts";
import { SharedInformerFactory } from "../../src/informer/shared_informer_factory.ts";
import { Pod } from "../../src/kinds/core/v1.ts";
import { pod } from "../../src/testing/mod.ts";
import { Warnings } from "../support/console.ts";
import { FactoryFixture } from "./_factory_fixture.ts";

class WarnedFixture extends FactoryFixture {
  allowed = true;
  readonly warnings = new Warnings();

  constructor() {
    super({}, { authorize: () => this.allowed });
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    this.warnings[Symbol.dispose]();
  }
}

Deno.test("SharedIndexInformer without onError writes failures, broken handlers and index functions to the console", async () => {
  await using it = new WarnedFixture();
  const { server, client, time, warnings } = it;
  server.create(Pod, pod({ name: "a" }));
  server.create(Pod, pod({ name: "b" }));
  const pods = new SharedIndexInformer(client.resource(Pod), {
    indexers: {
      zone: () => {
        throw new Error("no zone");
      },
    },
  });
  pods.addEventHandler({
    onAdd: () => {
      throw new Error("boom");
    },
  }, { name: "h" });
  it.allowed = false;
  const stop = new AbortController();
  const running = pods.run({ signal: stop.signal });
  await time.tickAsync(20_000);
  const [refused, ...others] = warnings.take();
  assertEquals(refused.startsWith(`informer of "pods": Cannot list "pods": 403 Forbidden: `), true, refused);
  assertEquals(others, []);
  it.allowed = true;
  await time.tickAsync(60_000);
  assertEquals(warnings.take(), [
    `informer of "pods": Cannot file "default/a" in index "zone": no zone`,
    `informer of "pods": Handler "h" failed on "added" of "default/a": boom`,
  ]);
  stop.abort();
  await running;
});

Deno.test("SharedInformerFactory without onError writes one line for a cause that several informers share", async () => {
  await using it = new WarnedFixture();
  const { server, client, time, warnings } = it;
  await using informers = new SharedInformerFactory(client);
  for (const namespace of ["a", "b", "c"]) informers.forResource(Pod, { namespace });
  server.breakNext(1_000);
  informers.start();
  await time.tickAsync(5_000);
  assertEquals(warnings.take().length, 1);
  await informers.shutdown();
});

Deno.test("SharedIndexInformer and SharedInformerFactory with an onError of either write nothing", async () => {
  await using it = new WarnedFixture();
  const { client, time, warnings } = it;
  const errors: unknown[] = [];
  const onError = (error: unknown): number => errors.push(error);
  await using pods = new SharedIndexInformer(client.resource(Pod), { onError });
  await using own = new SharedInformerFactory(client);
  own.forResource(Pod, { onError });
  await using shared = new SharedInformerFactory(client, { onError });
  shared.forResource(Pod);
  it.allowed = false;
  own.start();
  shared.start();
  const running = pods.run();
  await time.tickAsync(1);
  assertEquals([errors.length >= 3, warnings.take()], [true, []]);
  await Promise.all([pods[Symbol.asyncDispose](), own.shutdown(), shared.shutdown(), running]);
});
