/** What every assertion throws when it does not hold. */
export class AssertionError extends Error {
  /** An error whose message says what was found and what was expected. */
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "AssertionError";
  }
}
