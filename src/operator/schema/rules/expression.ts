/**
 * Rewrites the expression of a rule, so that the CEL library evaluates it as kube-apiserver does, and estimates its
 * cost.
 *
 * {@linkcode rewrite} is the entry point. The library parses, checks and evaluates; its tree is read here and written
 * as text again. Operators, macros and functions that differ become calls of `functions.ts`.
 *
 * @module
 */
import type { ASTNode, Environment } from "@marcbachmann/cel-js";
import { re2 } from "../values/re2.ts";
import { add, ANY_SIZE, type Call, callCost, comparison, type Range, times, union, weighted } from "./cost.ts";
import { type Declared, RESERVED } from "./declared_types.ts";
import { checkFormat } from "./format.ts";

/** An expression that the library can evaluate. */
export interface Rewritten {
  /** The expression. */
  readonly text: string;
  /** Its CEL type. */
  readonly type: string;
  /** True if it reads `oldSelf`. */
  readonly usesOldSelf: boolean;
  /** Its estimated cost. */
  readonly cost: Range;
  /** The limits that the schema lacks, of all values whose size counts. */
  readonly missing: ReadonlySet<string>;
}

/**
 * The schema that a part of an expression reads; null if the path leads to none, and undefined if the part is computed.
 */
type Path = Declared | null | undefined;

/** A part of an expression. */
interface Part {
  readonly text: string;
  readonly cost: Range;
  readonly path?: Path;
  /** Its size, if the expression says it. */
  readonly size?: Range;
  /** The size of its elements. */
  readonly entry?: Range;
  /** The size of its keys. */
  readonly keys?: Range;
  /** Its size if neither expression, path nor type say it. */
  readonly fallback?: Range;
}

/** The variables of macros around a part, and an environment that knows them. */
interface Scope {
  readonly environment: Environment;
  readonly locals: ReadonlyMap<string, Part>;
}

const NAMESPACES = new Set(["ip", "sets", "format", "strings", "lists"]);
/** Methods of the library that Kubernetes does not have. */
const FOREIGN = new Set(["json", "hex", "string", "base64", "at", "bind"]);
const SCALARS = /^(?:optional<)?(?:bool|int|uint|double|google\.protobuf\.(?:Duration|Timestamp))>?$/;
/** Types of one comparison step. */
const OPAQUE = /^(?:net\.|kubernetes\.)/;
/** Types that can be compared with null. */
const NULLABLE = /^(?:Object|google\.|net\.|kubernetes\.|URL|Format|optional|dyn|null)/;
const KEY: Declared = { type: "string", most: 0, least: 2, of: (value) => value };
const SINGLE = new Set(["all", "exists", "exists_one", "map", "filter"]);
const OPTIONAL = new Set(["optMap", "optFlatMap"]);
/** Functions of texts whose results differ, in the library. */
const OWN = new Set(
  "double bool timestamp indexOf lastIndexOf substring split lowerAscii upperAscii".split(" "),
);
/** Functions that kube-apiserver calls when it compiles a rule, if their argument is a literal. */
const CONVERSIONS = new Set(["bool", "bytes", "double", "duration", "int", "string", "timestamp", "uint"]);
/** Operations whose results can be too large, which the library does not find. */
const BOUNDED = /^int,int \/$|(?:Duration|Timestamp) [+-]$/;
const DOUBLE = new Set(["all", "exists", "existsOne", "transformList", "transformMap", "transformMapEntry"]);

/** The cost of a macro's first value, of its condition and step without the body, and of its result. */
const MACROS: Readonly<Record<string, readonly [first: number, step: number, result: number]>> = {
  all: [0, 3, 1],
  exists: [0, 4, 1],
  exists_one: [0, 2, 2],
  map: [10, 12, 1],
  filter: [10, 13, 1],
  transformList: [10, 12, 1],
  transformMap: [30, 3, 1],
  transformMapEntry: [30, 2, 1],
};

/**
 * Rewrites an expression about values of type `self`. `environment` declares `self` and `oldSelf`.
 *
 * @throws {Error} if kube-apiserver would not compile it: the message says why.
 */
export function rewrite(source: string, environment: Environment, self: Declared): Rewritten {
  const rewriter = new Rewriter(self);
  const { text, cost } = rewriter.part(environment.parse(source).ast, { environment, locals: new Map() });
  const type = typeIn(environment, text);
  return { text, type, cost, usesOldSelf: rewriter.usesOldSelf, missing: rewriter.missing };
}

function typeIn(environment: Environment, text: string): string {
  const { valid, type, error } = environment.check(text);
  if (!valid) throw new Error(error!.summary);
  return type!;
}

class Rewriter {
  usesOldSelf = false;
  readonly missing: Set<string> = new Set();
  readonly #self: Declared;
  #variables = 0;

  constructor(self: Declared) {
    this.#self = self;
  }

  part(node: ASTNode, scope: Scope): Part {
    const part = (child: ASTNode): Part => this.part(child, scope);
    switch (node.op) {
      case "value":
        return literal(node.args);
      case "id":
        return this.#variable(node.args, scope);
      case ".": {
        const object = part(node.args[0]);
        const name = fieldName(node.args[1]);
        const cost = /^(?:dyn|optional)/.test(this.#type(object, scope)) ? object.cost : add(object.cost, [1, 1]);
        return { text: `${object.text}.${name}`, cost, path: this.#step(object.path, name) };
      }
      case ".?": {
        const object = part(node.args[0]);
        const name = fieldName(node.args[1]);
        this.#checkField(object, name, scope);
        return { text: `${object.text}.?${name}`, cost: add(object.cost, [1, 1]) };
      }
      case "[]":
      case "[?]": {
        const [list, at] = node.args.map(part);
        const cost = add(list.cost, at.cost, [1, 1]);
        if (node.op === "[?]") return { text: `${list.text}[?${at.text}]`, cost };
        const path = this.#step(list.path, this.#type(list, scope).startsWith("list") ? "@items" : "@values");
        return { text: `${list.text}[${at.text}]`, cost, path, size: list.entry };
      }
      case "call":
        return this.#call(node.args[0], undefined, node.args[1], scope);
      case "rcall":
        return this.#method(node.args[0], node.args[1], node.args[2], scope);
      case "list":
        return this.#list(node, node.args, scope);
      case "map":
        return this.#map(node, node.args, scope);
      case "?:": {
        const [condition, yes, no] = node.args.map(part);
        const entry = yes.entry && no.entry && union(yes.entry, no.entry);
        const cost = add(condition.cost, union(yes.cost, no.cost));
        const size = union(this.#size(yes, scope), this.#size(no, scope));
        return { text: `(${condition.text} ? ${yes.text} : ${no.text})`, cost, size, entry };
      }
      case "&&":
      case "||": {
        const operands = chain(node, node.op).map(part);
        const cost: Range = [operands[0].cost[0], add(...operands.map((operand) => operand.cost))[1]];
        return { text: `(${operands.map(({ text }) => text).join(` ${node.op} `)})`, cost };
      }
      case "!_":
      case "-_":
        return this.#unary(node.op, node.args, scope);
      default:
        return this.#binary(node.op, part(node.args[0]), part(node.args[1]), node.args, scope);
    }
  }

  #list(node: ASTNode, nodes: readonly ASTNode[], scope: Scope): Part {
    const items = nodes.map((item) => this.part(item, scope));
    const cost = add([isConstant(node) ? 0 : 10, 10], ...items.map((item) => item.cost));
    const sizes = items.map((item) => this.#size(item, scope));
    const entry: Range = sizes.length === 0 ? [0, 0] : sizes.reduce(union);
    return { text: `[${items.map(({ text }) => text)}]`, cost, size: [items.length, items.length], entry };
  }

  #map(node: ASTNode, pairs: readonly [ASTNode, ASTNode][], scope: Scope): Part {
    const keys = this.#list(node, pairs.map(([key]) => key), scope);
    const values = this.#list(node, pairs.map(([, value]) => value), scope);
    const cost = add(keys.cost, values.cost, isConstant(node) ? [0, 10] : [10, 10]);
    const text = pairs.length === 0 ? "{}" : `_map(${keys.text}, ${values.text})`;
    return { text, cost, size: keys.size, keys: keys.entry, entry: values.entry };
  }

  #type(part: Part, scope: Scope): string {
    return typeIn(scope.environment, part.text);
  }

  /** Refuses a field that an object does not have: the library lets it pass in `has()` and `.?`. */
  #checkField(object: Part, name: string, scope: Scope): void {
    const [, optional, declared] = /^(optional<)?(Object)?/.exec(this.#type(object, scope))!;
    const value = optional === undefined ? object.text : `${object.text}.value()`;
    if (declared !== undefined) typeIn(scope.environment, `${value}.${name}`);
  }

  #size(part: Part, scope: Scope): Range {
    if (part.size !== undefined) return part.size;
    if (part.path) {
      if (part.path.missing !== undefined) this.missing.add(part.path.missing);
      return [0, part.path.most];
    }
    return SCALARS.test(this.#type(part, scope)) ? [1, 1] : part.fallback ?? ANY_SIZE;
  }

  /** The path of a member. In kube-apiserver, a computed value's member has the limits of the rule's own schema. */
  #step(path: Path, name: string): Path {
    if (path === undefined || path === null) return path === undefined ? this.#self : null;
    if (name === "@items" || name === "@values") return path.element ?? null;
    return name === "@keys" && path.type.startsWith("map") ? KEY : path.fields?.get(name) ?? null;
  }

  #variable(name: string, { locals }: Scope): Part {
    this.usesOldSelf ||= name === "oldSelf" && !locals.has(name);
    return locals.get(name) ?? { text: name, cost: [1, 1], path: this.#self };
  }

  #unary(op: "!_" | "-_", node: ASTNode, scope: Scope): Part {
    if (op === "-_" && node.op === "value" && /bigint|number/.test(typeof node.args)) {
      return literal(-(node.args as bigint));
    }
    const operand = this.part(node, scope);
    // The library does not find that -(-9223372036854775808) overflows, but that 0 - x does.
    const zero = op === "-_" && this.#type(operand, scope) === "int" ? "0 " : "";
    return { text: `(${zero}${op[0]} ${operand.text})`, cost: add(operand.cost, [1, 1]) };
  }

  #binary(op: string, left: Part, right: Part, nodes: readonly [ASTNode, ASTNode], scope: Scope): Part {
    const cost = add(left.cost, right.cost);
    const sizes = (): [Range, Range] => [this.#size(left, scope), this.#size(right, scope)];
    if (op === "==" || op === "!=") {
      const nulls = nodes.map(({ op, args }) => op === "value" && args === null);
      const comparable = [left, right].every((part) => NULLABLE.test(this.#type(part, scope)));
      const check = nulls.includes(true) && comparable
        ? `dyn(${left.text}), dyn(${right.text})`
        : `${left.text}, ${right.text}`;
      typeIn(scope.environment, `_eq(${check})`);
      const text = `_same(${left.text}, ${right.text})`;
      const step: Range = OPAQUE.test(this.#type(left, scope)) ? [1, 1] : comparison(...sizes());
      return { text: op === "==" ? text : `(!${text})`, cost: add(cost, step) };
    }
    const types = [this.#type(left, scope), this.#type(right, scope)];
    if (op === "in") {
      typeIn(scope.environment, `_in(${left.text}, ${right.text})`);
      const step: Range = types[1].startsWith("map") ? [1, 1] : sizes()[1];
      return {
        text: `_within(${left.text}, ${right.text})`,
        cost: add(cost, types[1] === "dyn" ? union([1, 1], step) : step),
      };
    }
    const ordered = /^[<>]/.test(op);
    const isBytes = ordered && types.every((type) => type === "bytes");
    const text = isBytes
      ? `(_order(${left.text}) ${op} _order(${right.text}))`
      : op === "%" && types.every((type) => type === "int")
      ? `_rest(${left.text}, ${right.text})`
      : BOUNDED.test(`${types} ${op}`)
      ? `_bounded(${left.text} ${op} ${right.text})`
      : `(${left.text} ${op} ${right.text})`;
    const kind = types[0] === "dyn" ? types[1] : types[0];
    const isText = /^(?:string|bytes|dyn)$/.test(kind);
    if (op === "+" && (isText || kind.startsWith("list"))) {
      const size = add(...sizes());
      const entry = left.entry && right.entry && union(left.entry, right.entry);
      if (!isText) return { text: `_add(${left.text}, ${right.text})`, cost: add(cost, [1, 1]), size, entry };
      const step = weighted(size, 0.1);
      return { text, cost: add(cost, kind === "dyn" ? union([1, 1], step) : step), size, entry };
    }
    const step: Range = ordered && isText ? comparison(...sizes()) : [1, 1];
    return { text, cost: add(cost, kind === "dyn" ? union([1, 1], step) : step) };
  }

  #call(name: string, target: Part | undefined, nodes: readonly ASTNode[], scope: Scope, written?: string): Part {
    if (name === "has" && target === undefined && nodes.length === 1) return this.#has(nodes[0], scope);
    if (name.startsWith("_")) throw new Error(`undeclared reference to '${name}'`);
    const args = nodes.map((node) => {
      const part = this.part(node, scope);
      if (name !== "format" || node.op !== "list") return part;
      // Values to be formatted may have different types.
      return { ...part, text: `[${node.args.map((item) => `dyn(${this.part(item, scope).text})`)}]` };
    });
    const list = args.map(({ text }) => text).join(", ");
    const cost = add(target?.cost ?? [0, 0], ...args.map((arg) => arg.cost));
    if (name === "dyn" && target === undefined && args.length === 1) {
      const size = this.#size(args[0], scope);
      return { ...args[0], text: `dyn(${list})`, cost: add(cost, [1, 1]), size, path: undefined };
    }
    const operands = [...target === undefined ? [] : [target], ...args];
    const kind = operands.length === 0 ? "" : this.#type(operands[0], scope);
    const isOwn = name === "matches" || kind === "string" && OWN.has(name) ||
      name === "int" && /^(?:string|double|dyn)$/.test(kind) || name === "string" && /^(?:double|bytes)$/.test(kind);
    const called = isOwn
      ? `_${name}(${operands.map(({ text }) => text).join(", ")})`
      : written ?? `${target === undefined ? "" : `${target.text}.`}${name}(${list})`;
    const text = name === "duration" ? `_bounded(${called})` : called;
    checkLiterals(name, nodes, scope.environment, text);
    if (name === "format" && target?.text.startsWith('"') && nodes[0]?.op === "list") {
      checkFormat(JSON.parse(target.text), nodes[0].args.map((item) => this.#type(this.part(item, scope), scope)));
    }
    const call: Call = {
      name,
      target: target && this.#size(target, scope),
      sizes: args.map((arg) => this.#size(arg, scope)),
      integers: nodes.map(({ op, args }) => op === "value" && typeof args === "bigint" ? Number(args) : undefined),
      type: () => this.#type(target ?? args[0], scope),
      argument: () => args.length === 0 ? undefined : this.#type(args[0], scope),
      element: () => {
        const path = target?.path ? this.#step(target.path, "@items") : null;
        return path ? this.#size({ text: "", cost, path }, scope) : ANY_SIZE;
      },
    };
    const own = callCost(call);
    return { text, cost: add(cost, own.cost), size: own.size };
  }

  #has(node: ASTNode, scope: Scope): Part {
    if (node.op !== ".") throw new Error("invalid argument to has() macro");
    const object = this.part(node.args[0], scope);
    const name = fieldName(node.args[1]);
    this.#checkField(object, name, scope);
    return { text: `_has(${object.text}, ${JSON.stringify(name)})`, cost: object.cost };
  }

  #method(name: string, receiver: ASTNode, nodes: readonly ASTNode[], scope: Scope): Part {
    const list = (): string => nodes.map((node) => this.part(node, scope).text).join(", ");
    if (receiver.op === "id" && !scope.locals.has(receiver.args)) {
      const space = receiver.args;
      const own = name === "ofNonZeroValue" ? "_nonZero" : `optional.${name}`;
      const written = NAMESPACES.has(space) ? `${space}_${name}` : space === "optional" ? own : undefined;
      if (written !== undefined) {
        return this.#call(`${space}.${name}`, undefined, nodes, scope, `${written}(${list()})`);
      }
    }
    if (FOREIGN.has(name)) throw new Error(`undeclared reference to '${name}'`);
    const target = this.part(receiver, scope);
    const names = nodes.slice(0, 2).flatMap((node) => node.op === "id" ? [node.args] : []);
    const bodies = nodes.length - 1;
    if (names.length > 0 && (SINGLE.has(name) && bodies === 1 || name === "map" && bodies === 2)) {
      return this.#macro(name, target, names.slice(0, 1), nodes.slice(1), scope);
    }
    if (names.length > 0 && name === "sortBy" && bodies === 1) return this.#sortBy(target, names, nodes[1], scope);
    if (names.length > 1 && DOUBLE.has(name) && bodies > 1) {
      return this.#macro(name, target, names, nodes.slice(2), scope);
    }
    if (names.length > 0 && OPTIONAL.has(name) && bodies === 1) {
      return this.#optional(name, target, names[0], nodes[1], scope);
    }
    return this.#call(name, target, nodes, scope);
  }

  /** Returns a scope with one more variable. */
  #with(scope: Scope, name: string, variable: { type: string; part: Partial<Part> }): Part & { readonly scope: Scope } {
    const text = `v${this.#variables++}_`;
    const type = /^[A-Z]$/.test(variable.type) ? "dyn" : variable.type;
    const part: Part = { text, cost: [1, 1], ...variable.part };
    const environment = scope.environment.clone().registerVariable(text, type);
    return { ...part, scope: { environment, locals: new Map(scope.locals).set(name, part) } };
  }

  /** A macro over a range: its variables are elements, keys, or both. */
  #macro(name: string, range: Part, names: readonly string[], nodes: readonly ASTNode[], scope: Scope): Part {
    const type = this.#type(range, scope);
    const isList = type.startsWith("list");
    const [, first = "dyn", second = "dyn"] = /^(?:list<|map<(.*?), )(.*)>$/.exec(type) ?? [];
    const variable = (part: "@indices" | "@keys" | "@items" | "@values", type: string, fallback?: Range) => ({
      type,
      part: { path: this.#step(range.path, part), fallback },
    });
    const key = isList ? variable("@indices", "int") : variable("@keys", first, range.keys);
    const value = variable(isList ? "@items" : "@values", second, range.entry);
    const isDouble = names.length > 1;
    const outer = this.#with(scope, names[0], isDouble || !isList ? key : value);
    const inner = isDouble ? this.#with(outer.scope, names[1], value) : outer;
    const bodies = nodes.map((node) => this.part(node, inner.scope));
    const own = name === "existsOne" ? "exists_one" : name;
    const cost = loop(own, bodies.map((body) => body.cost));
    const last = `_tick(${Math.min(cost.each[0], 1_000_000)}, ${bodies.at(-1)!.text})`;
    // With two variables, the second one is the only element of a list within.
    const within = (macro: string, body: string): string =>
      isDouble ? `[${range.text}[${outer.text}]].${macro}(${inner.text}, ${body})` : body;
    // Macros go on after errors: a loop within another one must not begin when the budget is spent.
    const keys = `_tick(0, ${isDouble && isList ? `_indices(${range.text})` : range.text})`;
    const left = bodies.length > 1 ? `${keys}.filter(${outer.text}, ${within("exists", bodies[0].text)})` : keys;
    const mapped = `${left}.map(${outer.text}, ${within("map", last)}${isDouble ? "[0]" : ""})`;
    const text = own === "map" || own === "transformList"
      ? mapped
      : own === "transformMap"
      ? `_map(${left}.map(${outer.text}, ${outer.text}), ${mapped})`
      : own === "transformMapEntry"
      ? `_merge(${mapped})`
      : `${keys}.${own}(${outer.text}, ${within(own === "all" ? "all" : "exists", last)})`;
    const size = this.#size(range, scope);
    const item = own === "filter" ? inner : own === "map" || own === "transformList" ? bodies.at(-1) : undefined;
    return {
      text,
      cost: add(range.cost, cost.around, times(size, cost.each)),
      size: /^(?:all|exists)/.test(own) ? [1, 1] : size,
      entry: item && union([0, 0], this.#size(item, inner.scope)),
    };
  }

  #sortBy(target: Part, names: readonly string[], node: ASTNode, scope: Scope): Part {
    const keys = this.#macro("map", target, names, [node], scope);
    const type = (): string => this.#type(keys, scope);
    const call = {
      name: "sort",
      target: keys.size,
      sizes: [],
      integers: [],
      type,
      argument: type,
      element: () => ANY_SIZE,
    };
    const { cost } = callCost(call);
    return { ...target, text: `_sortBy(${target.text}, ${keys.text})`, cost: add(keys.cost, cost, [12, 12]) };
  }

  #optional(name: string, target: Part, variable: string, node: ASTNode, scope: Scope): Part {
    const type = /^optional<(.*)>$/.exec(this.#type(target, scope))?.[1] ?? "dyn";
    const own = this.#with(scope, variable, { type, part: {} });
    const body = this.part(node, own.scope);
    const mapped = `[${target.text}.value()].map(${own.text}, ${body.text})[0]`;
    const value = name === "optMap" ? `optional.of(${mapped})` : mapped;
    const work = add(target.cost, body.cost, name === "optMap" ? [12, 12] : [11, 11]);
    return {
      text: `(${target.text}.hasValue() ? ${value} : optional.none())`,
      cost: add(target.cost, [1, 1], union(work, [1, 1])),
    };
  }
}

const fieldName = (name: string): string => RESERVED.has(name) ? `__${name}__` : name;

function chain(node: ASTNode, op: "&&" | "||"): ASTNode[] {
  if (node.op !== op) return [node];
  const [left, right] = node.args as [ASTNode, ASTNode];
  return [...chain(left, op), ...chain(right, op)];
}

/** Returns true for literals, which cost nothing when they run: kube-apiserver builds them once. */
function isConstant({ op, args }: ASTNode): boolean {
  return op === "value" ||
    (op === "list" || op === "map") && (args as (ASTNode | ASTNode[])[]).flat().every(isConstant);
}

function literal(value: unknown): Part {
  const cost: Range = [0, 0];
  if (typeof value === "string") {
    return { text: JSON.stringify(value), cost, size: [[...value].length, [...value].length] };
  }
  if (value instanceof Uint8Array) {
    const bytes = Array.from(value, (byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");
    return { text: `b"${bytes}"`, cost, size: [value.length, value.length] };
  }
  const isWhole = typeof value === "number" && !/[.e]/.test(String(value));
  const suffix = isWhole ? ".0" : typeof value === "object" && value !== null ? "u" : "";
  if (typeof value === "bigint" && BigInt.asIntN(64, value) !== value) throw new Error(`invalid int literal: ${value}`);
  const text = Object.is(value, -0) ? "-0" : `${value}`;
  return { text: text.startsWith("-") ? `(${text}${suffix})` : `${text}${suffix}`, cost, size: [1, 1] };
}

/** The cost of a macro around its loop, and of each round. */
function loop(name: string, bodies: readonly Range[]): { around: Range; each: Range } {
  const [first, step, result] = MACROS[name];
  const isCondition = name === "filter" || name === "exists_one";
  const work = add(isCondition ? [0, 0] : bodies.at(-1)!, [step, step]);
  const each = isCondition || bodies.length > 1 ? add(bodies[0], union(work, [1, 1])) : work;
  return { around: [result, first + result], each };
}

/** Refuses literals that are no duration, time or pattern. */
function checkLiterals(name: string, nodes: readonly ASTNode[], environment: Environment, text: string): void {
  const given = nodes[name.startsWith("find") ? 0 : nodes.length - 1];
  const last = given?.op === "-_" ? given.args : given;
  if (last?.op !== "value") return;
  if (["matches", "find", "findAll"].includes(name) && typeof last.args === "string") re2(last.args);
  else if (CONVERSIONS.has(name)) environment.evaluate(text);
}
