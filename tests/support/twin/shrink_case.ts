import { shrink } from "../../../src/testing/fake/history.ts";
import { isObject, type Json, type JsonObject } from "../../../src/engine/api/json.ts";
import { objectOr } from "../../../src/engine/api/members.ts";
import type { Case, Step } from "./step.ts";
import { withValueAt } from "./types.ts";

/** Returns what a case shows, or undefined if it does not show what is looked for. */
export type Show<Seen> = (steps: readonly Step[]) => Promise<Seen | undefined>;

/** A smaller case that shows the same. */
export interface Shrunk<Seen> {
  readonly steps: readonly Step[];
  readonly seen: Seen;
}

/** Leaves out requests, then members of bodies, as long as `show` answers; plays the case at most `tries` times. */
export async function shrinkCase<Seen>(
  { seed, steps }: Case,
  show: Show<Seen>,
  tries = 120,
): Promise<Shrunk<Seen>> {
  let left = tries;
  const counted: Show<Seen> = (steps) => {
    left--;
    return steps.length === 0 ? Promise.resolve(undefined) : show(steps);
  };
  const first = await counted(steps);
  if (first === undefined) {
    throw new Error(`Cannot shrink the case of seed ${seed}: it does not show the difference again`);
  }
  const shorter = await shrink({ steps, failure: first }, counted, 20);
  let best: Shrunk<Seen> = { steps: shorter.steps, seen: shorter.failure };
  for (let at = best.steps.length - 1; at >= 0; at--) {
    // A body that shows it has its next member in the place of the one that was left out.
    for (let skipped = 0; left > 0;) {
      const body = smallerBodies(best.steps[at].body).drop(skipped).next().value;
      if (body === undefined) break;
      const smaller = best.steps.with(at, { ...best.steps[at], body });
      const seen = await counted(smaller);
      if (seen === undefined) skipped++;
      else best = { steps: smaller, seen };
    }
  }
  return best;
}

/** A body without one of its members or elements each, the outermost first; names and versions stay. */
export function* smallerBodies(body: Json | undefined): Generator<Json> {
  if (body === undefined) return;
  const level: (readonly (string | number)[])[] = [[]];
  for (const path of level) {
    const value = path.reduce<Json>((value, key) => (value as Json[] & JsonObject)[key as number]!, body);
    const keys = Array.isArray(value) ? value.map((_, at) => at) : isObject(value) ? Object.keys(value) : [];
    for (const key of keys) {
      const inner = [...path, key];
      if (["apiVersion", "kind", "metadata.name"].includes(inner.join("."))) continue;
      const isNaming = inner.join() === "metadata" && "name" in objectOr((body as JsonObject).metadata);
      if (!isNaming) yield withValueAt(body, inner, undefined);
      level.push(inner);
    }
  }
}
