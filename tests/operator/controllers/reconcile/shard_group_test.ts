import { Client } from "@kube/informer";
import { Lease } from "@kube/informer/kinds/coordination/v1";
import { ShardGroup, type ShardGroupOptions } from "@kube/informer/reconcile";
import { FakeApiServer } from "@kube/informer/testing";
import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { hashRange } from "../../../../src/engine/api/shard.ts";
import { FakeTime } from "../../../support/times/fake_time.ts";

/** Groups of one name on a fake server under fake time. */
class Groups implements AsyncDisposable {
  readonly time = new FakeTime(Date.UTC(2026, 0, 1));
  readonly server = new FakeApiServer();
  readonly #clients: Client[] = [];
  readonly #runs: { readonly stop: AbortController; readonly ended: Promise<void> }[] = [];
  readonly errors: unknown[] = [];

  group(identity: string, options: Partial<ShardGroupOptions> = {}): ShardGroup {
    const client = new Client({ server: "http://fake", transport: this.server, namespace: "shop" });
    this.#clients.push(client);
    return new ShardGroup(client, { name: "it", identity, onError: (error) => this.errors.push(error), ...options });
  }

  /** Runs a group until the result is called, which resolves when it has ended. */
  run(group: ShardGroup): () => Promise<void> {
    const stop = new AbortController();
    const ended = group.run({ signal: stop.signal });
    this.#runs.push({ stop, ended });
    return () => {
      stop.abort(new Error("stopped"));
      return ended;
    };
  }

  /** The writes since the last call: verbs and the names of Leases of processes, and `range` for those of ranges. */
  writes(): Record<string, number> {
    const writes: Record<string, number> = {};
    for (const { verb, path, body } of this.server.requests.slice(this.#seen)) {
      if (!["create", "update", "delete"].includes(verb)) continue;
      const name = verb === "create" ? JSON.parse(body!).metadata.name : path.split("/").at(-1)!;
      const line = `${verb} ${name.includes("-range-") ? "range" : name}`;
      writes[line] = (writes[line] ?? 0) + 1;
    }
    this.#seen = this.server.requests.length;
    return writes;
  }
  #seen = 0;

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { stop } of this.#runs) stop.abort(new Error("the end"));
    await this.time.tickAsync(20_000);
    for (const { ended } of this.#runs) await ended;
    for (const client of this.#clients) client[Symbol.dispose]();
    assertEquals(this.time.timers, 0);
    this.time[Symbol.dispose]();
  }
}

Deno.test("ShardGroup writes ranges when they move alone, and renews 12 times a minute", async () => {
  await using groups = new Groups();
  const a = groups.group("a");
  groups.run(a);
  await groups.time.tickAsync(1_000);
  assertEquals(groups.writes(), { "create it-member-a": 1, "create range": 64 });
  assertEquals(a.ranges(), [{ start: 0n, end: 1n << 64n }]);
  const { state, members } = a.status();
  assertEquals([state, members], ["member", ["a"]]);

  const b = groups.group("b");
  const stopB = groups.run(b);
  await groups.time.tickAsync(1_000);
  assertEquals(groups.writes(), { "create it-member-b": 1, "update range": 32 });
  assertEquals([a.status().ranges.length, b.status().ranges.length], [32, 32]);
  assertEquals(a.ranges(), [{ start: 0n, end: 1n << 63n }]);

  await groups.time.tickAsync(60_000);
  assertEquals(groups.writes(), { "update it-member-a": 12, "update it-member-b": 12 });

  const ended = stopB();
  await groups.time.tickAsync(1_000);
  await ended;
  assertEquals(groups.writes(), { "update it-member-b": 1, "update range": 32, "delete it-member-b": 1 });
  assertEquals([a.status().ranges.length, a.status().members, b.ranges()], [64, ["a"], []]);
  assertEquals(groups.errors, []);
});

Deno.test("ShardGroup gives a range away when its hooks have resolved, and lists no such range before", async () => {
  await using groups = new Groups();
  const a = groups.group("a");
  const started: bigint[] = [];
  const hook = Promise.withResolvers<void>();
  a.onRelease(({ start }) => {
    assertEquals(a.ranges().some((range) => range.start <= start && start < range.end), false);
    started.push(start);
    return hook.promise;
  });
  groups.run(a);
  await groups.time.tickAsync(1_000);
  const b = groups.group("b");
  groups.run(b);
  await groups.time.tickAsync(10_000);
  assertEquals([started.length, started[0], a.status().releasing], [32, hashRange(32, 64).start, 32]);
  assertEquals([a.status().ranges.length, b.status().ranges.length], [32, 0]);
  hook.resolve();
  await groups.time.tickAsync(1_000);
  assertEquals([a.status().releasing, b.status().ranges.length], [0, 32]);
});

Deno.test("ShardGroup leaves its Lease to expire when work could not be ended", async () => {
  await using groups = new Groups();
  const a = groups.group("a");
  using _ = a.onRelease(() => Promise.reject(new Error("it hangs")));
  const stop = groups.run(a);
  await groups.time.tickAsync(1_000);
  await Promise.all([stop(), groups.time.tickAsync(1_000)]);
  assertEquals(String(groups.errors[0]), "Error: it hangs");
  assertEquals(groups.server.get(Lease, "shop/it-member-a")?.spec?.holderIdentity, "a");
});

Deno.test("ShardGroup deletes the Lease of a silent process by its version, and then takes its ranges", async () => {
  await using groups = new Groups();
  const metadata = { name: "it-member-b", namespace: "shop", labels: { "kube-informer/shard-group": "it" } };
  const silent = groups.server.create(Lease, {
    metadata,
    spec: { holderIdentity: "b", leaseDurationSeconds: 15, renewTime: "2020-01-01T00:00:00.000000Z" },
  });
  const { uid, resourceVersion } = silent.metadata;
  groups.server.create(Lease, {
    metadata: { ...metadata, name: "it-range-3" },
    spec: { holderIdentity: `b_${uid}`, leaseTransitions: 4 },
  });
  const a = groups.group("a");
  groups.run(a);
  await groups.time.tickAsync(14_900);
  assertEquals([a.status().ranges.length, a.status().members], [32, ["a", "b"]]);
  await groups.time.tickAsync(1_000);
  const deletion = groups.server.requests.find(({ verb }) => verb === "delete");
  assertEquals(JSON.parse(deletion!.body!).preconditions, { uid, resourceVersion });
  assertEquals([a.status().ranges.length, a.status().members], [64, ["a"]]);
  assertEquals(groups.server.get(Lease, "shop/it-range-3")?.spec?.leaseTransitions, 5);
});

Deno.test("ShardGroup loses all ranges when its Lease was deleted, and joins again under another uid", async () => {
  await using groups = new Groups();
  const a = groups.group("a");
  const held: number[] = [];
  a.onChange(() => held.push(a.status().ranges.length));
  groups.run(a);
  await groups.time.tickAsync(1_000);
  const { uid } = groups.server.get(Lease, "shop/it-member-a")!.metadata;
  held.length = 0;
  groups.server.delete(Lease, "shop/it-member-a");
  await groups.time.tickAsync(1);
  assertEquals(held, [0]);
  await groups.time.tickAsync(6_000);
  const { holderIdentity } = groups.server.get(Lease, "shop/it-range-0")!.spec!;
  assertEquals([a.status().ranges.length, holderIdentity === `a_${uid}`], [64, false]);
});

Deno.test("ShardGroup refuses names that Leases cannot have, and runs once", async () => {
  await using groups = new Groups();
  const refused = (options: Partial<ShardGroupOptions>, message: string): void =>
    void assertThrows(() => groups.group("a", options), Error, message);
  refused(
    { name: "It" },
    'name must be usable in names of Leases (lower-case letters, digits and "-"), but it is "It"',
  );
  refused({ identity: "a_b" }, "identity must be usable in names of Leases");
  refused({ renewMs: 10_000 }, "renewMs must be from retryMs (1000) to less than renewDeadlineMs (10000)");
  const a = groups.group("a");
  groups.run(a);
  await assertRejects(() => a.run(), Error, 'Cannot run shard group "it": a group can run only once');
});
