// The cost of a large object, in steps: blocks of code that V8 counts, only in `src`. No time is measured.
import { Client, type KubernetesObject, type Resource, StatusError } from "@kube/informer";
import { Pod } from "@kube/informer/kinds/core/v1";
import { compareDefinitions, defineKind, installCrds } from "@kube/informer/schema";
import { FakeApiServer } from "@kube/informer/testing";
import { assert, assertEquals } from "@std/assert";
import { Session } from "node:inspector";

/** Counts the blocks of `src` that run. V8 counts only functions whose first call comes after it begins. */
class Steps {
  readonly #session = new Session();
  readonly #begun: Promise<unknown>;

  constructor() {
    this.#session.connect();
    void this.#post("Profiler.enable");
    this.#begun = this.#post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  }

  #post(method: string, params: object = {}): Promise<unknown> {
    return new Promise((resolve, reject) =>
      this.#session.post(method, params, (error, result) => error ? reject(error) : resolve(result))
    );
  }

  /** Returns the steps since the call before. */
  async taken(): Promise<number> {
    await this.#begun;
    const { result } = await this.#post("Profiler.takePreciseCoverage") as {
      result: { url: string; functions: { ranges: { count: number }[] }[] }[];
    };
    return result.filter(({ url }) => url.includes("/src/")).flatMap(({ functions }) => functions)
      .flatMap(({ ranges }) => ranges).reduce((sum, { count }) => sum + count, 0);
  }

  async of(call: () => Promise<unknown>): Promise<number> {
    await this.taken();
    await call();
    return await this.taken();
  }
}

const steps = new Steps();
await steps.taken();

const NAMES = { group: "example.com", version: "v1", kind: "Large", plural: "larges" } as const;

const Large = defineKind({
  ...NAMES,
  spec: {
    type: "object",
    properties: {
      hosts: {
        type: "array",
        maxItems: 5_000,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
        items: {
          type: "object",
          required: ["name"],
          properties: {
            name: { type: "string", maxLength: 60 },
            port: { type: "integer", default: 80, maximum: 70_000 },
            note: { type: "string", maxLength: 5 },
          },
          "x-kubernetes-validations": [{ rule: "self.name.size() > 0" }, { rule: "self.port >= oldSelf.port" }],
        },
      },
      names: {
        type: "array",
        maxItems: 5_000,
        "x-kubernetes-list-type": "set",
        items: { type: "string", maxLength: 60 },
      },
      points: {
        type: "array",
        "x-kubernetes-list-type": "set",
        items: {
          type: "object",
          "x-kubernetes-map-type": "atomic",
          properties: { x: { type: "integer" }, y: { type: "integer" } },
        },
      },
      steps: {
        type: "array",
        maxItems: 5_000,
        items: { type: "string", maxLength: 60, "x-kubernetes-validations": [{ rule: "self.startsWith('step')" }] },
      },
      text: {
        type: "string",
        maxLength: 300_000,
        pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
      },
      labels: { type: "object", additionalProperties: { type: "string", maxLength: 60 } },
      open: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    },
    "x-kubernetes-validations": [
      { rule: "!has(self.hosts) || (self.hosts + oldSelf.hosts).size() == self.hosts.size()" },
      { rule: "!has(self.names) || self.names == oldSelf.names" },
      { rule: "!has(self.text) || self.text.findAll('[a-z]+').size() > 0" },
    ],
  },
});

/** An object of any kind, as the tests send it. */
interface Loose extends KubernetesObject {
  readonly spec?: object;
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

/** Objects by what is large in them, and whether the schema refuses them. */
const OBJECTS: Readonly<Record<string, (count: number) => object>> = {
  "a list of type map": (count) => ({ hosts: numbers(count).map((at) => ({ name: `host-${at}`, port: at })) }),
  "a list of type map with faults": (count) => ({
    hosts: numbers(count).map((at) => ({ name: `host-${at}`, note: "too long", port: at })),
  }),
  "a set of texts": (count) => ({ names: numbers(count).map((at) => `name-${at}`) }),
  "a set of objects": (count) => ({ points: numbers(count).map((at) => ({ x: at, y: -at })) }),
  "a list with rules that fail": (count) => ({ steps: numbers(count).map((at) => `name-${at}`) }),
  "a long text": (count) => ({ text: "host-1.example.".repeat(count) + "com" }),
  "a long text that does not match": (count) => ({ text: "host-1.example.".repeat(count) }),
  "many keys": (count) => ({ labels: Object.fromEntries(numbers(count).map((at) => [`label-${at}`, `${at}`])) }),
  "many unknown fields": (count) => Object.fromEntries(numbers(count).map((at) => [`unknown-${at}`, at])),
  "deep objects": (count) => ({ open: numbers(count / 4).reduce<object>((inner) => ({ inner }), {}) }),
};

const METADATA = { name: "a", namespace: "default" };
const object = (spec: object) => ({ apiVersion: "example.com/v1", kind: "Large", metadata: METADATA, spec });

/** What is done with an object. Only the returned function is counted. Answers that refuse an object count too. */
type Check = (count: number, objectOf: (count: number) => object) => Promise<() => Promise<unknown>>;

/** Returns the lists of an object in another order. */
const reordered = (spec: object): object =>
  Object.fromEntries(
    Object.entries(spec).map(([name, value]) => [name, Array.isArray(value) ? value.toReversed() : value]),
  );

type Collection = ReturnType<typeof Client.prototype.resource<Loose>>;

/** Returns a call of a server that has stored an object, as a test does: the server might refuse that object. */
async function onServer(
  resource: unknown,
  stored: object | undefined,
  run: (collection: Collection, stored: Loose) => Promise<unknown>,
): Promise<() => Promise<unknown>> {
  const server = new FakeApiServer();
  const client = new Client({ server: "http://fake", transport: server, retries: 0, namespace: "default" });
  await installCrds(client, [Large]);
  const collection = client.resource(resource as Resource<Loose>);
  if (stored !== undefined) server.create(resource as Resource<Loose>, stored as Loose);
  const found = stored === undefined ? METADATA as Loose["metadata"] : (await collection.get("a")).metadata;
  return () =>
    run(collection, { metadata: found }).catch((error) => assert(error instanceof StatusError, String(error)));
}

const sent = { fieldManager: "b", force: true } as const;

const CHECKS: Readonly<Record<string, Check>> = {
  "validate()": (count, of) => Promise.resolve(() => Large.validate(object(of(count)))),
  "validate() of an update": (count, of) => {
    const previous = object(reordered(of(count)));
    return Promise.resolve(() => Large.validate(object(of(count)), { previous }));
  },
  "create()": (count, of) => onServer(Large, undefined, (larges) => larges.create(object(of(count)))),
  "update()": (count, of) =>
    onServer(
      Large,
      object(reordered(of(count))),
      (larges, { metadata }) =>
        larges.update({ ...object(of(count)), metadata } as Parameters<Collection["update"]>[0]),
    ),
  "apply()": (count, of) =>
    onServer(Large, object(reordered(of(count))), (larges) => larges.apply(object(of(count)), sent)),
};

/** Linear times log for four times as much. */
const MOST = 4 * 1.25;

async function growth(check: (count: number) => Promise<() => Promise<unknown>>, count: number): Promise<number> {
  await (await check(4 * count))(); // what is done once
  const few = await steps.of(await check(count));
  return await steps.of(await check(4 * count)) / few;
}

for (const [name, check] of Object.entries(CHECKS)) {
  for (const [what, spec] of Object.entries(OBJECTS)) {
    Deno.test(`the steps of ${name} grow with ${what}`, async () => {
      const found = await growth((count) => check(count, spec), 250);
      assert(found <= MOST, `four times as large: ${found.toFixed(1)} times the steps`);
    });
  }
}

/** Specs of pods, and metadata, by what is large in them. */
const PODS: Readonly<Record<string, (count: number) => { readonly spec?: object; readonly metadata?: object }>> = {
  volumes: (count) => ({ spec: { volumes: numbers(count).map((at) => ({ name: `v-${at}`, emptyDir: {} })) } }),
  "volumes with faults": (count) => ({
    spec: { volumes: numbers(count).map((at) => ({ name: at % 2 === 0 ? `v-${at}` : `V-${at}`, emptyDir: {} })) },
  }),
  tolerations: (count) => ({
    spec: { tolerations: numbers(count).map((at) => ({ key: `k-${at}`, operator: "Exists" })) },
  }),
  containers: (count) => ({ spec: { containers: numbers(count).map((at) => ({ name: `c-${at}`, image: "i" })) } }),
  "wrong containers": (count) => ({
    spec: { containers: numbers(count).map((at) => ({ name: `C-${at}`, image: "i" })) },
  }),
  variables: (count) => ({
    spec: {
      containers: [{ name: "a", image: "i", env: numbers(count).map((at) => ({ name: `E_${at}`, value: "v" })) }],
    },
  }),
  owners: (count) => ({
    metadata: {
      ownerReferences: numbers(count).map((at) => ({
        apiVersion: "v1",
        kind: "Node",
        name: `n-${at}`,
        uid: `u-${at}`,
      })),
    },
  }),
  finalizers: (count) => ({ metadata: { finalizers: numbers(count).map((at) => `example.com/f-${at}`) } }),
};

const pod = ({ spec, metadata }: { readonly spec?: object; readonly metadata?: object }) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { ...METADATA, ...metadata },
  spec: { containers: [{ name: "a", image: "i" }], ...spec },
});

const POD_CHECKS: Readonly<Record<string, Check>> = {
  "create()": (count, of) => onServer(Pod, undefined, (pods) => pods.create(pod(of(count)))),
  "update()": (count, of) =>
    onServer(Pod, pod(of(count)), (pods, { metadata }) => {
      const next = pod(of(count));
      return pods.update({ ...next, metadata: { ...next.metadata, ...metadata } } as Parameters<typeof pods.update>[0]);
    }),
  "apply()": (count, of) => onServer(Pod, pod(of(count)), (pods) => pods.apply(pod(of(count)), sent)),
  "patch()": (count, of) =>
    onServer(Pod, pod(of(count)), (pods) => pods.patch("a", { type: "strategic", body: pod(of(count)) })),
};

for (const [name, check] of Object.entries(POD_CHECKS)) {
  for (const [what, of] of Object.entries(PODS)) {
    Deno.test(`the steps of ${name} grow with the ${what} of a pod`, async () => {
      const found = await growth((count) => check(count, of), 500);
      assert(found <= MOST, `four times as large: ${found.toFixed(1)} times the steps`);
    });
  }
}

Deno.test("what findAll() reads again behind its matches is charged", async () => {
  const rule = (pattern: string) => ({ rule: `self.text.findAll('${pattern}').size() > 0` });
  const Found = defineKind({
    ...NAMES,
    spec: {
      type: "object",
      properties: { text: { type: "string", maxLength: 300_000 } },
      "x-kubernetes-validations": [rule("[a-z]+"), rule("host.*!|host")],
    },
  });
  const found = async (count: number): Promise<unknown> =>
    (await Found.validate({ metadata: METADATA, spec: { text: "host.".repeat(count) } })).map(({ message }) => message);
  assertEquals(await found(100), []);
  assertEquals(await found(40_000), [
    `Invalid value: "object": 'operation cancelled: actual cost limit exceeded': no further validation rules will be ` +
    "run due to call cost exceeds limit for rule: self.text.findAll('host.*!|host').size() > 0",
  ]);
});

/** Versions of a definition with many names in everything that has names. */
const definition = (names: readonly string[]): object => ({
  ...Large.crd,
  spec: {
    ...Large.crd.spec,
    names: { ...Large.crd.spec.names, shortNames: names },
    versions: [{
      ...Large.crd.spec.versions[0],
      additionalPrinterColumns: names.map((name) => ({ name, type: "string", jsonPath: `.spec.${name}` })),
      selectableFields: names.map((name) => ({ jsonPath: `.spec.${name}` })),
      schema: {
        openAPIV3Schema: {
          type: "object",
          required: names,
          properties: Object.fromEntries(names.map((name) => [name, { type: "string", enum: names.slice(0, 9) }])),
          "x-kubernetes-validations": names.map((name) => ({ rule: `self.${name} != ''` })),
        },
      },
    }],
  },
});

Deno.test("the steps of compareDefinitions() grow with the definition", async () => {
  const found = await growth((count) => {
    const names = numbers(count).map((at) => `n${at}`);
    const [before, after] = [definition(names), definition(names.toReversed().slice(1))];
    return Promise.resolve(() => Promise.resolve(compareDefinitions(before, after)));
  }, 100);
  assert(found <= MOST, `four times as large: ${found.toFixed(1)} times the steps`);
});
