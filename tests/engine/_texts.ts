import fc from "npm:fast-check@^4.10.2";

/** The text of a JSON value as its tokens, between which there may be white space. */
export type Tokens = readonly string[];

/** The text of an object, and what a walker must be able to say about it. */
export interface ObjectText {
  readonly text: string;
  /** `true` if the walker has no reason to decline. */
  readonly plain: boolean;
}

/** Pieces that look like the ends and beginnings a scanner looks for. */
const PIECES = [
  "]",
  "}",
  "[",
  "{",
  ",",
  ":",
  `"`,
  "\\",
  `]},"x`,
  `],"a`,
  `]},"spec":{`,
  `","metadata":{"name":"evil"}`,
  `"items":[{`,
  `managedFields`,
  "\n",
  "\u2028",
  "ä",
  "日本",
  "🦕",
  "<&>",
  " ",
  "plain",
  "0",
];

/**
 * Keys without backslashes, quotes and digits only: V8 15.0 decodes keys wrongly once it has seen a backslash in one.
 */
export const KEYS = [
  "spec",
  "status",
  "a",
  "metadata",
  "name",
  "namespace",
  "uid",
  "resourceVersion",
  "managedFields",
  "items",
  "kind",
  "x]},y",
  "[",
  "{",
  "",
  ":",
  ",",
  "__proto__",
  "schlüssel",
  "鍵",
  "nam",
  "names",
  "labels",
  "f:metadata",
];

const hostile: fc.Arbitrary<string> = fc.array(fc.constantFrom(...PIECES), { maxLength: 5 }).map((all) => all.join(""));

/** A string token, sometimes with escapes that nothing demands. */
const stringToken: fc.Arbitrary<string> = fc.tuple(hostile, fc.nat(9)).map(([value, dice]) => {
  const token = JSON.stringify(value);
  if (dice === 0) return `"${[...value].map(escaped).join("")}"`;
  return dice === 1 ? token.replaceAll("/", "\\/") : token;
});

function escaped(character: string): string {
  return Array.from(character.split(""), (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
}

const scalar: fc.Arbitrary<Tokens> = fc.oneof(
  { weight: 4, arbitrary: stringToken.map((token) => [token]) },
  { weight: 1, arbitrary: fc.constantFrom(["null"], ["true"], ["false"], ["0"], ["-1.5e-7"], ["12"], ["1E+3"]) },
);

const { value, object } = fc.letrec<{ value: Tokens; object: Tokens }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    scalar,
    tie("object"),
    fc.array(tie("value"), { maxLength: 3 }).map((items) => ["[", ...joined(items), "]"]),
  ),
  object: members(tie("value")).map(objectTokens),
}));

function members(of: fc.Arbitrary<Tokens>): fc.Arbitrary<(readonly [string, Tokens])[]> {
  return fc.uniqueArray(fc.tuple(fc.constantFrom(...KEYS), of), { maxLength: 4, selector: ([key]) => key });
}

function joined(items: readonly Tokens[]): Tokens {
  return items.flatMap((item, index) => index === 0 ? item : [",", ...item]);
}

function objectTokens(all: readonly (readonly [string, Tokens])[]): Tokens {
  return ["{", ...joined(all.map(([key, tokens]) => [JSON.stringify(key), ":", ...tokens])), "}"];
}

/** As the server writes them: fields are objects only, with quotes in their keys. */
const fieldsV1: fc.Arbitrary<Tokens> = fc.constantFrom(
  `{"f:metadata":{"f:labels":{".":{},"f:app":{}}}}`,
  `{"f:spec":{"f:containers":{"k:{\\"name\\":\\"app\\"}":{".":{},"f:image":{}}}}}`,
  `{"f:status":{"v:[\\"a\\",1]":{}}}`,
  `{}`,
).map((text) => [text]);

const managedFields: fc.Arbitrary<Tokens> = fc.oneof(
  fc.array(
    fc.tuple(stringToken, fieldsV1).map(([manager, fields]) =>
      objectTokens([["manager", [manager]], ["operation", [`"Update"`]], ["fieldsV1", fields]])
    ),
    { maxLength: 3 },
  ).map((entries) => ["[", ...joined(entries), "]"]),
  value,
  fc.constantFrom(["null"], ["[", "]"], ["[[", "]", ",", `"]},\\"x"`, "]"]),
);

const NAMES = ["web-0", "shop", "a", "", "0f6c-4d1e", "12345"];
const nameToken: fc.Arbitrary<string> = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(...NAMES).map((name) => JSON.stringify(name)) },
  { weight: 1, arbitrary: stringToken },
  { weight: 1, arbitrary: fc.constantFrom("null", "7", "[]", `"caf\\u00e9"`) },
);

const IDENTIFYING = ["name", "namespace", "uid", "resourceVersion"];

const metadata: fc.Arbitrary<{ readonly tokens: Tokens; readonly plain: boolean }> = fc.record({
  names: fc.subarray(IDENTIFYING, { minLength: 1 }),
  values: fc.array(nameToken, { minLength: 4, maxLength: 4 }),
  managed: fc.option(managedFields, { freq: 3 }),
  labels: fc.option(object),
  others: members(value),
  order: fc.infiniteStream(fc.nat(1_000)),
}).map(({ names, values, managed, labels, others, order }) => {
  const all: (readonly [string, Tokens])[] = [];
  if (managed !== null) all.push(["managedFields", managed]);
  if (labels !== null) all.push(["labels", labels]);
  names.forEach((name, index) => all.push([name, [values[index]]]));
  all.push(...others.filter(([key]) => !IDENTIFYING.includes(key) && key !== "managedFields" && key !== "labels"));
  // deno-lint-ignore no-control-regex
  const plain = names.every((_, index) => /^"[\x00-\x7f]*"$/.test(values[index]) && !values[index].includes("\\"));
  return { tokens: objectTokens(shuffled(all, order)), plain };
});

function shuffled<V>(all: readonly V[], order: Iterator<number>): V[] {
  const rest = [...all];
  const result: V[] = [];
  while (rest.length > 0) result.push(...rest.splice(order.next().value % rest.length, 1));
  return result;
}

/** White space between tokens: none at all, in one place, or anywhere. */
const spacing: fc.Arbitrary<(tokens: Tokens) => string> = fc.oneof(
  { weight: 6, arbitrary: fc.constant((tokens: Tokens) => tokens.join("")) },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.nat(), fc.constantFrom(" ", "\n", "\t", "\r\n")).map(
      ([place, space]) => (tokens: Tokens) => {
        const at = 1 + place % Math.max(tokens.length - 1, 1);
        return tokens.slice(0, at).join("") + space + tokens.slice(at).join("");
      },
    ),
  },
  { weight: 1, arbitrary: fc.constant((tokens: Tokens) => JSON.stringify(JSON.parse(tokens.join("")), undefined, 2)) },
);

/** The layouts there are: built-in kinds in watches and lists, custom resources (sorted), and any other. */
type Layout = "watch" | "item" | "custom" | "any";

/** Texts of objects, hostile ones included. */
export const objectText: fc.Arbitrary<ObjectText> = fc.record({
  metadata,
  others: members(value),
  layout: fc.constantFrom<Layout>("watch", "item", "custom", "any"),
  order: fc.infiniteStream(fc.nat(1_000)),
  spacing,
  missing: fc.nat(30),
}).map(({ metadata, others, layout, order, spacing, missing }) => {
  const rest = others.filter(([key]) => key !== "metadata" && key !== "kind");
  const own: readonly [string, Tokens] = ["metadata", metadata.tokens];
  const kind: readonly [string, Tokens] = ["kind", [`"Pod"`]];
  const version: readonly [string, Tokens] = ["apiVersion", [`"v1"`]];
  const members = {
    watch: (): (readonly [string, Tokens])[] => [kind, version, own, ...rest],
    item: (): (readonly [string, Tokens])[] => [own, ...rest],
    custom: (): (readonly [string, Tokens])[] => [version, kind, own, ...rest],
    any: (): (readonly [string, Tokens])[] => shuffled([kind, version, own, ...rest], order),
  }[layout]();
  const present = missing === 0 ? members.filter(([key]) => key !== "metadata") : members;
  const tokens = objectTokens(present);
  const text = spacing(tokens);
  return { text, plain: metadata.plain && missing !== 0 && text === tokens.join("") };
});

/** Objects that lists and watches may hold: with a metadata object, and a name in it or not. */
export const memberText: fc.Arbitrary<string> = objectText.map(({ text }) => text).filter((text) => {
  const { metadata } = JSON.parse(text);
  return typeof metadata === "object" && metadata !== null;
});

/** Ways to cut a body into chunks: not at all, into chunks of one size, or at random. */
export const chunking: fc.Arbitrary<(bytes: Uint8Array) => Uint8Array[]> = fc.oneof(
  fc.constant((bytes: Uint8Array) => [bytes.slice()]),
  fc.integer({ min: 1, max: 70 }).map((size) => (bytes: Uint8Array) =>
    Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.slice(i * size, (i + 1) * size))
  ),
  fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 }).map((shares) => (bytes: Uint8Array) => {
    const cuts = [0, ...shares.map((share) => Math.floor(share * bytes.length)).sort((a, b) => a - b), bytes.length];
    return cuts.slice(1).map((end, index) => bytes.slice(cuts[index], end));
  }),
);

/** An object as informers are to see it: with its kind, and without managedFields. */
export function asRead(
  object: Record<string, unknown>,
  options: { readonly drop: boolean; readonly kind?: string; readonly apiVersion?: string },
): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  if (options.kind !== undefined && !Object.hasOwn(object, "kind")) copy.kind = options.kind;
  if (options.apiVersion !== undefined && !Object.hasOwn(object, "apiVersion")) copy.apiVersion = options.apiVersion;
  for (const [key, value] of Object.entries(object)) define(copy, key, value);
  if (options.drop) {
    const metadata: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(object.metadata as object)) {
      if (key !== "managedFields") define(metadata, key, value);
    }
    copy.metadata = metadata;
  }
  return copy;
}

function define(object: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}
