import { isSecret } from "../../api/is_secret.ts";
import type { ListerWatcher } from "../../api/lister_watcher.ts";
import type { Selection } from "../../api/options.ts";
import { type Resource, resourceName } from "../../api/resource.ts";
import { Reduction } from "../../entry/reduction.ts";

/** One of several namespaces that an informer caches. */
export interface NamespaceSource<T> {
  /** The namespace's name. */
  readonly namespace: string;
  /** The collection in that namespace: `client.resource(Pod, { namespace })`. */
  readonly source: ListerWatcher<T>;
}

/** The options that change the form of the cached objects; see `SharedIndexInformerOptions`. */
export interface ObjectFormOptions<T> {
  /** Drops or keeps `metadata.managedFields`. */
  readonly managedFields: "drop" | "keep";
  /** Changes each object. */
  readonly transform?: (object: T) => T;
  /** Keeps the data of Secrets. */
  readonly keep?: "data";
  /** The names of further annotations of Secrets that hold their data. */
  readonly secretAnnotations?: readonly string[];
  /** Delivers or skips updates that change no named field. */
  readonly unchanged?: "skip" | "deliver";
}

/** The collection that an informer caches: its sources, its name, and the form of its objects. */
export class CachedCollection<T> {
  /** The source of each part: an only one without a namespace, or one for each of several namespaces. */
  readonly sources: readonly { readonly namespace?: string; readonly source: ListerWatcher<T> }[];
  /** The resource, where the sources say it. */
  readonly resource: Resource | undefined;
  /** The name of the resource in messages: `"pods"`, `"deployments.apps"`; `"objects"` if the sources do not say it. */
  readonly name: string;
  /** The name of the informer in messages. */
  readonly informer: string;
  /** The part of the collection that each source selects. */
  readonly selections: readonly Selection[];
  /** The same object for all collections of a server. */
  readonly server: object;
  /** `"keep"` if the objects are Secrets, and what is cached of them has data, or a copy of it. */
  readonly secretData: "drop" | "keep";
  /** The names of further annotations that hold the data of Secrets; none where the objects are of another kind. */
  readonly secretAnnotations: readonly string[];
  /** `"drop"` if the objects lack `metadata.managedFields`. */
  readonly managedFields: "drop" | "keep";
  /** `true` if a transform changes the objects. */
  readonly isTransformed: boolean;
  /** `true` if updates that change no named field have no event. */
  readonly skipsUnchanged: boolean;

  /**
   * Checks sources and options.
   *
   * @throws {TypeError} when there is no source, or a namespace is repeated or empty; when an option is not for this collection;
   * when the resource names fields of Secrets that are left out.
   */
  constructor(source: ListerWatcher<T> | readonly NamespaceSource<T>[], options: ObjectFormOptions<T>) {
    const { keep, unchanged, managedFields, secretAnnotations = [], transform } = options;
    this.sources = sourcesOf(source);
    const [{ source: first }] = this.sources;
    this.resource = first.resource;
    this.name = this.resource === undefined ? "objects" : resourceName(this.resource);
    this.informer = `the informer of "${this.name}"`;
    if (unchanged !== undefined && this.resource?.fields === undefined) {
      throw this.#refused("unchanged", "informers of named fields; give fields, or");
    }
    const isOfSecrets = this.resource !== undefined && isSecret(this.resource);
    if (keep !== undefined && !isOfSecrets) throw this.#refused("keep", "informers of Secrets;");
    this.selections = this.sources.map(({ source }) => source.selection ?? {});
    this.server = first.identities?.server ?? first;
    const form = { managedFields, secretAnnotations, secretData: keep === "data" ? "keep" : "drop" } as const;
    this.secretData = isOfSecrets && Reduction.keepsSecrets(this.resource!, form) ? "keep" : "drop";
    this.secretAnnotations = isOfSecrets ? secretAnnotations : [];
    this.managedFields = managedFields;
    this.isTransformed = transform !== undefined;
    this.skipsUnchanged = this.resource?.fields !== undefined && unchanged !== "deliver";
  }

  /** `true` if the cache has data of Secrets. */
  get hasSecrets(): boolean {
    return this.secretData === "keep";
  }

  /** The paths of fields that nothing has checked: some only for a kind found by discovery. */
  get uncheckedFields(): readonly string[] {
    return this.resource !== undefined && "verbs" in this.resource ? this.resource.fields ?? [] : [];
  }

  #refused(option: keyof ObjectFormOptions<T>, use: string): TypeError {
    return new TypeError(
      `Cannot create an informer of "${this.name}": the option "${option}" is for ${use} leave it out`,
    );
  }
}

/** @throws {TypeError} when there is no source, or a namespace comes twice or has no name. */
function sourcesOf<T>(source: ListerWatcher<T> | readonly NamespaceSource<T>[]): CachedCollection<T>["sources"] {
  if ("listEntries" in source) return [{ source }];
  const names = source.map(({ namespace }) => namespace);
  if (names.length === 0) throw new TypeError("Cannot create an informer: found no source, expected one at least");
  if (new Set(names).size < names.length || names.some((name) => !name)) {
    throw new TypeError(
      `Cannot create an informer: found the namespaces ${
        JSON.stringify(names)
      }, expected each to have a name of its own`,
    );
  }
  return names.length === 1 ? [{ source: source[0].source }] : source;
}
