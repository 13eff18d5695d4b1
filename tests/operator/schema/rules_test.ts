import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Environment } from "@marcbachmann/cel-js";
import { equalJson, type JsonObject } from "../../../src/engine/api/json.ts";
import { compile } from "../../../src/operator/schema/rules/compile.ts";
import { Meter } from "../../../src/operator/schema/rules/cost.ts";
import { Declarations } from "../../../src/operator/schema/rules/declared_types.ts";
import { rewrite } from "../../../src/operator/schema/rules/expression.ts";
import { registerFunctions } from "../../../src/operator/schema/rules/functions.ts";
import { hasRules, loadedRules, loadRules } from "../../../src/operator/schema/rules/load.ts";
import { RULED_KINDS, schemaOfRuled } from "../../support/schema/public_rules.ts";
import { ANSWERS } from "./_rule_answers.ts";
import { EXPRESSIONS, SCHEMA, VALUE } from "./_rule_expressions.ts";
import { evaluateRules, KNOWN_DIFFERENCES, ruleExpressions } from "../../support/twin/rules.ts";
import { casesOf, checkerOf, fieldsOf } from "../../support/schema/ruled.ts";
import { RULE_SCHEMAS } from "../../support/schema/wrong_rules.ts";

/** Expressions whose estimate differs. */
const OTHER_COST: ReadonlySet<string> = new Set(["self.open.all(o, self.open.all(p, o == p))"]);

const inSpec = (spec: JsonObject): JsonObject => ({ type: "object", properties: { spec } });
const rulesOf = (schema: JsonObject, ...rules: (string | JsonObject)[]): JsonObject => ({
  ...schema,
  "x-kubernetes-validations": rules.map((rule) => typeof rule === "string" ? { rule } : rule),
});
const NUMBER: JsonObject = {
  type: "object",
  properties: { n: { type: "integer" }, s: { type: "string", maxLength: 10 } },
};

Deno.test("expressions have the results of cel-go", () => {
  let refused = 0;
  for (const [rule, expected] of EXPRESSIONS) {
    const rules = compile(inSpec(rulesOf(SCHEMA, rule)));
    const isRefused = rules.causes.some(({ reason }) => reason === "FieldValueInvalid");
    const [cause] = isRefused ? [] : rules.check({ spec: VALUE });
    const failed = cause?.message.includes("failed rule") ? false : "error";
    const found = isRefused ? "refused" : cause === undefined ? true : failed;
    assertEquals(found, expected, `${rule}: ${rules.causes[0]?.message ?? cause?.message}`);
    if (isRefused) refused++;
  }
  assert(refused > 30 && EXPRESSIONS.length > 400);
});

Deno.test("expressions have the values that kube-apiserver recorded, over all its libraries", async () => {
  const expressions = ruleExpressions();
  const found = await evaluateRules(expressions.map(({ text }) => text));
  const different = expressions.filter(({ answer }, at) => answer !== found[at]).map(({ text }) => text);
  assertEquals(different.sort(), [...KNOWN_DIFFERENCES.keys()].sort());
  assert(expressions.length > 650 && KNOWN_DIFFERENCES.size <= 0.01 * expressions.length + 1);
});

Deno.test("expressions have the estimated costs of cel-go", () => {
  const environment = new Environment({ enableOptionalTypes: true, limits: { maxDepth: 1000, maxAstNodes: 100_000 } });
  registerFunctions(environment);
  const self = new Declarations(environment).of(SCHEMA)!;
  environment.registerVariable("self", self.type).registerVariable("oldSelf", self.type);
  for (const [rule, result, expected] of EXPRESSIONS) {
    if (result === "refused" || OTHER_COST.has(rule)) continue;
    const [, most] = rewrite(rule, environment, self).cost;
    assertEquals(most > 2 ** 53 ? 0 : most, expected, rule);
  }
});

Deno.test("definitions are refused as kube-apiserver recorded it", () => {
  for (const [name, spec] of Object.entries(RULE_SCHEMAS)) {
    const { causes } = compile(inSpec(spec), "spec.validation.openAPIV3Schema");
    assertEquals(fieldsOf(causes), ANSWERS[name], name);
  }
});

Deno.test("objects of rules like the rules in public CRDs are refused as kube-apiserver recorded it", async () => {
  let cases = 0;
  for (const ruled of RULED_KINDS) {
    const check = await checkerOf(schemaOfRuled(ruled));
    for (const [index, { what, spec, before }] of casesOf(ruled).entries()) {
      const head = { apiVersion: "rules.example.com/v1", kind: ruled.kind, metadata: { name: `o${index}` } };
      assertEquals(fieldsOf(check({ ...head, spec }, before && { ...head, spec: before })), ANSWERS[what], what);
      cases++;
    }
  }
  assertEquals(cases, 198);
});

Deno.test("new rules on Kubernetes 1.37 can call what 1.36 has, and not what came later", () => {
  const causes = (rule: string) => compile(inSpec(rulesOf(NUMBER, rule))).causes.length;
  const known = [
    "isQuantity('1Gi')",
    "sets.contains([1], [1])",
    "'%d'.format([1]) == '1'",
    "isIP('::1')",
    "isCIDR('10.0.0.0/8')",
    "!format.dns1123Label().validate('a').hasValue()",
    "{'a': 1}.all(k, v, v == 1)",
    "isSemver('1.2.3')",
    "[2, 1].sort() == [1, 2]",
    "[2, 1].reverse() == [1, 2]",
  ];
  for (const rule of known) assertEquals(causes(rule), 0, rule);
  assertEquals(causes("[1].includes(1)"), 1);
});

Deno.test("a messageExpression that gives no message falls back to message, then to the rule", () => {
  const check = (rule: JsonObject, n = 1) =>
    compile(inSpec(rulesOf(NUMBER, { rule: "self.n > 10", ...rule }))).check({ spec: { n, s: "abc" } })
      .map(({ field, reason, message }) => `${field} ${reason} ${message}`);
  const invalid = (text: string): string[] => [`spec FieldValueInvalid Invalid value: ${text}`];
  assertEquals(check({}), invalid("failed rule: self.n > 10"));
  assertEquals(check({ message: " too small " }), invalid("too small"));
  assertEquals(check({ messageExpression: "' ' + self.s + ' '", message: "m" }), invalid("abc"));
  assertEquals(check({ messageExpression: "''", message: "m" }), invalid("m"));
  assertEquals(check({ messageExpression: "'a\\nb'", message: "m" }), invalid("m"));
  assertEquals(check({ messageExpression: "[self.s][5]", message: "m" }), invalid("m"));
  assertEquals(
    check({
      messageExpression:
        "self.s.replace('', 'x').replace('', '12345678901234567890').replace('', '12345678901234567890')",
      message: "m",
    }).length,
    1,
  );
  assertEquals(check({ messageExpression: `'${"x".repeat(5 * 1024)}'`, message: "m" }), invalid("x".repeat(5 * 1024)));
  assertEquals(check({ messageExpression: `'${"x".repeat(5 * 1024 + 1)}'`, message: "m" }), invalid("m"));
  assertEquals(check({}, 11), []);
});

Deno.test("reason and fieldPath make the cause; a value that is no object is shown", () => {
  const find = (rule: JsonObject, on: JsonObject = NUMBER, spec: JsonObject[string] = { n: 1 }) =>
    compile(inSpec(rulesOf(on, { rule: "false", message: "m", ...rule }))).check({ spec })[0];
  assertEquals(find({ reason: "FieldValueForbidden", fieldPath: ".n" }), {
    reason: "FieldValueForbidden",
    message: "Forbidden: m",
    field: "spec.n",
  });
  assertEquals(find({ reason: "FieldValueRequired" }).message, "Required value: m");
  assertEquals(find({ reason: "FieldValueDuplicate" }).message, "Duplicate value");
  assertEquals(
    find({ reason: "FieldValueDuplicate" }, { type: "string", maxLength: 5 }, "x").message,
    'Duplicate value: "x"',
  );
  assertEquals(find({}, { type: "integer" }, 5).message, "Invalid value: 5: m");
  const map = { type: "object", properties: { m: { type: "object", additionalProperties: { type: "string" } } } };
  assertEquals(find({ fieldPath: ".m['a.b']" }, map, {}).field, "spec.m[a.b]");
});

Deno.test("oldSelf: a rule that reads it runs on updates only, unless it is optional", () => {
  const check = (rule: JsonObject, spec: JsonObject, old?: JsonObject) =>
    compile(inSpec(rulesOf(NUMBER, rule))).check({ spec }, old && { spec: old }).length;
  const immutable = { rule: "self.n == oldSelf.n" };
  assertEquals(check(immutable, { n: 1 }), 0);
  assertEquals(check(immutable, { n: 1 }, { n: 2 }), 1);
  assertEquals(check(immutable, { n: 1 }, { n: 1 }), 0);
  const optional = { rule: "oldSelf.hasValue() ? oldSelf.value().n == self.n : self.n == 0", optionalOldSelf: true };
  assertEquals(check(optional, { n: 1 }), 1);
  assertEquals(check(optional, { n: 0 }), 0);
  assertEquals(check(optional, { n: 2 }, { n: 2 }), 0);
  assertEquals(check(optional, { n: 2 }, { n: 1 }), 1);
});

Deno.test("an update does not meet rules of parts that it does not change", () => {
  const item = rulesOf({ ...NUMBER, required: ["s"] }, "self.n > 10", "self.n > 10 || oldSelf.n > 10");
  const list = {
    type: "array",
    maxItems: 5,
    items: item,
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["s"],
  };
  const atoms = { type: "array", maxItems: 5, items: rulesOf(NUMBER, "self.n > 10") };
  const rules = compile(inSpec({ type: "object", properties: { list, atoms } }));
  assertEquals(rules.causes, []);
  const fields = (spec: JsonObject) =>
    rules.check({ spec }, { spec: { list: [{ s: "a", n: 1 }, { s: "b", n: 1 }], atoms: [{ n: 1 }, { n: 2 }] } })
      .map(({ field }) => field);
  const same = [{ n: 1 }, { n: 2 }];
  // Both rules of a changed element, and of an unchanged element only the rule that reads oldSelf.
  assertEquals(fields({ list: [{ s: "b", n: 1 }, { s: "a", n: 2 }], atoms: same }), [
    "spec.list[0]",
    "spec.list[1]",
    "spec.list[1]",
  ]);
  assertEquals(fields({ list: [{ s: "c", n: 1 }], atoms: same }), ["spec.list[0]"]);
  assertEquals(fields({ list: [], atoms: same }), []);
  assertEquals(fields({ list: [], atoms: [{ n: 1 }, { n: 3 }] }), ["spec.atoms[0]", "spec.atoms[1]"]);
});

Deno.test("sets and maps are equal in any order, and keep their kind when they are added", () => {
  const items = { type: "object", required: ["k"], properties: { k: { type: "string" }, v: { type: "integer" } } };
  const set = { type: "array", maxItems: 5, items: { type: "string", maxLength: 5 }, "x-kubernetes-list-type": "set" };
  const map = {
    type: "array",
    maxItems: 5,
    items,
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["k"],
  };
  const schema = {
    type: "object",
    properties: { set, map, other: { ...map }, atomic: { ...set, "x-kubernetes-list-type": "atomic" } },
  };
  const spec = {
    set: ["a", "b"],
    map: [{ k: "x", v: 1 }, { k: "y", v: 2 }],
    atomic: ["b", "a"],
  };
  const holds = (rule: string, old?: JsonObject): boolean => {
    const rules = compile(inSpec(rulesOf(schema, rule)));
    assertEquals(rules.causes, [], rule);
    return rules.check({ spec }, old && { spec: { ...spec, ...old } }).length === 0;
  };
  assert(holds("self.set == ['b', 'a']"));
  assert(!holds("self.atomic == ['a', 'b']"));
  assert(holds("self.set == oldSelf.set", { set: ["b", "a"] }));
  assert(holds("self.map == oldSelf.map", { map: [{ k: "y", v: 2 }, { k: "x", v: 1 }] }));
  assert(!holds("self.map == oldSelf.map", { map: [{ k: "y", v: 2 }, { k: "x", v: 2 }] }));
  assert(holds("self == oldSelf", { set: ["b", "a"] }));
  assert(holds("(self.set + ['a', 'c']) == ['c', 'b', 'a']"));
  assert(holds("(self.atomic + ['a']).size() == 3"));
  assert(holds("(oldSelf.map + self.map).size() == 3", { map: [{ k: "z", v: 0 }, { k: "x", v: 7 }] }));
  assert(holds("(oldSelf.map + self.map)[1].v == 1", { map: [{ k: "z", v: 0 }, { k: "x", v: 7 }] }));
});

Deno.test("a rule that is too expensive names the limits that the schema lacks", () => {
  const list = { type: "array", items: { type: "object", properties: { name: { type: "string" } } } };
  const schema = rulesOf({ type: "object", properties: { list } }, "self.list.all(x, x.name.matches('^a+$'))");
  const [cause] = compile(inSpec(schema)).causes;
  assertEquals(cause.reason, "FieldValueForbidden");
  assertEquals(cause.field.slice(-38), "[spec].x-kubernetes-validations[0].rule".slice(-38));
  assertStringIncludes(cause.message, "estimated rule cost exceeds budget by factor of more than 100x");
  assertStringIncludes(cause.message, "Missing: maxLength of self.spec.list[].name, maxItems of self.spec.list");
  const above = {
    type: "array",
    items: rulesOf(
      { type: "object", properties: { s: { type: "string", maxLength: 99 } } },
      "self.s.matches('^a*b+$')",
    ),
  };
  assertStringIncludes(compile(inSpec(above)).causes[0].message, "Missing: maxItems of self.spec");
});

Deno.test("a loop within a loop does not begin when the budget is spent", async () => {
  const { compileExpression } = await loadRules();
  const charge = Meter.prototype.charge;
  let charges = 0;
  Meter.prototype.charge = function (cost: number): void {
    charges++;
    charge.call(this, cost);
  };
  const list = Array.from({ length: 2_000 }, (_, at) => at);
  const { run } = compileExpression("self.a.all(x, self.a.all(y, x + y >= 0))", ["self"]);
  const result = run({ self: { a: list } });
  Meter.prototype.charge = charge;
  assertEquals(result, { error: "operation cancelled: actual cost limit exceeded", isSpent: true } as never);
  assert(charges < 1_000_000, `${charges} charges`); // all pairs are 4,000,000
});

Deno.test("a rule and an object have budgets: what is left does not run", () => {
  const rule = "self.all(x, self.all(y, x + y < 1000000))";
  const check = (rules: number, items: number) =>
    compile(
      inSpec(
        rulesOf({ type: "array", maxItems: 1000, items: { type: "integer" } }, ...Array<string>(rules).fill(rule)),
      ),
    )
      .check({ spec: Array.from({ length: items }, (_, at) => at) }).map(({ message }) => message);
  assertEquals(check(1, 300), []);
  const [spent] = check(2, 700);
  assertStringIncludes(
    spent,
    "no further validation rules will be run due to call cost exceeds limit for rule: self.all",
  );
  assertEquals(check(2, 700).length, 1);
  const all = check(14, 330);
  assertEquals(all.length, 1);
  assertStringIncludes(
    all[0],
    "validation failed due to running out of cost budget, no further validation rules will be run",
  );
});

Deno.test("objects of the schema are not changed, and shared parts have the types of each place", () => {
  const shared = { a: 1 };
  const spec = { first: shared, second: shared };
  const of = (a: JsonObject): JsonObject => ({ type: "object", properties: { a } });
  const schema = { type: "object", properties: { first: of({ type: "integer" }), second: of({ type: "number" }) } };
  const rules = compile(inSpec(rulesOf(schema, "type(self.first.a) == int && type(self.second.a) == double")));
  assertEquals(rules.check({ spec }), []);
  assert(equalJson(spec, { first: { a: 1 }, second: { a: 1 } }));
});

Deno.test("an object that is changed between checks is read again", () => {
  const list = { type: "array", maxItems: 3, items: { type: "string", maxLength: 3 } };
  const map = { type: "object", maxProperties: 3, additionalProperties: { type: "integer" } };
  const schema = { type: "object", properties: { list, map } };
  const rules = compile(inSpec(rulesOf(schema, "self.list.size() == 1", "self.map.all(k, self.map[k] == 1)")));
  const spec = { list: ["a"], map: { a: 1 } };
  assertEquals(rules.check({ spec }), []);
  spec.list.push("b");
  spec.map.a = 2;
  assertEquals(rules.check({ spec }).length, 2);
});

Deno.test("fields can have the names of types, functions and methods", () => {
  const names = "type list map has string int bool dyn optional all size matches value filter null_type duration".split(
    " ",
  );
  const properties = Object.fromEntries(names.map((name) => [name, { type: "integer" }]));
  for (const name of [...names, "constructor"]) {
    const rule = name === "constructor"
      ? "true"
      : `has(self.${name}) && self.${name} == 1 && self.?${name}.orValue(2) == 1`;
    const rules = compile(
      inSpec(rulesOf({ type: "object", properties: { ...properties, constructor: { type: "string" } } }, rule)),
    );
    assertEquals(rules.causes, [], name);
    assertEquals(rules.check({ spec: { [name]: 1 } }), [], name);
  }
});

Deno.test("hasRules finds rules at any depth, and loadRules loads the compiler once", async () => {
  const item = rulesOf(NUMBER, "true");
  assert(hasRules(inSpec({ type: "array", items: { type: "object", additionalProperties: item } })));
  assert(!hasRules(inSpec({ type: "array", items: { type: "object", additionalProperties: NUMBER } })));
  assert(!hasRules({ type: "object", "x-kubernetes-validations": [] }));
  const compiler = await loadRules();
  assertEquals(await loadRules(), compiler);
  assertEquals(loadedRules(), compiler);
  assertEquals(compiler.compile(inSpec(item)).check({ spec: {} }), []);
});
