/** One line of the table of limits. */
export interface Limit {
  /** What it is called in the table and on the command line. */
  readonly id: string;
  /** What is measured, over what. */
  readonly what: string;
  /** What was measured. */
  readonly value: number;
  /** The most, or the least, that is accepted. */
  readonly accept: { readonly most: number } | { readonly least: number };
  /** What value and acceptance are of. @default {"", a ratio} */
  readonly unit?: string;
}

/** How measurements are taken. */
export interface MeasureOptions {
  /** How often each side is measured; the median counts. */
  readonly repetitions: number;
}

/** Measures one limit, or some that come from the same runs. */
export interface Measurement {
  /** The limits it tells of. */
  readonly ids: readonly string[];
  /** Takes the measurements. @throws {Error} when something could not be measured. */
  measure(options: MeasureOptions): Promise<readonly Limit[]>;
}

/** Whether the value is accepted; what could not be measured is not. */
export function isHeld({ value, accept }: Limit): boolean {
  return "most" in accept ? value <= accept.most : value >= accept.least;
}
