import { DerivedController } from "../async/derived_controller.ts";
import { InformerError } from "../errors/informer_error.ts";
import type { InformerState } from "./sync/state.ts";

/** The facts of a {@linkcode WaitError}. */
export interface WaitFailure {
  /** The resource, `"pods"` or `"deployments.apps"`. */
  readonly resource: string;
  /** The state of the informer when the wait ended. */
  readonly state: InformerState;
  /** The time for which it had been in that state, in milliseconds. */
  readonly stateMs: number;
  /** The reason of the signal that ended the wait, if one did. */
  readonly reason?: unknown;
}

/**
 * A wait of an informer has ended without success: its signal aborted, the server refuses, or the informer stopped. The message
 * names the resource, the state of the informer and the duration of that state; `cause` is the error that led to the state, or
 * else the reason of the signal.
 */
export class WaitError extends InformerError implements WaitFailure {
  /** `"WaitError"`. */
  override readonly name = "WaitError";
  /** The resource, `"pods"` or `"deployments.apps"`. */
  readonly resource: string;
  /** The state of the informer when the wait ended. */
  readonly state: InformerState;
  /** The time for which it had been in that state, in milliseconds. */
  readonly stateMs: number;
  /** The reason of the signal that ended the wait, if one did. */
  readonly reason?: unknown;

  /** Creates an error. `cause` defaults to the reason of the signal. */
  constructor(message: string, failure: WaitFailure, options: ErrorOptions = {}) {
    const { resource, state, stateMs, reason } = failure;
    super(message, { cause: options.cause ?? reason });
    this.resource = resource;
    this.state = state;
    this.stateMs = stateMs;
    if (reason !== undefined) this.reason = reason;
  }
}

/** One wait, from its beginning. */
export interface Wait {
  /** The awaited event, after "Cannot wait for": `"pods" to sync`. */
  readonly what: string;
  /** The resource. */
  readonly resource: string;
  /** The time since its beginning, in milliseconds. */
  readonly waitedMs: number;
}

/** Makes the error about a wait from the informer's state and its cause. `given` says why the wait ended. */
export function waitError(
  wait: Wait,
  status: { readonly state: InformerState; readonly stateMs: number; readonly cause?: unknown },
  given: { readonly ended: "aborted"; readonly reason: unknown } | {
    readonly ended: "refused" | "stopped" | "removed";
  },
): WaitError {
  const { state, stateMs, cause } = status;
  const since = state === "stopped" ? "it has stopped" : `its state has been "${state}" for ${seconds(stateMs)}`;
  const removed = state === "stopped" ? "its informer has stopped" : "it was removed";
  const why = given.ended === "aborted"
    ? `given up after ${seconds(wait.waitedMs)}, ${since}`
    : given.ended === "removed"
    ? removed
    : since;
  const reason = given.ended === "aborted" ? { reason: given.reason } : {};
  return new WaitError(
    `Cannot wait for ${wait.what}: ${why}`,
    { resource: wait.resource, state, stateMs, ...reason },
    { cause },
  );
}

function joinedWaitError(errors: readonly WaitError[]): WaitError {
  const [first] = errors;
  const message = errors.map(({ message }) => message.replace(/^Cannot wait for /, "")).join("; ");
  return new WaitError(`Cannot wait for ${message}`, first, { cause: first.cause });
}

/**
 * Awaits all waits, which `start` begins with a signal that aborts with `signal`, and when one fails. When `signal` has ended
 * several, the error names them all.
 */
export async function joined(
  start: (signal?: AbortSignal) => readonly Promise<void>[],
  signal: AbortSignal | undefined,
): Promise<void> {
  using job = new DerivedController(signal);
  const waits = start(job.signal);
  try {
    await Promise.all(waits);
  } catch (error) {
    if (!signal?.aborted) throw error;
    const errors = (await Promise.allSettled(waits)).flatMap((it) => it.status === "rejected" ? [it.reason] : []);
    throw errors.every((it) => it instanceof WaitError) ? joinedWaitError(errors) : error;
  }
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(ms < 100_000 ? 1 : 0)} s`;
}
