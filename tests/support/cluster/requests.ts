import type {
  KubernetesObject,
  ListerWatcher,
  ListOptions,
  ListPart,
  Resource,
  ResourceClient,
  WatchChange,
  WatchOptions,
} from "@kube/informer";

/** A collection that counts what is asked of it, on the way to the server. */
export class Requests<T extends KubernetesObject> implements ListerWatcher<T> {
  /** The resource, after which informers are named. */
  readonly resource: Resource<T>;
  /** Lists begun. */
  lists = 0;
  /** Pages asked for, the first of a list too. */
  pages = 0;
  /** Watches asked for, streaming lists too. */
  watches = 0;
  /** Streaming lists asked for. */
  streamingLists = 0;
  /** Called before a page that is not the first is asked for. */
  beforeNextPage: () => Promise<void> = () => Promise.resolve();
  /** Called before a watch that is not the first is asked for. */
  beforeNextWatch: () => Promise<void> = () => Promise.resolve();
  readonly #collection: ResourceClient<T>;

  /** Counts on the way to `collection`. */
  constructor(collection: ResourceClient<T>) {
    this.#collection = collection;
    this.resource = collection.resource;
  }

  /** As {@linkcode ResourceClient.listEntries}. */
  async *listEntries(options: ListOptions = {}): AsyncGenerator<ListPart<T>, void, undefined> {
    this.pages++;
    if (options.continue === undefined) this.lists++;
    else await this.beforeNextPage();
    yield* this.#collection.listEntries(options);
  }

  /** As {@linkcode ResourceClient.watchChanges}. */
  async *watchChanges(options: WatchOptions = {}): AsyncGenerator<readonly WatchChange<T>[], void, undefined> {
    if (options.sendInitialEvents) this.streamingLists++;
    if (++this.watches > 1) await this.beforeNextWatch();
    yield* this.#collection.watchChanges(options);
  }
}
