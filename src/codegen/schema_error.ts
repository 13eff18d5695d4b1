/** A document that cannot be turned into types. The message begins with the path of the part that is wrong. */
export class SchemaError extends Error {
  /** The name of the class. */
  override readonly name = "SchemaError";
  /** The document and the JSON pointer in it: `"apis/apps/v1#/components/schemas/Deployment"`. */
  readonly path: string;

  /** Creates an error: `path`, what was found there, and perhaps its cause. */
  constructor(path: string, problem: string, options?: ErrorOptions) {
    super(`Cannot generate types of "${path}": ${problem}`, options);
    this.path = path;
  }
}
