import type { Compute } from "./checks.ts";
import { CORE_COMPUTED } from "./computed_core.ts";
import { WORKLOAD_DEFAULTS } from "./computed_workloads.ts";

/** The defaults that the server computes, by the name of the type; constant defaults are in the schemas. */
export const COMPUTED: Readonly<Record<string, Compute>> = { ...CORE_COMPUTED, ...WORKLOAD_DEFAULTS };
