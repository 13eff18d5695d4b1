/**
 * Installs definitions of custom kinds, and waits until the server serves them.
 *
 * {@linkcode installCrds} is the entry point. `compare_definitions.ts` decides what breaks stored objects. It does not
 * migrate objects, and deletes nothing.
 *
 * @module
 */
import type { KubernetesObject } from "../../engine/api/object.ts";
import type { Abortable } from "../../engine/api/call_options.ts";
import { DEFINITIONS, type Resource } from "../../engine/api/resource.ts";
import { isConflict, isNotFound, StatusError, statusMessage } from "../../engine/api/status.ts";
import type { Apply, ObjectDraft } from "../../engine/api/written.ts";
import { sleep } from "../../engine/async/time.ts";
import type { Client } from "../../engine/client/client.ts";
import type { ApplyOptions, ResourceClient } from "../../engine/client/resource_client.ts";
import { COMPLETE } from "../../engine/errors/errors.ts";
import { InformerError } from "../../engine/errors/informer_error.ts";
import { checkNames } from "../../engine/errors/option_names.ts";
import type { CustomResourceDefinition } from "../../engine/kinds/apiextensions/v1.ts";
import { compareDefinitions, type DefinitionChange } from "./compare_definitions.ts";
import { hasWrongBundle } from "./values/client_config.ts";
import { equalJson, type JsonObject } from "../../engine/api/json.ts";
import { memberAt, objectsOf, textOf } from "../../engine/api/members.ts";

/** Options for {@linkcode installCrds}. */
export interface InstallCrdsOptions extends Abortable {
  /** The manager that owns the fields in the CRDs. @default {"kube-informer"} */
  readonly fieldManager?: string;
  /** If `true`, it takes over fields that other managers own, e.g. kubectl or Helm. @default {false} */
  readonly force?: boolean;
  /** If `true`, it also makes changes that break stored objects. @default {false} */
  readonly allowBreaking?: boolean;
  /** If `true`, the server checks the CRDs, but stores nothing, and there is no wait. @default {false} */
  readonly dryRun?: boolean;
}

/** What {@linkcode installCrds} did with one CRD. */
export interface InstalledCrd {
  /** The CRD's name, `"websites.example.com"`. */
  readonly name: string;
  /** `"created"` if the server did not have it before, `"changed"` if its labels, annotations or spec differ now. */
  readonly result: "created" | "changed" | "unchanged";
  /** What the change breaks, including what clients notice. */
  readonly changes: readonly DefinitionChange[];
  /**
   * Older versions in which objects may still be stored. If there are any, call `migrateStorage` next: the server
   * refuses a CRD without them until then.
   */
  readonly toMigrate: readonly string[];
}

/** Thrown by {@linkcode installCrds} instead of changes that break stored objects. Nothing was installed. */
export class BreakingChangeError extends InformerError {
  /** `"BreakingChangeError"`. */
  override readonly name = "BreakingChangeError";
  /** The changes that break stored objects, in all CRDs. */
  readonly changes: readonly DefinitionChange[];

  /** Creates an error about these changes. */
  constructor(changes: readonly DefinitionChange[]) {
    const messages = changes.map(({ message }) => message).join(". ");
    super(`Cannot install definitions: stored objects would break. ${messages}. To install anyway, set allowBreaking`);
    this.changes = changes;
  }
}

/** The wait between two checks of a CRD, in milliseconds. It doubles from the first to the last value. */
const LOOK_MS = { first: 50, last: 1_000 };

/**
 * Installs CRDs, and waits until the server serves their kinds. Call it before you use a custom kind for the first
 * time.
 *
 * 1. It reads the installed CRDs, and stops before it writes anything if a change would break stored objects.
 * 2. It applies each CRD with server-side apply.
 * 3. It waits until each CRD is established, and discovery lists its served versions.
 * 4. It calls `Client.forgetDiscovery`.
 *
 * Several programs may call it at the same time with the same CRDs. A CRD that is already installed and unchanged costs
 * four requests. The client needs the verbs `get`, `create` and `patch` for `customresourcedefinitions`. Pass a signal
 * with a time limit, because the wait is otherwise unlimited. If the cluster has several API servers, another one may
 * respond with 404 a moment longer.
 *
 * @param kinds Kinds with a definition, or drafts of CRDs, e.g. from `readCrds`. Their status is not sent.
 * @throws {BreakingChangeError} if a change breaks stored objects, see `compareDefinitions`.
 * @throws {StatusError} if the server refuses a CRD, or with 409 (`isConflict`) if another manager owns its fields.
 * @throws {InformerError} if another CRD already has the same names, or if the CRD is being deleted.
 * @throws {TypeError} if the `caBundle` of a CRD's conversion has no certificate.
 * @throws the signal's reason.
 *
 * @example
 * ```ts
 * import { Client, findResource, type ObjectDraft } from "@kube/informer";
 * import { installCrds } from "@kube/informer/schema";
 * import type { CustomResourceDefinition } from "@kube/informer/kinds/apiextensions/v1";
 * import { FakeApiServer } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
 * const websites: ObjectDraft<CustomResourceDefinition> = {
 *   metadata: { name: "websites.example.com" },
 *   spec: {
 *     group: "example.com",
 *     scope: "Namespaced",
 *     names: { plural: "websites", kind: "Website" },
 *     versions: [{ name: "v1", served: true, storage: true, schema }],
 *   },
 * };
 * using client = new Client({ server: "http://fake", transport: new FakeApiServer() });
 * const [{ result }] = await installCrds(client, [websites], { signal: AbortSignal.timeout(60_000) });
 * assertEquals(result, "created");
 * assertEquals(findResource(await client.discover(), "websites").kind, "Website");
 * ```
 */
export async function installCrds(
  client: Client,
  kinds: readonly ({ readonly crd: ObjectDraft<CustomResourceDefinition> } | ObjectDraft<CustomResourceDefinition>)[],
  options: InstallCrdsOptions = {},
): Promise<readonly InstalledCrd[]> {
  checkNames("install definitions", options, "signal fieldManager force allowBreaking dryRun");
  const { signal, fieldManager = "kube-informer", force, allowBreaking = false, dryRun } = options;
  const collection = client.resource(DEFINITIONS as Resource<CustomResourceDefinition>);
  const drafts = completeCrds(
    kinds.map((kind) => ("crd" in kind ? kind.crd : kind) as ObjectDraft<CustomResourceDefinition>),
  );
  for (const draft of drafts) {
    if (!hasWrongBundle(draft as unknown as JsonObject)) continue;
    // The server takes it, but never calls the kind established.
    throw new TypeError(
      `Cannot install definition "${draft.metadata.name}": the caBundle of its conversion must be the PEM text of a ` +
        "certificate, in base64. Encode the text of the file, not its path",
    );
  }
  const plans = await Promise.all(drafts.map(async ({ metadata: { name = "", labels, annotations }, spec: given }) => {
    const before = await collection.getOrUndefined(name, { signal });
    // A conversion webhook stays, which `installWebhooks` has installed.
    const { conversion } = before?.spec ?? {};
    const spec = given.conversion === undefined && conversion?.strategy === "Webhook"
      ? { ...given, conversion }
      : given;
    if (before?.metadata.deletionTimestamp !== undefined) {
      throw new InformerError(`Cannot install definition "${name}": it is being deleted. Try again when it is gone`);
    }
    const changes = before === undefined ? [] : compareDefinitions(before, { metadata: { name }, spec });
    return { name, before, draft: { metadata: { name, labels, annotations }, spec }, changes };
  }));
  const breaking = plans.flatMap(({ changes }) => changes.filter(({ breaks }) => breaks === "stored objects"));
  if (breaking.length > 0 && !allowBreaking) throw new BreakingChangeError(breaking);
  const installed: (Omit<InstalledCrd, "toMigrate"> & { toMigrate: readonly string[] })[] = [];
  for (const { name, before, draft, changes } of plans) {
    const owner = { fieldManager, force, dryRun, signal };
    const wanted = draft as Apply<CustomResourceDefinition>;
    const result = await applyOwned(collection, `definition "${name}"`, before, wanted, owner);
    installed.push({ name, result, changes, toMigrate: [] });
  }
  for (const one of dryRun ? [] : installed) {
    for (let waitMs = LOOK_MS.first;; waitMs = Math.min(2 * waitMs, LOOK_MS.last)) {
      const { metadata, spec, status } = await collection.get(one.name, { signal });
      one.toMigrate = status?.storedVersions?.filter((it) => !isStorageVersion(spec, it)) ?? [];
      if (await isServed(client, { metadata, spec, status }, signal)) break;
      await sleep(waitMs, { signal });
    }
  }
  client.forgetDiscovery();
  return installed;
}

function isStorageVersion({ versions }: CustomResourceDefinition["spec"], version: string): boolean {
  return versions.some(({ name, storage }) => storage && name === version);
}

/**
 * Returns one definition of each name. An older version of a kind has a definition of its own, which is left out if
 * another one has all its versions.
 *
 * @throws {TypeError} if two definitions of a name differ, and neither has all versions.
 */
export function completeCrds<Crd extends object>(crds: readonly Crd[]): Crd[] {
  const byName = new Map<string, Crd>();
  const versions = (crd: Crd): string[] => objectsOf(memberAt(crd, "spec", "versions")).map(({ name }) => textOf(name));
  for (const crd of crds) {
    const name = textOf(memberAt(crd, "metadata", "name"));
    const known = byName.get(name);
    if (known === undefined || versions(known).every((it) => versions(crd).includes(it))) byName.set(name, crd);
    else if (!versions(crd).every((it) => versions(known).includes(it))) {
      throw new TypeError(
        `Cannot use two definitions of "${name}": one has ${versions(known)}, the other ${versions(crd)}. ` +
          "Name the older kind in olderVersions of the newer one",
      );
    }
  }
  return [...byName.values()];
}

/**
 * Applies an object that an install owns, and says what that did.
 *
 * @param what Names the object in errors, after "Cannot install".
 * @param before The object before, if the server has it.
 * @throws {StatusError} if the server refuses it. The message has the remedy for a conflict.
 */
export async function applyOwned<T extends KubernetesObject>(
  collection: ResourceClient<T>,
  what: string,
  before: T | undefined,
  draft: Apply<T>,
  options: ApplyOptions,
): Promise<"created" | "changed" | "unchanged"> {
  const after = await collection.apply(draft, options).catch(explain(what));
  if (before === undefined) return "created";
  return equalJson(comparedParts(before), comparedParts(after)) ? "unchanged" : "changed";
}

/** Returns what an install can change. */
function comparedParts({ metadata: { labels, annotations }, ...rest }: KubernetesObject): object {
  return { ...rest, labels, annotations, status: undefined };
}

/** Returns a function that throws the server's refusal with the name of the object, and the remedy for a conflict. */
function explain(what: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof StatusError)) throw error;
    const causes = error.status.details?.causes ?? [];
    const owners = new Set(causes.map(({ message }) => message?.replace("conflict with ", "")));
    const why = isConflict(error) && owners.size > 0
      ? `${[...owners].join(" and ")} owns fields with other values. To take them over, set force`
      : statusMessage(error.status);
    const refusal = new StatusError(`Cannot install ${what}: ${why}`, error.status, { cause: error });
    COMPLETE.add(refusal); // the cause has the same words
    throw refusal;
  };
}

/** @throws {InformerError} if the server does not accept the CRD's names. */
async function isServed(client: Client, crd: CustomResourceDefinition, signal?: AbortSignal): Promise<boolean> {
  const { metadata: { name }, spec: { group, names, versions }, status } = crd;
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
