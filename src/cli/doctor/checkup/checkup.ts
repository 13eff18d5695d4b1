import { DerivedController } from "../../../async/derived_controller.ts";
import { type ReasonAndRemedy, reasonFor } from "./reason_for.ts";
import { EXIT_CODE } from "../../errors/exit_code.ts";
import { plain } from "../../terminal/plain.ts";

/** How a check ended: `skip` is neither good nor bad, there was nothing to check, or no way to. */
export type StepStatus = "ok" | "warn" | "fail" | "skip";

/** One line of what the doctor says. Holds no secrets and no control characters. */
export interface Step {
  /** What was looked at: `"address"`, `"watch pods"`. */
  readonly name: string;
  /** How it ended. */
  readonly status: StepStatus;
  /** What was found. */
  readonly what: string;
  /** What to do about it; only where it is not well. */
  readonly remedy?: string;
  /** How long it took, in milliseconds. */
  readonly ms: number;
}

/** What a check found. */
export interface Finding extends ReasonAndRemedy {
  /** How it ended. */
  readonly status: StepStatus;
  /** What a failure ends the program with. @default {1, unless the check says otherwise} */
  readonly code?: number;
}

/** How long things may take, in milliseconds. */
export interface CheckupLimits {
  /** One check. */
  readonly stepMs: number;
  /** A credential plugin, which may have to ask somebody. */
  readonly pluginMs: number;
  /** All of them together; what is left then is skipped. */
  readonly totalMs: number;
}

/** What people wait for without a doubt that something goes on. */
export const CHECKUP_LIMITS: CheckupLimits = { stepMs: 3_000, pluginMs: 5_000, totalMs: 14_000 };

/** How one check is made. */
export interface CheckOptions {
  /** How long it may take, in milliseconds. @default {the limit of a step} */
  readonly limitMs?: number;
  /** What to do when it takes longer, which is a failure; or what that means instead. */
  readonly late: string | Finding;
  /** What to do about a failure that says nothing of that itself. */
  readonly advice: string;
  /** The exit code of a failure that has none of its own. @default {1} */
  readonly code?: number;
}

/** Within its time something did not come. */
class StepTimeout extends Error {
  override readonly name = "Late";
}

/**
 * Makes checks one after the other and writes down what they find.
 *
 * - Every check ends in time, whatever it waits for: what goes on after that is told to stop, and not waited for.
 * - What a check throws is a failure and has its reason; only an interrupt ends the checkup.
 * - Secrets that were told to {@linkcode hide} are in no step.
 */
export class Checkup {
  /** What was found, in the order of the checks. */
  readonly steps: Step[] = [];
  /** How long things may take. */
  readonly limits: CheckupLimits;
  readonly #signal: AbortSignal;
  readonly #onCheck: (name: string) => void;
  readonly #secrets: Set<string>;
  readonly #endsAt: number;
  readonly #codes = new Set<number>();

  /** The clock for all checks starts now. `signal` ends the checkup; `onCheck` hears what is being looked at. */
  constructor(signal: AbortSignal, limits: CheckupLimits, onCheck: (name: string) => void, parent?: Checkup) {
    this.#signal = signal;
    this.limits = limits;
    this.#onCheck = onCheck;
    this.#secrets = parent === undefined ? new Set() : parent.#secrets;
    this.#endsAt = parent === undefined ? performance.now() + limits.totalMs : parent.#endsAt;
  }

  /** Never to be seen in a step. */
  hide(secret: string): void {
    // What is shorter is no secret, and would take words apart.
    if (secret.length >= 4) this.#secrets.add(secret);
  }

  /** Checks something; answers whether it is of use to go on with what builds on it. @throws the reason of an interrupt. */
  async check(name: string, options: CheckOptions, look: (signal: AbortSignal) => Promise<Finding>): Promise<boolean> {
    this.#signal.throwIfAborted();
    const startedAt = performance.now();
    const leftMs = this.#endsAt - startedAt;
    if (leftMs <= 0) {
      const what = `not checked, ${seconds(this.limits.totalMs)} are over`;
      this.note(name, { status: "skip", what });
      return false;
    }
    this.#onCheck(name);
    const limitMs = Math.min(options.limitMs ?? this.limits.stepMs, leftMs);
    using controller = new DerivedController(this.#signal);
    const over = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      const late = new StepTimeout(`no answer within ${seconds(limitMs)}`);
      over.reject(late);
      controller.abort(late);
    }, limitMs);
    const interrupted = (): void => over.reject(this.#signal.reason);
    this.#signal.addEventListener("abort", interrupted, { once: true });
    let finding: Finding;
    try {
      finding = await Promise.race([look(controller.signal), over.promise]);
    } catch (error) {
      this.#signal.throwIfAborted();
      const { late, advice } = options;
      finding = error instanceof StepTimeout
        ? typeof late === "string" ? { status: "fail", what: error.message, remedy: late } : late
        : { status: "fail", remedy: advice, ...reasonFor(error) };
    } finally {
      clearTimeout(timer);
      this.#signal.removeEventListener("abort", interrupted);
    }
    this.note(name, { ...options.code !== undefined && { code: options.code }, ...finding }, startedAt);
    return finding.status !== "fail";
  }

  /** Writes down what is known already. */
  note(name: string, finding: Finding, startedAt: number = performance.now()): void {
    const { status, what, remedy, code = EXIT_CODE.failed } = finding;
    if (status === "fail") this.#codes.add(code);
    this.steps.push({
      name: this.#clean(name),
      status,
      what: this.#clean(what),
      ...(remedy !== undefined && status !== "ok" && { remedy: this.#clean(remedy) }),
      ms: Math.round(performance.now() - startedAt),
    });
  }

  /** A checkup beside this one, with the same end and the same secrets, for what is looked at together. */
  beside(): Checkup {
    return new Checkup(this.#signal, this.limits, this.#onCheck, this);
  }

  /** Puts what another one found behind what was found here. */
  append(other: Checkup): void {
    this.steps.push(...other.steps);
    for (const code of other.#codes) this.#codes.add(code);
  }

  /** 0 when nothing failed, 3 when there is no way to the server or it does not let us, else 1. */
  get exitCode(): number {
    if (this.#codes.has(EXIT_CODE.connection)) return EXIT_CODE.connection;
    return this.#codes.size === 0 ? EXIT_CODE.done : EXIT_CODE.failed;
  }

  #clean(text: string): string {
    let cleaned = text;
    // Longest first, so that one that contains another goes as a whole.
    for (const secret of [...this.#secrets].sort((a, b) => b.length - a.length)) {
      cleaned = cleaned.replaceAll(secret, "[redacted]");
    }
    return plain(cleaned);
  }
}

/** `"3 s"`, `"0.2 s"`. */
export function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}
