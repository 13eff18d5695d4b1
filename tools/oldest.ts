/**
 * Runs the demo with the oldest Deno that works, which npm has. It needs npx and the registry of npm.
 *
 * @module
 */
import { join } from "node:path";
import { quit, readFlags } from "./flags.ts";

/** The oldest version of Deno that works. Pages that name another one fail `tests/docs/facts_test.ts`. */
export const OLDEST_DENO = "2.3.1";

async function output(...args: string[]): Promise<string> {
  const { stdout, stderr } = await new Deno.Command("npx", {
    args: ["-y", `deno@${OLDEST_DENO}`, ...args],
    cwd: join(import.meta.dirname!, ".."),
    env: { NO_COLOR: "1" },
    stdin: "null",
  }).output();
  return new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
}

if (import.meta.main) {
  readFlags({
    task: "test:oldest",
    summary: `Runs the demo with Deno ${OLDEST_DENO}, the oldest that works.`,
    flags: {},
    exits: "Exits with 1 when the demo fails, with 2 when the command line is wrong.",
  });
  // A package of npm may have another version of Deno than its own.
  const version = /^deno (\S+)/m.exec(await output("--version"))?.[1];
  if (version !== OLDEST_DENO) quit(`Cannot test Deno ${OLDEST_DENO}: npm has Deno ${version} under this version`, 1);
  const text = await output("task", "demo");
  if (!/^equal *yes/m.test(text)) quit(`Cannot run the demo with Deno ${OLDEST_DENO}:\n${text.slice(-8_000)}`, 1);
  console.log(`the demo runs with Deno ${OLDEST_DENO}`);
}
