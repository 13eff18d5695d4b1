/**
 * Storage migration: rewrites stored objects of a custom kind in the version that its CRD stores today.
 *
 * {@linkcode migrateStorage} is the entry point. It changes no versions in the CRD's spec, and in objects only the
 * managedFields: the server converts each object as it is. `install_crds.ts` brings definitions to a server.
 *
 * @module
 */
import type { Abortable } from "../../engine/api/call_options.ts";
import { keyOf, type KubernetesObject, type ManagedFieldsEntry, type ObjectKey } from "../../engine/api/object.ts";
import { DEFINITIONS, onlyMetadata, type Resource, resourceName } from "../../engine/api/resource.ts";
import {
  isAlreadyExists,
  isConflict,
  isForbidden,
  isNotFound,
  StatusError,
  statusMessage,
} from "../../engine/api/status.ts";
import { callObserver } from "../../engine/async/signals.ts";
import { sleep } from "../../engine/async/time.ts";
import type { Client } from "../../engine/client/client.ts";
import type { ResourceClient } from "../../engine/client/resource_client.ts";
import { checkCounts } from "../../engine/errors/checks.ts";
import { InformerError } from "../../engine/errors/informer_error.ts";
import { checkNames } from "../../engine/errors/option_names.ts";
import type { CustomResourceDefinition } from "../../engine/kinds/apiextensions/v1.ts";
import { droppedFields } from "./compare_definitions.ts";
import { StorageVersionMigration } from "../../engine/kinds/storagemigration/v1.ts";

/** How far {@linkcode migrateStorage} is. */
export interface StorageMigrationProgress {
  /**
   * - `"planned"`: nothing is written yet. `objects` will be rewritten, and `stale` will lose managedFields.
   * - `"fields"`: `done` of `objects` have lost managedFields in versions that are no longer served.
   * - `"rewriting"`: the objects up to `after` are rewritten, in the present pass.
   * - `"server"`: the server's own migrator is asked to rewrite the objects.
   * - `"cut"`: the CRD's `storedVersions` has the storage version only.
   */
  readonly step: "planned" | "fields" | "rewriting" | "server" | "cut";
  /** The CRD's name, `"websites.example.com"`. */
  readonly name: string;
  /** The version in which the server stores objects now. */
  readonly storageVersion: string;
  /** Versions in which objects may still be stored, from the CRD's status. */
  readonly storedVersions: readonly string[];
  /** The CRD's `metadata.generation`, which each change of its spec raises. */
  readonly generation: number;
  /** The objects in this pass. */
  readonly objects: number;
  /** The objects that had managedFields in versions that the CRD does not serve when the call began. */
  readonly stale: number;
  /** How many of `objects` are done. */
  readonly done: number;
  /** The pass, from 1. The second one rewrites what others have written during the first. */
  readonly pass: number;
  /** All objects up to this key are rewritten. It stays before the first object that could not be. */
  readonly after?: ObjectKey;
}

/** Options for {@linkcode migrateStorage}. */
export interface MigrateStorageOptions extends Abortable {
  /** Is called before the first write, and after each group of objects. */
  readonly onProgress?: (progress: StorageMigrationProgress) => void;
  /** How many objects are rewritten at the same time. @default {4} */
  readonly parallel?: number;
  /**
   * The last progress of a call that was stopped. It goes on after that progress's key, unless the CRD has changed
   * since. @default {from the first object}
   */
  readonly resume?: Pick<StorageMigrationProgress, "after" | "generation">;
  /** If `true`, it stops after `"planned"`, and writes nothing. @default {false} */
  readonly dryRun?: boolean;
  /** If `false`, it does not ask for the server's own migrator, and so names refused objects. @default {true} */
  readonly serverMigrator?: boolean;
}

/** The result of {@linkcode migrateStorage}. */
export interface StorageMigration extends Pick<StorageMigrationProgress, "name" | "storageVersion"> {
  /** The CRD's `storedVersions` now. */
  readonly storedVersions: readonly string[];
  /** How many objects this call has rewritten. The server's own migrator does not count them. */
  readonly rewritten: number;
  /** How many objects have lost managedFields in versions that are no longer served. */
  readonly cleaned: number;
  /** The objects that the server refused to store again, with its reason. As long as there are any, nothing is cut. */
  readonly refused: readonly { readonly key: ObjectKey; readonly reason: string }[];
}

/** How often the server's own migrator is asked, and how long until it must have begun, in milliseconds. */
const MIGRATOR_MS = { poll: 1_000, begin: 15_000 };
/** The attempts at most, while others keep writing. */
const PASSES = 5;

/**
 * Rewrites all objects of a custom kind in the storage version, then removes the other versions from the CRD's
 * `status.storedVersions`. Until then, the server refuses a CRD without these versions. Call it after all API servers
 * have the new storage version.
 *
 * 1. It tells `onProgress` what it will do.
 * 2. It removes entries in `metadata.managedFields` whose version the CRD does not serve. Once that version is gone,
 *    the server would refuse each server-side apply to the object. Later applies do not remove fields that were applied
 *    at that version, so users must apply at another version before.
 * 3. If the server has a migrator of its own (`StorageVersionMigration`, Kubernetes 1.37), that one does the work.
 *    Otherwise, each object gets an empty patch, so that the server stores it again. Objects stay as they are, and an
 *    object that is already stored in the storage version gets no event.
 * 4. A second pass rewrites what others have written meanwhile, maybe through an API server with the old CRD.
 * 5. It removes the other versions from `storedVersions`, unless the server has refused an object. Repair or delete
 *    the objects in `refused`, and call it again.
 *
 * Call it again after `served: false`, before you remove a version: then it takes step 2 only. It may be stopped and
 * called again at any time. It lists metadata in pages of 500, and holds a key and a version for each object.
 *
 * The client needs `get` on `customresourcedefinitions`, `patch` on `customresourcedefinitions/status`, and `get`,
 * `list` and `patch` on the kind. With `create`, `get` and `delete` on `storageversionmigrations`, it uses the
 * server's migrator.
 *
 * @param kind The kind, in any served version.
 * @throws {StatusError} if the CRD does not exist, or your rights do not suffice.
 * @throws {InformerError} if the storage version changes meanwhile, others write without end, or objects would lose
 * fields because the CRD has no conversion webhook.
 * @throws the signal's reason.
 *
 * @example
 * ```ts
 * import { Client } from "@kube/informer";
 * import { defineKind, installCrds, migrateStorage } from "@kube/informer/schema";
 * import { FakeApiServer } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const names = { group: "example.com", version: "v1", kind: "Website", plural: "websites" } as const;
 * const Website = defineKind({ ...names, spec: { type: "object" } });
 * using client = new Client({ server: "http://fake", transport: new FakeApiServer() });
 * await installCrds(client, [Website]);
 * const { storedVersions, refused } = await migrateStorage(client, Website);
 * assertEquals([storedVersions, refused], [["v1"], []]);
 * ```
 */
export async function migrateStorage<T extends KubernetesObject>(
  client: Client,
  kind: Resource<T>,
  options: MigrateStorageOptions = {},
): Promise<StorageMigration> {
  checkNames("migrate stored objects", options, "signal onProgress parallel resume dryRun serverMigrator");
  const { signal, dryRun, serverMigrator = true, parallel = 4 } = options;
  checkCounts("migrate stored objects", { parallel }, { min: 1 });
  const definition = new StoredDefinition(client, kind, signal);
  const { name } = definition;
  const { resourceVersion: _, ...stored } = await definition.read(true);
  const { storageVersion, storedVersions } = stored;
  const isDone = storedVersions.every((it) => it === storageVersion);
  const rewriting = new Rewriting(client.resource(onlyMetadata(kind)), options, { name, ...stored });
  const all = await rewriting.count();
  const objects = isDone ? 0 : all;
  rewriting.tell({ step: "planned", objects });
  if (dryRun) return { name, storageVersion, storedVersions, rewritten: 0, cleaned: 0, refused: [] };
  // First: before Kubernetes 1.37, a patch drops all owners of an object if one of them has a version that is gone.
  await rewriting.clean();
  const byServer = !isDone && serverMigrator &&
    await migratedByServer(client, kind, signal, () => rewriting.tell({ step: "server", objects }));
  if (!isDone && !byServer) await rewriting.run();
  const { rewritten, cleaned } = rewriting;
  const refused = [...rewriting.refused].map(([key, reason]) => ({ key, reason }));
  const now = await definition.cut(storageVersion, refused.length > 0);
  if (!isDone && refused.length === 0) rewriting.tell({ step: "cut", objects });
  return { name, storageVersion, storedVersions: now, rewritten, cleaned, refused };
}

type StoredVersions =
  & Pick<StorageMigrationProgress, "storageVersion" | "storedVersions" | "generation">
  & { readonly served: readonly string[] };

/** What a CRD says about stored versions. */
class StoredDefinition {
  readonly name: string;
  readonly #definitions: ResourceClient<CustomResourceDefinition>;
  readonly #signal: AbortSignal | undefined;

  constructor(client: Client, kind: Resource, signal: AbortSignal | undefined) {
    this.name = resourceName(kind);
    this.#definitions = client.resource(DEFINITIONS as Resource<CustomResourceDefinition>);
    this.#signal = signal;
  }

  /** @throws {InformerError} if it `checks` that nothing is lost, and objects would lose fields. */
  async read(checks = false): Promise<StoredVersions & { readonly resourceVersion: string }> {
    const { spec, status, metadata } = await this.#definitions.get(this.name, { signal: this.#signal });
    const { versions, conversion } = spec;
    const storage = versions.find((it) => it.storage)!;
    const storedVersions = status?.storedVersions ?? [storage.name];
    for (const from of conversion?.strategy === "Webhook" || !checks ? [] : versions) {
      const fields = droppedFields(from, storage);
      if (fields === "" || !storedVersions.includes(from.name)) continue;
      throw new InformerError(
        `Cannot migrate "${this.name}": ${storage.name} has no ${fields}, which objects at ${from.name} may have, and ` +
          "the CRD has no conversion. Install the CRD with its webhook first",
      );
    }
    const { resourceVersion, generation = 0 } = metadata;
    const served = versions.filter((it) => it.served).map(({ name }) => name);
    return { storageVersion: storage.name, storedVersions, generation, resourceVersion, served };
  }

  /** Leaves the storage version only, unless that `isEarly`. Returns what the CRD has then. */
  async cut(migrated: string, isEarly: boolean): Promise<readonly string[]> {
    const { storageVersion, storedVersions, resourceVersion } = await this.read();
    if (storageVersion !== migrated) {
      throw new InformerError(
        `Cannot migrate "${this.name}": its storage version has become ${storageVersion} meanwhile. Migrate again`,
      );
    }
    if (isEarly || storedVersions.length === 1) return storedVersions;
    // With its version, so that the server refuses it if the CRD has changed since.
    const body = { metadata: { resourceVersion }, status: { storedVersions: [storageVersion] } };
    await this.#definitions.patch(this.name, { type: "merge", body }, { subresource: "status", signal: this.#signal });
    return [storageVersion];
  }
}

type Write = (client: ResourceClient<KubernetesObject>, name: string) => Promise<void>;

/** Rewrites all objects of a kind by empty patches, until a pass finds no version that it does not know. */
class Rewriting {
  /** Refused objects, with the server's reasons. */
  readonly refused = new Map<ObjectKey, string>();
  rewritten = 0;
  cleaned = 0;
  readonly #objects: ResourceClient<KubernetesObject>;
  readonly #options: MigrateStorageOptions;
  readonly #definition: StoredVersions & { readonly name: string };
  /** The version of each object after it was rewritten. */
  readonly #known = new Map<ObjectKey, string>();
  /** The present version of each object. */
  #present = new Map<ObjectKey, string>();
  /** The objects with managedFields in versions that are not served. */
  readonly #stale = new Set<ObjectKey>();

  constructor(
    objects: ResourceClient<KubernetesObject>,
    options: MigrateStorageOptions,
    definition: StoredVersions & { readonly name: string },
  ) {
    [this.#objects, this.#options, this.#definition] = [objects, options, definition];
  }

  tell(progress: Pick<StorageMigrationProgress, "step" | "objects"> & Partial<StorageMigrationProgress>): void {
    const { served: _, ...versions } = this.#definition;
    const whole = { done: 0, pass: 1, stale: this.#stale.size, ...versions, ...progress };
    callObserver(() => this.#options.onProgress?.(whole));
  }

  /** Lists the objects, and returns their number. */
  async count(): Promise<number> {
    const { signal } = this.#options;
    const present = new Map<ObjectKey, string>();
    for await (const { items, restarted } of this.#objects.pages({ signal })) {
      if (restarted) present.clear();
      for (const item of items) {
        present.set(keyOf(item), item.metadata.resourceVersion);
        if (this.#staleIn(item).length > 0) this.#stale.add(keyOf(item));
      }
    }
    this.#present = present;
    return present.size;
  }

  /** Removes managedFields in versions that are not served. */
  async clean(): Promise<void> {
    const keys = [...this.#stale];
    const write = async (key: ObjectKey): Promise<void> => {
      for (let left = PASSES; !await this.#attempt(key, (client, name) => this.#clean(client, name)); left--) {
        if (left === 1) return void this.refused.set(key, "others write the object again and again");
      }
    };
    for (const [group, done] of this.#groups(keys)) {
      await Promise.all(group.map(write));
      this.tell({ step: "fields", objects: keys.length, done });
    }
  }

  /** Returns the entries of managedFields in versions that are not served. */
  #staleIn({ metadata: { managedFields = [] } }: KubernetesObject): ManagedFieldsEntry[] {
    return managedFields.filter(({ apiVersion }) => !this.#definition.served.includes(apiVersion!.split("/").at(-1)!));
  }

  async #clean(client: ResourceClient<KubernetesObject>, name: string): Promise<void> {
    const object = await client.get(name, { signal: this.#options.signal });
    const stale = this.#staleIn(object);
    if (stale.length === 0) return;
    const { resourceVersion, managedFields = [] } = object.metadata;
    const kept = managedFields.filter((it) => !stale.includes(it));
    const apiVersion = stale[0].apiVersion!.replace(/[^/]+$/, this.#definition.storageVersion);
    // Without any entry, the next apply would record all fields as owned by "before-first-apply", which never frees
    // them. So one manager keeps its entry, with a field that nobody owns: its next apply replaces the entry.
    const value = kept.length > 0 ? kept : [{ ...stale[0], apiVersion, fieldsV1: { "f:metadata": { "f:name": {} } } }];
    const body = [
      // The server answers with a conflict if another version is present.
      { op: "replace", path: "/metadata/resourceVersion", value: resourceVersion },
      { op: "replace", path: "/metadata/managedFields", value },
    ] as const;
    await client.patch(name, { type: "json", body }, { signal: this.#options.signal });
    this.cleaned++;
  }

  /** Returns the keys in groups that are written at the same time, with the number of keys up to the group's end. */
  *#groups(keys: readonly ObjectKey[]): Generator<readonly [group: readonly ObjectKey[], done: number]> {
    const { parallel = 4 } = this.#options;
    for (let at = 0; at < keys.length; at += parallel) {
      yield [keys.slice(at, at + parallel), Math.min(at + parallel, keys.length)];
    }
  }

  async run(): Promise<void> {
    const { resume } = this.#options;
    // Another generation may have stored these objects in another version.
    let after = resume?.generation === this.#definition.generation ? resume.after : undefined;
    const keys = [...this.#present.keys()];
    for (const key of after === undefined ? [] : keys.slice(0, keys.indexOf(after) + 1)) {
      this.#known.set(key, this.#present.get(key)!);
    }
    let isWhole = true;
    for (let pass = 1;; pass++) {
      const pending = [...this.#present].filter(([key, version]) =>
        this.#known.get(key) !== version && !this.refused.has(key)
      ).map(([key]) => key);
      if (pass > 1 && pending.length === 0) return;
      if (pass > PASSES) {
        throw new InformerError(
          `Cannot migrate "${this.#definition.name}": ${pending.length} objects were written again in each of ` +
            `${PASSES} passes. Update all API servers first, pause the writers, and migrate again`,
        );
      }
      for (const [group, done] of this.#groups(pending)) {
        await Promise.all(group.map((key) => this.#rewrite(key)));
        for (const key of group) {
          isWhole &&= pass === 1 && this.#known.has(key);
          if (isWhole) after = key;
        }
        this.tell({ step: "rewriting", objects: pending.length, done, pass, after });
      }
      await this.count();
    }
  }

  #rewrite(key: ObjectKey): Promise<boolean> {
    return this.#attempt(key, async (client, name) => {
      const { metadata } = await client.patch(name, { type: "merge", body: {} }, { signal: this.#options.signal });
      this.#known.set(key, metadata.resourceVersion);
      this.rewritten++;
    });
  }

  /** Writes an object, and notes if that is refused. Returns false if another write came first. */
  async #attempt(key: ObjectKey, write: Write): Promise<boolean> {
    const [name, namespace] = key.split("/").reverse();
    try {
      await write(namespace === undefined ? this.#objects : this.#objects.namespace(namespace), name);
    } catch (error) {
      if (isConflict(error)) return false;
      if (isNotFound(error)) this.#known.set(key, ""); // it is gone
      else if (isAboutTheObject(error)) this.refused.set(key, statusMessage(error.status));
      else throw error;
    }
    return true;
  }
}

/** Returns true if the server refuses this object, by its schema, a webhook or its conversion, and maybe no other. */
function isAboutTheObject(error: unknown): error is StatusError {
  if (!(error instanceof StatusError)) return false;
  const { code, message } = error.status;
  return code === 400 || code === 422 || code === 500 || (code === 403 && !message.includes("cannot patch resource"));
}

/**
 * Lets the server's own migrator do the work. Returns false if there is none, it does not begin, or it fails. Since
 * Kubernetes 1.37 kube-controller-manager has one; it removes versions from `storedVersions`, too.
 */
async function migratedByServer(
  client: Client,
  kind: Resource,
  signal: AbortSignal | undefined,
  onAsk: () => void,
): Promise<boolean> {
  const { group, plural } = kind;
  const migrations = client.resource(StorageVersionMigration);
  const name = `informer-${plural}.${group}`;
  const spec = { resource: { group, resource: plural } };
  const isOf = (migration: StorageVersionMigration, type: string): boolean =>
    migration.status?.conditions?.some((it) => it.type === type && it.status === "True") ?? false;
  try {
    await migrations.create({ metadata: { name }, spec }, { signal });
  } catch (error) {
    // Without the kind or the rights, objects are rewritten one by one.
    // A migration that exists is from a call that was stopped.
    if (isNotFound(error) || isForbidden(error)) return false;
    if (!isAlreadyExists(error)) throw error;
    const { status } = await migrations.get(name, { signal });
    if (status?.conditions?.some(({ type, status }) => type !== "Running" && status === "True")) {
      await migrations.delete(name, { signal });
      return await migratedByServer(client, kind, signal, onAsk); // it was about an older storage version, maybe
    }
  }
  onAsk();
  for (let waitedMs = 0, hasBegun = false;; waitedMs += MIGRATOR_MS.poll) {
    const migration = await migrations.get(name, { signal });
    const hasSucceeded = isOf(migration, "Succeeded");
    if (hasSucceeded || isOf(migration, "Failed") || (!hasBegun && waitedMs >= MIGRATOR_MS.begin)) {
      await migrations.delete(name, { signal });
      return hasSucceeded;
    }
    hasBegun ||= isOf(migration, "Running");
    await sleep(MIGRATOR_MS.poll, { signal });
  }
}
