import { InvalidTypeError } from "./flag_error.ts";
import { type ArgumentValue, Type } from "./type.ts";

/** Any text. */
export class StringType extends Type<string> {
  /** The text itself. */
  override parse({ value }: ArgumentValue): string {
    return value;
  }
}

/** The path of a file; shells suggest files. */
export class FileType extends StringType {}

/** Text that the help does not show. */
export class SecretType extends StringType {
  /** Six stars. */
  override defaultText(): string {
    return "******";
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

/** `true`, `false`, `1` or `0`. */
export class BooleanType extends Type<boolean> {
  /** The boolean; throws when the text is none of the four. */
  override parse(type: ArgumentValue): boolean {
    if (type.value === "true" || type.value === "1") return true;
    if (type.value === "false" || type.value === "0") return false;
    throw new InvalidTypeError(type, ["true", "false", "1", "0"]);
  }

  /** The two words. */
  override complete(): string[] {
    return ["true", "false"];
  }
}
