/** Which durations {@linkcode checkDurations} allows. */
export interface DurationLimits {
  /** The shortest, in milliseconds. @default {0} */
  readonly min?: number;
  /** Whether `Infinity`, which means "never", is refused. @default {false} */
  readonly finite?: boolean;
}

/**
 * Checks durations that a caller gives, in milliseconds. One that is undefined was not given, and passes. `Infinity` means
 * "never", and passes unless `finite` is set.
 *
 * ```ts ignore
 * checkDurations("create an informer", { graceMs, resyncMs }); // "Cannot create an informer: graceMs must be …, found -1"
 * ```
 *
 * @param action What the caller wanted to do, to follow "Cannot".
 * @param durations The durations by the names of their options.
 * @throws {RangeError} when one is not a number, not a number of milliseconds (NaN), too short, or not finite where it must be.
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
