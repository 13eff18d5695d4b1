import type { KubernetesObject } from "../../api/object.ts";
import type { Resource } from "../../api/resource.ts";
import type { TableRow } from "../../api/table_row.ts";
import { LongTimer } from "../../async/time/long_timer.ts";
import type { AcquiredInformer } from "../../informer/acquired_informer.ts";
import type { SharedInformerFactory } from "../../informer/shared_informer_factory.ts";
import type { ClientStream } from "../feed/client_stream.ts";
import { Feed, type FeedOptions, type StreamRequest } from "../feed/feed.ts";
import type { ObjectSelection } from "../objects/object_selection.ts";
import { type Show, showFor, type ShowOptions } from "../objects/show.ts";
import type { RelayedCollection } from "./relayed_collection.ts";
import { SharedLists } from "./shared_lists.ts";

/** Options of a {@linkcode ServedCollection}. */
export interface ServedCollectionOptions extends ShowOptions, Pick<FeedOptions, "budget" | "heartbeatMs" | "stallMs"> {
  /** The name of the cluster, or of the relay alone. */
  readonly cluster: string;
  /** The time from the end of the last stream to the release of the informer, in milliseconds. */
  readonly lingerMs: number;
}

/**
 * A collection under the name that it has in addresses: its informers, its objects as clients may see them, and the feed of its
 * streams.
 *
 * The feed holds an informer from the first stream until `lingerMs` after the last one; lists and views acquire informers of their
 * own.
 */
export class ServedCollection implements Disposable {
  /** The name. */
  readonly name: string;
  /** The kind, or the table of it. */
  readonly resource: Resource;
  /** Returns what clients may see of an object, also where the collection is a table. */
  readonly show: Show;
  /** Returns what clients may see of an object of views: the row, where the collection is a table. */
  readonly showRow: Show;
  /** `true` if there may be objects of which clients see nothing. */
  readonly hides: boolean;
  /** The objects of lists that are being read. */
  readonly lists: SharedLists;
  readonly #informers: SharedInformerFactory;
  readonly #collection: RelayedCollection;
  readonly #options: ServedCollectionOptions;
  readonly #linger = new LongTimer(() => this[Symbol.dispose]());
  /** Set while there are streams, and `lingerMs` longer. */
  #feed: Feed | undefined;

  /** @throws {TypeError} when the name cannot be part of an address. */
  constructor(
    informers: SharedInformerFactory,
    name: string,
    given: Resource | RelayedCollection,
    options: ServedCollectionOptions,
  ) {
    if (!/^[\w.-]+$/.test(name) || name === "." || name === "..") {
      throw new TypeError(`Cannot serve ${JSON.stringify(name)}: expected letters, digits, ".", "_" and "-"`);
    }
    this.name = name;
    this.#informers = informers;
    this.#collection = "resource" in given ? given : { resource: given };
    this.#options = options;
    this.resource = this.#collection.resource;
    this.showRow = showFor(this.resource, options);
    this.show = this.resource.representation === "table"
      ? (entry) => (this.showRow(entry) as TableRow | undefined)?.object
      : this.showRow;
    this.hides = options.redact !== undefined;
    this.lists = new SharedLists(options.budget, this.show);
  }

  /** The number of open streams; `undefined` if there have been none for `lingerMs`. */
  get streams(): number | undefined {
    return this.#feed?.size;
  }

  /** Acquires its informer. */
  acquire(): AcquiredInformer<KubernetesObject> {
    const { resource, ...options } = this.#collection;
    return this.#informers.acquire(resource, options);
  }

  /** Returns the namespaces that a selection asks for. */
  namespacesOf({ namespace }: { readonly namespace: string }): readonly string[] | "all" {
    return namespace === "" ? this.#collection.namespaces ?? "all" : [namespace];
  }

  /** Returns a digest of the cluster, the collection and a selection: equal for requests of the same objects and fields. */
  scopeOf({ id }: ObjectSelection): Promise<string> {
    return digest(JSON.stringify([this.#options.cluster, this.name, this.#collection.namespaces, id]));
  }

  /** Opens a stream of its feed. */
  openStream(request: StreamRequest): ClientStream {
    const { budget, heartbeatMs, stallMs, lingerMs } = this.#options;
    this.#linger[Symbol.dispose]();
    const feed = this.#feed ??= new Feed(this.acquire(), {
      show: this.show,
      hides: this.hides,
      budget,
      heartbeatMs,
      stallMs,
      onStop: () => this[Symbol.dispose](),
    });
    return feed.open({
      ...request,
      onEnd: () => {
        request.onEnd();
        if (this.#feed === feed && feed.size === 0) this.#linger.arm(lingerMs);
      },
    });
  }

  /** Ends its streams, with the reason `closed`, and gives the informer of its feed back. */
  [Symbol.dispose](): void {
    const feed = this.#feed;
    this.#feed = undefined; // so that the last stream does not arm the timer
    this.#linger[Symbol.dispose]();
    feed?.[Symbol.dispose]();
  }
}

/** Returns 96 bits of the SHA-256 of a text, as base64url. */
async function digest(text: string): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return btoa(String.fromCharCode(...bytes.subarray(0, 12))).replaceAll("+", "-").replaceAll("/", "_");
}
