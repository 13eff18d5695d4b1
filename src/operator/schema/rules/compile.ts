/**
 * Compiles the rules of a structural schema, and checks objects by them.
 *
 * {@linkcode compile} is the entry point; `load.ts` imports this file when the first rule arrives. Other faults of the
 * schema and of objects are not found here. kube-apiserver runs the rules of an object after its schema, and not at all
 * if the schema finds a wrong type, a missing or too long value, too many items or an unsupported value.
 *
 * @module
 */
import { Environment, EvaluationError, Optional, type ParseResult } from "@marcbachmann/cel-js";
import type { StatusCause } from "../../../engine/api/status.ts";
import { type Causes, fieldCause } from "../../../engine/protocol/refusal.ts";
import type { Json, JsonObject } from "../../../engine/api/json.ts";
import { objectOr, objectsOf, textOf } from "../../../engine/api/members.ts";
import { join } from "../values/validate.ts";
import { Meter } from "./cost.ts";
import { type OldAndNew, oldItems, Ratchet } from "./correlation.ts";
import { anyValue, Declarations, type Declared, escapeName, REQUEST_BYTES } from "./declared_types.ts";
import { hasRules } from "../values/object_schema.ts";
import { rewrite, type Rewritten } from "./expression.ts";
import { registerFunctions, running } from "./functions.ts";

/** The limits of estimates for one rule and for all rules of a schema. */
const [RULE_LIMIT, SCHEMA_LIMIT] = [10_000_000, 100_000_000];
/** The budgets of one rule that runs and of all rules of an object. */
const [CALL_BUDGET, OBJECT_BUDGET] = [1_000_000, 10_000_000];
const MAX_MESSAGE_BYTES = 5 * 1024;
const REASONS = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];
const NO_OLD_SELF = "may not be set if oldSelf is not used in rule";
/** The name of the whole object; what is in it has longer names. */
const ROOT = "self";
const BREAK = /[\n\r]/;

/** The compiled rules of one schema. */
export interface CompiledRules {
  /** The reasons why kube-apiserver refuses the definition; empty if it accepts the rules. */
  readonly causes: Causes;
  /**
   * Checks a pruned object with defaults, and returns the causes that kube-apiserver would. `previous` is the object
   * before an update: failures in parts that the update does not change are left out.
   */
  check(object: JsonObject, previous?: JsonObject): Causes;
}

/** An expression that can run. */
interface Program extends Rewritten {
  readonly run: ParseResult;
}

/** A rule. */
interface Rule {
  readonly source: JsonObject;
  readonly program: Program;
  readonly message: Program | undefined;
  /** The place of the cause below the value. */
  readonly path: string | undefined;
}

/** A schema with rules in it or below it. */
interface Place {
  readonly schema: JsonObject;
  /** The path of the schema, for causes. */
  readonly at: string;
  readonly declared: Declared | undefined;
  /** How often the value can occur; undefined if a list or map above has no limit. */
  readonly cardinality: number | undefined;
  /** The limits that lists and maps above lack. */
  readonly missing: readonly string[];
  /** The path of the schema above whose values cannot be correlated. */
  readonly uncorrelated: string | undefined;
  readonly rules: Rule[];
  readonly fields: ReadonlyMap<string, Place>;
  readonly element: Place | undefined;
}

const FIRST_SCHEMA = "spec.versions[0].schema.openAPIV3Schema";

let functions: Environment | undefined;

/** Returns an environment with all functions, and without types. It is kept, because registering takes a while. */
function newEnvironment(): Environment {
  if (functions === undefined) {
    functions = new Environment({ enableOptionalTypes: true, limits: { maxAstNodes: 1_000_000, maxDepth: 2_000 } });
    registerFunctions(functions);
  }
  return functions.clone();
}

/**
 * Compiles all rules of a structural schema. `at` is its path in the definition, for causes.
 *
 * @default at `"spec.versions[0].schema.openAPIV3Schema"`
 */
export function compile(schema: JsonObject, at = FIRST_SCHEMA): CompiledRules {
  const environment = newEnvironment();
  const declarations = new Declarations(environment);
  const root = placeOf(schema, { at, cardinality: 1, missing: [], uncorrelated: undefined }, declarations, ROOT);
  const compiler = new Compiler(environment);
  compiler.compile(root);
  return {
    causes: compiler.finish(at),
    check: (object, previous) => {
      declarations.forget();
      return new Run().check(root, object, previous);
    },
  };
}

/** An expression about variables of any type. */
export interface CompiledExpression {
  /** What is wrong with the expression; undefined if it can run. */
  readonly fault: string | undefined;
  /** Evaluates it. `error` says why it has no value. It has no value either if it costs too much. */
  run(values: JsonObject): { readonly value?: unknown; readonly error?: string };
}

/** Compiles an expression about variables whose types are known when it runs. It must evaluate to a bool. */
export function compileExpression(text: string, variables: readonly string[]): CompiledExpression {
  const environment = newEnvironment();
  for (const name of variables) environment.registerVariable(name, "dyn");
  try {
    const any: Declared = { type: "dyn", most: REQUEST_BYTES, least: 1, of: anyValue };
    const program = programOf(text, ["bool", "dyn"], environment, any);
    const run: CompiledExpression["run"] = (values) => {
      const given = Object.entries(values).map(([name, value]) => [name, anyValue(value ?? null)]);
      return new Run().evaluate(program, Object.fromEntries(given));
    };
    return { fault: undefined, run };
  } catch (error) {
    const fault = (error as Error).message;
    return { fault, run: () => ({ error: fault }) };
  }
}

/** Rewrites and parses an expression. @throws {Error} if kube-apiserver would not compile it. */
function programOf(
  text: string,
  types: readonly string[],
  environment: Environment,
  self: Declared,
): Program {
  const rewritten = rewrite(text, environment, self);
  if (!types.includes(rewritten.type)) throw new TypeError(`must evaluate to a ${types[0]}`);
  const run = environment.parse(rewritten.text);
  run.check();
  return { ...rewritten, run };
}

function placeOf(
  schema: JsonObject,
  above: Pick<Place, "at" | "cardinality" | "missing" | "uncorrelated">,
  declarations: Declarations,
  name: string,
  known?: Declared,
): Place {
  const { properties, items, additionalProperties } = schema;
  const declared = known ?? declarations.of(schema, name, name === ROOT || undefined);
  const limit = items !== undefined ? "maxItems" : additionalProperties !== undefined ? "maxProperties" : undefined;
  const most = limit === undefined ? 1 : schema[limit];
  const missing = most === undefined ? [...above.missing, `${limit} of ${name}`] : above.missing;
  const cardinality = typeof most === "number" && above.cardinality !== undefined
    ? above.cardinality * Math.max(0, most)
    : undefined;
  const child = (value: Json | undefined, at: string, place: string, type: Declared | undefined): Place | undefined => {
    const own = objectOr(value);
    if (!hasRules(own)) return undefined;
    const uncorrelated = items !== undefined && schema["x-kubernetes-list-type"] !== "map"
      ? above.at
      : above.uncorrelated;
    const around = { at: `${above.at}.${at}`, cardinality, missing, uncorrelated };
    return placeOf(own, around, declarations, place, type);
  };
  const fields = Object.entries(objectOr(properties)).map(([field, value]) =>
    [
      field,
      child(value, `properties[${field}]`, `${name}.${field}`, declared?.fields?.get(escapeName(field) ?? "")),
    ] as const
  );
  return {
    ...above,
    schema,
    declared,
    rules: [],
    fields: new Map(fields.filter((entry): entry is [string, Place] => entry[1] !== undefined)),
    element: child(items, "items", `${name}[]`, declared?.element) ??
      child(additionalProperties, "additionalProperties", `${name}[*]`, declared?.element),
  };
}

/** Compiles the rules of places, and adds up what they cost. */
class Compiler {
  readonly #causes: Causes = [];
  readonly #costs: { at: string; cost: number }[] = [];
  readonly #environment: Environment;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  /** Compiles a place and those below it. Returns false if a rule is not well-formed: rules above are not compiled. */
  compile(place: Place): boolean {
    const below = [...place.fields.values(), ...place.element === undefined ? [] : [place.element]];
    let isSound = below.map((child) => this.compile(child)).every(Boolean);
    const rules = objectsOf(place.schema["x-kubernetes-validations"]);
    rules.forEach((rule, index) => {
      const faults = formFaults(rule, place.schema, `${place.at}.x-kubernetes-validations[${index}]`);
      this.#causes.push(...faults);
      isSound &&= faults.length === 0;
    });
    if (isSound) {
      rules.forEach((rule, index) => this.#rule(rule, place, `${place.at}.x-kubernetes-validations[${index}]`));
    }
    return isSound;
  }

  #rule(source: JsonObject, place: Place, at: string): void {
    const { declared } = place;
    if (declared === undefined) {
      const message = "Internal error: unable to convert structural schema to CEL declarations";
      this.#causes.push({ reason: "InternalError", field: at.replace(/\[\d+\]$/, ""), message });
      return;
    }
    const refuse = (member: string, why: string): void =>
      void this.#causes.push(fieldCause.invalid(`${at}.${member}`, JSON.stringify(source[member] ?? source), why));
    const optional = source.optionalOldSelf === true;
    const environment = this.#environment.clone().registerVariable("self", declared.type)
      .registerVariable("oldSelf", optional ? `optional<${declared.type}>` : declared.type);
    const build = (text: string, type: string): Program => programOf(text, [type], environment, declared);
    let message: Program | undefined;
    try {
      const program = build(textOf(source.rule), "bool");
      const times = place.cardinality ?? Math.floor(REQUEST_BYTES / (declared.least + 1));
      this.#observe(`${at}.rule`, "rule", program, times, place.cardinality === undefined ? place.missing : []);
      if (program.usesOldSelf && place.uncorrelated !== undefined) {
        const why = "oldSelf cannot be used on the uncorrelatable portion of the schema within";
        refuse("rule", `${why} ${place.uncorrelated}`);
      } else if (!program.usesOldSelf && source.optionalOldSelf !== undefined) {
        refuse("optionalOldSelf", NO_OLD_SELF);
      }
      const expression = textOf(source.messageExpression);
      try {
        if (expression !== "") message = build(expression, "string");
      } catch (error) {
        refuse("messageExpression", `messageExpression compilation failed: ${(error as Error).message}`);
      }
      if (message !== undefined) this.#observe(`${at}.messageExpression`, "messageExpression", message, 1, []);
      place.rules.push({ source, program, message, path: fieldPathIn(textOf(source.fieldPath), place.schema) });
    } catch (error) {
      if (source.optionalOldSelf !== undefined) refuse("optionalOldSelf", NO_OLD_SELF);
      refuse("rule", `compilation failed: ${(error as Error).message}`);
    }
  }

  #observe(at: string, what: string, program: Program, times: number, missing: readonly string[]): void {
    const cost = times === 0 ? 0 : program.cost[1] * times;
    this.#costs.push({ at, cost });
    if (cost <= RULE_LIMIT) return;
    const lacking = new Set([...program.missing, ...missing]);
    this.#causes.push(fieldCause.forbidden(at, costFault(`estimated ${what} cost`, cost, RULE_LIMIT, lacking)));
  }

  /** Returns the causes, with one for each of the most expensive rules if all of them are too expensive. */
  finish(at: string): Causes {
    const total = this.#costs.reduce((sum, { cost }) => sum + cost, 0);
    if (total <= SCHEMA_LIMIT) return this.#causes;
    const expensive = this.#costs.filter(({ cost }) => cost >= SCHEMA_LIMIT / 100).sort((a, b) => b.cost - a.cost);
    const share = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
    const name = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
    return [
      ...this.#causes,
      ...expensive.slice(0, 4).map((rule) => fieldCause.forbidden(rule.at, share)),
      fieldCause.forbidden(at, costFault(name, total, SCHEMA_LIMIT)),
    ];
  }
}

function costFault(name: string, cost: number, limit: number, missing: ReadonlySet<string> = new Set()): string {
  const factor = cost / limit;
  const shown = factor > 100 ? "more than 100x" : `${factor.toFixed(factor < 1.5 ? 6 : 1)}x`;
  const advice = "try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and " +
    "strings are declared";
  const lacking = missing.size === 0 ? "" : `. Missing: ${[...missing].join(", ")}`;
  return `${name} exceeds budget by factor of ${shown} (${advice})${lacking}`;
}

/** Finds what is wrong with the form of a rule. */
function formFaults(rule: JsonObject, schema: JsonObject, at: string): Causes {
  const causes: Causes = [];
  const text = (name: string): string => textOf(rule[name]);
  const empty = (name: string): boolean => text(name) !== "" && text(name).trim() === "";
  const refuse = (name: string, why: string): void =>
    void causes.push(fieldCause.invalid(`${at}.${name}`, JSON.stringify(text(name)), why));
  if (text("rule").trim() === "") causes.push(fieldCause.required(`${at}.rule`, "rule is not specified"));
  else if (empty("message")) refuse("message", "must be non-empty if specified");
  else if (BREAK.test(text("message").trim())) refuse("message", "must not contain line breaks");
  else if (BREAK.test(text("rule").trim()) && text("message") === "") {
    causes.push(fieldCause.required(`${at}.message`, "message must be specified if rule contains line breaks"));
  }
  if (empty("messageExpression")) {
    causes.push(fieldCause.required(`${at}.messageExpression`, "messageExpression must be non-empty if specified"));
  }
  if (rule.reason !== undefined && !REASONS.includes(text("reason"))) {
    causes.push(fieldCause.unsupported(`${at}.reason`, text("reason"), REASONS));
  }
  if (empty("fieldPath")) refuse("fieldPath", "must be non-empty if specified");
  if (BREAK.test(text("fieldPath"))) refuse("fieldPath", "must not contain line breaks");
  if (text("fieldPath") !== "" && fieldPathIn(text("fieldPath"), schema) === undefined) {
    refuse("fieldPath", "must be a valid path");
  }
  return causes;
}

const UNESCAPED: Readonly<Record<string, string>> = { a: "\x07", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" };

/** Returns a `fieldPath` as causes show it: `a.b[key]`; undefined if the schema has no such field. */
function fieldPathIn(path: string, schema: JsonObject): string | undefined {
  let here: JsonObject = schema;
  let shown = "";
  const step = /\.([^.[\]]+)|\['((?:\\[abfnrtv'\\]|[^'\\])*)'\]/y;
  for (let end = 0; end < path.length; end = step.lastIndex) {
    const [, name, quoted = ""] = step.exec(path) ?? [];
    if (step.lastIndex === 0) return undefined;
    const key = name ?? quoted.replace(/\\(.)/g, (_, letter: string) => UNESCAPED[letter] ?? letter);
    const isField = here.properties !== undefined;
    const next = isField ? objectOr(here.properties)[key] : here.additionalProperties;
    if (next === undefined || typeof next === "boolean") return undefined;
    shown = isField ? join(shown, key) : `${shown}[${key}]`;
    here = objectOr(next);
  }
  return shown === "" ? undefined : shown;
}

/** Returns the text of an error of the library in the words of kube-apiserver. */
function errorText(error: unknown): string {
  const text = error instanceof EvaluationError ? error.summary : (error as Error).message.split("\n")[0];
  const [, index] = /index out of bounds, index (-?\d+)/.exec(text) ?? [];
  if (index !== undefined) return `index out of bounds: ${index}`;
  if (/overload/.test(text)) return "no such overload";
  return text.replace(/^No such key/, "no such key").replace(/^(integer overflow): .*/, "$1");
}

/** One check of an object. */
class Run {
  readonly #causes: Causes = [];
  #budget = OBJECT_BUDGET;

  check(root: Place, object: JsonObject, previous: JsonObject | undefined): Causes {
    const pair: OldAndNew | undefined = previous && { schema: root.schema, value: object, old: previous };
    this.#visit(root, object, "", new Ratchet(pair), previous);
    return this.#causes;
  }

  #visit(place: Place, value: Json | undefined, at: string, ratchet: Ratchet, old: Json | undefined): void {
    if (value === null || value === undefined || this.#budget < 0) return;
    for (const rule of place.rules) {
      if (this.#budget < 0) return;
      this.#rule(rule, place, value, at, ratchet, old ?? undefined);
    }
    const { element } = place;
    if (Array.isArray(value)) {
      const previous = oldItems(place.schema, old);
      value.forEach((item, index) => {
        if (element) this.#visit(element, item, `${at}[${index}]`, ratchet.item(index), previous(item));
      });
      return;
    }
    const members = objectOr(value);
    for (const [key, member] of Object.entries(members)) {
      const below = place.fields.get(key) ?? (place.schema.additionalProperties === undefined ? undefined : element);
      const path = below === element ? `${at}[${key}]` : join(at, key);
      if (below) this.#visit(below, member, path, ratchet.member(key), objectOr(old)[key]);
    }
  }

  #rule(rule: Rule, place: Place, value: Json, at: string, ratchet: Ratchet, old: Json | undefined): void {
    const { source, program } = rule;
    const optional = source.optionalOldSelf === true;
    if (program.usesOldSelf && old === undefined && !optional) return;
    const shown = textOf(source.message).trim() || textOf(source.rule).trim();
    const refuse = (why: string): void =>
      void this.#causes.push(fieldCause.invalid(at || "<nil>", JSON.stringify(textOf(place.schema.type)), why));
    const { of } = place.declared!;
    const previous = old === undefined ? undefined : of(old);
    const values = { self: of(value), oldSelf: optional ? Optional.of(previous) : previous };
    const result = this.evaluate(program, values);
    if (this.#budget < 0) {
      return refuse("validation failed due to running out of cost budget, no further validation rules will be run");
    }
    if (result.isSpent) {
      this.#budget = -1;
      return refuse(
        `'${result.error}': no further validation rules will be run due to call cost exceeds limit for rule: ${shown}`,
      );
    }
    if (result.error !== undefined) {
      const isOverload = result.error.startsWith("no such overload");
      const what = "call arguments did not match a supported operator, function or macro signature for rule";
      return refuse(isOverload ? `'${result.error}': ${what}: ${shown}` : `${result.error} evaluating rule: ${shown}`);
    }
    if (result.value === true) return;
    let detail = textOf(source.message).trim() || `failed rule: ${shown}`;
    if (rule.message !== undefined) {
      const text = this.evaluate(rule.message, values);
      if (this.#budget < 0 || text.isSpent) {
        this.#budget = -1;
        const why = text.isSpent
          ? "no further validation rules will be run due to call cost exceeds limit for messageExpression: " +
            JSON.stringify(textOf(source.messageExpression))
          : "messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run";
        return refuse(why);
      }
      detail = messageOf(text.value) ?? detail;
    }
    if (!program.usesOldSelf && ratchet.isUnchanged()) return;
    const field = rule.path === undefined ? at || "<nil>" : join(at, rule.path);
    this.#causes.push(failure(field, textOf(source.reason), value, detail));
  }

  /** Runs an expression, and takes its cost from the budget. */
  evaluate(program: Program, values: Record<string, unknown>): { value?: unknown; error?: string; isSpent: boolean } {
    const meter = running.meter = new Meter(CALL_BUDGET - program.cost[0]);
    try {
      const value: unknown = program.run(values);
      return { value, isSpent: meter.left < 0, error: meter.left < 0 ? SPENT : undefined };
    } catch (error) {
      return { error: meter.left < 0 ? SPENT : errorText(error), isSpent: meter.left < 0 };
    } finally {
      this.#budget -= CALL_BUDGET - meter.left;
    }
  }
}

const SPENT = "operation cancelled: actual cost limit exceeded";

/** Returns the message that an expression gave; undefined if kube-apiserver would not use it. */
function messageOf(value: unknown): string | undefined {
  const text = typeof value === "string" ? value.trim() : "";
  const isLong = new TextEncoder().encode(text).length > MAX_MESSAGE_BYTES;
  return text === "" || isLong || text.includes("\n") ? undefined : text;
}

/** Returns the cause of a rule that does not hold. */
function failure(field: string, reason: string, value: Json, detail: string): Required<StatusCause> {
  const shown = typeof value === "object" ? "" : `: ${JSON.stringify(value)}`;
  switch (reason) {
    case "FieldValueForbidden":
      return fieldCause.forbidden(field, detail);
    case "FieldValueRequired":
      return fieldCause.required(field, detail);
    case "FieldValueDuplicate":
      return { reason, message: `Duplicate value${shown}`, field };
  }
  return { reason: "FieldValueInvalid", message: `Invalid value${shown}: ${detail}`, field };
}
