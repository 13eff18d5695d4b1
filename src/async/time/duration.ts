/** Limits for {@linkcode checkDurations}. */
export interface DurationLimits {
  /** The shortest duration, in milliseconds. @default {0} */
  readonly min?: number;
  /** Refuses `Infinity`, which means "never". @default {false} */
  readonly finite?: boolean;
}

/**
 * Checks options that are durations in milliseconds. `undefined` passes: the option was not given. `Infinity` means "never",
 * and passes unless `finite` is set.
 *
 * ```ts ignore
 * checkDurations("create an informer", { graceMs, resyncMs }); // "Cannot create an informer: graceMs must be …, found -1"
 * ```
 *
 * @param action The action of the caller, which follows "Cannot" in the error.
 * @param durations The durations by the names of their options.
 * @throws {RangeError} when one is not a number, NaN, too short, or infinite where it must be finite.
 */
export function checkDurations(
  action: string,
  durations: Readonly<Record<string, number | undefined>>,
  limits: DurationLimits = {},
): void {
  const { min = 0, finite = false } = limits;
  for (const [name, value] of Object.entries(durations)) {
    if (value === undefined) continue;
    if (typeof value === "number" && value >= min && !(finite && value === Infinity)) continue;
    const upTo = finite ? " and finite" : ", or Infinity for never";
    const found = typeof value === "string" ? JSON.stringify(value) : String(value);
    throw new RangeError(`Cannot ${action}: ${name} must be at least ${min} milliseconds${upTo}, found ${found}`);
  }
}
