/** One value on the command line or in the environment, and what it is meant to be. */
export interface ArgumentValue {
  /** `"Option"`, `"Argument"` or `"Environment variable"`. */
  label: string;
  /** The name of the type. */
  type: string;
  /** The name of the option (`"--limit"`), argument or variable. */
  name: string;
  /** The text. */
  value: string;
}

/** A function that reads a value, or throws. */
export type TypeHandler<Value> = (type: ArgumentValue) => Value;

/** Either way to define a type. */
export type TypeOrTypeHandler<Value> = Type<Value> | TypeHandler<Value>;

/** The type of the values that a type reads. */
export type InferType<Handler> = Handler extends TypeOrTypeHandler<infer Value> ? Value : unknown;

/** How text becomes a value; registered under a name, by which flag text calls it: `--limit <n:integer>`. */
export abstract class Type<Value> {
  /** The value that the text stands for; throws when it stands for none. */
  abstract parse(type: ArgumentValue): Value;

  /** What the help shows instead of a default value. */
  defaultText?(): string;

  /** All values there are, for the help. */
  values?(): (string | number | boolean)[];

  /** What shells may suggest. */
  complete?(): (string | number | boolean)[] | Promise<(string | number | boolean)[]>;
}
