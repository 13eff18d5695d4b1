import type { Abortable } from "../api/options.ts";
import { hashesOf, type HashRange, type ShardSource } from "../api/shard.ts";
import { defineResource, metadataOf, type Resource } from "../api/resource.ts";
import type { KubernetesObject, Reduced } from "../api/object.ts";
import type { HandlerRegistration } from "./events/event.ts";
import type { SharedIndexInformer } from "./shared_index_informer.ts";

/** Namespaces, as their metadata. */
export const NAMESPACE_METADATA: Resource<KubernetesObject & Reduced> = metadataOf(
  defineResource({ version: "v1", plural: "namespaces", kind: "Namespace", scope: "Cluster" }),
);

/** The namespaces of an informer, as a shard by namespace: each is a range of one hash. */
export class LabelledNamespaces implements ShardSource {
  /** As `ShardSource.name`. */
  readonly name: string;
  /** As `ShardSource.by`. */
  readonly by = "namespace";
  readonly #open: () => SharedIndexInformer<KubernetesObject & Reduced>;
  readonly #names = new Set<string>();
  readonly #listeners = new Set<() => void>();
  /** Set by the first {@linkcode ready}. */
  #handler: HandlerRegistration | undefined;

  /** Those with these labels, of the informer that `open` returns, once they are needed. */
  constructor(labels: string, open: () => SharedIndexInformer<KubernetesObject & Reduced>) {
    this.name = `namespaces of ${labels}`;
    this.#open = open;
  }

  /** As `ShardSource.ready`. */
  async ready(options: Abortable): Promise<void> {
    this.#handler ??= this.#open().addEventHandler({
      onAdd: ({ name }) => this.#change(() => this.#names.add(name)),
      onDelete: ({ name }) => this.#change(() => this.#names.delete(name)),
    }, { name: this.name });
    await this.#handler.waitForSync(options);
  }

  /** As `ShardSource.ranges`. */
  ranges(): readonly HashRange[] {
    return [...this.#names].flatMap(hashesOf);
  }

  /** As `ShardSource.namespaces`. */
  namespaces(): readonly string[] {
    return [...this.#names];
  }

  /** As `ShardSource.onChange`. */
  readonly onChange = (listener: () => void): Disposable => {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  };

  #change(change: () => void): void {
    change();
    for (const listener of [...this.#listeners]) listener();
  }
}
