import { Client, defineResource, type DynamicObject, isNotFound, type Resource, StatusError } from "@kube/informer";
import type { StatusCause } from "@kube/informer/types";
import { CustomResourceDefinition } from "@kube/informer/kinds/apiextensions/v1";
import { isList, isObject, type Json, type JsonObject } from "../../../src/engine/api/json.ts";
import { loadValidator } from "../../../src/operator/schema/validator.ts";
import { checkedFormat } from "../../../src/operator/schema/values/formats.ts";
import { isNearlyWhole } from "../../../src/operator/schema/values/keywords.ts";
import { Random } from "../../../src/testing/fake/random.ts";
import { borderValue, keywordSchema } from "../schema/keyword_schemas.ts";
import { reasonBefore38 } from "../schema/ruled.ts";
import type { TwinServer } from "./play.ts";

// Random values of random schemas: on a real server, on the fake, and by validate().

/** The fields of a kind, and the values of each. */
const [FIELDS, VALUES] = [40, 25];
/** The requests that are under way at a time. */
const AT_ONCE = 12;

/** A value of a field, with what the three say: the causes, or none if it is accepted. */
interface Comparison {
  readonly schema: JsonObject;
  readonly value: Json;
  readonly real: Answer;
  readonly fake: Answer;
  readonly validated: Answer;
}

/** The causes of a refusal, as "field reason"; undefined for an accepted value. */
interface Answer {
  readonly causes: readonly string[] | undefined;
  readonly messages: readonly string[];
}

/** A difference that stays, with its reason. */
interface AcceptedDifference {
  readonly reason: string;
  /** The first minor version without it. @default {none} */
  readonly until?: number;
  is(comparison: Comparison, minor: number): boolean;
}

/** Returns true if a part of a value and the part of its schema have what a test looks for. */
function anywhere(
  schema: unknown,
  value: Json | undefined,
  test: (schema: JsonObject, value: Json) => boolean,
): boolean {
  if (!isObject(schema as Json) || value === undefined) return false;
  const { items, properties, additionalProperties, allOf, anyOf, oneOf, not } = schema as JsonObject;
  if (test(schema as JsonObject, value)) return true;
  const parts = [allOf, anyOf, oneOf, [not ?? null]].flatMap((list) => isList(list) ? list.filter(isObject) : []);
  if (parts.some((part) => anywhere({ type: (schema as JsonObject).type ?? "", ...part }, value, test))) return true;
  if (isList(value)) return value.some((item) => anywhere(items, item, test));
  if (!isObject(value)) return false;
  return Object.entries(value).some(([name, member]) =>
    anywhere(isObject(properties) ? properties[name] : additionalProperties, member, test)
  );
}

/** Differences from the real server that stay. */
export const ACCEPTED_VALUES: readonly AcceptedDifference[] = [
  {
    reason: "the server takes any list where a schema asks for a text with a format",
    is: ({ schema, value }) =>
      anywhere(
        schema,
        value,
        (part, it) => isList(it) && part.type !== "array" && part.format !== undefined,
      ),
  },
  {
    reason: "the server compares a number with an enum after it has converted it to the type of the member",
    is: ({ schema, value }) =>
      anywhere(
        schema,
        value,
        ({ enum: members }, it) => isList(members) && typeof it === "number" && !members.includes(it),
      ),
  },
  {
    reason: "before 1.36, the server does not check whether the type of a schema can hold a number or a bound",
    until: 36,
    is: ({ schema, value }) =>
      anywhere(
        schema,
        value,
        (part, it) => typeof it === "number" && ["integer", "number"].includes(String(part.type)),
      ),
  },
  {
    reason: "before 1.37, the server rounds numbers down before it looks whether they are nearly whole",
    until: 37,
    is: ({ schema, value }) =>
      anywhere(schema, value, ({ multipleOf }, it) => {
        const by = Number(multipleOf ?? 1);
        const parts = typeof it === "number" ? [it, it / by, it * (1 / by)] : [];
        return parts.some((part) => isNearlyWhole(part) && !Number.isInteger(part));
      }),
  },
  {
    reason: "a server does not check a format of a later version",
    is: ({ schema, value }, minor) =>
      anywhere(
        schema,
        value,
        ({ format = "" }) => checkedFormat({ format }) !== undefined && checkedFormat({ format }, minor) === undefined,
      ),
  },
  {
    reason: "before 1.36, the server keeps a format in schemas of types without formats, and then takes any text",
    until: 36,
    is: ({ schema, value }) =>
      anywhere(
        schema,
        value,
        ({ type, format = "" }, it) =>
          typeof it === "string" && type !== "string" && checkedFormat({ format }) !== undefined,
      ),
  },
];

/** What was compared. */
export interface ValueTally {
  values: number;
  refused: number;
  /** Values on which the three agree. */
  answers: number;
  /** Values with the same fields and reasons. */
  causes: number;
  messages: number;
  /** How many values differ for an accepted reason. */
  readonly accepted: Map<string, number>;
  readonly differences: string[];
}

/** Compares `count` values; the seeds of their kinds begin at `from`. `minor` is the real server's version. */
export async function compareValues(
  real: TwinServer,
  fake: TwinServer,
  { count, from, minor, onKind }: {
    readonly count: number;
    readonly from: number;
    readonly minor: number;
    onKind(tally: ValueTally): void;
  },
): Promise<ValueTally> {
  const tally: ValueTally = {
    values: 0,
    refused: 0,
    answers: 0,
    causes: 0,
    messages: 0,
    accepted: new Map(),
    differences: [],
  };
  const clients = [real, fake].map((server) =>
    new Client({ server: server.server, transport: server, namespace: "default", retries: 0 })
  );
  const run = crypto.randomUUID().slice(0, 5);
  for (let seed = from; tally.values < count; seed++) {
    await compareKind(clients, new Random(seed), { name: `v${run}x${seed}`, minor, count }, tally);
    onKind(tally);
  }
  return tally;
}

interface KindOptions {
  readonly name: string;
  readonly minor: number;
  readonly count: number;
}

async function compareKind(
  clients: readonly Client[],
  random: Random,
  { name, minor, count }: KindOptions,
  tally: ValueTally,
): Promise<void> {
  const schemas = Array.from({ length: FIELDS }, () => keywordSchema(random));
  const properties = Object.fromEntries(schemas.map((schema, at) => [`f${at}`, schema]));
  const openAPIV3Schema = { type: "object", properties: { spec: { type: "object", properties } } };
  const resource = defineResource<DynamicObject>({
    group: "values.example.com",
    version: "v1",
    plural: `${name}s`,
    kind: name,
  });
  for (const client of clients) await install(client, name, openAPIV3Schema);
  const validate = await loadValidator(openAPIV3Schema);
  const drawn = schemas.flatMap((schema, at) =>
    Array.from({ length: VALUES }, () => ({ schema, field: `f${at}`, value: borderValue(random, schema) }))
  ).slice(0, count - tally.values);
  let next = 0;
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    while (next < drawn.length) {
      const { schema, field, value } = drawn[next++];
      const object = {
        apiVersion: "values.example.com/v1",
        kind: name,
        metadata: { name: "a" },
        spec: { [field]: value },
      };
      const [real, fake] = await Promise.all(clients.map((client) => asked(client, resource, object)));
      add(tally, { schema, value, real, fake, validated: answerOf(validate(object)) }, minor);
    }
  }));
  for (const client of clients) {
    await client.resource(CustomResourceDefinition).delete(`${name}s.values.example.com`);
  }
}

function add(tally: ValueTally, comparison: Comparison, minor: number): void {
  const { schema, value, real, fake, validated } = comparison;
  tally.values++;
  if (real.causes !== undefined) tally.refused++;
  const isSame = [fake, validated].every((it) => (it.causes === undefined) === (real.causes === undefined));
  const hasSameCauses = [fake, validated].every((it) => String(it.causes) === String(real.causes));
  const reason = isSame && hasSameCauses
    ? undefined
    : ACCEPTED_VALUES.find(({ until = Infinity, is }) => minor < until && is(comparison, minor))?.reason;
  if (reason !== undefined) tally.accepted.set(reason, (tally.accepted.get(reason) ?? 0) + 1);
  if (isSame || reason !== undefined) tally.answers++;
  if (hasSameCauses || reason !== undefined) tally.causes++;
  if (hasSameCauses && String(real.messages) === String(fake.messages)) tally.messages++;
  else if (reason === undefined) {
    const line = (it: Answer): string =>
      it.causes === undefined ? "accepted" : `${it.causes.join("; ")} | ${it.messages.join("; ")}`;
    const kind = !isSame ? "answer" : !hasSameCauses ? "causes" : "message";
    tally.differences.push(
      `${kind}: ${JSON.stringify(value)} of ${JSON.stringify(schema)}\n  real     ${line(real)}\n  fake     ${
        line(fake)
      }\n  validate ${line(validated)}`,
    );
  }
}

function answerOf(causes: readonly StatusCause[]): Answer {
  if (causes.length === 0) return { causes: undefined, messages: [] };
  return {
    causes: [...new Set(causes.map(({ field, reason }) => `${field} ${reasonBefore38(reason)}`))].sort(),
    messages: [...new Set(causes.map(({ message = "" }) => message))].sort(),
  };
}

async function asked(client: Client, resource: Resource<DynamicObject>, object: object): Promise<Answer> {
  try {
    await client.resource(resource).create(object as never, { dryRun: true });
    return answerOf([]);
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    const { details, message, reason } = error.status;
    return answerOf(details?.causes ?? [{ field: "", reason, message }]);
  }
}

/** Defines a kind on a server, and waits until it takes objects. */
async function install(client: Client, name: string, openAPIV3Schema: JsonObject): Promise<void> {
  const names = { plural: `${name}s`, kind: name, singular: name, listKind: `${name}List` };
  const versions = [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }];
  await client.resource(CustomResourceDefinition).create({
    metadata: { name: `${name}s.values.example.com` },
    spec: { group: "values.example.com", scope: "Namespaced", names, versions },
  } as never);
  const resource = defineResource<DynamicObject>({
    group: "values.example.com",
    version: "v1",
    plural: `${name}s`,
    kind: name,
  });
  const probe = { apiVersion: "values.example.com/v1", kind: name, metadata: { name: "probe" } };
  for (let tries = 0; tries < 500; tries++) {
    try {
      return void await client.resource(resource).create(probe as never, { dryRun: true });
    } catch (error) {
      if (!isNotFound(error) && !(error instanceof StatusError && error.status.code >= 429)) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  throw new Error(`Cannot create objects of "${name}" within 10 s`);
}
