/** The connection breaks: what an answer is when there is none. */
export class BrokenConnection extends TypeError {
  /** `"BrokenConnection"`. */
  override readonly name = "BrokenConnection";

  /** As `fetch` says it, more or less. */
  constructor() {
    super("Connection reset by the fake API server");
  }
}
