import { isList, isObject, type Json, type JsonObject, type MutableJson } from "../../../src/engine/api/json.ts";
import { FORMATS } from "../../../src/operator/schema/values/formats.ts";
import { KEYWORDS } from "../../../src/operator/schema/values/keywords.ts";
import type { Random } from "../../../src/testing/fake/random.ts";

// Random schemas whose keywords are drawn from the table of keywords, with values at the borders of what they check.

/** Texts that fit a format, from which others are made by small changes. Formats by their names without hyphens. */
const TEXTS: Readonly<Record<string, readonly string[]>> = {
  bsonobjectid: ["507f1f77bcf86cd799439011"],
  uri: ["http://example.com/a?b#c", "/a/b", "mailto:a@b.c", "https://[::1]:80/%20", "//x"],
  email: ["a@b.co", '"a b"@c.de', "A B <a@b.co>", "a@[1.2.3.4]", "a@b.co (c (d))", "g: a@b.co;"],
  hostname: ["example.com", "a", "a-b.example.com", "x-y", "1.2.abc", "münchen.de"],
  ipv4: ["1.2.3.4", "01.2.3.4", "::ffff:1.2.3.4", "255.255.255.255"],
  ipv6: ["::1", "fe80::1", "1:2:3:4:5:6:7:8", "::ffff:1.2.3.4", "2001:db8::"],
  cidr: ["10.0.0.0/8", "10.0.0.1/8", "::/0", "2001:db8::/64", "010.0.0.0/08"],
  mac: ["00:11:22:33:44:55", "00-11-22-33-44-55", "0011.2233.4455", "00:11:22:33:44:55:66:77"],
  uuid: ["550e8400-e29b-41d4-a716-446655440000", "550E8400E29B41D4A716446655440000"],
  uuid3: ["550e8400-e29b-31d4-a716-446655440000"],
  uuid4: ["550e8400-e29b-41d4-a716-446655440000"],
  uuid5: ["550e8400-e29b-51d4-a716-446655440000"],
  isbn: ["0321751043", "978-0321751041"],
  isbn10: ["0321751043", "0 321 75104 3", "080442957X"],
  isbn13: ["978-0321751041"],
  creditcard: ["4012888888881881", "4012-8888-8888-1881"],
  ssn: ["111-22-3333", "111 22 3333"],
  hexcolor: ["#ffffff", "fff", "#FFF"],
  rgbcolor: ["rgb(255,0,10)", "rgb( 1 , 2 , 3 )"],
  byte: ["YQ==", "YWI=", "YWJj"],
  password: ["x"],
  date: ["2024-02-29", "1999-12-31", "0000-01-01"],
  duration: ["1h30m", "1.5h", "22 ns", "5 minutes", "0", "-1s", "1d", "2 weeks", "P1D"],
  datetime: ["2024-01-02T03:04:05Z", "2024-01-02t03:04:05.123456789+01:00", "2016-12-31T23:59:59Z"],
  k8sshortname: ["a-b", "x1"],
  k8slongname: ["a.b-c.d", "x"],
  quantity: ["10Gi", "1e3", "0.5"],
};

const PATTERNS = ["^[a-z]*$", "^a", "^.{0,3}$", "[0-9]$", "^(a|bc)+$"];
const NUMBERS = [0, 1, -1, 2, 3, 7, 0.5, 1.5, 2.5, -0.5, 10, 127];
/** The borders of what integers and floats hold. */
const EDGES = [2 ** 31 - 1, 2 ** 31, -(2 ** 31), -(2 ** 31) - 1, 2 ** 53, 2 ** 53 + 2, 2 ** 63, 1e300, 3.5e38, 1e-7];
const TYPES = ["string", "string", "string", "integer", "integer", "number", "number", "boolean", "array", "object"];

const EMBEDDED = { "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true };

/** Returns a random schema of a field, whose keywords may also be some that do not concern its type. */
export function keywordSchema(random: Random, depth = 1): JsonObject {
  const type = random.pick([...(depth > 0 ? TYPES : TYPES.slice(0, 8)), "int-or-string", "any"]);
  const schema: MutableJson = type === "int-or-string"
    ? { "x-kubernetes-int-or-string": true }
    : type === "any"
    ? { "x-kubernetes-preserve-unknown-fields": true }
    : { type };
  if (type === "array") schema.items = keywordSchema(random, depth - 1);
  if (type === "object") {
    if (random.below(2) === 0) schema.additionalProperties = keywordSchema(random, depth - 1);
    else schema.properties = { a: keywordSchema(random, depth - 1), b: keywordSchema(random, depth - 1) };
    if (random.below(3) === 0) schema.required = ["a"];
  }
  if (depth > 0 && random.below(15) === 0) return { type: "object", ...EMBEDDED };
  if (random.below(4) === 0) schema.nullable = true;
  Object.assign(schema, valueKeywords(random, type));
  if (random.below(8) > 0 || type === "any" || type === "int-or-string") return schema;
  const name = random.pick(["allOf", "anyOf", "oneOf", "not"]);
  const parts = Array.from({ length: 1 + random.below(2) }, () => valueKeywords(random, type));
  return { ...schema, [name]: name === "not" ? parts[0] : parts };
}

/** Returns keywords that check values of a type, drawn from the table. */
function valueKeywords(random: Random, type: string): JsonObject {
  const found: MutableJson = {};
  const kind = type === "integer" ? "number" : type === "int-or-string" ? random.pick(["string", "number"]) : type;
  for (const [name, keyword] of KEYWORDS) {
    if (keyword.fate !== "checked" || random.below(keyword.of === kind ? 3 : 40) > 0) continue;
    if (name === "pattern") found[name] = random.pick(PATTERNS);
    else if (keyword.of !== "number") found[name] = random.below(4);
    else found[name] = random.pick(random.below(6) === 0 ? EDGES : NUMBERS);
  }
  for (const name of ["exclusiveMaximum", "exclusiveMinimum"]) if (random.below(8) === 0) found[name] = true;
  const formats = [...FORMATS].filter(([, format]) => format.type === (kind === "number" ? type : "string"));
  if (formats.length > 0 && random.below(3) > 0) found.format = written(random.pick(formats)[0]);
  if (random.below(10) === 0) found.enum = random.pick([["a", "ab"], [1, 2], [1.5, 2], [true], ["a", 1]]);
  return found;
}

/** A format as people write it. */
function written(name: string): string {
  return ({ datetime: "date-time", k8sshortname: "k8s-short-name", k8slongname: "k8s-long-name" } as const)[name] ??
    name;
}

/** Returns a value at the border of what a schema checks, or of another type. */
export function borderValue(random: Random, schema: JsonObject): Json {
  if (random.below(12) === 0) return random.pick<Json>([null, true, [], ["a"], {}, { a: 1 }, "a", 1, 1.5]);
  const { type, items, additionalProperties, properties } = schema;
  const isEither = schema["x-kubernetes-int-or-string"] === true;
  if (isList(schema.enum) && random.below(3) === 0) return random.pick(schema.enum);
  if (type === "boolean") return random.below(2) === 0;
  if (schema["x-kubernetes-embedded-resource"] === true) {
    const members = {
      apiVersion: random.pick(["v1", "a.b/v1", "a/b/c", ""]),
      kind: random.pick(["Pod", "foo-Bar", "a b", "", "1a"]),
      metadata: random.pick([{}, { name: "a" }, { name: "a", unknown: 1 }]),
    };
    return Object.fromEntries(Object.entries(members).filter(() => random.below(5) > 0));
  }
  if (type === "array") {
    return Array.from({ length: random.below(5) }, () => borderValue(random, isObject(items) ? items : {}));
  }
  if (type === "object") {
    const schemas = isObject(properties) ? properties : undefined;
    const names = ["a", "b", "c", "d"].filter((name) => random.below(2) === 0 || name === "a");
    const known = names.filter((name) => schemas === undefined || schemas[name] !== undefined);
    return Object.fromEntries(
      known.map((name) => [name, borderValue(random, (schemas?.[name] ?? additionalProperties ?? {}) as JsonObject)]),
    );
  }
  const isNumber = type === "integer" || type === "number" ||
    ((isEither || type === undefined) && random.below(2) === 0);
  return isNumber ? borderNumber(random, schema) : borderText(random, schema);
}

function borderNumber(random: Random, schema: JsonObject): number {
  if (random.below(5) === 0) return random.pick(EDGES);
  const limits = ["maximum", "minimum", "multipleOf"].map((name) => schema[name]).filter((it) =>
    typeof it === "number"
  );
  const base = random.pick([...limits, random.pick(NUMBERS)]);
  return base + random.pick([0, 0, 1, -1, 0.5, -0.5, base]);
}

function borderText(random: Random, { format, minLength, maxLength }: JsonObject): string {
  const samples = TEXTS[String(format ?? "").replaceAll("-", "")];
  if (samples !== undefined && random.below(8) > 0) {
    const text = random.pick(samples);
    return random.below(3) === 0 ? text : changed(random, text);
  }
  if (random.below(6) === 0) return random.pick(Object.values(TEXTS).flat());
  const length = random.pick([minLength, maxLength].filter((it) => typeof it === "number").concat(1)) as number;
  return random.text(Math.max(0, length + random.below(3) - 1), random.pick(["a", "abc1", "é𝒳a"])).toWellFormed();
}

/** Changes a text at one place. */
function changed(random: Random, text: string): string {
  const at = random.below(text.length + 1);
  const other = random.pick([...'a0 .:-/@Zg9"<é%\n']);
  const [before, after] = [text.slice(0, at), text.slice(at)];
  return random.pick([
    before + other + after,
    before + after.slice(1),
    before + other + after.slice(1),
    before + after.slice(0, 1) + after,
    text.toUpperCase(),
    `${text}${other}`,
  ]).toWellFormed();
}
