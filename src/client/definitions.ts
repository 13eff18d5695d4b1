import type { Apply, Draft } from "../api/object.ts";
import type { Abortable } from "../api/options.ts";
import { DEFINITIONS, type Resource } from "../api/resource.ts";
import { isNotFound } from "../api/status.ts";
import { sleep } from "../async/time.ts";
import { InformerError } from "../errors/informer_error.ts";
import type { CustomResourceDefinition } from "../kinds/apiextensions/v1.ts";
import type { Client } from "./client.ts";

/** Options for {@linkcode installDefinitions}. */
export interface InstallDefinitionsOptions extends Abortable {
  /** The manager that owns the fields of the definitions. @default {"kube-informer"} */
  readonly fieldManager?: string;
}

/** The wait between two looks at a definition, in milliseconds: it doubles from the first to the last. */
const LOOK_MS = { first: 50, last: 1_000 };

/**
 * Makes the server serve custom kinds: applies their definitions (server-side apply, which takes fields from other
 * managers), waits until each is established and discovery lists its served versions, and lets the client forget what
 * it has discovered. A definition that is the same already costs three requests.
 *
 * It needs `get`, `create` and `patch` of `customresourcedefinitions`. Without a signal it waits as long as it takes.
 * Of several API servers another one may answer 404 for a moment longer.
 *
 * @throws {StatusError} when the server refuses a definition.
 * @throws {InformerError} when the names of a definition are those of another.
 * @throws the reason of the signal.
 *
 * @example
 * ```ts
 * import { Client, type Draft, findResource, installDefinitions } from "@kube/informer";
 * import type { CustomResourceDefinition } from "@kube/informer/kinds/apiextensions/v1";
 * import { FakeApiServer } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
 * const websites: Draft<CustomResourceDefinition> = {
 *   metadata: { name: "websites.example.com" },
 *   spec: {
 *     group: "example.com",
 *     scope: "Namespaced",
 *     names: { plural: "websites", kind: "Website" },
 *     versions: [{ name: "v1", served: true, storage: true, schema }],
 *   },
 * };
 * using client = new Client({ server: "http://fake", transport: new FakeApiServer() });
 * await installDefinitions(client, [websites], { signal: AbortSignal.timeout(60_000) });
 * assertEquals(findResource(await client.discover(), "websites").kind, "Website");
 * ```
 */
export async function installDefinitions(
  client: Client,
  definitions: readonly Draft<CustomResourceDefinition>[],
  options: InstallDefinitionsOptions = {},
): Promise<void> {
  const { signal, fieldManager = "kube-informer" } = options;
  const collection = client.resource(DEFINITIONS as Resource<CustomResourceDefinition>);
  for (const definition of definitions) {
    await collection.apply(definition as Apply<CustomResourceDefinition>, { fieldManager, force: true, signal });
  }
  for (const { metadata: { name = "" } } of definitions) {
    for (let waitMs = LOOK_MS.first;; waitMs = Math.min(2 * waitMs, LOOK_MS.last)) {
      if (await isServed(client, await collection.get(name, { signal }), signal)) break;
      await sleep(waitMs, { signal });
    }
  }
  client.forgetDiscovery();
}

/** @throws {InformerError} when the server does not accept the names of the definition. */
async function isServed(
  client: Client,
  { metadata: { name }, spec: { group, names, versions }, status }: CustomResourceDefinition,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const find = (type: string) => status?.conditions?.find((condition) => condition.type === type);
  const accepted = find("NamesAccepted");
  if (accepted?.status === "False") throw new InformerError(`Cannot serve "${name}": ${accepted.message}`);
  if (find("Established")?.status !== "True") return false;
  for (const { name: version, served } of versions) {
    if (served && !(await pluralsOf(client, `/apis/${group}/${version}`, signal)).includes(names.plural)) return false;
  }
  return true;
}

async function pluralsOf(client: Client, path: string, signal: AbortSignal | undefined): Promise<string[]> {
  try {
    const answer = await client.fetch(path, { signal });
    const { resources } = await answer.json() as { readonly resources: readonly { readonly name: string }[] };
    return resources.map(({ name }) => name);
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}
