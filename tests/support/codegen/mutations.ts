import fc from "npm:fast-check@^4.10.2";

/** Values that stand in for a part of a document. */
export const anything: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, "", "string", "object", "array", 7, true, {}, [], "__proto__", "*/", "class", "map"),
  fc.constantFrom<unknown>(
    { $ref: "#/components/schemas/io.k8s.api.core.v1.PodSpec" },
    { $ref: "#/components/schemas/io.k8s.api.core.v1.Pod" },
    { $ref: "#/components/schemas/io.k8s.api.apps.v1.Set" },
    { type: "object", properties: { metadata: {} } },
    { allOf: [{}, {}] },
    [{ group: "", version: "v1", kind: "Pod" }],
  ),
  fc.string({ unit: "binary" }),
  fc.jsonValue({ maxDepth: 3 }),
);

/** A change of one part of a document. */
export interface Mutation {
  /** The number of the part. */
  readonly at: number;
  readonly kind: "replace" | "remove" | "rename" | "cut";
  readonly value: unknown;
  readonly name: string;
}

/** Any change. */
export const mutation: fc.Arbitrary<Mutation> = fc
  .record({
    at: fc.nat(),
    kind: fc.constantFrom("replace", "remove", "rename", "cut"),
    value: anything,
    name: fc.oneof(
      fc.constantFrom("__proto__", "constructor", "$ref", "type", "items", "properties", "allOf", "enum", "spec", "*/"),
      fc.string({ unit: "binary" }),
    ),
  });

/** Returns a copy with a change at one of its parts. */
export function mutated(document: unknown, { at, kind, value, name }: Mutation): unknown {
  const copy = structuredClone(document);
  const parts: [Record<string, unknown>, string][] = [];
  const walk = (part: unknown): void => {
    if (typeof part !== "object" || part === null) return;
    for (const key of Object.keys(part)) {
      parts.push([part as Record<string, unknown>, key]);
      walk((part as Record<string, unknown>)[key]);
    }
  };
  walk(copy);
  if (parts.length === 0) return value;
  const [part, key] = parts[at % parts.length];
  const define = (name: string, value: unknown): unknown =>
    Object.defineProperty(part, name, { value, enumerable: true, configurable: true, writable: true });
  if (kind === "replace") define(key, value);
  else if (kind === "rename") {
    const moved = part[key];
    delete part[key];
    if (!Array.isArray(part)) define(name, moved);
  } else delete part[key];
  // A document that is cut off is either no JSON, or ends early.
  if (kind === "cut") { for (const [other, key] of parts.slice(parts.length - (at % parts.length))) delete other[key]; }
  return copy;
}
