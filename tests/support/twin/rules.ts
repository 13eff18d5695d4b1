// Expressions of rules: their values on a real server, and on the fake and in `validate()`.
import { Client, defineResource, type DynamicObject, isNotFound, type Resource, StatusError } from "@kube/informer";
import { CustomResourceDefinition } from "@kube/informer/kinds/apiextensions/v1";
import { defineKind, installCrds } from "@kube/informer/schema";
import type { JsonObject } from "../../../src/engine/api/json.ts";
import { loadRules } from "../../../src/operator/schema/rules/load.ts";
import type { TwinServer } from "./play.ts";
import { crdOf } from "./schemas.ts";

/** What an expression gives: `"= 5"` is a value as `format` writes it. */
export type RuleAnswer = `= ${string}` | "error" | "refused";

/** An expression, and what kube-apiserver 1.37.2 answers. */
export interface RuleExpression {
  readonly text: string;
  readonly answer: RuleAnswer;
}

/** The expressions of `rules.txt`. */
export function ruleExpressions(): RuleExpression[] {
  const lines = Deno.readTextFileSync(new URL("rules.txt", import.meta.url)).trimEnd().split("\n");
  return lines.map((line) => {
    const [text, answer] = line.split(" ⇒ ");
    return { text, answer: answer as RuleAnswer };
  });
}

const MIXED = "a literal of mixed types is refused within format()";

/** Expressions whose answers may differ, as the page *Define a kind* says. */
export const KNOWN_DIFFERENCES: ReadonlyMap<string, string> = new Map([
  ['timestamp("2024-01-02T03:04:05+02:00")', "a time is written in UTC"],
  ['timestamp("2024-01-02T03:04:05.123456789Z")', "a time has milliseconds"],
  ['double("0x1p4")', "hexadecimal fractions are not read"],
  ['"%s".format([{"b": 1, "a": [true, "x"]}])', MIXED],
  ['"%s".format([{1: "x", true: 2.5}])', MIXED],
  ['"%s".format([[b"x", null, 2u]])', MIXED],
]);

const text = { type: "string", maxLength: 100 } as const;

/** The schema of `self`. */
const SELF: JsonObject = {
  type: "object",
  properties: {
    s: text,
    n: { type: "integer" },
    f: { type: "number" },
    b: { type: "boolean" },
    l: { type: "array", maxItems: 10, items: text },
    li: { type: "array", maxItems: 10, items: { type: "integer" } },
    m: { type: "object", maxProperties: 10, additionalProperties: text },
    q: text,
    ip: text,
    ver: text,
    d: { type: "string", format: "date-time" },
    dur: { type: "string", format: "duration" },
    io: { "x-kubernetes-int-or-string": true },
    u: text,
    objs: {
      type: "array",
      maxItems: 10,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
      items: {
        type: "object",
        required: ["name"],
        properties: { name: { type: "string", maxLength: 20 }, v: { type: "integer" } },
      },
    },
    "my-field": text,
    "a__b": text,
    in: text,
    namespace: text,
    opt: text,
    missing: text,
  },
};

/** The value of `self`. */
const VALUE: JsonObject = {
  s: "abc",
  n: 5,
  f: 1.5,
  b: true,
  l: ["b", "a", "a"],
  li: [3, 1, 2],
  m: { k1: "v1", k2: "v2" },
  q: "1500m",
  ip: "10.0.0.1",
  ver: "1.2.3",
  d: "2024-01-02T03:04:05Z",
  dur: "1h30m",
  io: 80,
  u: "https://a.b:8443/p?q=1#f",
  objs: [{ name: "x", v: 1 }, { name: "y", v: 2 }],
  "my-field": "dash",
  opt: "here",
};

/** A schema with one field for each expression, whose rule fails with a message that has the expression's value. */
function schemaOf(expressions: readonly string[]): JsonObject {
  const properties = expressions.map((expression, at) => {
    // A rule whose expression cannot be evaluated fails with another message.
    const rule = `[dyn(${expression})].size() == 2`;
    const messageExpression = `"= %s".format([dyn(${expression})])`;
    return [`w${at}`, { ...SELF, "x-kubernetes-validations": [{ rule, message: "error", messageExpression }] }];
  });
  return { type: "object", properties: Object.fromEntries(properties) };
}

type Causes = readonly { readonly field?: string; readonly message?: string }[];

/** Returns the positions of the expressions that do not compile, by the causes of a refused definition. */
const refusedIn = (causes: Causes): Set<number> =>
  new Set(causes.flatMap(({ field = "" }) => /properties\[w(\d+)\]/.exec(field)?.[1] ?? []).map(Number));

function answersIn(causes: Causes, count: number): RuleAnswer[] {
  const answers: RuleAnswer[] = Array.from({ length: count }, () => "error");
  for (const { field = "", message = "" } of causes) {
    const [, at] = /^spec\.w(\d+)$/.exec(field) ?? [];
    const [, value] = /^Invalid value: (?:"object": )?= (.*)$/s.exec(message) ??
      /^Invalid value: = (.*)$/s.exec(message) ?? [];
    if (at !== undefined && value !== undefined) answers[Number(at)] = `= ${value}`;
  }
  return answers;
}

const objectOf = (count: number): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`w${at}`, VALUE]));

/** Says which expressions an implementation refuses, and what the others give. */
interface Evaluator {
  refused(schema: JsonObject): Promise<Causes>;
  check(schema: JsonObject, spec: JsonObject): Promise<Causes>;
}

async function evaluate(evaluator: Evaluator, expressions: readonly string[]): Promise<RuleAnswer[]> {
  const refused = refusedIn(await evaluator.refused(schemaOf(expressions)));
  const sound = expressions.filter((_, at) => !refused.has(at));
  const found = answersIn(await evaluator.check(schemaOf(sound), objectOf(sound.length)), sound.length);
  let next = 0;
  return expressions.map((_, at) => refused.has(at) ? "refused" : found[next++]);
}

async function causesOf(send: () => Promise<unknown>): Promise<Causes> {
  try {
    await send();
    return [];
  } catch (error) {
    if (!(error instanceof StatusError) || error.status.code === 404) throw error;
    return error.status.details?.causes ?? [{ message: error.status.message }];
  }
}

/** Evaluates with a server: with its definitions and objects. */
function serverEvaluator(server: TwinServer): Evaluator {
  const client = new Client({ server: server.server, transport: server, namespace: "default", retries: 0 });
  const definitions = client.resource(CustomResourceDefinition);
  return {
    refused: (schema) => causesOf(() => definitions.create(crdOf(resourceNamed(), schema), { dryRun: true })),
    async check(schema, spec): Promise<Causes> {
      const resource = resourceNamed();
      const crd = crdOf(resource, schema);
      await installCrds(client, [crd]);
      const object = { metadata: { name: "a" }, spec } as never;
      try {
        for (let tries = 1;; tries++) {
          try {
            return await causesOf(() => client.resource(resource).create(object, { dryRun: true }));
          } catch (error) {
            if (!isNotFound(error) || tries === 1_000) throw error;
          }
        }
      } finally {
        await definitions.delete(`${resource.plural}.${resource.group}`);
      }
    },
  };
}

/** Evaluates with the rules, which are those of Kubernetes 1.37. */
const ruleEvaluator: Evaluator = {
  refused: async (spec) => (await loadRules()).compile({ type: "object", properties: { spec } }).causes,
  check: async (spec, value) =>
    (await loadRules()).compile({ type: "object", properties: { spec } }).check({ spec: value }),
};

/** Evaluates with `validate()`. */
const validateEvaluator: Evaluator = {
  refused: ruleEvaluator.refused,
  check: async (spec, value) => {
    const { group, version, plural, kind } = resourceNamed();
    const defined = defineKind({ group, version, plural, kind, spec: spec as never });
    return await defined.validate({ metadata: { name: "a" }, spec: value as never });
  },
};

/** What was compared. */
export interface RuleTally {
  readonly cases: number;
  readonly equal: number;
  /** What differs, and is not known to. */
  readonly differences: readonly string[];
  /** What differs as {@linkcode KNOWN_DIFFERENCES} says, with the reason. */
  readonly known: readonly string[];
  /** The answers of the real server, as `rules.txt` has them. */
  readonly answers: string;
}

/** The expressions of one definition. */
const AT_ONCE = 40;

/** Evaluates expressions with the rules of Kubernetes 1.37. */
export async function evaluateRules(expressions: readonly string[]): Promise<RuleAnswer[]> {
  return await inParts(expressions, (part) => evaluate(ruleEvaluator, part));
}

async function inParts(
  expressions: readonly string[],
  evaluate: (part: readonly string[]) => Promise<RuleAnswer[]>,
): Promise<RuleAnswer[]> {
  const answers: RuleAnswer[] = [];
  for (let at = 0; at < expressions.length; at += AT_ONCE) {
    answers.push(...await evaluate(expressions.slice(at, at + AT_ONCE)));
  }
  return answers;
}

/**
 * Evaluates the first `count` expressions with a real server, with the rules, and with `validate()` and the fake. The
 * server should be 1.37, because older ones lack some functions.
 */
export async function compareRules(
  real: TwinServer,
  fake: TwinServer,
  { count }: { readonly count: number },
): Promise<RuleTally> {
  const expressions = ruleExpressions().slice(0, count).map(({ text }) => text);
  const ask = (evaluator: Evaluator): Promise<RuleAnswer[]> =>
    inParts(expressions, (part) => evaluate(evaluator, part));
  const servers = await ask(serverEvaluator(real));
  const ours = await ask(ruleEvaluator);
  const [faked, validated] = [await ask(serverEvaluator(fake)), await ask(validateEvaluator)];
  const different = expressions.flatMap((text, at) => {
    const isSame = [ours, faked, validated].every((answers) => answers[at] === servers[at]);
    const [a, b, c, d] = [servers, ours, faked, validated].map((answers) => answers[at]);
    return isSame ? [] : [{ text, shown: `${text}\n  real ${a}, rules ${b}, fake ${c}, validate() ${d}` }];
  });
  return {
    cases: expressions.length,
    equal: expressions.length - different.length,
    differences: different.filter(({ text }) => !KNOWN_DIFFERENCES.has(text)).map(({ shown }) => shown),
    known: different.flatMap(({ text }) =>
      KNOWN_DIFFERENCES.has(text) ? `${text}: ${KNOWN_DIFFERENCES.get(text)}` : []
    ),
    answers: expressions.map((text, at) => `${text} ⇒ ${servers[at]}\n`).join(""),
  };
}

function resourceNamed(): Resource<DynamicObject> {
  const name = `r${crypto.randomUUID().slice(0, 8)}`;
  return defineResource({ group: "rules.example.com", version: "v1", plural: `${name}s`, kind: name });
}
