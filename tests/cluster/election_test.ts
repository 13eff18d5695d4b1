// Leader election of processes on a real server: one is killed, one is stopped and continued, one ends in order.
import { isNotFound } from "@kube/informer";
import { Lease } from "@kube/informer/kinds/coordination/v1";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { delay } from "@std/async";
import { withDeadline } from "../support/cluster/with_deadline.ts";
import { Program } from "../support/processes/program.ts";
import { clusterTests, report, seconds, type Setting } from "./_cluster.ts";

const cluster = clusterTests();

/** The holder of the lease, once it is none of `others`. */
async function holder({ client, namespace }: Setting, others: readonly string[]): Promise<string> {
  return await withDeadline("a leader", async (signal) => {
    for (;; await delay(20, { signal })) {
      try {
        const { spec } = await client.resource(Lease, { namespace }).get("election", { signal });
        if (spec?.holderIdentity && !others.includes(spec.holderIdentity)) return spec.holderIdentity;
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    }
  });
}

/** The terms that a process printed: their marks, and when it acted in them. */
function termsOf(name: string, lines: readonly string[]): { name: string; transitions: number; acts: number[] }[] {
  const terms: { name: string; transitions: number; acts: number[] }[] = [];
  for (const line of lines) {
    const [time, what, transitions] = line.split(" ");
    if (what === "leads") terms.push({ name, transitions: Number(transitions), acts: [Number(time)] });
    if (what === "acts") terms.at(-1)!.acts.push(Number(time));
  }
  return terms;
}

cluster.anywhere(
  "LeaderElector lets one of three processes lead, though one is killed and one stopped [F36]",
  async (setting) => {
    const { kubeconfig, namespace } = setting;
    await using programs = new AsyncDisposableStack();
    const processes = new Map(["a", "b", "c"].map((name) => {
      return [name, programs.use(new Program("tests/support/leases/elector.ts", [kubeconfig, namespace, name]))];
    }));
    const [first, second, third] = [[], [], []] as string[][];
    const leads = async (name: string): Promise<void> => {
      await processes.get(name)!.until("leading", (line) => line.includes(" leads "));
    };

    first.push(await holder(setting, []));
    await leads(first[0]);
    for (const [name, process] of processes) {
      if (name !== first[0]) await process.until("contending", (line) => line.includes(" contends"));
    }
    let startedAt = performance.now();
    processes.get(first[0])!.kill("SIGKILL");
    second.push(await holder(setting, first));
    await leads(second[0]);
    report(`another leads ${seconds(startedAt)} after the leader was killed`);

    startedAt = performance.now();
    processes.get(second[0])!.kill("SIGSTOP");
    third.push(await holder(setting, [...first, ...second]));
    await leads(third[0]);
    report(`another leads ${seconds(startedAt)} after the leader was stopped`);
    processes.get(second[0])!.kill("SIGCONT");
    const continued = await processes.get(second[0])!.ended();
    assertEquals(continued.code, 3, continued.errors);
    assertMatch(continued.lines.at(-1)!, /lost: Lost lease ".*\/election": it was not renewed for 2000 ms/);

    processes.get(third[0])!.kill("SIGTERM");
    const { code, errors } = await processes.get(third[0])!.ended();
    assertEquals(code, 0, errors);
    const { spec } = await setting.client.resource(Lease, { namespace }).get("election");
    assertEquals([spec?.holderIdentity, spec?.leaseTransitions], ["", 2]);

    const killed = await processes.get(first[0])!.ended();
    assert(killed.code !== 0);
    const terms = [...processes].flatMap(([name, { out }]) => termsOf(name, out.lines));
    terms.sort((one, other) => one.acts[0] - other.acts[0]);
    assertEquals(
      terms.map(({ name, transitions }) => [name, transitions]),
      [[first[0], 0], [second[0], 1], [third[0], 2]],
    );
    for (const [index, { acts }] of terms.entries()) {
      if (index > 0) assert(terms[index - 1].acts.at(-1)! < acts[0], "two processes acted at a time");
    }
  },
);
