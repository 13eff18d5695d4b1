/**
 * Refuses options that do not exist.
 *
 * {@linkcode checkNames} is the entry point. The compiler finds a misspelt option only in an object literal, not in a
 * spread object, a configuration file or JavaScript. Values are checked where they are used.
 *
 * @module
 */
import type { BackoffOptions } from "../async/time.ts";
import { ArgumentError, checkDurations, ValueError } from "./checks.ts";
import { nearest, quoted } from "./errors.ts";

/** The words of a text, which spaces separate. */
export type Words<S extends string> = S extends `${infer A} ${infer B}` ? Words<A> | Words<B> : S;

type KeysOf<O> = O extends unknown ? keyof O & string : never;

/** `S`, if its words are the names of all options in `O` and no others. */
type Names<O, S extends string> = [KeysOf<O>, Words<S>] extends [Words<S>, KeysOf<O>] ? S : never;

/** Returns a function that splits the names of a type's options at spaces, see {@linkcode checkNames}. */
export function namesOf<O>(): <const S extends string>(...names: readonly Names<O, S>[]) => readonly string[] {
  return (...names) => names.join(" ").split(" ");
}

/**
 * Throws if a plain object has an option that does not exist, because a misspelt option would have no effect. It
 * ignores class instances, which may have other members.
 *
 * ```ts ignore
 * checkNames("open a queue", options, "name rate"); // "Cannot open a queue: there is no option "rat". Did you mean "rate"?"
 * ```
 *
 * @param action The caller's action, which follows "Cannot" in the error.
 * @param names All names, separated by spaces, or a list. The compiler compares the text with the options' type.
 * @param remedy The advice if no other option is similar.
 * @throws {TypeError} The message names the option, and the similar option if there is one.
 */
export function checkNames<O extends object, const S extends string>(
  action: string,
  options: O | undefined,
  names: Names<O, S> | readonly string[],
  remedy = "Remove it",
): void {
  if (options === undefined || options === null || Object.getPrototypeOf(options)?.constructor !== Object) return;
  const known: readonly string[] = typeof names === "string" ? names.split(" ") : names;
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const near = nearest(unknown, known);
  const advice = near === undefined ? `${remedy}. The options are ${known.join(", ")}` : `Did you mean "${near}"?`;
  throw new ArgumentError(`Cannot ${action}: there is no option "${quoted(unknown)}". ${advice}`);
}

/**
 * Checks the options for a back-off.
 *
 * @throws {RangeError} if an option is negative or not a number, or the factor is below 1.
 * @throws {TypeError} like {@linkcode checkNames}.
 */
export function checkBackoff(options: BackoffOptions): void {
  checkNames("back off", options, "initialMs maxMs factor jitter");
  const { initialMs, maxMs, factor = 2, jitter = 1 } = options;
  checkDurations("back off", { initialMs, maxMs }, { finite: true });
  if (!(factor >= 1)) throw new ValueError(`Cannot back off: factor must be at least 1, but it is ${factor}`);
  if (!(jitter >= 0)) throw new ValueError(`Cannot back off: jitter must be at least 0, but it is ${jitter}`);
}
