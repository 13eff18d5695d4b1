/** The error of a request whose connection breaks before a response. */
export class BrokenConnection extends TypeError {
  /** `"BrokenConnection"`. */
  override readonly name = "BrokenConnection";

  /** Uses a message close to that of `fetch`. */
  constructor() {
    super("Connection reset by the fake API server");
  }
}
