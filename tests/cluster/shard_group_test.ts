// Shard groups of processes on a real server: killed, stopped and continued, ended in order, without an API server.
import { Lease } from "@kube/informer/kinds/coordination/v1";
import { assert, assertEquals } from "@std/assert";
import { delay } from "@std/async";
import { withDeadline } from "../support/cluster/with_deadline.ts";
import { Program } from "../support/processes/program.ts";
import { clusterTests, report, seconds, type Setting } from "./_cluster.ts";

const cluster = clusterTests();

/** Processes of a group; disposal kills them. */
class Processes implements AsyncDisposable {
  readonly byName = new Map<string, Program>();
  readonly #setting: Setting;
  readonly #durations: readonly string[];

  /** Processes with durations that are short, or the default ones. */
  constructor(setting: Setting, ...durations: readonly "default"[]) {
    this.#setting = setting;
    this.#durations = durations;
  }

  start(...names: string[]): void {
    const { kubeconfig, namespace } = this.#setting;
    for (const name of names) {
      const args = [kubeconfig, namespace, name, ...this.#durations];
      this.byName.set(name, new Program("tests/cluster/_shard_member.ts", args));
    }
  }

  /** The writes that the processes have sent since a time: those of Leases of ranges, and by name those of others. */
  writesSince(sinceMs: number): { readonly ranges: number; readonly own: Readonly<Record<string, number>> } {
    const own: Record<string, number> = {};
    let ranges = 0;
    for (const [name, { out: { lines } }] of this.byName) {
      const writes = lines.map((line) => line.split(" ")).filter(([time, what]) =>
        what === "writes" && Number(time) >= sinceMs
      );
      const ofRanges = writes.filter(([, , , lease]) => lease.startsWith("shards-range-"));
      ranges += ofRanges.length;
      own[name] = writes.length - ofRanges.length;
    }
    return { ranges, own };
  }

  /** Waits until the latest acts of these processes have all ranges, in shares that differ by one at most. */
  async share(...names: string[]): Promise<void> {
    const startedAt = Date.now();
    await withDeadline(`shares of ${names}`, async (signal) => {
      for (;; await delay(20, { signal })) {
        const held = names.map((name) => {
          const { time, ranges } = actsOf(this.byName.get(name)!).at(-1) ?? { time: 0, ranges: [] };
          return time < startedAt ? [] : ranges;
        });
        const sizes = held.map(({ length }) => length);
        if (new Set(held.flat()).size === 64 && Math.max(...sizes) - Math.min(...sizes) <= 1) return;
      }
    });
  }

  /** Fails if two processes have acted on one range at a time. */
  assertApart(): void {
    const terms = [...this.byName].flatMap(([name, program]) => termsOf(name, actsOf(program)));
    terms.sort((one, other) => one.from - other.from);
    const last = new Map<number, Term>();
    for (const term of terms) {
      const before = last.get(term.range);
      const isApart = before === undefined || before.name === term.name || before.to < term.from;
      assert(isApart, `two processes have acted at a time: ${JSON.stringify([before, term])}`);
      last.set(term.range, term);
    }
    assert(terms.length >= 64, "nobody has acted");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(Array.from(this.byName.values(), (program) => program[Symbol.asyncDispose]()));
  }
}

/** A time in which a process has acted on a range, again and again. */
interface Term {
  readonly name: string;
  readonly range: number;
  readonly from: number;
  to: number;
}

/** The terms of one process; a pause of its acts ends them. */
function termsOf(name: string, acts: readonly Act[]): Term[] {
  const terms: Term[] = [];
  let open = new Map<number, Term>();
  let lastMs = 0;
  for (const { time, ranges } of acts) {
    const still = time - lastMs > 500 ? new Map<number, Term>() : open;
    open = new Map(ranges.map((range) => [range, still.get(range) ?? { name, range, from: time, to: time }]));
    for (const term of open.values()) {
      if (term.from === time) terms.push(term);
      term.to = time;
    }
    lastMs = time;
  }
  return terms;
}

interface Act {
  readonly time: number;
  readonly ranges: readonly number[];
}

function actsOf(program: Program): Act[] {
  return program.out.lines.flatMap((line) => {
    const [time, what, ranges = ""] = line.split(" ");
    if (what !== "acts") return [];
    return [{ time: Number(time), ranges: ranges === "" ? [] : ranges.split(",").map(Number) }];
  });
}

async function leasesOf({ client, namespace }: Setting): Promise<string[]> {
  const { items } = await client.resource(Lease, { namespace }).list();
  return items.map(({ metadata }) => metadata.name).filter((name) => name.includes("-member-")).sort();
}

cluster.anywhere(
  "ShardGroup divides the ranges among three and five processes, though some are killed, stopped and ended",
  async (setting) => {
    await using processes = new Processes(setting);
    processes.start("a", "b", "c");
    let startedAt = performance.now();
    await processes.share("a", "b", "c");
    report(`three share the ranges after ${seconds(startedAt)}`);
    processes.start("d", "e");
    await processes.share("a", "b", "c", "d", "e");

    startedAt = performance.now();
    processes.byName.get("a")!.kill("SIGKILL");
    await processes.share("b", "c", "d", "e");
    report(`all ranges are held ${seconds(startedAt)} after a process was killed`);

    startedAt = performance.now();
    processes.byName.get("b")!.kill("SIGSTOP");
    await processes.share("c", "d", "e");
    report(`all ranges are held ${seconds(startedAt)} after a process was stopped`);
    assertEquals(await leasesOf(setting), ["shards-member-c", "shards-member-d", "shards-member-e"]);
    processes.byName.get("b")!.kill("SIGCONT");
    await processes.share("b", "c", "d", "e");

    startedAt = performance.now();
    processes.byName.get("c")!.kill("SIGTERM");
    await processes.share("b", "d", "e");
    report(`all ranges are held ${seconds(startedAt)} after a process has ended in order`);
    const { code, errors } = await processes.byName.get("c")!.ended();
    assertEquals([code, errors], [0, ""]);
    assertEquals(await leasesOf(setting), ["shards-member-b", "shards-member-d", "shards-member-e"]);
    processes.assertApart();
  },
);

cluster.anywhere(
  "ShardGroup sends 12 writes a minute for each process, one for each range that moves, and two for one that leaves",
  async (setting) => {
    await using processes = new Processes(setting, "default");
    processes.start("a", "b", "c");
    await processes.share("a", "b", "c");
    /** The renewals that a process may send since a time. */
    const renewals = (sinceMs: number): number => Math.floor((Date.now() - sinceMs) / 5_000) + 1;

    let sinceMs = Date.now();
    await withDeadline("four renewals of each process", async (signal) => {
      const haveRenewed = (): boolean => Object.values(processes.writesSince(sinceMs).own).every((count) => count >= 4);
      while (!haveRenewed()) await delay(20, { signal });
    });
    const { ranges, own } = processes.writesSince(sinceMs);
    report(`in ${Date.now() - sinceMs} ms the processes have sent ${JSON.stringify(own)}`);
    assertEquals(ranges, 0);
    for (const count of Object.values(own)) assert(count <= renewals(sinceMs), JSON.stringify(own));

    sinceMs = Date.now();
    processes.start("d");
    await processes.share("a", "b", "c", "d");
    const joined = processes.writesSince(sinceMs);
    report(`${joined.ranges} ranges have moved to a process that joined, which has sent ${joined.own.d} writes more`);
    assertEquals(joined.ranges, 16);
    for (const [name, count] of Object.entries(joined.own)) {
      assert(count <= renewals(sinceMs) + (name === "d" ? 1 : 0), JSON.stringify(joined.own));
    }

    sinceMs = Date.now();
    processes.byName.get("d")!.kill("SIGTERM");
    await processes.share("a", "b", "c");
    await processes.byName.get("d")!.ended();
    const left = processes.writesSince(sinceMs);
    report(`${left.ranges} ranges have moved from a process that left, which has sent ${left.own.d} writes more`);
    assertEquals(left.ranges, 16);
    for (const [name, count] of Object.entries(left.own)) {
      assert(count <= renewals(sinceMs) + (name === "d" ? 2 : 0), JSON.stringify(left.own));
    }
  },
);

cluster.withPlane(
  "ShardGroup holds no range while the API server is dead, and the same ones after it",
  async (setting) => {
    await using processes = new Processes(setting);
    processes.start("a", "b", "c");
    await processes.share("a", "b", "c");
    const before = actsOf(processes.byName.get("a")!).at(-1)!.ranges;
    await setting.plane.kill9("apiserver");
    const diedAt = Date.now();
    await withDeadline("the loss of all ranges", async (signal) => {
      const hasLost = (program: Program): boolean => actsOf(program).at(-1)!.ranges.length === 0;
      for (; ![...processes.byName.values()].every(hasLost);) await delay(20, { signal });
    });
    report(`all ranges are lost ${Date.now() - diedAt} ms after the death of the API server`);
    await setting.plane.ensureRunning();
    await processes.share("a", "b", "c");
    assertEquals(actsOf(processes.byName.get("a")!).at(-1)!.ranges, before);
    processes.assertApart();
  },
);
