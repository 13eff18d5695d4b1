import { InvalidTypeError } from "./flag_error.ts";
import { type ArgumentValue, Type } from "./type.ts";

/** One of a few values. */
export class EnumType<const Value extends string | number | boolean> extends Type<Value> {
  readonly #values: readonly Value[];

  /** A type of the values listed, or of the values of an enum. */
  constructor(values: readonly Value[] | Record<string, Value>) {
    super();
    this.#values = Array.isArray(values) ? values : Object.values(values);
  }

  /** The value whose text this is; throws when there is none. */
  override parse(type: ArgumentValue): Value {
    const found = this.#values.find((value) => String(value) === type.value);
    if (found === undefined) throw new InvalidTypeError(type, this.#values);
    return found;
  }

  /** The values in the order given. */
  override values(): Value[] {
    return [...this.#values];
  }
}
