// Drafts of every kind: the types that the compiler checks them by agree with the server that they are for.
import {
  type ApiResource,
  apiVersionOf,
  type Client,
  isAlreadyExists,
  type KubernetesObject,
  type Resource,
  StatusError,
} from "@kube/informer";
import { Namespace, Pod } from "@kube/informer/kinds/core/v1";
import { RuntimeClass } from "@kube/informer/kinds/node/v1";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { MANIFESTS } from "../support/manifests.ts";
import { deno } from "../support/program.ts";
import { clusterTests, report } from "./_cluster.ts";
import { fullDraft, pathsOf, Schemas } from "./_full_draft.ts";

const cluster = clusterTests({ flags: ["--allow-privileged"] });

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
  const lines = [`import type { Draft } from "${new URL("mod.ts", ROOT)}";`];
  for (const [i, [{ group, version, kind }, draft]] of (await fullDrafts(client)).entries()) {
    const module = new URL(`src/kinds/${group.split(".")[0] || "core"}/${version}.ts`, ROOT);
    lines.push(`import type { ${kind} as Kind${i} } from "${module}";`);
    lines.push(`export const draft${i}: Draft<Kind${i}> = ${JSON.stringify(draft)};`);
    lines.push(`// @ts-expect-error A field that the kind does not have.`);
    lines.push(`export const wrong${i}: Draft<Kind${i}> = { ...draft${i}, unheardOf: 1 };`);
  }
  const file = await Deno.makeTempFile({ suffix: ".ts" });
  try {
    await Deno.writeTextFile(file, lines.join("\n"));
    const { code, err } = await deno(["check", "--quiet", "--config", "deno.json", file]);
    assertEquals(code, 0, err);
  } finally {
    await Deno.remove(file);
  }
}, "the kinds of src/kinds, and their fields and enums");
