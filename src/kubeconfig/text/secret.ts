const REDACTED = "[redacted]";
/** Where every runtime with a console looks for what to print. */
const INSPECT: unique symbol = Symbol.for("nodejs.util.inspect.custom");

/** What does not show its content when it is printed, concatenated or serialised. */
export abstract class Redacted {
  /** Always `"[redacted]"`. */
  toString(): string {
    return REDACTED;
  }

  /** Always `"[redacted]"`. */
  toJSON(): string {
    return REDACTED;
  }

  /** What a console prints. */
  [INSPECT](): string {
    return REDACTED;
  }
}

/** A text that is only given to who asks for it by name. */
export class Secret extends Redacted {
  readonly #text: string;

  /** Keeps `text` to itself. */
  constructor(text: string) {
    super();
    this.#text = text;
  }

  /** The text. */
  reveal(): string {
    return this.#text;
  }
}
