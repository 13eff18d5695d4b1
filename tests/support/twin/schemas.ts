// Random kinds: their schemas, rules in CEL and values, on a real server and on the fake.
import { Client, defineResource, type DynamicObject, isNotFound, type Resource, StatusError } from "@kube/informer";
import { CustomResourceDefinition } from "@kube/informer/kinds/apiextensions/v1";
import { installCrds } from "@kube/informer/schema";
import { isObject, type Json, type JsonObject, type MutableJson } from "../../../src/engine/api/json.ts";
import { Random } from "../../../src/testing/fake/random.ts";
import { objectSchema, placesOf, randomValue } from "../schema/random_schemas.ts";
import type { TwinServer } from "./play.ts";

/** The requests of a kind. */
const WRITES = 20;

/** What was compared. */
export interface SchemaTally {
  cases: number;
  /** Cases that both servers accept, or both refuse. */
  answers: number;
  /** Cases with the same set of fields and reasons. */
  causes: number;
  /** Cases with the same messages. */
  messages: number;
  /** Cases that the real server refuses. */
  refused: number;
  readonly differences: string[];
}

interface Answer {
  readonly code: number;
  readonly causes: readonly { readonly field?: string; readonly reason?: string; readonly message?: string }[];
}

/** Sends kinds of the seeds `from` up to `to`, and random objects of them, to both servers. */
export async function compareSchemas(
  real: TwinServer,
  fake: TwinServer,
  { from, to, prefix }: { readonly from: number; readonly to: number; readonly prefix: string },
): Promise<SchemaTally> {
  const tally: SchemaTally = { cases: 0, answers: 0, causes: 0, messages: 0, refused: 0, differences: [] };
  const clients = [real, fake].map((server) =>
    new Client({ server: server.server, transport: server, namespace: "default", retries: 0 })
  );
  for (let seed = from; seed < to; seed++) await compareKind(clients, seed, `${prefix}${seed}`, tally);
  return tally;
}

async function compareKind(clients: readonly Client[], seed: number, name: string, tally: SchemaTally): Promise<void> {
  const random = new Random(seed);
  const spec = withRules(random, objectSchema(random, 3));
  const resource = defineResource<DynamicObject>({
    group: "twin.example.com",
    version: "v1",
    plural: `${name}s`,
    kind: name,
  });
  const crd = crdOf(resource, spec);
  const made = await ask(clients, (client) => client.resource(CustomResourceDefinition).create(crd, { dryRun: true }));
  add(tally, `seed ${seed}, definition ${JSON.stringify(spec)}`, made);
  if (made.some(({ code }) => code !== 201)) return;
  await Promise.all(clients.map((client) => installCrds(client, [crd])));
  const draft = (spec: Json): never => ({ metadata: { name: "a" }, spec }) as never;
  let stored: Json | undefined;
  for (let write = 0; write < WRITES; write++) {
    const value = stored === undefined || random.below(2) === 0
      ? randomValue(random, spec)
      : merged(random, stored, randomValue(random, spec));
    const isUpdate = stored !== undefined;
    const answers = await ask(clients, async (client) => {
      const objects = client.resource(resource);
      if (!isUpdate) return await objects.create(draft(value));
      const { metadata: { resourceVersion } } = await objects.get("a");
      const object = { metadata: { name: "a", resourceVersion }, spec: value };
      return await objects.update(object as never);
    });
    const what = isUpdate ? `update of ${JSON.stringify(stored)} by` : "create of";
    add(tally, `seed ${seed}, ${what} ${JSON.stringify(value)}, schema ${JSON.stringify(spec)}`, answers);
    if (answers.every(({ code }) => code < 300)) stored = value;
    else if (answers.some(({ code }) => code < 300)) return; // from here on they differ anyway
  }
  await Promise.all(
    clients.map((client) => client.resource(CustomResourceDefinition).delete(`${resource.plural}.${resource.group}`)),
  );
}

function add(tally: SchemaTally, what: string, [real, fake]: readonly Answer[]): void {
  tally.cases++;
  if (real.code >= 300) tally.refused++;
  const keys = (answer: Answer, withText: boolean): string =>
    [
      ...new Set(
        answer.causes.map(({ field, reason, message }) => `${field} ${reason}${withText ? ` ${message}` : ""}`),
      ),
    ]
      .sort().join(" | ");
  const isSame = real.code === fake.code;
  const hasSameCauses = isSame && keys(real, false) === keys(fake, false);
  if (isSame) tally.answers++;
  if (hasSameCauses) tally.causes++;
  else {tally.differences.push(
      `${what}\n  real ${real.code} ${keys(real, true)}\n  fake ${fake.code} ${keys(fake, true)}`,
    );}
  if (hasSameCauses && keys(real, true) === keys(fake, true)) tally.messages++;
}

/** Sends a request to each server. */
async function ask(clients: readonly Client[], send: (client: Client) => Promise<unknown>): Promise<Answer[]> {
  return await Promise.all(clients.map(async (client) => {
    for (;;) {
      try {
        await send(client);
        return { code: 201, causes: [] };
      } catch (error) {
        if (isNotFound(error)) continue; // the kind is not served yet
        if (!(error instanceof StatusError)) throw error;
        return { code: error.status.code, causes: error.status.details?.causes ?? [{ message: error.status.message }] };
      }
    }
  }));
}

/** A value with some members of an earlier value, so that an update leaves parts as they were. */
function merged(random: Random, before: Json, after: Json): Json {
  if (!isObject(before) || !isObject(after)) return random.below(2) === 0 ? before : after;
  const result: MutableJson = {};
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old, next] = [before[name], after[name]];
    const value = old === undefined || next === undefined ? random.pick([old, next]) : merged(random, old, next);
    if (value !== undefined) result[name] = value;
  }
  return result;
}

/** Returns the definition of a kind whose objects have a `spec` of this schema. */
export function crdOf(resource: Resource, spec: JsonObject): never {
  const { group, plural, kind } = resource;
  const openAPIV3Schema = { type: "object", properties: { spec } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural, kind, singular: plural.slice(0, -1), listKind: `${kind}List` },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  } as never;
}

/** Adds rules in CEL to some places of a schema. */
function withRules(random: Random, schema: JsonObject): JsonObject {
  let result = schema;
  const places = placesOf(schema).length;
  for (let place = 0; place < places; place++) {
    const { schema: found, replaced } = placesOf(result)[place];
    const rule = random.below(3) === 0 ? ruleOf(random, found) : undefined;
    if (rule === undefined) continue;
    const more: JsonObject = {
      ...(random.below(3) === 0 ? { message: "it must be so" } : {}),
      ...(random.below(4) === 0 ? { reason: random.pick(["FieldValueForbidden", "FieldValueRequired"]) } : {}),
      ...(random.below(4) === 0 ? { messageExpression: `"it is " + string(1 + 1)` } : {}),
      ...(rule.includes("oldSelf.") || !rule.includes("oldSelf") || random.below(3) > 0 ? {} : {
        optionalOldSelf: true,
        rule: `!oldSelf.hasValue() || ${rule.replaceAll("oldSelf", "oldSelf.value()")}`,
      }),
    };
    result = replaced({ ...found, ...bounded(found), "x-kubernetes-validations": [{ rule, ...more }] });
  }
  return result;
}

/** The bounds that keep rules cheap. */
function bounded({ type, additionalProperties }: JsonObject): JsonObject {
  if (type === "string") return { maxLength: 5 };
  if (type === "array") return { maxItems: 3 };
  return additionalProperties === undefined ? {} : { maxProperties: 3 };
}

function ruleOf(random: Random, schema: JsonObject): string | undefined {
  const { type, properties, additionalProperties } = schema;
  if (type === "string") {
    return random.pick([
      "self.size() < 3",
      "self.matches('^a')",
      "self == oldSelf",
      "self in ['a', 'ab', 'z']",
      "self.contains('b') || self.startsWith('a')",
    ]);
  }
  if (type === "integer") {
    return random.pick(["self > 1", "self >= oldSelf", "self % 2 == 0", "self * 2 < 12", "self != 3"]);
  }
  if (type === "number") return random.pick(["self < 5.5", "double(self) >= 0.5", "self >= oldSelf"]);
  if (type === "boolean") return random.pick(["self", "!self || !oldSelf"]);
  if (type === "array") {
    return random.pick([
      "size(self) != 1",
      "self == oldSelf",
      "self.all(x, x == x)",
      "self.exists(x, true)",
      "oldSelf.all(x, x in self)",
    ]);
  }
  if (additionalProperties !== undefined) {
    return random.pick(["self.all(k, k != 'd')", "size(self) > 0", "'a' in self", "self == oldSelf"]);
  }
  if (schema["x-kubernetes-int-or-string"] === true) {
    return random.pick(["type(self) == int || self == 'a'", "self == oldSelf"]);
  }
  if (!isObject(properties)) return undefined;
  const names = Object.keys(properties);
  if (names.length === 0) return undefined;
  const name = random.pick(names);
  return random.pick([
    `has(self.${name})`,
    `!has(self.${name}) || has(self.${random.pick(names)})`,
    `has(oldSelf.${name}) == has(self.${name})`,
    `!has(oldSelf.${name}) || has(self.${name}) && self.${name} == oldSelf.${name}`,
    `self == oldSelf || !has(self.${name})`,
    `has(self.${name}) ? self.${name} == self.${name} : true`,
  ]);
}
