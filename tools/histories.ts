/**
 * Plays random histories against informers and says which seeds break a promise, each cut down to the steps that matter.
 *
 * ```sh
 * deno task histories --seeds 20000 --from 1
 * ```
 *
 * Exits with 1 when a seed fails, with 2 when the flags make no sense.
 *
 * @module
 */
import { printed, scriptOf } from "../tests/simulation/histories/_script.ts";
import { failureOf, shrink } from "../tests/simulation/histories/_shrink.ts";

function numberOf(flag: string, fallback: number): number {
  const at = Deno.args.indexOf(`--${flag}`);
  if (at < 0) return fallback;
  const value = Number(Deno.args[at + 1]);
  if (Number.isInteger(value) && value >= 1) return value;
  console.error(`error: --${flag} must be a positive integer, found "${Deno.args[at + 1] ?? ""}"`);
  Deno.exit(2);
}

for (const [i, arg] of Deno.args.entries()) {
  if (i % 2 === 0 && !["--seeds", "--from"].includes(arg)) {
    console.error(`error: there is no flag "${arg}"; there are --seeds N and --from N`);
    Deno.exit(2);
  }
}
const seeds = numberOf("seeds", 2_000);
const from = numberOf("from", 1);
const startedAt = performance.now();
const failed: number[] = [];
for (let seed = from; seed < from + seeds; seed++) {
  if (await failureOf(scriptOf(seed)) !== undefined) {
    failed.push(seed);
    const { script, failure } = await shrink(scriptOf(seed));
    console.log(`seed ${seed} fails: ${failure.message}\n${printed(script)}`);
    console.log(`play it again: deno task histories --from ${seed} --seeds 1\n`);
  }
  const done = seed - from + 1;
  if (done % 500 === 0 || done === seeds) {
    const perSecond = Math.round(done / ((performance.now() - startedAt) / 1_000));
    console.log(`${done} of ${seeds} histories, ${failed.length} failed, ${perSecond} a second`);
  }
}
if (failed.length > 0) console.log(`failed: ${failed.join(" ")}`);
Deno.exit(failed.length === 0 ? 0 : 1);
