/**
 * Plays the scenarios and the histories of seeds 1 to N until one fails: prints which and why, and exits with `FAILED`;
 * with 0 when all pass. Any other exit code means that it crashed.
 *
 * @module
 */
import { positionFailureOf, positionScriptOf } from "../tests/support/histories/checkpoints.ts";
import { failureOf } from "../tests/support/histories/play.ts";
import { SCENARIOS } from "../tests/support/histories/scenarios.ts";
import { scriptOf } from "../tests/support/histories/script.ts";

/** The exit code when a history fails. */
export const FAILED = 10;

/** Plays them all; does not return. */
async function main(seeds: number): Promise<never> {
  let playing = "";
  const fail = (error: unknown): never => {
    const { message } = error instanceof Error ? error : new Error(String(error));
    console.log(`${playing}: ${message.split("\n")[0].slice(0, 120)}`);
    Deno.exit(FAILED);
  };
  // A rejection that nothing handles fails a history, as it fails a test.
  addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    fail(new Error(`unhandled rejection: ${event.reason}`));
  });
  for (const { name, script } of SCENARIOS) {
    playing = `scenario "${name}"`;
    const failure = await failureOf(script);
    if (failure !== undefined) fail(failure);
  }
  for (let seed = 1; seed <= seeds; seed++) {
    playing = `seed ${seed}`;
    const failure = await failureOf(scriptOf(seed));
    if (failure !== undefined) fail(failure);
    playing = `seed ${seed} of positions`;
    const ofPosition = await positionFailureOf(positionScriptOf(seed));
    if (ofPosition !== undefined) fail(ofPosition);
  }
  Deno.exit(0);
}

if (import.meta.main) await main(Number(Deno.args[0]));
