/**
 * What the toolkit is held against: ratios of ours to a named baseline, from one run, each beside what is accepted.
 *
 * `deno task bench:limits [--only L7,L8] [--reps 3]`; ends with 1 when a limit is not held. Ids with a letter behind the
 * number are parts of one limit: `--only L16` means all of its parts.
 */
import * as decoding from "./limits/decoding.ts";
import { CLIENT_NODE, EVENTS } from "./limits/events.ts";
import { HEAP } from "./limits/heap.ts";
import { LARGE } from "./limits/large.ts";
import { LATENCY } from "./limits/latency.ts";
import { LISTS } from "./limits/lists.ts";
import { PIPELINE } from "./limits/pipeline.ts";
import * as relists from "./limits/relists.ts";
import { report } from "./limits/report.ts";
import { STORE } from "./limits/store.ts";

const missed = await report([
  decoding.PODS,
  decoding.LEASES,
  LISTS,
  LARGE,
  EVENTS,
  relists.PODS,
  relists.LEASES,
  PIPELINE,
  STORE,
  HEAP,
  LATENCY,
  CLIENT_NODE,
], Deno.args);
Deno.exit(missed === 0 ? 0 : 1);
