/**
 * Refuses options that do not exist.
 *
 * {@linkcode checkNames} is the entry point. The compiler finds a misspelt option only in an object literal, not in a
 * spread object, in a configuration file or in JavaScript. Values are checked where they are used.
 *
 * @module
 */
import { nearest, quoted } from "./errors.ts";

type Words<S extends string> = S extends `${infer A} ${infer B}` ? Words<A> | Words<B> : S;

type KeysOf<O> = O extends unknown ? keyof O & string : never;

/**
 * Returns a function that splits the names of all options of a type, between spaces. The compiler knows that they are
 * complete, and that there are no others.
 */
export function namesOf<O>(): <const S extends string>(
  ...names: readonly ([KeysOf<O>, Words<S>] extends [Words<S>, KeysOf<O>] ? S : never)[]
) => readonly string[] {
  return (...names) => names.join(" ").split(" ");
}

/**
 * Refuses options of a plain object that do not exist: a misspelt one would have no effect. Instances of classes may
 * have members of their own.
 *
 * @param action The action of the caller, which follows "Cannot" in the error.
 * @throws {TypeError} which names the option, and the one that was meant.
 */
export function checkNames(action: string, options: object | undefined, names: readonly string[]): void {
  if (options === undefined || options === null || Object.getPrototypeOf(options)?.constructor !== Object) return;
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  const near = nearest(unknown, names);
  const remedy = near === undefined ? `Remove it; there are ${names.join(", ")}` : `Did you mean "${near}"?`;
  throw new TypeError(`Cannot ${action}: there is no option "${quoted(unknown)}". ${remedy}`);
}
