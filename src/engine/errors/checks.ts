/**
 * The errors about wrong arguments, and checks for options that are durations or counts.
 *
 * {@linkcode checkDurations} and {@linkcode checkCounts} throw errors with the option's name, its value and the allowed
 * values. `errors/option_names.ts` refuses options that do not exist.
 *
 * @module
 */

/** A `TypeError` about an argument that the caller must change. An error from a defect has no `reason`. */
export class ArgumentError extends TypeError {
  /** Says that the argument is wrong, whatever the message says. */
  readonly reason = "argument";
}

/** A `RangeError` about an argument that the caller must change, like {@linkcode ArgumentError}. */
export class ValueError extends RangeError {
  /** See {@linkcode ArgumentError.reason}. */
  readonly reason = "argument";
}

/** Limits for {@linkcode checkDurations}. */
interface DurationLimits {
  /** The shortest duration, in milliseconds. @default {0} */
  readonly min?: number;
  /** Refuses `Infinity`, which means "never". @default {false} */
  readonly finite?: boolean;
}

/**
 * Checks options that are durations in milliseconds. `undefined` passes, because the option is absent. `Infinity` means
 * "never", and passes unless `finite` is set.
 *
 * ```ts ignore
 * checkDurations("create an informer", { graceMs, resyncMs }); // "Cannot create an informer: graceMs must be …, but it is -1"
 * ```
 *
 * @param action The caller's action, which follows "Cannot" in the error.
 * @param durations The durations by option name.
 * @throws {RangeError} if a duration is not a number, NaN, too short, or infinite although it must be finite.
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
    throw new ValueError(`Cannot ${action}: ${name} must be at least ${min} milliseconds${upTo}, but it is ${found}`);
  }
}

/**
 * Checks options that are whole numbers, such as sizes or attempts. `undefined` passes, because the option is absent.
 *
 * @param action The caller's action, which follows "Cannot" in the error.
 * @param counts The numbers by option name.
 * @param limits `min` is 0 by default. With `infinite`, `Infinity` passes and means no limit.
 * @throws {RangeError} if a number is not a safe integer, or is less than `min`.
 */
export function checkCounts(
  action: string,
  counts: Readonly<Record<string, number | undefined>>,
  { min = 0, infinite = false }: { readonly min?: number; readonly infinite?: boolean } = {},
): void {
  for (const [name, value] of Object.entries(counts)) {
    if (value === undefined || (Number.isSafeInteger(value) && value >= min) || (infinite && value === Infinity)) {
      continue;
    }
    const found = typeof value === "string" ? JSON.stringify(value) : String(value);
    const or = infinite ? ", or Infinity for no limit" : "";
    throw new ValueError(
      `Cannot ${action}: ${name} must be a whole number of at least ${min}${or}, but it is ${found}`,
    );
  }
}
