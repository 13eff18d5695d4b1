const REDACTED = "[redacted]";
/** The method that Deno and Node call to print an object. */
const INSPECT: unique symbol = Symbol.for("nodejs.util.inspect.custom");

/** An object that hides its content when it is printed, concatenated or serialized. */
export abstract class Redacted {
  /** Always `"[redacted]"`. */
  toString(): string {
    return REDACTED;
  }

  /** Always `"[redacted]"`. */
  toJSON(): string {
    return REDACTED;
  }

  /** Printed by consoles: always `"[redacted]"`. */
  [INSPECT](): string {
    return REDACTED;
  }
}

/** A secret text; only {@linkcode Secret.reveal} returns it. */
export class Secret extends Redacted {
  readonly #text: string;

  /** Wraps `text`. */
  constructor(text: string) {
    super();
    this.#text = text;
  }

  /** Returns the text. */
  reveal(): string {
    return this.#text;
  }
}
