import type { PerturbOptions } from "./plan/options.ts";
import type { PerturbPlan } from "./plan/perturb_plan.ts";
import { type TrialResult, tryPlan } from "./trial/trial.ts";

/** The most runs of one shrinking. */
const MOST_RUNS = 200;

/**
 * Leaves out steps of a failing plan as long as it fails, large pieces first, and returns the result of the smallest plan.
 */
export async function shrinkPlan<World>(
  options: PerturbOptions<World>,
  plan: PerturbPlan,
  failed: TrialResult,
): Promise<TrialResult> {
  let { steps } = plan;
  let result = failed;
  let runs = 0;
  for (let size = Math.ceil(steps.length / 2), shorter = false; size >= 1 && runs < MOST_RUNS;) {
    for (let from = 0; from < steps.length && runs < MOST_RUNS;) {
      const without = steps.toSpliced(from, size);
      const attempt = await tryPlan(options, { ...plan, steps: without });
      runs++;
      if (attempt.failure === undefined) from += size;
      else {
        steps = without;
        result = attempt;
        shorter = true;
      }
    }
    // Single steps are tried until each of them is needed.
    if (size > 1) size = Math.ceil(size / 2);
    else if (!shorter) break;
    shorter = false;
  }
  return result;
}
