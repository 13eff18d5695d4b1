const REDACTED = "[redacted]";
const DENO_INSPECT: unique symbol = Symbol.for("Deno.customInspect");
const NODE_INSPECT: unique symbol = Symbol.for("nodejs.util.inspect.custom");

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

  /** What Deno prints. */
  [DENO_INSPECT](): string {
    return REDACTED;
  }

  /** What Node prints. */
  [NODE_INSPECT](): string {
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
