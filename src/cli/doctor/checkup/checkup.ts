/**
 * Runs checks with time limits and records their findings.
 *
 * {@linkcode Checkup} is the entry point; `reasonFor` converts errors to findings, `expiryOf` judges validity periods.
 * This folder does not know which checks there are.
 *
 * @module
 */
import { DerivedController } from "../../../async/derived_controller.ts";
import { type ReasonAndRemedy, reasonFor } from "./reason_for.ts";
import { EXIT_CODE } from "../../errors/exit_code.ts";
import { plain } from "../../terminal/text/plain.ts";

/** Result of a check; `skip` if there was nothing to check, or it was not possible. */
export type StepStatus = "ok" | "warn" | "fail" | "skip";

/** One line of the report. Holds no secrets and no control characters. */
export interface Step {
  /** Name of the check: `"address"`, `"watch pods"`. */
  readonly name: string;
  /** Its result. */
  readonly status: StepStatus;
  /** The finding. */
  readonly what: string;
  /** Remedy, if the status is not `ok`. */
  readonly remedy?: string;
  /** Duration, in milliseconds. */
  readonly ms: number;
}

/** The finding of a check. */
export interface Finding extends ReasonAndRemedy {
  /** Its result. */
  readonly status: StepStatus;
  /** Exit code of a failure. @default {1, unless the check says otherwise} */
  readonly code?: number;
}

/** Time limits, in milliseconds. */
export interface CheckupLimits {
  /** One check. */
  readonly stepMs: number;
  /** A credential plugin, which may prompt. */
  readonly pluginMs: number;
  /** All checks together; the remaining ones are skipped. */
  readonly totalMs: number;
}

/** Default time limits. */
export const CHECKUP_LIMITS: CheckupLimits = { stepMs: 3_000, pluginMs: 5_000, totalMs: 14_000 };

/** Options for {@linkcode Checkup.check}. */
export interface CheckOptions {
  /** Time limit, in milliseconds. @default {the limit of one check} */
  readonly limitMs?: number;
  /** Remedy for a timeout, which is a failure; or the finding to report instead. */
  readonly late: string | Finding;
  /** Remedy for a failure that has none of its own. */
  readonly advice: string;
  /** The exit code of a failure that has none of its own. @default {1} */
  readonly code?: number;
}

/** A check exceeded its time limit. */
class StepTimeout extends Error {
  override readonly name = "StepTimeout";
}

/**
 * Runs checks one after the other and records their findings.
 *
 * - Each check ends in time: after its limit it is aborted and not awaited.
 * - An error of a check is recorded as a failure; only an interrupt ends the checkup.
 * - Secrets passed to {@linkcode Checkup.hide} are redacted in all steps.
 */
export class Checkup {
  /** The findings, in the order of the checks. */
  readonly steps: Step[] = [];
  /** Time limits. */
  readonly limits: CheckupLimits;
  readonly #signal: AbortSignal;
  readonly #onCheck: (name: string) => void;
  /** Texts to redact, shared with the checkups that run beside this one; it only grows. */
  readonly #secrets: Set<string>;
  readonly #endsAt: number;
  /** Exit codes of the failures so far; it only grows. */
  readonly #codes = new Set<number>();

  /**
   * The total time starts now. `signal` ends the checkup; `onCheck` is called with the name of each check that starts.
   */
  constructor(signal: AbortSignal, limits: CheckupLimits, onCheck: (name: string) => void, parent?: Checkup) {
    this.#signal = signal;
    this.limits = limits;
    this.#onCheck = onCheck;
    this.#secrets = parent === undefined ? new Set() : parent.#secrets;
    this.#endsAt = parent === undefined ? performance.now() + limits.totalMs : parent.#endsAt;
  }

  /** Redacts a secret in all steps. */
  hide(secret: string): void {
    // Shorter texts are not secrets, and redacting them would damage words.
    if (secret.length >= 4) this.#secrets.add(secret);
  }

  /**
   * Runs a check; returns `false` if it failed, so that dependent checks can be left out.
   *
   * @throws the reason of an interrupt.
   */
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

  /** Records a finding that needs no check. */
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

  /** Creates a checkup with the same time limit and secrets, for checks that run concurrently. */
  beside(): Checkup {
    return new Checkup(this.#signal, this.limits, this.#onCheck, this);
  }

  /** Appends the findings of another checkup. */
  append(other: Checkup): void {
    this.steps.push(...other.steps);
    for (const code of other.#codes) this.#codes.add(code);
  }

  /** 0 if no check failed, 3 if the server cannot be reached or denies access, 2 if only names are wrong, else 1. */
  get exitCode(): number {
    const worst = [EXIT_CODE.connection, EXIT_CODE.failed, EXIT_CODE.usage].find((code) => this.#codes.has(code));
    return worst ?? EXIT_CODE.done;
  }

  #clean(text: string): string {
    let cleaned = text;
    // Longest first, so that a secret that contains another one is redacted completely.
    for (const secret of [...this.#secrets].sort((a, b) => b.length - a.length)) {
      cleaned = cleaned.replaceAll(secret, "[redacted]");
    }
    return plain(cleaned);
  }
}

/** Formats a duration in seconds: `"3 s"`, `"0.2 s"`. */
export function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}
