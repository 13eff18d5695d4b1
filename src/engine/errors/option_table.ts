/**
 * Options that are declared once: their names, defaults, checks, and whether callers share them.
 *
 * {@linkcode readOptions} is the entry point: it checks options against an {@linkcode OptionTable} and fills in the
 * defaults. The compiler asks for a row for each member of the interface. Rules that need two options are checked where
 * they are used.
 *
 * @module
 */
import { checkCounts, checkDurations } from "./checks.ts";
import { checkNames, type Words } from "./option_names.ts";

/** One option. */
interface OptionRow<V> {
  /** The value if the option is not set. */
  readonly default?: V;
  /** Set for a duration in milliseconds: the limits for {@linkcode checkDurations}. */
  readonly ms?: Parameters<typeof checkDurations>[2];
  /** Set for a whole number: the limits for {@linkcode checkCounts}. */
  readonly count?: Parameters<typeof checkCounts>[2];
  /** Set if callers that share an object may differ in this option. */
  readonly shared?: false;
}

/** A row for each option of `O`, in the order in which errors list them. */
export type OptionTable<O> = { readonly [N in keyof O & string]-?: OptionRow<Exclude<O[N], undefined>> };

/** The options `O`, of which those with a default in the table `T` are set. */
export type Settings<O, T> =
  & O
  & {
    readonly [N in keyof T & keyof O as T[N] extends { readonly default: unknown } ? N : never]-?: NonNullable<O[N]>;
  };

/** Returns the rows of options without a default and a check, by their names, which spaces separate. */
export function plainRows<const S extends string>(names: S): { readonly [N in Words<S>]: Record<never, never> } {
  return Object.fromEntries(names.split(" ").map((name) => [name, {}])) as { [N in Words<S>]: Record<never, never> };
}

/** Returns the options of a table, with their defaults, unchecked. It leaves out what the table does not have. */
export function withDefaults<O extends object, const T extends OptionTable<O>>(options: O, table: T): Settings<O, T> {
  const filled: Record<string, unknown> = {};
  for (const [name, row] of Object.entries<OptionRow<unknown>>(table)) {
    const { [name as keyof O]: value = row.default } = options ?? {} as O; // JavaScript may pass none
    if (value !== undefined) filled[name] = value;
  }
  return filled as Settings<O, T>;
}

/**
 * Checks options, and returns them with their defaults.
 *
 * ```ts ignore
 * const OPTIONS = { name: {}, graceMs: { default: 10_000, ms: {} } } as const satisfies OptionTable<QueueOptions>;
 * const { name, graceMs } = readOptions("open a queue", options, OPTIONS);
 * ```
 *
 * @param action The caller's action, which follows "Cannot" in errors.
 * @throws {TypeError} if an option does not exist.
 * @throws {RangeError} if a duration or number is out of range.
 */
export function readOptions<O extends object, const T extends OptionTable<O>>(
  action: string,
  options: O,
  table: T & { readonly [N in Exclude<keyof T, keyof O>]: never },
): Settings<O, T> {
  checkNames(action, options, Object.keys(table));
  const filled = withDefaults<O, T>(options, table);
  const values = filled as Readonly<Record<string, number | undefined>>;
  for (const [name, { ms, count }] of Object.entries<OptionRow<unknown>>(table)) {
    if (ms !== undefined) checkDurations(action, { [name]: values[name] }, ms);
    if (count !== undefined) checkCounts(action, { [name]: values[name] }, count);
  }
  return filled;
}
