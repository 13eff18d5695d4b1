/**
 * Runs controllers under faults: a fake API server, fake time, and changes and faults that depend on a seed alone.
 *
 * {@linkcode perturb} is the entry point. `plan.ts` makes the steps of a seed, `trial.ts` performs them,
 * with the processes and their network of `process.ts` and the checks of `checks.ts`. Faults of the server, their
 * performing and the shrinking are those of histories, in `testing/history.ts`. This folder knows nothing about
 * reconcilers: a controller is any function with a client and a signal.
 *
 * @module
 */

import { checkCounts } from "../async/time.ts";
import { shrink } from "../testing/history.ts";
import { type PerturbOptions, planOf } from "./plan.ts";
import { type TrialResult, tryPlan } from "./trial.ts";

/** The most runs of one shrinking. */
const MOST_RUNS = 200;

/** The summary of `perturb()`. */
export interface PerturbReport {
  /** The number of seeds that were run. */
  readonly seeds: number;
  /** The number of steps of all seeds. */
  readonly steps: number;
  /** The number of writes of the controllers that the server has accepted. */
  readonly writes: number;
}

/** A seed that fails. */
export interface PerturbFailure {
  /** The seed. */
  readonly seed: number;
  /** The violation after shrinking. */
  readonly message: string;
  /** The numbered steps that are left after shrinking, each followed by what happened until the next one. */
  readonly lines: readonly string[];
}

/** Seeds failed. The message has the numbered steps of each, and the seed to run it again. */
export class PerturbError extends Error {
  /** Always `"PerturbError"`. */
  override readonly name = "PerturbError";
  /** The failing seeds. */
  readonly failures: readonly PerturbFailure[];

  /** Describes these failures. */
  constructor(failures: readonly PerturbFailure[]) {
    super(
      failures.map(({ seed, message, lines }) => {
        return `seed ${seed}: ${message}\n${
          lines.join("\n")
        }\nto run it again: perturb({ …, from: ${seed}, seeds: 1 })`;
      }).join("\n\n"),
    );
    this.failures = failures;
  }
}

/**
 * Runs a controller once for each seed, on a fake API server under fake time. A seed decides which changes are made and
 * which faults occur, and when; the same seed gives the same steps.
 *
 * Most seeds have a few kinds of changes and faults, in motifs: a fault of writes before the changes that lead to them;
 * a view that is late or lost, before changes or just after; a process that ends, or loses its network or its clock,
 * between two changes; all objects of users deleted, and created again. One seed of six has no faults. At least half of
 * the changes pick what the one before picked, most often its object; the others pick one of the first in the list more
 * often than one of the last. A change is also made several times, or the same again.
 *
 * It checks what `converges` and `invariants` state, and what holds for every controller:
 *
 * - It converges within 10 minutes after changes and faults have ended, and then writes nothing for 2 minutes. Writes
 *   of Leases and Events do not count.
 * - It sends no more than 2,000 requests without a wait, and on average 10 writes for each change, start and fault.
 * - After the deletion of all objects that it has not created, finalizers are removed, and nothing that it has created
 *   is left.
 * - It does not exit again and again, and no rejection is unhandled. After its signal has aborted, it ends within 60 s,
 *   and no watch and no timer is left.
 *
 * The faults are those of {@linkcode PerturbStep}. Timers, `Date`, `performance.now`, `Math.random`, `crypto`'s random
 * values and the console are replaced meanwhile, so only one can run at a time; a controller must not use sockets,
 * files or other real time. All processes share one time of day: clock skew is between them and the server. Code that a
 * crashed process runs after its signal has aborted reaches no server, but could reach `world`. A loop of promises
 * without a request or a timer hangs the test.
 *
 * A failing seed is shrunk: steps are left out as long as it fails, by up to 200 further runs.
 *
 * @throws {PerturbError} when a seed fails.
 * @throws {Error} when a change or `setup` throws, or time is faked already.
 *
 * @example
 * ```ts
 * import { type KubernetesObject, SharedIndexInformer, WorkQueue } from "@kube/informer";
 * import { ConfigMap } from "@kube/informer/kinds/core/v1";
 * import { perturb } from "@kube/informer/testing/perturb";
 * import { assertEquals } from "@std/assert";
 *
 * const report = await perturb({
 *   seeds: 3,
 *   // Labels each ConfigMap with the number of its keys.
 *   controller: async ({ client, signal }) => {
 *     await using queue = new WorkQueue();
 *     await using maps = new SharedIndexInformer(client.resource(ConfigMap));
 *     const add = ({ key }: { key: string }): void => queue.add(key);
 *     maps.addEventHandler({ onAdd: add, onUpdate: add });
 *     const running = maps.run({ signal });
 *     await queue.run(async (key) => {
 *       const map = maps.indexer.getByKey(key);
 *       const size = String(Object.keys(map?.data ?? {}).length);
 *       if (map === undefined || map.metadata.labels?.size === size) return;
 *       const body = { metadata: { labels: { size } } };
 *       await client.resource(ConfigMap, { namespace: "shop" }).patch(map.metadata.name, { type: "merge", body });
 *     }, { signal, onError: () => {} });
 *     await running;
 *   },
 *   changes: {
 *     write: (server, random) => {
 *       const name = random.pick(["a", "b"]);
 *       const data = { [random.pick(["x", "y", "z"])]: "1" };
 *       if (server.get(ConfigMap, `shop/${name}`)) server.patch(ConfigMap, `shop/${name}`, { data });
 *       else server.create(ConfigMap, { metadata: { namespace: "shop", name }, data });
 *     },
 *   },
 *   converges: (server) =>
 *     server.list(ConfigMap).every(({ metadata, data }) => metadata.labels?.size === String(Object.keys(data ?? {}).length)),
 * });
 * assertEquals(report.seeds, 3);
 * ```
 */
export async function perturb<World = undefined>(options: PerturbOptions<World>): Promise<PerturbReport> {
  const { seeds = 100, from = 1, failures: mostFailures = 1 } = options;
  checkCounts("perturb a controller", { seeds, from, failures: mostFailures }, { min: 1 });
  const failures: PerturbFailure[] = [];
  let [steps, writes, done] = [0, 0, 0];
  const { elects } = options;
  const planOptions = { steps: options.steps, without: options.without, elects, changes: Object.keys(options.changes) };
  for (let seed = from; seed < from + seeds && failures.length < mostFailures; seed++) {
    const plan = planOf(seed, planOptions);
    const result = await tryPlan(options, plan);
    done++;
    steps += plan.steps.length;
    writes += result.writes;
    if (result.failure !== undefined) {
      const failureOf = async (steps: typeof plan.steps): Promise<TrialResult | undefined> => {
        const attempt = await tryPlan(options, { ...plan, steps });
        return attempt.failure === undefined ? undefined : attempt;
      };
      const { failure } = await shrink({ steps: plan.steps, failure: result }, failureOf, MOST_RUNS);
      failures.push({ seed, message: failure.failure!, lines: failure.lines });
    }
  }
  if (failures.length > 0) throw new PerturbError(failures);
  return { seeds: done, steps, writes };
}
