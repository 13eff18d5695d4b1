/** Plays histories until one fails, prints which and why, and exits with 1; with 0 when all pass. */
import { scriptOf } from "../tests/histories/_script.ts";
import { failureOf } from "../tests/histories/_shrink.ts";
import { SCENARIOS } from "../tests/histories/_scenarios.ts";

// What hangs is caught too, and must not hang the tool.
const watchdog = setTimeout(() => {
  console.log("it hangs");
  Deno.exit(1);
}, 60_000);
for (const { name, script } of SCENARIOS) {
  const failure = await failureOf(script);
  if (failure === undefined) continue;
  console.log(`scenario "${name}": ${failure.message.split("\n")[0].slice(0, 120)}`);
  Deno.exit(1);
}
for (let seed = 1; seed <= Number(Deno.args[0]); seed++) {
  const failure = await failureOf(scriptOf(seed));
  if (failure === undefined) continue;
  console.log(`seed ${seed}: ${failure.message.split("\n")[0].slice(0, 120)}`);
  Deno.exit(1);
}
clearTimeout(watchdog);
Deno.exit(0);
