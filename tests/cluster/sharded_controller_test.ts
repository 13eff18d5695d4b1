// examples/sharded_controller.ts on a real server: three processes, one of which is killed, and a fourth one.
import { Lease } from "@kube/informer/kinds/coordination/v1";
import { ConfigMap } from "@kube/informer/kinds/core/v1";
import { assert, assertEquals } from "@std/assert";
import { delay } from "@std/async";
import { withDeadline } from "../support/cluster/with_deadline.ts";
import { Program } from "../support/processes/program.ts";
import { clusterTests, report, seconds, type Setting } from "./_cluster.ts";

const cluster = clusterTests();
const COUNT = 40;
const EXAMPLE = "examples/sharded_controller.ts";
const GROUP = "kube-informer/shard-group=sharded-controller";

/** Processes of the example, and what they have reconciled. */
class Processes implements AsyncDisposable {
  readonly running = new Map<string, Program>();
  readonly #setting: Setting;
  readonly #seen = new Map<string, number>();
  #touches = 0;

  constructor(setting: Setting) {
    this.#setting = setting;
  }

  start(name: string): void {
    const { kubeconfig } = this.#setting;
    this.running.set(name, new Program(EXAMPLE, ["--kubeconfig", kubeconfig], { LEASE_SECONDS: "3" }));
  }

  async kill(name: string): Promise<void> {
    const program = this.running.get(name)!;
    this.running.delete(name);
    program.kill("SIGKILL");
    await program.code;
  }

  /** Waits until as many processes as run hold all ranges, in shares that differ by one at most. */
  async share(): Promise<void> {
    const leases = this.#setting.client.resource(Lease, { namespace: "default", labelSelector: GROUP });
    await withDeadline(`shares of ${this.running.size}`, async (signal) => {
      for (;; await delay(50, { signal })) {
        const { items } = await leases.list({ signal });
        const [members, ranges] = ["-member-", "-range-"].map((part) =>
          items.filter(({ metadata }) => metadata.name.includes(part))
        );
        const shares = members.map(({ metadata: { uid } }) =>
          ranges.filter(({ spec }) => spec?.holderIdentity?.endsWith(`_${uid}`)).length
        );
        const held = shares.reduce((sum, share) => sum + share, 0);
        const isEven = Math.max(...shares) - Math.min(...shares) <= 1;
        if (members.length === this.running.size && held === 64 && isEven) return;
      }
    });
  }

  /** The keys that each process has reconciled since the last {@linkcode forget}, each once. */
  keys(): Set<string>[] {
    return Array.from(this.running, ([name, { out }]) => {
      const lines = out.lines.slice(this.#seen.get(name) ?? 0);
      assert(lines.every((line) => line.startsWith("reconciled ")), lines.join("\n"));
      return new Set(lines.map((line) => line.slice("reconciled ".length)));
    });
  }

  forget(): void {
    for (const [name, { out }] of this.running) this.#seen.set(name, out.lines.length);
  }

  /** Waits until the processes have reconciled all config maps. */
  async all(what: string): Promise<void> {
    const isAll = (): boolean => this.keys().reduce((one, other) => one.union(other), new Set()).size === COUNT;
    await withDeadline(what, async (signal) => {
      while (!isAll()) await delay(20, { signal });
    });
  }

  /** Changes each config map, and waits until each was reconciled by one process, and each process has some. */
  async touch(): Promise<void> {
    const { client, namespace } = this.#setting;
    const maps = client.resource(ConfigMap, { namespace });
    this.forget();
    const body = { data: { touch: String(++this.#touches) } };
    for (let i = 0; i < COUNT; i++) await maps.patch(`map-${i}`, { type: "merge", body });
    await this.all("the reconciles of all");
    const keys = this.keys();
    assertEquals(keys.reduce((sum, { size }) => sum + size, 0), COUNT, "some are reconciled by two processes");
    for (const { size } of keys) assert(size > 0, "a process has nothing to do");
    report(`${keys.map(({ size }) => size).join(", ")} of ${COUNT} objects are those of ${keys.length} processes`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(Array.from(this.running.values(), (program) => program[Symbol.asyncDispose]()));
  }
}

/** A line about a call that took longer than leases of 3 s allow, on a busy machine; the group asks again. */
const LATE_ANSWER = /^shard group .*: No response about Leases of shard group "sharded-controller" within \d+ ms\n/gm;

cluster.anywhere(
  "processes of the sharded controller divide config maps, also after one was killed and a fourth has started",
  async (setting) => {
    const { client, namespace } = setting;
    const maps = client.resource(ConfigMap, { namespace });
    const labels = { sharded: "yes" };
    for (let i = 0; i < COUNT; i++) await maps.create({ metadata: { name: `map-${i}`, labels } });
    await maps.create({ metadata: { name: "other" } });
    await using processes = new Processes(setting);
    for (const name of ["a", "b", "c"]) processes.start(name);
    await processes.share();
    await processes.all("the first reconciles");
    await processes.touch();

    const [ofA] = processes.keys();
    processes.forget();
    const startedAt = performance.now();
    await processes.kill("a");
    await withDeadline("the objects of the killed process", async (signal) => {
      const isTaken = (): boolean => {
        const [ofB, ofC] = processes.keys();
        return ofA.isSubsetOf(ofB.union(ofC));
      };
      while (!isTaken()) await delay(20, { signal });
    });
    report(`the objects of a killed process are reconciled ${seconds(startedAt)} later, with leases of 3 s`);
    await processes.share();
    await processes.touch();

    processes.start("d");
    await processes.share();
    await processes.touch();

    for (const program of processes.running.values()) program.kill("SIGTERM");
    for (const program of processes.running.values()) {
      const { code, errors } = await program.ended();
      assertEquals([code, errors.replaceAll(LATE_ANSWER, "")], [0, ""]);
    }
    const left = await client.resource(Lease, { namespace: "default", labelSelector: GROUP }).list();
    assertEquals(left.items.filter(({ metadata }) => metadata.name.includes("-member-")), []);
  },
);
