// `informer wait` compared with `kubectl rollout status`, in 40 situations: the same verdict, as soon.
import { assert, assertEquals } from "@std/assert";
import { pooledMap } from "@std/async";
import { delay } from "@std/async/delay";
import { run } from "../support/processes/session.ts";
import { FURTHER, REVIEWED, type Situation, type Verdict } from "./_wait_situations.ts";
import { createAll, report, until, type Whole, wholeCluster } from "./_whole.ts";

const situation = wholeCluster(5);

/** How many situations are played at the same time. */
const CONCURRENCY = 8;

/** The limit of both commands. A state that lasts is seen in the first seconds. */
const TIMEOUT_S = { ready: 15, waits: 5 };

/** How much later than kubectl `informer wait` may be. */
const LATER_MS = 2_000;

/** A command that has ended. */
interface Ending {
  readonly verdict: Verdict;
  /** Its last line. */
  readonly line: string;
  readonly ms: number;
}

const KUBECTL_VERDICTS: readonly (readonly [RegExp, Verdict])[] = [
  [/timed out waiting for the condition/, "waits"],
  [/exceeded its progress deadline/, "failed"],
  [/no status viewer|only available for|NotFound/, "refused"],
];

async function timed(
  command: Promise<{ readonly code: number; readonly text: string }>,
): Promise<Omit<Ending, "verdict"> & { readonly code: number }> {
  const startedAt = performance.now();
  const { code, text } = await command;
  return { code, line: text.trim().split("\n").at(-1)!, ms: performance.now() - startedAt };
}

async function byKubectl({ tried }: Whole, { name }: Situation, timeoutS: number): Promise<Ending> {
  const command = tried("rollout", "status", `${kindOf(name)}/web`, "-n", name, `--timeout=${timeoutS}s`);
  const { code, line, ms } = await timed(command.then(({ code, out, err }) => ({ code, text: out + err })));
  const verdict = code === 0 ? "ready" : KUBECTL_VERDICTS.find(([text]) => text.test(line))?.[1];
  if (verdict === undefined) throw new Error(`${name}: kubectl exits with ${code}: ${line}`);
  return { verdict, line, ms };
}

async function byInformer(
  { kubeconfig }: Whole,
  { name }: Situation,
  timeoutS: number,
  ...flags: readonly string[]
): Promise<Ending> {
  const at = ["-n", name, "--kubeconfig", kubeconfig, "--timeout", `${timeoutS}s`];
  const command = run("wait", `${kindOf(name)}/web`, ...at, ...flags);
  const { code, line, ms } = await timed(
    command.then(({ code, out, err }) => ({ code, text: [...err, ...out].join("\n") })),
  );
  if (code !== 0 && code !== 1) throw new Error(`${name}: informer wait exits with ${code}: ${line}`);
  return { verdict: code === 0 ? "ready" : line.includes(" has failed: ") ? "failed" : "waits", line, ms };
}

function kindOf(name: string): string {
  return name.slice(0, name.indexOf("-"));
}

/** Brings the cluster into a situation, up to the moment at which the commands begin. */
async function prepare(whole: Whole, { name, before, draft, change: changes, rest }: Situation): Promise<void> {
  await whole.newNamespace(name);
  if (before !== undefined) {
    await createAll(whole, name, [before]);
    await until(
      "the quota's controller",
      async () => (await whole.kubectl("get", "quota", "q", "-n", name, "-o", "jsonpath={.status.used.pods}")) === "0",
    );
  }
  if (draft === undefined) return;
  await createAll(whole, name, [draft]);
  const target = `${kindOf(name)}/web`;
  if (rest !== undefined) {
    const [path, value] = rest;
    await until(
      `${name}: ${path}`,
      async () => await whole.kubectl("get", target, "-n", name, "-o", `jsonpath=${path}`) === value,
    );
  } else if (changes !== undefined) await whole.kubectl("rollout", "status", target, "-n", name, "--timeout=60s");
  for (const args of changes ?? []) await change(whole, name, args);
}

async function change(whole: Whole, name: string, args: readonly string[]): Promise<void> {
  await whole.kubectl(...args.map((it) => it.replace(/^KIND\b/, kindOf(name))), "-n", name);
}

/** Plays a situation, and returns what is wrong. */
async function play(whole: Whole, it: Situation): Promise<string[]> {
  await prepare(whole, it);
  const timeoutS = it.kubectl === "ready" && it.wait === "ready" ? TIMEOUT_S.ready : TIMEOUT_S.waits;
  const later = async (): Promise<void> => {
    if (it.later === undefined) return;
    await delay(2_000);
    await change(whole, it.name, it.later);
  };
  const [theirs, ours, hasty] = await Promise.all([
    byKubectl(whole, it, timeoutS),
    byInformer(whole, it, timeoutS),
    byInformer(whole, it, timeoutS, "--fail-fast"),
    later(),
  ]);
  const found = [theirs, ours, hasty].map(({ verdict }) => verdict);
  const wanted = [it.kubectl, it.wait, it.failure === undefined ? it.wait : "failed"];
  report(
    [it.name, ...[theirs, ours, hasty].map(({ verdict, ms }) => `${verdict} ${(ms / 1_000).toFixed(1)} s`), ours.line]
      .join(" | "),
  );
  const wrong: string[] = [];
  if (found.join() !== wanted.join()) {
    wrong.push(`${it.name}: ${found} instead of ${wanted}: ${theirs.line} | ${ours.line} | ${hasty.line}`);
  }
  if (!it.reason.test(ours.line)) wrong.push(`${it.name}: ${ours.line}`);
  if (!(it.failure ?? it.reason).test(hasty.line)) wrong.push(`${it.name}, --fail-fast: ${hasty.line}`);
  const late = ours.ms - theirs.ms;
  if (theirs.verdict === "ready" && ours.verdict === "ready" && late > LATER_MS) {
    wrong.push(`${it.name}: informer wait ends ${(late / 1_000).toFixed(1)} s after kubectl`);
  }
  return wrong;
}

async function playAll(whole: Whole, situations: readonly Situation[]): Promise<void> {
  const wrong: string[] = [];
  for await (const found of pooledMap(CONCURRENCY, situations, (it) => play(whole, it))) wrong.push(...found);
  assertEquals(wrong, []);
}

Deno.test("the table of situations says why verdicts differ, and nothing where they do not", () => {
  assertEquals([REVIEWED.length, FURTHER.length], [33, 7]);
  for (const { name, kubectl, wait, differs } of [...REVIEWED, ...FURTHER]) {
    assert((kubectl === wait) === (differs === undefined), name);
  }
});

situation("wait: 33 situations have the verdict of kubectl rollout status", (whole) => playAll(whole, REVIEWED));

situation("wait: seven rollouts that end while the commands wait", (whole) => playAll(whole, FURTHER));
