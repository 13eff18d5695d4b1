/**
 * Tests of controllers under faults.
 *
 * {@linkcode perturb} runs a controller on a fake API server under fake time, with changes and faults by seed: crashes
 * before, during and after writes, stale caches, unobserved states, conflicts, lost answers, refusals, broken watches,
 * clock skew, and a second process. It checks what the author states and what holds for every controller, and prints
 * the shortest failing steps.
 *
 * @module
 */
export { perturb, PerturbError, type PerturbFailure, type PerturbReport } from "./perturb.ts";
export type {
  ControllerFunction,
  Fault,
  PerturbOptions,
  PerturbStep,
  PlannedChange,
  ProcessContext,
  Statement,
  UserChange,
} from "./plan.ts";
export type { Random } from "../fake/random.ts";
export type { ResourceDefinition } from "../fake/storage/definition.ts";
