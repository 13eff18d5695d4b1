/** Words on the command line do not fit the definitions; becomes the cause of a `ValidationError`. */
export class FlagError extends Error {
  /** `"FlagError"`. */
  override readonly name: string = "FlagError";
}

/** A value is not of its type; becomes the cause of a `ValidationError`. */
export class InvalidTypeError extends FlagError {
  /** `"InvalidTypeError"`. */
  override readonly name: string = "InvalidTypeError";

  /** An error about one value; `expected` lists what would have been right. */
  constructor(
    { label, name, type, value }: {
      readonly label: string;
      readonly name: string;
      readonly type: string;
      readonly value: string;
    },
    expected: readonly (string | number | boolean)[] = [],
  ) {
    const values = expected.length === 0 ? "" : ` Expected values: ${expected.map((one) => `"${one}"`).join(", ")}`;
    super(`${label} "${name}" must be of type "${type}", but got "${value}".${values}`);
  }
}
