import { badRequest } from "../http/refusal.ts";

/** How much of each object a row of a table carries. */
export type IncludeObject = "None" | "Metadata" | "Object";

/** How objects are written into an answer. */
export type ResponseView =
  | {
    /** As they are. */
    readonly as: "object";
  }
  | {
    /** Their metadata alone. */
    readonly as: "partial";
  }
  | {
    /** As rows of a table, cells written by the server. */
    readonly as: "table";
    /** What else a row carries. */
    readonly include: IncludeObject;
    /** The server's clock: ages are counted from it. */
    readonly now: () => number;
  };

/** How a table looks. */
export type TableView = ResponseView & { readonly as: "table" };

/**
 * What a table is asked to carry.
 *
 * @throws {StatusError} 400 when there is no such thing.
 */
export function includeObjectOf(parameters: URLSearchParams): IncludeObject {
  const include = parameters.get("includeObject") || "Metadata";
  if (include === "None" || include === "Metadata" || include === "Object") return include;
  throw badRequest(`unrecognized includeObject value: ${JSON.stringify(include)}`);
}
