import {
  type ApiResource,
  apiVersionOf,
  Client,
  isAlreadyExists,
  type KubernetesObject,
  type ObjectDraft,
  type Resource,
  SharedIndexInformer,
  StatusError,
} from "@kube/informer";
import { CustomResourceDefinition } from "@kube/informer/kinds/apiextensions/v1";
import { Namespace, Pod } from "@kube/informer/kinds/core/v1";
import { RuntimeClass } from "@kube/informer/kinds/node/v1";
import { FakeApiServer } from "@kube/informer/testing";
import { assert, assertEquals, assertStringIncludes, equal } from "@std/assert";
import { isBuiltInGroup } from "../../src/engine/api/resource.ts";
import { PRINTED } from "../../tools/served.ts";
import { INTRODUCED, introducedIn, OLDEST_MINOR } from "../../tools/introduced.ts";
import { differences, generateKinds } from "../../tools/kinds.ts";
import { CRONTAB_FILE, crontabDefinition } from "../support/sources/crontab.ts";
import { GeneratedProgram } from "./_generated_program.ts";
import { MANIFESTS } from "./_manifest_drafts.ts";
import { deno, Program } from "../support/processes/program.ts";
import { clusterTests, report } from "./_cluster.ts";
import { fullDraft, pathsOf, Schemas } from "./_full_draft.ts";
import { differencesOf, isNewest, minorOfServer } from "./_versions.ts";

// The kinds of a real server, beside the files that were generated from one.

const cluster = clusterTests({ flags: ["--allow-privileged"] });

cluster.withPlane(
  "src/engine/kinds has every kind that the server has, and the fake server the schemas, as deno task kinds generates them",
  async ({ client }) => {
    const generated = await generateKinds(client);
    const { files, counts } = generated;
    report(`${counts.generated} kinds generated of ${counts.served} that the server has, in ${files.size} files`);
    assertEquals(counts.generated, counts.served);
    assertEquals(differences(generated), [], "run deno task kinds");
  },
  "the kinds of src/engine/kinds, and their fields and enums",
);

const named = (kinds: readonly Pick<ApiResource, "group" | "version" | "kind">[]): string[] =>
  kinds.map((kind) => `${apiVersionOf(kind)} ${kind.kind}`).sort();

cluster.withPlane(
  "the server has the kinds of src/engine/kinds since the versions that these name",
  async ({ client }) => {
    const minor = await minorOfServer(client);
    const folder = new URL("../../src/engine/kinds/", import.meta.url);
    const known: Resource[] = [];
    for (const group of Deno.readDirSync(folder)) {
      if (!group.isDirectory) continue;
      for (const { name } of Deno.readDirSync(new URL(group.name, folder))) {
        known.push(...Object.values(await import(`${folder}${group.name}/${name}`) as Record<string, Resource>));
      }
    }
    const served = await client.discover();
    assertEquals(named(served), named(known.filter((kind) => introducedIn(kind) <= minor)));
    report(`${served.length} kinds of ${known.length}`);
  },
);

// Drafts of every kind: the types that the compiler checks them by agree with the server that they are for.

/** The namespace of all manifests: some name it. */
const NAMESPACE = "shop";

const ROOT = new URL("../../", import.meta.url);

/** Creates an object of any kind in a dry run that refuses unknown fields; returns the error, or nothing. */
async function dryRun(client: Client, resource: Resource, draft: unknown): Promise<StatusError | undefined> {
  try {
    await client.resource(resource, resource.scope === "Namespaced" ? { namespace: NAMESPACE } : {})
      .create(draft as KubernetesObject, { dryRun: true, fieldValidation: "Strict" });
    return undefined;
  } catch (error) {
    if (error instanceof StatusError) return error;
    throw error;
  }
}

/** Creates what manifests need to be there. */
async function prepare(client: Client): Promise<void> {
  await unlessThere(client.resource(Namespace).create({ metadata: { name: NAMESPACE } }));
  await unlessThere(client.resource(RuntimeClass).create({ metadata: { name: "gvisor" }, handler: "runsc" }));
  const pods = client.resource(Pod, { namespace: NAMESPACE });
  const containers = [{ name: "web", image: "registry.example.com/cart:1.8.2" }];
  await unlessThere(pods.create({ metadata: { name: "cart-0" }, spec: { containers } }));
}

async function unlessThere(created: Promise<unknown>): Promise<void> {
  try {
    await created;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

/** The kinds that can be created. */
async function creatable(client: Client): Promise<readonly ApiResource[]> {
  return (await client.discover()).filter(({ verbs }) => verbs.includes("create"));
}

/** A draft of each kind that can be created, with every field. */
async function fullDrafts(client: Client): Promise<(readonly [ApiResource, Record<string, unknown>])[]> {
  const { paths } = await json(client, "/openapi/v3") as Index;
  const documents = new Map<string, Schemas>();
  const drafts: (readonly [ApiResource, Record<string, unknown>])[] = [];
  for (const resource of await creatable(client)) {
    const { group, version, scope } = resource;
    const path = group === "" ? `api/${version}` : `apis/${group}/${version}`;
    if (!documents.has(path)) {
      documents.set(
        path,
        new Schemas(await json(client, paths[path].serverRelativeURL) as ConstructorParameters<typeof Schemas>[0]),
      );
    }
    const draft = fullDraft(documents.get(path)!, resource);
    const metadata = draft.metadata as Record<string, unknown>;
    metadata.namespace = scope === "Namespaced" ? NAMESPACE : "";
    drafts.push([resource, draft]);
  }
  return drafts;
}

interface Index {
  readonly paths: Readonly<Record<string, { readonly serverRelativeURL: string }>>;
}

async function json(client: Client, path: string): Promise<unknown> {
  return await (await client.fetch(path)).json();
}

function nameOf(resource: Resource): string {
  return `${apiVersionOf(resource)} ${resource.kind}`;
}

// Not on a given cluster: admission of service accounts would want those of the pods to be there.
cluster.withPlane(
  "the server accepts manifests as users write them, with strict validation of fields",
  async ({ client }) => {
    await prepare(client);
    const refused: string[] = [];
    for (const { resource, draft } of MANIFESTS) {
      const error = await dryRun(client, resource, draft);
      if (error !== undefined) refused.push(`${resource.kind} ${JSON.stringify(draft.metadata)}: ${error.message}`);
    }
    assertEquals(refused, []);
    report(`${MANIFESTS.length} manifests accepted`);
  },
);

cluster.withPlane(
  "of a draft with every field, the server refuses values alone, never the name of a field",
  async ({ client }) => {
    await prepare(client);
    const drafts = await fullDrafts(client);
    const refused: string[] = [];
    let fields = 0;
    for (const [resource, draft] of drafts) {
      fields += pathsOf(draft).length;
      // 400 says that the body cannot be decoded: an unknown field, or a value of another type.
      const error = await dryRun(client, resource, draft);
      if (error?.status.code === 400) refused.push(`${nameOf(resource)}: ${error.message}`);
      const unknown = await dryRun(client, resource, { ...draft, unheardOf: 1 });
      assertEquals(unknown?.status.code, 400, nameOf(resource));
      assertStringIncludes(unknown!.message, `unknown field "unheardOf"`);
    }
    assertEquals(refused, []);
    assert(fields > 10_000, `${fields} fields`);
    report(`${fields} fields of ${drafts.length} kinds`);
  },
);

cluster.withPlane("a draft with every field that the server knows type-checks", async ({ client }) => {
  const lines = [`import type { ObjectDraft } from "${new URL("mod.ts", ROOT)}";`];
  for (const [i, [{ group, version, kind }, draft]] of (await fullDrafts(client)).entries()) {
    const module = new URL(`src/engine/kinds/${group.split(".")[0] || "core"}/${version}.ts`, ROOT);
    lines.push(`import type { ${kind} as Kind${i} } from "${module}";`);
    lines.push(`export const draft${i}: ObjectDraft<Kind${i}> = ${JSON.stringify(draft)};`);
    lines.push(`// @ts-expect-error A field that the kind does not have.`);
    lines.push(`export const wrong${i}: ObjectDraft<Kind${i}> = { ...draft${i}, unheardOf: 1 };`);
  }
  const file = await Deno.makeTempFile({ suffix: ".ts" });
  try {
    await Deno.writeTextFile(file, lines.join("\n"));
    const { code, err } = await deno(["check", "--quiet", "--config", "deno.json", file]);
    assertEquals(code, 0, err);
  } finally {
    await Deno.remove(file);
  }
}, "the kinds of src/engine/kinds, and their fields and enums");

// Types of a custom kind, generated from a real server, and a program that uses them there.

/**
 * Creates by a draft, applies, updates and patches, each seen by an informer; prints what the informer has in the end.
 */
const PROGRAM = `
import { Client, copyOf, type ObjectDraft, SharedInformerFactory, StatusError } from "@kube/informer";
import { connect } from "@kube/informer/connect";
import { CronTab } from "./kinds.ts";

const [kubeconfig, namespace] = Deno.args;
using client: Client = await connect({ kubeconfig });
await using informers = new SharedInformerFactory(client);
const informer = informers.forResource(CronTab);
informers.start();
await informer.waitForCacheSync();

const tabs = client.resource(CronTab, { namespace });
const draft: ObjectDraft<CronTab> = {
  metadata: { name: "nightly", labels: { tier: "batch" } },
  spec: {
    concurrency: "Forbid",
    cronSpec: "0 3 * * *",
    deadline: "2030-01-01T00:00:00Z",
    extra: [1, { a: true }],
    job: { apiVersion: "batch/v1", kind: "Job", metadata: { name: "dump", labels: { a: "b" } }, spec: { any: 1 } },
    labels: { a: "b" },
    note: null,
    port: "http",
    settings: { mode: "fast", other: { deep: [1] } },
    steps: [{ name: "a", image: "busybox" }],
    times: [3, 4],
  },
};
const created = await tabs.create(draft, { fieldValidation: "Strict" });
await tabs.apply(
  { metadata: { name: "nightly" }, spec: { steps: [{ name: "b", image: "alpine", protocol: "UDP" }], port: 8080 } },
  { fieldManager: "shop", force: true },
);
const copy = copyOf(await tabs.get("nightly"));
copy.spec.maxReplicas = 20;
await tabs.update(copy);
const patched = await tabs.patch("nightly", { type: "merge", body: { spec: { deadline: null, replicas: 7 } } });
const refusals: string[] = [];
for (
  const bad of [
    { ...draft, metadata: { name: "greedy" }, spec: { ...draft.spec, replicas: 99 } },
    { ...draft, metadata: { name: "foreign" }, spec: { ...draft.spec, job: { kind: "Job" } as typeof draft.spec.job } },
  ]
) {
  try {
    await tabs.create(bad);
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    refusals.push(error.message);
  }
}
const seen: CronTab = await informer.until(({ metadata }) => metadata.resourceVersion === patched.metadata.resourceVersion);
console.log(JSON.stringify({ created: created.spec, seen: seen.spec, refusals }));
`;

cluster.withPlane(
  "informer kinds generates types of a custom kind, with which a program creates, applies and follows its objects",
  async ({ client, kubeconfig, namespace }) => {
    const definitions = client.resource(CustomResourceDefinition);
    await definitions.create(crontabDefinition() as ObjectDraft<CustomResourceDefinition>, {
      fieldValidation: "Strict",
    });
    await using informer = new SharedIndexInformer(definitions);
    informer.run();
    await informer.until(({ status }) =>
      status?.conditions?.some((it) => it.type === "Established" && it.status === "True") ?? false
    );
    await using command = new Program("src/cli/main.ts", ["kinds", "--kubeconfig", kubeconfig]);
    const { code, lines, errors } = await command.ended();
    assertEquals([code, errors], [0, ""]);
    await using file = new Program("src/cli/main.ts", ["kinds", "--file", CRONTAB_FILE]);
    const same = (await file.ended()).lines.map((line) => line.replace("crontab.yaml", "the definitions of a server"));
    assertEquals(lines, same, "the server's definition gives the same types as the file");

    await using program = new GeneratedProgram(lines.join("\n"), PROGRAM);
    assertEquals(await program.check(), { code: 0, out: "", err: "" });
    const ended = await program.run(kubeconfig, namespace);
    assertEquals(ended.code, 0, ended.err);
    const { created, seen, refusals } = JSON.parse(ended.out);
    assertEquals([created.replicas, created.maxReplicas, created.note], [1, 10, null]);
    assertEquals(created.steps, [{ name: "a", image: "busybox", protocol: "TCP" }]);
    assertEquals(seen.steps.map(({ name, protocol }: { name: string; protocol: string }) => [name, protocol]), [
      ["a", "TCP"],
      ["b", "UDP"],
    ]);
    assertEquals([seen.port, seen.maxReplicas, seen.replicas, seen.deadline], [8080, 20, 7, undefined]);
    assertEquals([seen.settings.other, seen.job.spec, seen.extra], [{ deep: [1] }, { any: 1 }, [1, { a: true }]]);
    assertEquals(refusals.length, 2);
    assertStringIncludes(refusals[0], "replicas must be at most maxReplicas");
    assert(/spec.job.apiVersion: Required|spec.job.*apiVersion/.test(refusals[1]), refusals[1]);
    report(`${lines.length} lines of types; refused as the types say: ${refusals[1]}`);
  },
);

// What the fake server says of itself, beside a real server.

const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

interface Group {
  readonly metadata: { readonly name?: string };
  readonly versions: readonly { readonly version: string; readonly resources: readonly Listed[] }[];
}

interface Listed {
  readonly resource: string;
  readonly responseKind: { readonly kind: string };
}

/** The resources of a server's built-in groups by `apps/v1 Deployment`, in its order. */
async function listedBy(client: Client): Promise<ReadonlyMap<string, Listed>> {
  const found = new Map<string, Listed>();
  for (const path of ["/api", "/apis"]) {
    const { items } = await (await client.fetch(path, { headers: { accept: AGGREGATED } })).json();
    for (const { metadata: { name: group = "" }, versions } of items as Group[]) {
      if (!isBuiltInGroup(group)) continue;
      for (const { version, resources } of versions) {
        for (const listed of resources) {
          found.set(`${apiVersionOf({ group, version })} ${listed.responseKind.kind}`, listed);
        }
      }
    }
  }
  return found;
}

cluster.anywhere(
  "the fake server serves the resources that a real server serves, as it lists them",
  async ({ client }) => {
    using copies = new Client({ server: "http://fake", transport: new FakeApiServer() });
    const minor = await minorOfServer(client);
    const [ours, theirs] = [await listedBy(copies), await listedBy(client)];
    const known = [...ours.keys()].filter((name) => (INTRODUCED[name] ?? OLDEST_MINOR) <= minor);
    assertEquals(known, [...theirs.keys()]);
    const others = known.filter((name) => !equal(ours.get(name), theirs.get(name))).sort();
    assertEquals(others, differencesOf(minor, "resources"), JSON.stringify(others.map((name) => theirs.get(name))));
  },
);

cluster.anywhere(
  "the fake server has the columns of a real server for the kinds that programs print",
  async ({ client }) => {
    using copies = new Client({ server: "http://fake", transport: new FakeApiServer() });
    const kinds = (await client.discover()).filter(({ group, plural, verbs }) =>
      isBuiltInGroup(group) && verbs.includes("list") && PRINTED.includes(`${group}/${plural}`)
    );
    const minor = await minorOfServer(client);
    const others = new Map<string, unknown>();
    for (const kind of kinds) {
      const columns = async (of: Client): Promise<unknown> => {
        const found = (await (await of.fetch(pathOf(kind), { headers: { accept: TABLE } })).json()).columnDefinitions;
        // Descriptions are those of the newest version.
        return isNewest(minor) ? found : (found as object[]).map((column) => ({ ...column, description: "" }));
      };
      const theirs = await columns(client);
      if (!equal(await columns(copies), theirs)) others.set(`${apiVersionOf(kind)} ${kind.kind}`, theirs);
    }
    assertEquals([...others.keys()].sort(), differencesOf(minor, "columns"), JSON.stringify([...others]));
  },
);

const TABLE = "application/json;g=meta.k8s.io;v=v1;as=Table";

function pathOf({ group, version, plural }: { group: string; version: string; plural: string }): string {
  return `${group === "" ? "/api" : `/apis/${group}`}/${version}/${plural}`;
}
