/**
 * Schemas with one rule that kube-apiserver refuses, or accepts though it is near a limit.
 *
 * {@linkcode RULE_SCHEMAS} is the entry point: the schema of `spec` by a name for the test's report.
 *
 * @module
 */
import type { JsonObject } from "../../../src/engine/api/json.ts";

const properties: JsonObject = {
  text: { type: "string" },
  short: { type: "string", maxLength: 10 },
  kind: { type: "string", enum: ["a", "bc"] },
  number: { type: "integer" },
  list: { type: "array", items: { type: "string" } },
  names: { type: "array", maxItems: 10, items: { type: "string", maxLength: 10 } },
  map: { type: "object", additionalProperties: { type: "string" } },
  sizes: {
    type: "object",
    maxProperties: 5,
    additionalProperties: { "x-kubernetes-int-or-string": true, maxLength: 10 },
  },
  port: { "x-kubernetes-int-or-string": true },
  items: {
    type: "array",
    maxItems: 100,
    items: { type: "object", properties: { name: { type: "string", maxLength: 50 } } },
  },
  open: { "x-kubernetes-preserve-unknown-fields": true },
  object: { type: "object", properties: { a: { type: "integer" } } },
  other: { type: "object", properties: { a: { type: "integer" } } },
};
const spec = (...rules: JsonObject[]): JsonObject => ({
  type: "object",
  properties,
  "x-kubernetes-validations": rules,
});
const below = (name: string, schema: JsonObject): JsonObject => ({ type: "object", properties: { [name]: schema } });
const item = (rule: JsonObject, list: JsonObject): JsonObject =>
  below("list", {
    type: "array",
    items: {
      type: "object",
      properties: { name: { type: "string", maxLength: 20 } },
      required: ["name"],
      "x-kubernetes-validations": [rule],
    },
    ...list,
  });
const text = (maxLength: number): JsonObject => ({ type: "string", maxLength });

const EXPRESSIONS = [
  "self.nope == 1",
  "self.text",
  "self.number + 'a' == 'b'",
  "1 +",
  "self.text.matches('[')",
  "self.text.matches('(?=a)')",
  "has(self.nope)",
  "has(self.open)",
  "self.object == self.other",
  "self.port > 5",
  "self.text == null",
  "unknown(self.text)",
  "self.text.unknown()",
  "self.list.all(x, x > 5)",
  "self.list.all(x, y)",
  "[1, 'a'].size() > 0",
  "duration('1x') > duration('1s')",
  "timestamp('x') > timestamp('2024-01-01T00:00:00Z')",
  "int('x') == 1",
  "'%d'.format(['a', 'b']) == ''",
  "self.list.all(x, self.list.all(y, x == y))",
  "self.text.contains(self.text)",
  "self.text.matches('a.*b')",
  "self.list.all(x, x.matches('^a+$'))",
  "self.names.all(x, self.names.all(y, x == y))",
  "self.items.all(x, self.items.exists_one(y, x == y))",
  "self.items.all(x, self.items.all(y, self.items.all(z, x.name == y.name && y.name == z.name)))",
  "self.map.all(k, self.map[k] != '')",
  "self.sizes.all(k, isQuantity(string(self.sizes[k])))",
  "self.sizes.all(k, type(self.sizes[k]) == int || quantity(self.sizes[k]).isGreaterThan(quantity('1')))",
  "self.text + self.text != 'x'",
  "self.map.size() > 0 && self.list.size() > 0",
  "self.text.split(',').all(p, p.size() > 0)",
  "self.names.map(n, n.split('.')).all(p, p.size() < 5)",
  "self.names.join(',').size() < 50",
  "self.names.map(n, n + n).all(p, p.matches('^a'))",
  "sets.contains(self.list, self.list)",
  "self.list == self.list",
  "self.map == self.map",
  "'a' in self.list",
  "!('a' in self.sizes) || quantity(self.sizes.a).isGreaterThan(quantity('0'))",
  "!('a' in self.sizes) || quantity(self.sizes['a']).isGreaterThan(quantity('0'))",
  "self.text.replace('a', 'bbbb').contains('c')",
  "self.text.find('[0-9]+') == ''",
  "isIP(self.text) && isURL(self.text)",
  "cel.bind(x, self.text, x == '')",
  "math.greatest(1, 2) == 2",
  "self.names.sort() == self.names",
  "self.names.includes('a')",
  "self.text.reverse() == ''",
  "self.?text.orValue('') == '' && self.?nope.hasValue()",
  "oldSelf.number <= self.number",
  "self.kind == 'a' && self.short.size() > 2",
  "string(self.number) + self.short == ''",
  "self.short.upperAscii() == self.kind",
];

/** Schemas of `spec` with rules, by name. */
export const RULE_SCHEMAS: Readonly<Record<string, JsonObject>> = {
  ...Object.fromEntries(EXPRESSIONS.map((rule) => [rule, spec({ rule })])),
  "no rule": spec({ rule: "" }),
  "an empty message": spec({ rule: "true", message: " " }),
  "a message of two lines": spec({ rule: "true", message: "a\nb" }),
  "a rule of two lines without a message": spec({ rule: "true\n && true" }),
  "a rule of two lines": spec({ rule: "true\n && true", message: "x" }),
  "an empty messageExpression": spec({ rule: "true", messageExpression: " " }),
  "a messageExpression of another type": spec({ rule: "true", messageExpression: "1" }),
  "a messageExpression with an unknown field": spec({ rule: "true", messageExpression: "self.nope" }),
  "an expensive messageExpression": spec({ rule: "true", messageExpression: "self.text.matches('a.*b') ? 'a' : 'b'" }),
  "a messageExpression with the text of a number": spec({
    rule: "true",
    messageExpression: "'x ' + string(self.number)",
  }),
  "an unknown reason": spec({ rule: "true", reason: "FieldValueNope" }),
  "a reason": spec({ rule: "true", reason: "FieldValueDuplicate" }),
  "an unknown fieldPath": spec({ rule: "true", fieldPath: ".nope" }),
  "a fieldPath without a point": spec({ rule: "true", fieldPath: "text" }),
  "a fieldPath with an index": spec({ rule: "true", fieldPath: ".list[0]" }),
  "a fieldPath with a key": spec({ rule: "true", fieldPath: ".map['a.b\\'c']" }),
  "a fieldPath below a key": spec({ rule: "true", fieldPath: ".map['a'].b" }),
  "a blank fieldPath": spec({ rule: "true", fieldPath: " " }),
  "oldSelf in an atomic list": item({ rule: "self == oldSelf" }, { maxItems: 5 }),
  "oldSelf in a map": item({ rule: "self == oldSelf" }, {
    maxItems: 5,
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name"],
  }),
  "optionalOldSelf without oldSelf": spec({ rule: "true", optionalOldSelf: true }),
  "optionalOldSelf: false without oldSelf": spec({ rule: "true", optionalOldSelf: false }),
  "optionalOldSelf": spec({ rule: "oldSelf.hasValue() || self.number > 0", optionalOldSelf: true }),
  "oldSelf that is optional and read": spec({ rule: "oldSelf.number > 0", optionalOldSelf: true }),
  "oldSelf that is optional and compared": spec({ rule: "self == oldSelf", optionalOldSelf: true }),
  "a rule in a list without maxItems": item({ rule: "self.name.matches('^[a-z]+$')" }, {}),
  "a cheap rule in a list without maxItems": item({ rule: "self.name != ''" }, {}),
  "a rule in a list": item({ rule: "self.name.matches('^[a-z]+$')" }, { maxItems: 1000 }),
  "a text below a map": below("map", {
    type: "object",
    additionalProperties: { ...text(1000), "x-kubernetes-validations": [{ rule: "self.contains('a')" }] },
  }),
  "a text below a bounded map": below("map", {
    type: "object",
    maxProperties: 10,
    additionalProperties: { ...text(1000), "x-kubernetes-validations": [{ rule: "self.contains('a')" }] },
  }),
  "a name that rules cannot say": below("$x", { ...text(10), "x-kubernetes-validations": [{ rule: "self != ''" }] }),
  "a rule of unknown fields": below("open", {
    "x-kubernetes-preserve-unknown-fields": true,
    "x-kubernetes-validations": [{ rule: "true" }],
  }),
  "a rule of an object with unknown fields": below("open", {
    type: "object",
    "x-kubernetes-preserve-unknown-fields": true,
    "x-kubernetes-validations": [{ rule: "true" }],
  }),
  "many rules near the limit": spec(
    ...Array.from(
      { length: 12 },
      () => ({
        rule: "self.items.all(x, self.items.exists_one(y, x == y)) || self.text.contains('abcdefghijklmnopqrst')",
      }),
    ),
  ),
  "an embedded object": below("object", {
    type: "object",
    "x-kubernetes-embedded-resource": true,
    "x-kubernetes-preserve-unknown-fields": true,
    "x-kubernetes-validations": [{ rule: "self.metadata.name != self.kind && self.metadata.labels.size() == 0" }],
  }),
};
