import { assert, assertEquals } from "@std/assert";
import type { KubernetesObject } from "../../src/api/object.ts";
import { sleep } from "../../src/async/time.ts";
import { isWatched } from "../../src/informer/events/event.ts";
import { SharedIndexInformer } from "../../src/informer/shared_index_informer.ts";
import { ConfigMap, Pod } from "../../src/kinds/core/v1.ts";
import { writeStatus } from "../../src/reconcile/objects.ts";
import type { ReconcileContext, ReconcilerOptions } from "../../src/reconcile/options.ts";
import { Reconciler } from "../../src/reconcile/reconciler.ts";
import { OwnCalls } from "../../src/reconcile/own_calls.ts";
import { pod } from "../../src/testing/objects.ts";
import { Session } from "./_session.ts";

const IN = { namespace: "default" };
const FAILED = { type: "merge", body: { status: { phase: "Failed" } } } as const;

/** A reconciler of pods, and the causes of its calls: `"updated"` of an event, else the type. */
function pods(
  { client }: Pick<Session, "client">,
  reconcile: (context: ReconcileContext<Pod>) => unknown,
  options: ReconcilerOptions<Pod> = {},
): { readonly pods: Reconciler<Pod>; readonly calls: string[] } {
  const calls: string[] = [];
  const reconciler = new Reconciler(client, Pod, async (_key, context) => {
    calls.push(context.causes.map(({ event, type }) => event ?? type).join("+"));
    await reconcile(context);
  }, options);
  return { pods: reconciler, calls };
}

/** The ways to write the status of the pod "x". */
const WRITES: Record<string, (context: ReconcileContext<Pod>) => Promise<unknown>> = {
  "writeStatus()": async ({ client, object }) =>
    await writeStatus(client.resource(Pod, IN), object!, { ...object!.status, phase: "Failed" }),
  "a merge patch": async ({ client }) => await client.resource(Pod, IN).patch("x", FAILED, { subresource: "status" }),
  "an update": async ({ client, object }) =>
    await client.resource(Pod, IN).update({ ...structuredClone(object!), status: { phase: "Failed" } } as never, {
      subresource: "status",
    }),
  "an apply": async ({ client }) =>
    await client.resource(Pod, IN).apply(
      { metadata: { name: "x" }, status: { phase: "Failed" } } as never,
      { fieldManager: "pods", force: true, subresource: "status" },
    ),
};

for (const [name, write] of Object.entries(WRITES)) {
  for (const when of ["after", "before"]) {
    Deno.test(`a reconcile that writes its status by ${name} runs once, if the event comes ${when} the answer`, async () => {
      await using session = new Session((server) => ({
        fetch: async (request) => {
          const response = await server.fetch(request);
          if (when === "before" && request.method !== "GET") await sleep(100);
          return response;
        },
      }));
      session.server.create(Pod, pod({ name: "x" }));
      const { pods: reconciler, calls } = pods(session, write);
      await session.start(reconciler, 1_000);
      assertEquals(calls, ["added"]);
      assertEquals(session.server.get(Pod, "x")?.status?.phase, "Failed");
      // What somebody else does is a cause, and so is a later status that another one writes.
      session.server.annotate(Pod, "default/x", { by: "somebody" });
      await session.pass(1_000);
      session.server.patch(Pod, "default/x", { status: { phase: "Running" } });
      await session.pass(1_000);
      assertEquals(calls, ["added", "updated", "updated"]);
    });
  }
}

Deno.test("events of own status are causes where that is asked for", async () => {
  await using session = new Session();
  session.server.create(Pod, pod({ name: "x" }));
  const { pods: reconciler, calls } = pods(session, WRITES["a merge patch"], { echoes: "cause" });
  await session.start(reconciler, 1_000);
  assertEquals(calls, ["added", "updated"]);
});

Deno.test("events of writes beside the status are causes, and none where that is asked for", async () => {
  for (const echoes of [undefined, "skip"] as const) {
    await using session = new Session();
    session.server.create(Pod, pod({ name: "x" }));
    let isFirst = true;
    const { pods: reconciler, calls } = pods(session, async ({ client, object }) => {
      if (!isFirst) return;
      isFirst = false;
      const maps = client.resource(ConfigMap, IN);
      await maps.create({ metadata: { name: "x" }, data: { n: "1" } });
      await maps.apply({ metadata: { name: "y" }, data: { n: "1" } }, { fieldManager: "pods" });
      await maps.apply({ metadata: { name: "y" }, data: { n: "2" } }, { fieldManager: "pods" });
      await maps.patch("x", { type: "strategic", body: { data: { n: "2" }, metadata: { labels: { a: "b" } } } });
      const own = structuredClone(object!);
      Object.assign(own.metadata, { labels: { a: "b" } });
      await client.resource(Pod, IN).update(own as never);
    }, { echoes });
    reconciler.watches(ConfigMap, ({ key }) => [key, "default/x"], { echoes });
    await session.start(reconciler, 1_000);
    // The key of the other map has written nothing: it is reconciled, and so is "x" without the option.
    const others = calls.filter((it) => it === "added" || it === "added+updated").length;
    if (echoes === undefined) assert(calls.length > others, `${calls}`);
    else assertEquals(calls, ["added", "added+updated"]);
  }
});

Deno.test("a change by somebody else is a cause though an own write was answered with its version", async () => {
  const foreign = { metadata: { annotations: { by: "somebody" } } };
  for (const change of [foreign, { status: { phase: "Failed", message: "evicted" } }]) {
    for (const type of ["merge", "apply"] as const) {
      await using session = new Session();
      const { server } = session;
      server.create(Pod, pod({ name: "x", phase: "Failed" }));
      const seen: unknown[] = [];
      const { pods: reconciler } = pods(session, async (context) => {
        const { object } = context;
        seen.push([object?.metadata.annotations?.by, object?.status?.message]);
        await WRITES[type === "merge" ? "a merge patch" : "an apply"](context);
        if (seen.length === 1) {
          server.patch(Pod, "default/x", change);
          // It changes nothing, and is answered with the version of the other change.
          const { metadata } = await context.client.resource(Pod, IN).patch("x", FAILED, { subresource: "status" });
          assertEquals(metadata.resourceVersion, server.get(Pod, "x")?.metadata.resourceVersion);
        }
      });
      await session.start(reconciler, 1_000);
      assertEquals(seen.at(-1), change === foreign ? ["somebody", undefined] : [undefined, "evicted"]);
    }
  }
});

Deno.test("a list that shows an own version may hide a change by somebody else, and is a cause", async () => {
  await using session = new Session();
  const { server } = session;
  server.create(Pod, pod({ name: "x" }));
  const seen: unknown[] = [];
  const { pods: reconciler, calls } = pods(session, async (context) => {
    seen.push(context.object?.metadata.labels?.by);
    if (seen.length > 1) return;
    server.dropWatches();
    server.breakNext(1, ({ url }) => url.includes("watch="));
    server.patch(Pod, "default/x", { metadata: { labels: { by: "somebody" } } });
    server.patch(Pod, "default/x", { metadata: { labels: { by: null } } });
    await WRITES["a merge patch"](context);
    server.compact();
  });
  await session.start(reconciler, 100);
  await session.pass(60_000);
  assertEquals([calls, seen], [["added", "updated"], [undefined, undefined]]);
});

Deno.test("events of other writers during a call are causes when it ends, at the time that debouncing gives", async () => {
  await using session = new Session();
  const { server } = session;
  server.create(Pod, pod({ name: "x" }));
  const starts: number[] = [];
  const { pods: reconciler, calls } = pods(session, async ({ client }) => {
    starts.push(Date.now());
    if (starts.length > 1) return;
    client.resource(Pod, IN);
    await sleep(20);
    for (let n = 0; n < 20; n++) server.annotate(Pod, "default/x", { n: `${n}` });
    await sleep(50);
    // So many are kept beside the call no longer: its key comes up again in any case.
    assertEquals(reconciler.status().queue.delayed, 1);
    await sleep(50);
  }, { debounceMs: 110 });
  await session.start(reconciler, 1_000);
  assertEquals(calls, ["added", "updated"]);
  assertEquals(starts[1] - starts[0], 130);
});

Deno.test("a call that is given up, or that has failed, loses no event that came during it", async () => {
  for (const fails of [true, false]) {
    await using session = new Session();
    const { server } = session;
    server.create(Pod, pod({ name: "x" }));
    let isFirst = true;
    const errors: unknown[] = [];
    const { pods: reconciler, calls } = pods(session, async ({ client, signal }) => {
      if (!isFirst) return;
      isFirst = false;
      client.resource(Pod, IN);
      await sleep(10);
      server.annotate(Pod, "default/x", { by: "somebody" });
      await sleep(10);
      if (fails) throw new Error("it fails");
      await sleep(60_000, { signal });
    }, { timeoutMs: 5_000, onError: (error) => errors.push(error) });
    await session.start(reconciler, 10_000);
    assertEquals(errors.length, 1);
    assertEquals(calls.join(" ").includes("updated"), true, `${calls}`);
  }
});

/** Plays a random history: an own status writer among others, with watches that lag, and lists. */
async function play(seed: number): Promise<{ readonly calls: number; readonly echoes: number }> {
  let state = seed;
  const random = (): number => (state = (state * 16807) % 2147483647) / 2147483647;
  await using session = new Session((server) => ({
    fetch: async (request) => {
      if (request.method !== "GET") await sleep(random() * 20);
      const response = await server.fetch(request);
      if (request.method !== "GET") await sleep(random() * 20);
      return response;
    },
  }));
  const { server } = session;
  server.create(Pod, pod({ name: "x" }));
  let writes = 0;
  /** The fields of others, as the last call has read them. */
  let read: unknown;
  const { pods: reconciler, calls } = pods(session, async ({ client, object }) => {
    read = foreignOf(object);
    const phase = random() < 0.5 ? "Failed" : "Succeeded";
    writes++;
    const body = { status: { phase } } as const;
    await client.resource(Pod, IN).patch("x", { type: "merge", body }, { subresource: "status" });
  });
  await session.start(reconciler, 1_000);
  for (let n = 0; n < 40; n++) {
    const choice = random();
    const reason = random() < 0.5 ? "A" : "B";
    if (choice < 0.3) server.patch(Pod, "default/x", { status: { reason } });
    else if (choice < 0.6) server.patch(Pod, "default/x", { metadata: { labels: { n: reason } } });
    else if (choice < 0.7) server.compact();
    else if (choice < 0.8) server.dropWatches();
    else if (choice < 0.85) server.forceRelist();
    await session.pass(random() < 0.7 ? random() * 30 : random() * 3_000);
  }
  await session.pass(100_000);
  assertEquals(read, foreignOf(server.get(Pod, "x")), `seed ${seed}`);
  assertEquals(reconciler.status().stale, 0);
  return { calls: calls.length, echoes: writes };
}

function foreignOf(object: KubernetesObject | undefined): unknown {
  const { metadata, status } = object as Pod;
  return [metadata.labels, status?.reason];
}

Deno.test("the last call has read every change by others, whatever the order of events, answers and lists", async () => {
  for (let seed = 1; seed <= 30; seed++) await play(seed);
});

Deno.test("the event of an own write is known by uid and version, once", async () => {
  await using session = new Session();
  session.server.create(Pod, pod({ name: "x" }));
  await using informer = new SharedIndexInformer(session.client.resource(Pod));
  const own = new OwnCalls(() => true);
  const echoes: boolean[] = [];
  informer.addEventHandler({
    onUpdate: (event) => {
      const { uid, resourceVersion, before } = event;
      const body = { metadata: { resourceVersion: before.resourceVersion } };
      const write = { resource: Pod, key: "default/x", namespace: "default", uid, resourceVersion };
      own.wrote("x", { ...write, uid: "another", sent: { type: "update", subresource: "", body } });
      echoes.push(own.isEcho("x", event, true));
      own.wrote("x", { ...write, sent: { type: "update", subresource: "", body } });
      echoes.push(own.isEcho("y", event, true), own.isEcho("x", event, false));
      echoes.push(own.isEcho("x", event, true), own.isEcho("x", event, true));
    },
  });
  informer.run();
  await session.pass();
  session.server.annotate(Pod, "default/x", { by: "somebody" });
  await session.pass();
  assertEquals(echoes, [false, false, false, true, false]);
});

Deno.test("a list and a repair have no events of a watch", async () => {
  await using session = new Session();
  const { server, client } = session;
  for (const name of ["x", "y"]) server.create(Pod, pod({ name }));
  await using informer = new SharedIndexInformer(client.resource(Pod), { onError: () => {} });
  const watched: string[] = [];
  informer.addEventHandler({
    onAdd: (event) => watched.push(`${event.name} ${isWatched(event)}`),
    onUpdate: (event) => watched.push(`${event.name} ${isWatched(event)}`),
  });
  informer.run();
  await session.pass();
  server.annotate(Pod, "default/x", { n: "1" });
  await session.pass();
  server.loseNext(Pod);
  server.annotate(Pod, "default/x", { n: "2" });
  server.annotate(Pod, "default/y", { n: "1" });
  await session.pass();
  const check = informer.check();
  await session.pass(100_000);
  await check;
  server.forceRelist();
  server.annotate(Pod, "default/x", { n: "3" });
  await session.pass(100_000);
  assertEquals(watched, ["x false", "y false", "x true", "y true", "x false", "x false"]);
});
