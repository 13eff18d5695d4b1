import { describeStep, type PerturbStep } from "../plan/perturb_step.ts";

/** The most lines after one step. */
const MOST_LINES = 20;

/** The record of a trial: its lines, its first failure, and the number of changes and faults, which may lead to writes. */
export class TrialRecord {
  /** The index of the present step: -1 before the first one, and the number of steps after the last. */
  step = -1;
  /** True when changes and faults have ended. */
  isSettling = false;
  /** The number of changes, faults and starts of processes. */
  weight = 0;
  readonly #lines: { readonly step: number; readonly text: () => string }[] = [];
  readonly #startedAt = performance.now();
  #failure: string | undefined;

  /** The first failure; undefined if there was none. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** Records a failure and its line, if it is the first. */
  fail(failure: string): void {
    if (this.#failure !== undefined) return;
    this.#failure = failure;
    this.note(() => `✗ ${failure.split("\n", 1)[0]}`);
  }

  /** Adds a line to the present step, with the time. */
  note(text: () => string): void {
    const seconds = (performance.now() - this.#startedAt) / 1_000;
    this.#lines.push({ step: this.step, text: () => `${seconds.toFixed(3).padStart(9)} s  ${text()}` });
  }

  /** Returns the steps, numbered, each followed by its lines. */
  linesOf(steps: readonly PerturbStep[]): string[] {
    const titles = ["the controller starts", ...steps.map(describeStep), "changes and faults end"];
    return titles.flatMap((title, number) => {
      const own = this.#lines.filter(({ step }) => step === number - 1);
      const left = own.length - MOST_LINES;
      return [
        `${String(number).padStart(3)}. ${title}`,
        ...own.slice(0, MOST_LINES).map(({ text }) => `       ${text()}`),
        ...(left > 0 ? [`       and ${left} more`] : []),
      ];
    });
  }
}
