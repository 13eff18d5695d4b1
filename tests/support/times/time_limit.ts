/**
 * Preloaded by `deno task test`: a test that has no `timeout` of its own fails after two minutes, by its name, in place
 * of keeping the run waiting.
 */
import { Script } from "node:vm";

const LIMIT_MS = 120_000;

// Reports name the caller of Deno.test as a test's place, unless that is a frame of `ext:`.
const limit: (test: typeof Deno.test, timeout: number) => typeof Deno.test = new Script(
  `(test, timeout) =>
    Object.assign((...given) => {
      const definition = { timeout };
      for (const it of given) {
        if (typeof it === "string") definition.name = it;
        else if (typeof it === "function") definition.fn = it;
        else Object.assign(definition, it);
      }
      definition.name ??= definition.fn?.name;
      test(definition);
    }, test)`,
  { filename: "ext:time_limit.js" },
).runInThisContext();

Object.assign(Deno, { test: limit(Deno.test, LIMIT_MS) });
