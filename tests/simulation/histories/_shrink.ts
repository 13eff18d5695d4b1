import type { Script, ScriptStep } from "./_script.ts";
import { play } from "./_play.ts";

/** Returns the first broken promise of a script; `undefined` if it keeps all. */
export async function failureOf(script: Script): Promise<Error | undefined> {
  try {
    await play(script);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/**
 * A script with as few steps as still break something: pieces are left out, large ones first, as long as it fails
 * without them. Plays at most `tries` scripts.
 */
export async function shrink(
  script: Script,
  tries = 400,
): Promise<{ readonly script: Script; readonly failure: Error }> {
  let failure = await failureOf(script);
  if (failure === undefined) throw new Error(`Cannot shrink the history of seed ${script.seed}: it breaks nothing`);
  let steps: readonly ScriptStep[] = script.steps;
  for (let size = Math.ceil(steps.length / 2); size >= 1 && tries > 0; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < steps.length && tries > 0;) {
      const without = [...steps.slice(0, from), ...steps.slice(from + size)];
      tries--;
      const still = await failureOf({ ...script, steps: without });
      if (still === undefined) from += size;
      else {
        steps = without;
        failure = still;
      }
    }
  }
  return { script: { ...script, steps }, failure };
}
