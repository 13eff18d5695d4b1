/** One value on the command line, and its type. */
export interface ArgumentValue {
  /** `"Option"` or `"Argument"`. */
  label: string;
  /** The name of the type. */
  type: string;
  /** The name of the option (`"--limit"`) or argument. */
  name: string;
  /** The text. */
  value: string;
}

/** The type of the values that a type reads. */
export type InferType<Handler> = Handler extends Type<infer Value> ? Value : unknown;

/** How text becomes a value; registered under a name, by which flag text calls it: `--limit <n:integer>`. */
export abstract class Type<Value> {
  /** The value that the text stands for; throws when it stands for none. */
  abstract parse(type: ArgumentValue): Value;

  /** All values there are, for the help and for shells. */
  values?(): (string | number | boolean)[];
}
