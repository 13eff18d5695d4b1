/**
 * What becomes of a process that does much at once: many informers, handlers and namespaces, lists of 100,000, and who else
 * wants the event loop meanwhile; each beside what is accepted.
 *
 * `deno task bench:many [--only M1,M6] [--reps 3]`; ends with 1 when a limit is not held. Ids with a letter behind the
 * number come from the same runs: `--only M1` means all of them.
 */
import { report } from "./limits/report.ts";
import { AT_ONCE, COLLECTIONS, HANDLERS, IMPORT, LARGE } from "./many/limits.ts";

const missed = await report([LARGE, AT_ONCE, HANDLERS, COLLECTIONS, IMPORT], Deno.args);
Deno.exit(missed === 0 ? 0 : 1);
