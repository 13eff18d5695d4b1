import { InvalidTypeError } from "./flag_error.ts";
import { type ArgumentValue, Type } from "./type.ts";

/** Any text. */
export class StringType extends Type<string> {
  /** The text itself. */
  override parse({ value }: ArgumentValue): string {
    return value;
  }
}

/** A finite number. */
export class NumberType extends Type<number> {
  /** The number; throws when the text is empty or not a finite number. */
  override parse(type: ArgumentValue): number {
    const number = Number(type.value);
    if (type.value === "" || !Number.isFinite(number)) throw new InvalidTypeError(type);
    return number;
  }
}

/** A whole number. */
export class IntegerType extends Type<number> {
  /** The number; throws when the text is not a whole number. */
  override parse(type: ArgumentValue): number {
    const number = Number(type.value);
    if (!Number.isInteger(number)) throw new InvalidTypeError(type);
    return number;
  }
}
