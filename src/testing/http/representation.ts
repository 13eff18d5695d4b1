import { PROTOBUF } from "../wire/read_protobuf.ts";
import { refusal } from "./refusal.ts";

/** Representation of objects that a client accepts. */
export type Representation =
  | "object"
  | "PartialObjectMetadata"
  | "PartialObjectMetadataList"
  | "Table"
  | "APIGroupDiscoveryList";

interface MediaRange {
  readonly type: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly quality: number;
}

/** A representation, and its encoding. */
export interface Negotiated {
  /** The form of the objects. */
  readonly representation: Representation;
  /** True for Kubernetes' protobuf, which only metadata is offered in; false for JSON. */
  readonly protobuf: boolean;
}

/** Media ranges that include JSON. */
const JSON_TYPES = ["application/json", "application/*", "*/*"];

/**
 * Returns the best representation that an `Accept` header allows and the server offers.
 *
 * @throws {StatusError} 406 if there is none.
 */
export function negotiateRepresentation(accept: string | null, offered: readonly Representation[]): Negotiated {
  const ranges = parseAccept(accept ?? "*/*");
  for (const range of ranges) {
    const protobuf = range.type === PROTOBUF;
    if (!protobuf && !JSON_TYPES.includes(range.type)) continue;
    const { as, g, v } = range.parameters;
    if (protobuf && !as?.startsWith("PartialObjectMetadata")) continue;
    if (as === undefined) return { representation: "object", protobuf };
    const version = as === "APIGroupDiscoveryList"
      ? g === "apidiscovery.k8s.io" && v === "v2"
      : g === "meta.k8s.io" && v === "v1";
    const representation = offered.find((name) => name === as);
    if (version && representation !== undefined) return { representation, protobuf };
  }
  throw refusal(
    406,
    "406: Not Acceptable\n\nAvailable representations: application/json, application/json;stream=watch",
    { details: {} },
  );
}

/** The ranges of an `Accept` header, by descending quality. */
function parseAccept(accept: string): MediaRange[] {
  const ranges = accept.split(",").map((text): MediaRange => {
    const [type, ...rest] = text.split(";").map((part) => part.trim());
    const parameters: Record<string, string> = {};
    for (const parameter of rest) {
      const equals = parameter.indexOf("=");
      if (equals > 0) parameters[parameter.slice(0, equals).trim()] = parameter.slice(equals + 1).trim();
    }
    const quality = parameters.q === undefined ? 1 : Number(parameters.q);
    return { type: type.toLowerCase(), parameters, quality: Number.isFinite(quality) ? quality : 0 };
  });
  return ranges.filter((range) => range.quality > 0).sort((a, b) => b.quality - a.quality);
}
