import { Client, derive, field, type SharedIndexInformer, SharedInformerFactory } from "@kube/informer";
import { ConfigMap } from "@kube/informer/kinds/core/v1";
import { configMap, FakeApiServer, FakeTime } from "@kube/informer/testing";
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { sleep } from "../../../src/engine/async/time.ts";
import { perObject, type PerObjectOptions } from "../../../src/engine/informer/per_object.ts";

/** Jobs of config maps, which write what happens to them, with the time. */
class Session implements AsyncDisposable {
  readonly time = new FakeTime();
  readonly server = new FakeApiServer();
  readonly log: string[] = [];
  readonly errors: string[] = [];
  readonly client = new Client({ server: "http://fake", transport: this.server });
  readonly informers = new SharedInformerFactory(this.client);
  readonly maps: SharedIndexInformer<ConfigMap> = this.informers.forResource(ConfigMap);
  readonly beganMs = this.time.now;
  /** The time that a job takes to return after its signal has aborted. */
  endsAfterMs = 0;

  async start(): Promise<void> {
    this.informers.start();
    this.log.push(...await this.pass());
    assert(this.maps.hasSynced);
  }

  create(name: string, data: Record<string, string> = {}): void {
    this.server.create(ConfigMap, configMap({ name, namespace: "shop", data }));
  }

  /** Lets time pass, and returns what has happened. */
  async pass(ms = 0): Promise<string[]> {
    for (let i = 0; i < 6; i++) await this.time.tickAsync(0);
    await this.time.tickAsync(ms);
    for (let i = 0; i < 6; i++) await this.time.tickAsync(0);
    return this.log.splice(0);
  }

  /** Runs jobs that last until their signal aborts. */
  jobs(options: PerObjectOptions<ConfigMap> = {}): AsyncDisposable {
    return perObject(this.maps, async ({ metadata: { name }, data }, signal) => {
      this.log.push(`${name} begins ${data?.v ?? ""}`);
      await sleep(Infinity, { signal }).catch(() => {});
      if (this.endsAfterMs > 0) await sleep(this.endsAfterMs);
      this.log.push(`${name} ends`);
    }, { onError: (error, key) => void this.errors.push(`${key}: ${error}`), ...options });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const down = this.informers.shutdown();
    await this.pass(10_000);
    await down;
    this.client[Symbol.dispose]();
    this.time[Symbol.dispose]();
  }
}

Deno.test("perObject runs one job for each object's life: changes do not start it again, a deletion ends it", async () => {
  await using session = new Session();
  session.create("a");
  const jobs = session.jobs();
  await session.start();
  session.create("b");
  assertEquals(await session.pass(), ["a begins ", "b begins "]);
  session.server.patch(ConfigMap, "shop/a", { data: { v: "2" } });
  assertEquals(await session.pass(100), []);
  session.server.delete(ConfigMap, "shop/a");
  assertEquals(await session.pass(), ["a ends"]);
  await jobs[Symbol.asyncDispose]();
  assertEquals([await session.pass(), session.errors], [["b ends"], []]);
});

Deno.test("perObject gives an object with another uid a new job, which waits until the old one has returned", async () => {
  await using session = new Session();
  session.create("a", { v: "1" });
  session.endsAfterMs = 500;
  session.jobs();
  await session.start();
  assertEquals(await session.pass(), ["a begins 1"]);
  session.server.delete(ConfigMap, "shop/a");
  session.create("a", { v: "2" });
  assertEquals(await session.pass(400), []);
  assertEquals(await session.pass(200), ["a ends", "a begins 2"]);
  // One that came and went meanwhile has none.
  session.server.delete(ConfigMap, "shop/a");
  session.create("a", { v: "3" });
  session.server.delete(ConfigMap, "shop/a");
  assertEquals(await session.pass(600), ["a ends"]);
});

Deno.test("perObject begins a failed job again after the backoff, with the newest object; one that returns is over", async () => {
  await using session = new Session();
  session.create("a", { v: "1" });
  const { maps, log, errors } = session;
  const backoff = { initialMs: 1_000, maxMs: 8_000, jitter: 0 };
  const job = ({ data, metadata: { name } }: ConfigMap) => {
    log.push(`${(session.time.now - session.beganMs) / 1_000} ${name} ${data?.v}`);
    if (data?.v !== "done") throw new Error("lost");
  };
  perObject(maps, job, { name: "links", backoff, onError: (error, key) => errors.push(`${key}: ${error}`) });
  await session.start();
  assertEquals(await session.pass(2_000), ["0 a 1", "1 a 1"]);
  session.server.patch(ConfigMap, "shop/a", { data: { v: "2" } });
  assertEquals(await session.pass(20_000), ["3 a 2", "7 a 2", "15 a 2"]);
  session.server.patch(ConfigMap, "shop/a", { data: { v: "done" } });
  assertEquals(await session.pass(2_000), ["23 a done"]); // maxMs after the last
  session.server.patch(ConfigMap, "shop/a", { data: { v: "1" } });
  assertEquals(await session.pass(60_000), []);
  assertEquals(errors, Array(5).fill("shop/a: Error: lost"));
});

Deno.test("perObject ends a job in its wait for another try, and reports no abort as a failure", async () => {
  await using session = new Session();
  session.create("a");
  session.create("b");
  perObject(session.maps, async ({ metadata: { name } }, signal) => {
    session.log.push(name);
    if (name === "a") throw new Error("lost");
    await sleep(Infinity, { signal }); // rejects with the signal's reason
  }, { onError: (error, key) => session.errors.push(`${key}: ${error}`) });
  await session.start();
  await session.pass();
  for (const key of ["shop/a", "shop/b"]) session.server.delete(ConfigMap, key);
  session.log.length = 0;
  assertEquals(await session.pass(60_000), []);
  assertEquals(session.errors, ["shop/a: Error: lost"]);
});

Deno.test("perObject ends its jobs when its informer stops, its signal aborts, or an object leaves the filter", async () => {
  await using session = new Session();
  session.create("a", { v: "1" });
  const stop = new AbortController();
  session.jobs({ signal: stop.signal, filter: field("data.v").equals("1") });
  await session.start();
  assertEquals(await session.pass(), ["a begins 1"]);
  session.server.patch(ConfigMap, "shop/a", { data: { v: "2" } });
  assertEquals(await session.pass(), ["a ends"]);
  session.server.patch(ConfigMap, "shop/a", { data: { v: "1" } });
  assertEquals(await session.pass(), ["a begins 1"]);
  stop.abort();
  assertEquals(await session.pass(), ["a ends"]);
  session.jobs();
  assertEquals(await session.pass(), ["a begins 1"]);
  const down = session.informers.shutdown();
  assertEquals(await session.pass(), ["a ends"]);
  await down;
});

Deno.test("perObject waits for its jobs when it is disposed, for graceMs at most, and names those that stay", async () => {
  await using session = new Session();
  session.create("a");
  session.endsAfterMs = 500;
  const [patient, impatient] = [session.jobs(), session.jobs({ name: "links", graceMs: 100 })];
  await session.start();
  assertEquals(await session.pass(), ["a begins ", "a begins "]);
  let isOver = false;
  const waiting = patient[Symbol.asyncDispose]().then(() => void (isOver = true));
  const late = assertRejects(
    () => Promise.resolve(impatient[Symbol.asyncDispose]()),
    Error,
    `Cannot end jobs of "links" within 100 ms: shop/a still run`,
  );
  await session.pass(400);
  assertEquals(isOver, false);
  await late.then(async () => assertEquals(await session.pass(200), ["a ends", "a ends"]));
  await waiting;
});

Deno.test("perObject takes derived collections, has its name in the status, and refuses wrong options", async () => {
  await using session = new Session();
  session.create("a", { v: "1" });
  await using derived = derive(session.maps, ({ metadata: { name }, data }) => ({ metadata: { name }, v: data?.v }));
  perObject(derived, ({ metadata: { name }, v }) => void session.log.push(`${name} ${v}`), { name: "links" });
  await session.start();
  assertEquals(await session.pass(), ["a 1"]);
  assertEquals(derived.status().handlers.map(({ name }) => name), ["links"]);
  assertThrows(() => session.jobs({ graceMs: -1 }), RangeError, "graceMs");
  assertThrows(() => session.jobs({ backoff: { factor: 0 } }), RangeError, "factor");
  assertThrows(() => session.jobs({ grace: 1 } as PerObjectOptions<ConfigMap>), TypeError, '"grace"');
});

Deno.test("perObject starts no job for an object that the cache has replaced already: its deletion is on the way", async () => {
  await using session = new Session();
  session.create("a", { v: "1" });
  await session.start();
  const { maps, log } = session;
  let add: (uid: string) => void = () => {};
  const source = Object.assign(Object.create(maps), {
    entries: maps.entries,
    addEventHandler: (handler: { onAdd(event: object, options: object): void }) => {
      add = (uid) => handler.onAdd({ key: "shop/a", uid }, { signal: new AbortController().signal });
    },
  }) as typeof maps;
  perObject(source, ({ metadata: { uid } }) => void log.push(`${uid}`));
  const { uid } = maps.entries.getByKey("shop/a")!;
  add("earlier");
  assertEquals(await session.pass(), []);
  add(uid);
  assertEquals(await session.pass(), [uid]);
});
