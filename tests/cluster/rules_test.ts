import { type Client, defineResource, type KubernetesObject, type Resource, StatusError } from "@kube/informer";
import { assert, assertEquals } from "@std/assert";
import { delay } from "@std/async";
import { cloneJson, isObject, type JsonObject, type MutableJson } from "../../src/engine/api/json.ts";
import { hasRules, loadRules } from "../../src/operator/schema/rules/load.ts";
import { define, Definition, definitionName, onceServed, versionsOf } from "../support/cluster/definitions.ts";
import { withDeadline } from "../support/cluster/with_deadline.ts";
import { RULED_KINDS, type RuledKind, schemaOfRuled } from "../support/schema/public_rules.ts";
import { casesOf, type Causes, checkerOf, fieldsOf, merged } from "../support/schema/ruled.ts";
import { RULE_SCHEMAS } from "../support/schema/wrong_rules.ts";
import { clusterTests, report } from "./_cluster.ts";

// Compares src/operator/schema/rules with a real server: which definitions and objects are accepted, and the causes.

const cluster = clusterTests();

/** Returns the causes of a refused request; none if the server accepts it. */
async function causesOf(request: () => Promise<unknown>): Promise<Causes> {
  try {
    await request();
    return [];
  } catch (error) {
    if (!(error instanceof StatusError) || error.status.code !== 422) throw error;
    return error.status.details?.causes ?? [{ field: "?", reason: error.status.reason, message: error.message }];
  }
}

/** Compares causes, and counts what is equal. */
class Comparison {
  readonly differences: string[] = [];
  readonly other: string[] = [];
  equal = 0;
  messages = 0;

  add(what: string, expected: Causes, found: Causes): void {
    const [server, ours] = [fieldsOf(expected), fieldsOf(found)];
    if (server.join("\n") !== ours.join("\n")) {
      this.differences.push(`${what}\n      server: ${texts(expected)}\n      ours:   ${texts(found)}`);
      return;
    }
    this.equal++;
    if (texts(expected) === texts(found)) this.messages++;
    else this.other.push(`${what}\n      server: ${texts(expected)}\n      ours:   ${texts(found)}`);
  }

  report(what: string): void {
    const all = this.equal + this.differences.length;
    report(`${what}: ${this.equal} of ${all} equal in field and reason, ${this.messages} also in messages`);
    for (const difference of this.differences) report(`  differs: ${difference}`);
    if (Deno.env.has("SHOW_MESSAGES")) { for (const line of this.other) report(`  message: ${line}`); }
  }
}

const texts = (causes: Causes): string =>
  causes.map(({ field, reason, message }) => `${field} ${reason} ${message}`).sort().join(" | ") || "accepted";

function resourceOf(kind: string): Resource<KubernetesObject> {
  const plural = `${kind.toLowerCase()}s`;
  return defineResource({ group: "rules.example.com", version: "v1", plural, kind, scope: "Namespaced" });
}

cluster.withPlane("definitions are refused with the causes of the server", async ({ client }) => {
  const { compile } = await loadRules();
  const compared = new Comparison();
  for (const [name, spec] of Object.entries(RULE_SCHEMAS)) {
    const schema: JsonObject = { type: "object", properties: { spec } };
    const resource = resourceOf("Tried");
    const { plural, kind, group } = resource;
    const definition = {
      metadata: { name: definitionName(resource) },
      spec: { group, scope: "Namespaced", names: { plural, kind }, versions: versionsOf(resource, schema) },
    };
    const expected = await causesOf(() => client.resource(Definition).create(definition, { dryRun: true }));
    compared.add(name, expected, compile(schema, "spec.validation.openAPIV3Schema").causes);
  }
  compared.report(`${Object.keys(RULE_SCHEMAS).length} definitions`);
  assertEquals(compared.differences, []);
}, "sort() in rules");

async function compareKind(client: Client, namespace: string, ruled: RuledKind, compared: Comparison): Promise<void> {
  const schema = schemaOfRuled(ruled);
  assertEquals((await loadRules()).compile(schema).causes, [], ruled.kind);
  const objects = client.resource(resourceOf(ruled.kind)).namespace(namespace);
  const check = await checkerOf(schema);
  for (const [index, { what, spec, before }] of casesOf(ruled).entries()) {
    const metadata = { name: `o${index}`, namespace };
    const draft = { apiVersion: "rules.example.com/v1", kind: ruled.kind, metadata, spec };
    if (before === undefined) {
      const expected = await onceServed(() => causesOf(() => objects.create(draft as never, { dryRun: true })));
      compared.add(what, expected, check(draft));
      continue;
    }
    const created = await objects.create({ ...draft, spec: before } as never) as unknown as JsonObject;
    const changed = { ...created, spec };
    const expected = await causesOf(() => objects.update(changed as never, { dryRun: true }));
    compared.add(what, expected, check(changed, created));
  }
}

cluster.withPlane(
  "objects are refused with the causes of the server: rules like those of public CRDs",
  async (setting) => {
    const { client, namespace } = setting;
    const compared = new Comparison();
    await Promise.all(RULED_KINDS.map((ruled) => define(client, resourceOf(ruled.kind), schemaOfRuled(ruled))));
    for (const ruled of RULED_KINDS) await compareKind(client, namespace, ruled, compared);
    const count = (value: unknown): number =>
      !isObject(value) && !Array.isArray(value) ? 0 : Object.entries(value).reduce(
        (sum, [key, member]) =>
          sum + (key === "x-kubernetes-validations" && Array.isArray(member) ? member.length : count(member)),
        0,
      );
    const rules = RULED_KINDS.reduce((sum, ruled) => sum + count(schemaOfRuled(ruled)), 0);
    compared.report(`${rules} rules of ${RULED_KINDS.length} kinds`);
    assert(rules >= 120);
    assert(RULED_KINDS.every((ruled) => hasRules(schemaOfRuled(ruled))));
    assertEquals(compared.differences, []);
  },
);

const RATCHETED: JsonObject = {
  type: "object",
  properties: {
    a: { type: "integer" },
    b: { type: "integer" },
    object: { type: "object", properties: { x: { type: "integer" }, y: { type: "integer" } } },
    map: { type: "object", maxProperties: 5, additionalProperties: { type: "integer" } },
    items: {
      type: "array",
      maxItems: 5,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
      items: { type: "object", required: ["name"], properties: { name: { type: "string" }, n: { type: "integer" } } },
    },
    atoms: { type: "array", maxItems: 5, items: { type: "object", properties: { n: { type: "integer" } } } },
  },
};

/** The same schema with rules that no stored object fits. */
function tightened(): JsonObject {
  const copy = cloneJson(RATCHETED) as MutableJson;
  const put = (path: readonly string[], ...rules: JsonObject[]): void => {
    const place = path.reduce((here, name) => here[name] as MutableJson, copy);
    place["x-kubernetes-validations"] = rules;
  };
  put(["properties", "a"], { rule: "self > 10" }, { rule: "self > 10 || oldSelf > 10", message: "reads oldSelf" });
  put(["properties", "object"], { rule: "self.x > 10", fieldPath: ".x" });
  put(["properties", "object", "properties", "y"], { rule: "self > 10" });
  put(["properties", "map"], { rule: "self.all(k, self[k] > 10)" });
  put(["properties", "map", "additionalProperties"], { rule: "self > 10" });
  put(["properties", "items"], { rule: "self.all(i, i.n > 10)" });
  put(["properties", "items", "items"], { rule: "self.n > 10", reason: "FieldValueForbidden" });
  put(["properties", "atoms"], { rule: "self.all(i, i.n > 10)" });
  put(["properties", "atoms", "items"], { rule: "self.n > 10" });
  put([], { rule: "self.b > 10" }, { rule: "self.items[4].n > 0", message: "fails to run" });
  return copy;
}

cluster.withPlane("an update does not meet rules of parts that it does not change", async ({ client, namespace }) => {
  const { compile } = await loadRules();
  const resource = resourceOf("Ratcheted");
  const objects = client.resource(resource).namespace(namespace);
  await define(client, resource, { type: "object", properties: { spec: RATCHETED } });
  const spec = {
    a: 1,
    b: 1,
    object: { x: 1, y: 1 },
    map: { k: 1, l: 1 },
    items: [{ name: "i", n: 1 }, { name: "j", n: 1 }],
    atoms: [{ n: 1 }, { n: 2 }],
  };
  const draft = { apiVersion: "rules.example.com/v1", kind: "Ratcheted", metadata: { name: "o" }, spec };
  const created = await onceServed(() => objects.create(draft as never)) as unknown as JsonObject;
  const schema: JsonObject = { type: "object", properties: { spec: tightened() } };
  const definitions = client.resource(Definition);
  const definition = await definitions.get(definitionName(resource));
  await definitions.update(
    { ...definition, spec: { ...definition.spec, versions: versionsOf(resource, schema) } } as never,
  );
  const compared = new Comparison();
  const rules = compile(schema, "spec.validation.openAPIV3Schema");
  assertEquals(rules.causes, []);
  const changes: JsonObject[] = [
    { a: 2 },
    { b: 2 },
    { object: { x: 2 } },
    { object: { y: 2 } },
    { map: { k: 2 } },
    { map: { m: 3 } },
    { items: [{ name: "j", n: 1 }, { name: "i", n: 1 }] },
    { items: [{ name: "j", n: 1 }, { name: "i", n: 2 }] },
    { items: [{ name: "j", n: 1 }, { name: "k", n: 2 }] },
    { atoms: [{ n: 1 }, { n: 3 }] },
    { atoms: [{ n: 2 }, { n: 1 }] },
    { a: null },
    {},
  ];
  const update = (change: JsonObject): JsonObject => ({ ...created, spec: merged(spec, change) });
  // The rules take effect a moment after the update of the definition.
  await onceRefused(() => causesOf(() => objects.update(update({ a: 3 }) as never, { dryRun: true })));
  for (const change of changes) {
    const labels = { changed: "yes" };
    const changed = { ...update(change), metadata: { ...created.metadata as JsonObject, labels } };
    const expected = await causesOf(() => objects.update(changed as never, { dryRun: true }));
    compared.add(JSON.stringify(change), expected, rules.check(changed, created));
  }
  compared.report("updates of an object that no longer fits");
  assertEquals(compared.differences, []);
});

async function onceRefused(request: () => Promise<Causes>): Promise<void> {
  await withDeadline("the server to apply the rules", async (signal) => {
    while ((await request()).length === 0) await delay(50, { signal });
  });
}

cluster.withPlane("rules have the server's budgets", async ({ client, namespace }) => {
  const { compile } = await loadRules();
  const compared = new Comparison();
  const rule = { rule: "self.n.all(x, self.n.all(y, x + y < 1000000))" };
  const list = { type: "array", maxItems: 1000, items: { type: "integer" } };
  const schema = (rules: number): JsonObject => ({
    type: "object",
    properties: {
      spec: { type: "object", properties: { n: list }, "x-kubernetes-validations": Array(rules).fill(rule) },
    },
  });
  for (const [kind, rules, items] of [["Costly", 1, 1000], ["Cheap", 1, 200], ["Many", 12, 330]] as const) {
    const resource = resourceOf(kind);
    await define(client, resource, schema(rules));
    const compiled = compile(schema(rules), "spec.validation.openAPIV3Schema");
    assertEquals(compiled.causes, []);
    const spec = { n: Array.from({ length: items }, (_, at) => at) };
    const draft = { apiVersion: "rules.example.com/v1", kind, metadata: { name: "o" }, spec };
    const request = () =>
      causesOf(() => client.resource(resource).namespace(namespace).create(draft as never, { dryRun: true }));
    compared.add(kind, await onceServed(request), compiled.check(draft as JsonObject));
  }
  compared.report("objects near the budgets");
  assertEquals(compared.differences, []);
});
