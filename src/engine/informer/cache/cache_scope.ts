/**
 * Which objects an informer caches, and in which form.
 *
 * {@linkcode CacheScope} is the entry point: kind, namespaces, selectors, fields, the data of Secrets, managedFields
 * and transform, under one name. Factories share informers by it, and snapshots are restored by it. {@linkcode
 * CachedCollection} passes the options of an informer to its sources and its cache. It sends no requests.
 *
 * @module
 */
import {
  type Abortable,
  checkSelectors,
  type DecodeOptions,
  namespacesOf,
  type Projection,
  type Selection,
} from "../../api/call_options.ts";
import { defined } from "../../api/json.ts";
import type { ListerWatcher } from "../../api/lister_watcher.ts";
import type { KubernetesObject } from "../../api/object.ts";
import { apiVersionOf, isSecret, pathOf, type Resource, resourceName, SECRET_ANNOTATIONS } from "../../api/resource.ts";
import { ShardFilter, shardOf, type ShardSource } from "../../api/shard.ts";
import { metadataWith, Reduction } from "../../entry/reduction.ts";
import { ArgumentError } from "../../errors/checks.ts";
import { InformerError } from "../../errors/informer_error.ts";

/** The options that change the form of the cached objects; see `SharedIndexInformerOptions`. */
interface ObjectFormOptions extends DecodeOptions {
  /** Changes each object. */
  readonly transform?: unknown;
  /** Keeps the data of Secrets. */
  readonly secretData?: "keep";
  /** A part of the objects, by a hash. */
  readonly shard?: string | ShardSource;
  /** The objects of the namespaces that the client may read. */
  readonly readable?: true;
}

/** A change of an informer's selection. Members that you leave out stay as they are. */
export interface ScopeChange {
  /** The namespaces; `null` for all namespaces. Cluster-scoped resources ignore them. */
  readonly namespaces?: readonly string[] | null;
  /** The label selector, as in `Selection`; `null` for any labels. */
  readonly labelSelector?: string | null;
  /** The field selector, as in `Selection`; `null` for any fields. */
  readonly fieldSelector?: string | null;
}

/** The scope in the head of a snapshot, by names for messages. */
export type ScopeRecord = Readonly<Record<string, unknown>> & { readonly representation: string };

/** The kind of objects of metadata. */
const PARTIAL = { apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadata" } as const;

/**
 * Which objects are cached, and in which form. A factory shares informers of one {@linkcode name}, and keeps snapshots
 * under it; a snapshot is restored where its {@linkcode record} is the same.
 */
export class CacheScope<R extends Resource | undefined = Resource | undefined> {
  /** The kind, and the form of its objects; `undefined` if the source does not say it. */
  readonly resource: R;
  /** The name of the resource in messages: `"pods"`, `"deployments.apps"`; `"objects"` without a resource. */
  readonly kind: string;
  /** The selection of each list and watch: one of them, or one for each namespace. */
  readonly parts: readonly Selection[];
  /**
   * The decoding of the objects. The data of Secrets is kept if the objects are Secrets, and what is cached of them has
   * data, or a copy of it; further annotations are named for Secrets alone.
   */
  readonly form: Required<DecodeOptions & Pick<Projection, "secretData">>;
  /** `"keep"` if the fields of Secrets are to be kept though they are secret. */
  readonly secretData: "keep" | undefined;
  /** The ranges of hashes whose objects are cached; `undefined` for all. */
  readonly shard: ShardSource | undefined;
  /** `true` if the objects are those of the namespaces that the client may read. */
  readonly isReadable: boolean;
  /** The options that it was made with. */
  readonly #options: ObjectFormOptions;

  /**
   * @throws {TypeError} when the resource names fields of Secrets that are left out, or is cluster-scoped and the shard
   * is by namespace.
   * @throws {RangeError} when the text of the shard is none.
   */
  constructor(resource: R, parts: readonly Selection[], options: ObjectFormOptions = {}) {
    const { secretData, managedFields = "drop", secretAnnotations = [], shard, readable } = options;
    this.resource = resource;
    this.kind = resource === undefined ? "objects" : resourceName(resource);
    this.parts = parts;
    const isOfSecrets = resource !== undefined && isSecret(resource);
    const form = { managedFields, secretAnnotations, secretData: secretData ?? "drop" } as const;
    const keepsData = isOfSecrets && Reduction.keepsSecrets(resource, form);
    this.form = {
      managedFields,
      secretAnnotations: isOfSecrets ? secretAnnotations : [],
      secretData: keepsData ? "keep" : "drop",
    };
    this.secretData = secretData;
    this.shard = shard === undefined ? undefined : shardOf(shard);
    this.isReadable = readable === true;
    if (this.shard?.by === "namespace" && resource?.scope === "Cluster") {
      throw new ArgumentError(
        `Cannot take the shard "${this.shard.name}" of "${this.kind}" by namespace: the objects have no namespaces, so ` +
          "one shard would hold all of them. Take the shard by uid",
      );
    }
    this.#options = options;
  }

  /**
   * The scope of an informer of a factory, whose selectors apply where there are no others, and so do its namespaces.
   *
   * @throws {TypeError} when the namespaces contradict each other, or cannot be part of a path.
   */
  static inFactory(
    resource: Resource,
    own: Selection & ObjectFormOptions,
    defaults: Selection,
  ): CacheScope<Resource> {
    const where = own.namespace === undefined && own.namespaces === undefined ? defaults : own;
    // Checked also for a cluster-scoped resource, which ignores it.
    const given = namespacesOf(where);
    const namespaces = resource.scope === "Cluster" ? undefined : given;
    for (const namespace of namespaces ?? []) pathOf(resource, { namespace });
    const { labelSelector = defaults.labelSelector, fieldSelector = defaults.fieldSelector } = own;
    const parts = (namespaces ?? [undefined]).map((namespace) => ({ namespace, labelSelector, fieldSelector }));
    return new CacheScope(resource, parts, own);
  }

  /**
   * Returns the scope of the same kind and form after a change of its selection.
   *
   * @throws {TypeError} when the namespaces cannot be part of a path.
   * @throws {SyntaxError} when a selector does not parse.
   */
  static changed(scope: CacheScope<Resource>, change: ScopeChange): CacheScope<Resource> {
    const { namespaces, labelSelector, fieldSelector }: ScopeChange = { ...scope.selection, ...defined(change) };
    const selectors = { labelSelector: labelSelector || undefined, fieldSelector: fieldSelector || undefined };
    checkSelectors(selectors);
    const own = { ...scope.#options, ...selectors, namespaces: namespaces ?? undefined };
    return CacheScope.inFactory(scope.resource, own, {});
  }

  /** `true` if the cache has data of Secrets. */
  get keepsSecretData(): boolean {
    return this.form.secretData === "keep";
  }

  /**
   * The part or form of the objects, for messages; `undefined` if they are complete, managedFields aside, and all that
   * are selected.
   */
  get reduction(): string | undefined {
    const { resource, shard } = this;
    if (this.#options.transform !== undefined) return "the results of a transform";
    if (this.isReadable) return "only the objects of readable namespaces";
    if (shard !== undefined) return `only the objects of shard "${shard.name}"`;
    if (resource === undefined) return "objects of a source that does not say which fields they have";
    if (resource.fields !== undefined) return `only the fields ${resource.fields.join(", ")}`;
    if (resource.representation === "metadata") return "only the metadata of objects";
    return isSecret(resource) && !this.keepsSecretData ? "Secrets without their data" : undefined;
  }

  /** The part of the collection that is selected. */
  get selection(): Omit<Selection, "namespace"> {
    const { namespace, ...selectors } = this.parts[0];
    return { ...namespace ? { namespaces: this.parts.map(({ namespace }) => namespace!) } : {}, ...selectors };
  }

  /**
   * The same name for the same objects, whatever the order of their namespaces: the resource's name and version, and
   * what is cached of it, as `"deployments.apps/v1?namespaces=shop&labelSelector=app%3Dweb"`.
   */
  get name(): string {
    const { representation = "object", fields } = this.resource ?? {};
    const { namespaces, labelSelector, fieldSelector } = this.selection;
    const query = new URLSearchParams();
    if (representation !== "object") query.set("representation", representation);
    for (const [name, list] of Object.entries({ namespaces: namespaces?.toSorted(), fields })) {
      if (list !== undefined) query.set(name, list.map((it) => it.replace(/[%,]/g, encodeURIComponent)).join(","));
    }
    if (this.secretData !== undefined) query.set("secretData", this.secretData);
    if (this.shard !== undefined) query.set("shard", `${this.shard.name} by ${this.shard.by}`);
    if (this.isReadable) query.set("readable", "true");
    if (labelSelector) query.set("labelSelector", labelSelector);
    if (fieldSelector) query.set("fieldSelector", fieldSelector);
    return `${this.#versionedKind}${query.size === 0 ? "" : `?${query}`}`;
  }

  /** Returns true for an object of the cached kind and version, but false for every object if the cache has rows. */
  forms({ kind, apiVersion }: KubernetesObject): boolean {
    const { resource } = this;
    if (resource === undefined || resource.representation === "table") return false;
    const isMetadata = resource.representation === "metadata";
    if (!isMetadata && apiVersion !== apiVersionOf(resource)) return false;
    return kind === PARTIAL.kind ? isMetadata : kind === resource.kind;
  }

  /**
   * Returns an object from the server's response to a write in the form of the cached objects, except for a transform:
   * reduced, and with the managedFields that the cache keeps. It shares parts with `object`, for which
   * {@linkcode forms} must return true.
   */
  formed<T extends KubernetesObject>(object: T): T {
    const { form } = this;
    const resource = this.resource!;
    const whole = resource.representation === "metadata" ? { ...PARTIAL, metadata: object.metadata } as T : object;
    const metadata = resource.fields === undefined ? metadataWith(whole.metadata, form.managedFields) : whole.metadata;
    const kept = metadata === whole.metadata ? whole : { ...whole, metadata };
    return Reduction.of(resource, form)?.of(kept) ?? kept;
  }

  /** The head that a snapshot of these objects has, in a cluster of this name; `""` if it has none. */
  record(cluster: string): ScopeRecord {
    const { resource, form: { managedFields, secretData, secretAnnotations } } = this;
    // Those of this version too: a later one may know more, and would restore what it leaves out.
    const left = resource === undefined || !isSecret(resource) || this.keepsSecretData ? [] : SECRET_ANNOTATIONS;
    return {
      resource: this.#versionedKind,
      representation: resource?.representation ?? "object",
      fields: resource?.fields ?? "all",
      secretData: [secretData, ...[...left, ...secretAnnotations].toSorted()].join(" "),
      selections: inOrder(this.parts).map(({ namespace = "", labelSelector = "", fieldSelector = "" }) => {
        return { namespace, labelSelector, fieldSelector };
      }),
      managedFields,
      transformed: this.#options.transform !== undefined,
      shard: this.shard && new ShardFilter(this.shard.by, this.shard.ranges()).selector,
      cluster,
    };
  }

  /** The part of the scope that changes meanwhile, for messages: namespaces, or ranges; `undefined` if none does. */
  get changing(): string | undefined {
    if (this.isReadable) return "its readable namespaces change";
    return this.shard?.onChange && `the ranges of its shard "${this.shard.name}" change`;
  }

  get #versionedKind(): string {
    return `${this.kind}/${this.resource?.version ?? ""}`;
  }
}

/** Returns the first difference between the record of a snapshot and the one that is needed, if there is one. */
export function recordDifference(record: ScopeRecord, needed: ScopeRecord): string | undefined {
  const name = Object.keys(needed).find((name) => JSON.stringify(record[name]) !== JSON.stringify(needed[name]));
  return name &&
    `it was written with ${name} ${JSON.stringify(record[name])}, but the informer needs ${
      JSON.stringify(needed[name])
    }`;
}

/** Returns parts of a collection in the order of their namespaces, which is that of snapshots. */
export function inOrder<P extends { readonly namespace?: string }>(parts: readonly P[]): readonly P[] {
  return [...parts].sort(({ namespace: a = "" }, { namespace: b = "" }) => a < b ? -1 : a > b ? 1 : 0);
}

/** One of several namespaces that an informer caches. */
export interface NamespaceSource<T> {
  /** The namespace's name. */
  readonly namespace: string;
  /** The collection in that namespace: `client.resource(Pod, { namespace })`. */
  readonly source: ListerWatcher<T>;
}

/**
 * Finds the namespaces of a collection that the client may read. Resolves with their names, which may be none; with
 * `undefined` where one list and watch may read all namespaces.
 */
export type NamespaceFinder = (options: Abortable) => Promise<readonly string[] | undefined>;

/** The collection that an informer caches: its sources, and what is cached of them. */
export class CachedCollection<T> {
  /** The source of each part: an only one without a namespace, or one for each of several namespaces. */
  readonly sources: readonly { readonly namespace?: string; readonly source: ListerWatcher<T> }[];
  /** Which objects are cached, and in which form. `rescope()` changes it. */
  scope: CacheScope;
  /** The objects in messages: `"pods"`, or `"pods" in cluster "berlin"`. */
  readonly subject: string;
  /** The name of the informer in messages. */
  readonly informer: string;
  /** The same object for all collections of a server. */
  readonly server: object;
  /** `true` if updates that change no named field have no event. */
  readonly skipsUnchanged: boolean;
  /** `true` if the server may not have the kind. */
  readonly isOptional: boolean;
  /** Finds the namespaces that are followed, where these come and go. */
  readonly finder: NamespaceFinder | undefined;

  /**
   * Checks sources and options.
   *
   * @throws {TypeError} when there is no source, or a namespace is repeated or empty; when an option is not for this
   * collection; when the resource names fields of Secrets that are left out.
   */
  constructor(
    source: ListerWatcher<T> | readonly NamespaceSource<T>[],
    options: ObjectFormOptions & {
      readonly deliverUnchanged?: boolean;
      readonly optional?: boolean;
      readonly cluster?: string;
    },
    finder?: NamespaceFinder,
  ) {
    this.finder = finder;
    this.sources = sourcesOf(source);
    const [{ source: first }] = this.sources;
    const { resource } = first;
    this.scope = new CacheScope(resource, this.sources.map(({ source }) => source.selection ?? {}), {
      ...options,
      ...(finder && { readable: true }),
    });
    const refused = (option: "deliverUnchanged" | "secretData", use: string): TypeError =>
      new ArgumentError(`Cannot create an informer of "${this.name}": the option "${option}" is only for ${use}`);
    if (options.deliverUnchanged !== undefined && resource?.fields === undefined) {
      throw refused("deliverUnchanged", "informers with selected fields. Set the option fields, or leave it out");
    }
    if (options.secretData !== undefined && !(resource && isSecret(resource))) {
      throw refused("secretData", "informers of Secrets. Leave it out");
    }
    const { cluster } = options;
    this.subject = `"${this.name}"${cluster === undefined ? "" : ` in cluster "${cluster}"`}`;
    this.informer = `the informer of ${this.subject}`;
    this.server = first.identities?.server ?? first;
    this.skipsUnchanged = resource?.fields !== undefined && !options.deliverUnchanged;
    this.isOptional = options.optional ?? false;
  }

  /** The name of the resource in messages. */
  get name(): string {
    return this.scope.kind;
  }

  /** The paths of fields that nothing has checked: some only for a kind found by discovery. */
  get uncheckedFields(): readonly string[] {
    const { resource } = this.scope;
    return resource !== undefined && "verbs" in resource ? resource.fields ?? [] : [];
  }
}

/** @throws {TypeError} when there is no source, or a namespace comes twice or has no name. */
function sourcesOf<T>(source: ListerWatcher<T> | readonly NamespaceSource<T>[]): CachedCollection<T>["sources"] {
  if ("listEntries" in source) return [{ source }];
  const names = source.map(({ namespace }) => namespace);
  if (names.length === 0) {
    throw new ArgumentError("Cannot create an informer: the list of sources is empty. Pass at least one source");
  }
  if (new Set(names).size < names.length || names.some((name) => !name)) {
    throw new ArgumentError(
      `Cannot create an informer: the sources are for the namespaces ${
        JSON.stringify(names)
      }, but each needs a different, non-empty name`,
    );
  }
  return names.length === 1 ? [{ source: source[0].source }] : source;
}

/**
 * Two informers in one factory cache the same objects, so the server sends them twice. Reported once per kind.
 * Examples: complete objects and metadata or selected fields, all namespaces and one namespace, with and without a
 * selector.
 */
export class OverlappingCachesError extends InformerError {
  /** `"OverlappingCachesError"`. */
  override readonly name = "OverlappingCachesError";

  /** Creates an error that names the two caches. */
  constructor(a: CacheScope<Resource>, b: CacheScope<Resource>) {
    super(
      `Two informers cache the same ${resourceName(a.resource)}: one has ${selectionText(a, b)}, the other ${
        selectionText(b, a)
      }. ` +
        `Use the larger one for both, or ignore this error`,
    );
  }
}

/** Finds caches that overlap, once for each kind. */
export class OverlapFinder {
  /** The names of the kinds of which an overlap was found, or is intended. */
  readonly found = new Set<string>();

  /** Returns an error if a cache overlaps with one of the others, unless one was found of its kind before. */
  find(scope: CacheScope<Resource>, others: readonly CacheScope<Resource>[]): OverlappingCachesError | undefined {
    const name = resourceName(scope.resource);
    if (this.found.has(name)) return undefined;
    const other = others.find((other) => overlap(other, scope));
    if (other === undefined) return undefined;
    this.found.add(name);
    return new OverlappingCachesError(other, scope);
  }
}

/**
 * Returns `true` if two caches of one kind share objects for sure, or one of them has no selector. Of two different
 * selectors nobody knows, so they count as separate.
 */
function overlap(a: CacheScope<Resource>, b: CacheScope<Resource>): boolean {
  if (a.resource.group !== b.resource.group || a.resource.plural !== b.resource.plural) return false;
  const [one, other] = [a.selection, b.selection];
  const inOneNamespace = one.namespaces === undefined || other.namespaces === undefined ||
    one.namespaces.some((name) => other.namespaces!.includes(name));
  const [shard, otherShard] = [a.shard, b.shard];
  if (shard && otherShard && (shard.name !== otherShard.name || shard.by !== otherShard.by)) return false;
  return inOneNamespace && (["labelSelector", "fieldSelector"] as const).every((name) => {
    return !one[name] || !other[name] || one[name] === other[name];
  });
}

function selectionText(
  { resource, selection, secretData, shard, isReadable }: CacheScope<Resource>,
  other: CacheScope<Resource>,
): string {
  const { namespaces, labelSelector, fieldSelector } = selection;
  return [
    resource.representation === "metadata"
      ? "metadata"
      : resource.fields === undefined
      ? "objects"
      : "fields of objects",
    secretData === undefined ? "" : "with data",
    shard === undefined ? "" : `in shard ${shard.name}`,
    resource.version === other.resource.version ? "" : `at ${apiVersionOf(resource)}`,
    namespaces === undefined ? "" : `in namespace ${namespaces.join(", ")}`,
    namespaces === undefined && resource.scope === "Namespaced"
      ? isReadable ? "in readable namespaces" : "in all namespaces"
      : "",
    labelSelector ? `with labels "${labelSelector}"` : "",
    fieldSelector ? `with fields "${fieldSelector}"` : "",
  ].filter((part) => part !== "").join(" ");
}
