/**
 * Runs the controllers of `examples` against seeds of changes and faults, and prints the steps of a failing seed.
 *
 * ```sh
 * deno task perturb --seeds 2000
 * deno task perturb --only crontab --from 17 --seeds 1
 * ```
 *
 * Exits with 1 when a seed fails, with 2 when a flag is wrong.
 *
 * @module
 */
import { perturb, PerturbError } from "@kube/informer/testing/perturb";
import { EXAMPLES } from "../tests/perturb/_examples.ts";

const flags: Record<string, string> = { "--seeds": "50", "--from": "1", "--only": "" };
for (let at = 0; at < Deno.args.length; at += 2) {
  const [flag, value] = [Deno.args[at], Deno.args[at + 1]];
  const isNumber = flag !== "--only";
  const isValid = isNumber ? /^[1-9]\d*$/.test(value ?? "") : value !== undefined && value in EXAMPLES;
  if (flag in flags && isValid) flags[flag] = value;
  else {
    console.error(
      `error: cannot read "${flag} ${value ?? ""}"; there are --seeds N, --from N and --only ${
        Object.keys(EXAMPLES).join("|")
      }`,
    );
    Deno.exit(2);
  }
}

let failed = false;
for (const [name, options] of Object.entries(EXAMPLES)) {
  if (flags["--only"] !== "" && flags["--only"] !== name) continue;
  const startedAt = performance.now();
  try {
    const { seeds, steps, writes } = await perturb({
      ...options,
      seeds: Number(flags["--seeds"]),
      from: Number(flags["--from"]),
    });
    const perSecond = (seeds / ((performance.now() - startedAt) / 1_000)).toFixed(1);
    console.log(`${name}: ${seeds} seeds passed, ${steps} steps, ${writes} writes, ${perSecond} seeds a second`);
  } catch (error) {
    if (!(error instanceof PerturbError)) throw error;
    failed = true;
    console.error(
      `${name}: ${error.message}\nor: deno task perturb --only ${name} --from ${error.failures[0].seed} --seeds 1\n`,
    );
  }
}
Deno.exit(failed ? 1 : 0);
