import type { Compute } from "./checks.ts";
import { WORKLOAD_DEFAULTS } from "./computed_workloads.ts";

/** What the server's defaulting computes, by the name of the type; constant defaults are in the schemas. */
export const COMPUTED: Readonly<Record<string, Compute>> = { ...WORKLOAD_DEFAULTS };
