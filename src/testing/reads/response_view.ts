import { badRequest } from "../http/refusal.ts";

/** The part of each object that a table row includes. */
export type IncludeObject = "None" | "Metadata" | "Object";

/** Representation of objects in a response. */
export type ResponseView =
  | {
    /** Full objects. */
    readonly as: "object";
  }
  | {
    /** Metadata only. */
    readonly as: "partial";
    /** True for protobuf, false for JSON. */
    readonly protobuf: boolean;
  }
  | {
    /** Rows of a table, with cells computed by the server. */
    readonly as: "table";
    /** The part of the object that a row includes. */
    readonly include: IncludeObject;
    /** The server's clock, for ages. */
    readonly now: () => number;
  };

/** The representation as a table. */
export type TableView = ResponseView & { readonly as: "table" };

/** Returns true if the response is in protobuf. */
export function inProtobuf(view: ResponseView): boolean {
  return view.as === "partial" && view.protobuf;
}

/**
 * Parses the query parameter `includeObject`.
 *
 * @throws {StatusError} 400 if the value is unknown.
 */
export function includeObjectOf(parameters: URLSearchParams): IncludeObject {
  const include = parameters.get("includeObject") || "Metadata";
  if (include === "None" || include === "Metadata" || include === "Object") return include;
  throw badRequest(`unrecognized includeObject value: ${JSON.stringify(include)}`);
}
