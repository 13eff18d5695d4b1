/**
 * Tests of controllers under faults.
 *
 * {@linkcode chaos} runs a controller on a fake API server under fake time, with changes and faults by seed: crashes
 * before, during and after writes, stale caches, unobserved states, conflicts, lost answers, refusals, broken watches,
 * clock skew, and a second process. It checks what the author states and what holds for every controller, and prints
 * the shortest failing steps.
 *
 * @module
 */
export { chaos, ChaosError, type ChaosFailure, type ChaosReport } from "./chaos.ts";
export type {
  ChaosOptions,
  ChaosStep,
  ControllerFunction,
  Fault,
  PlannedChange,
  ProcessContext,
  Statement,
  UserChange,
} from "./plan.ts";
export type { FakeApiServer } from "../fake/fake_api_server.ts";
export type { Random } from "../fake/random.ts";
export type { ResourceDefinition } from "../fake/storage/definition.ts";
