import type { FakeApiServerOptions } from "./fake_api_server_options.ts";
import { Faults } from "./faults/faults.ts";
import { AccessControl } from "./http/access_control.ts";
import type { OpenRecord } from "./http/recorded_request.ts";
import { Random } from "./objects/random.ts";
import { CollectionLister } from "./reads/collection_lister.ts";
import { type ServerFeatures, Watches } from "./reads/watches.ts";
import { Discovery } from "./server/discovery.ts";
import { OpenApi } from "./server/open_api.ts";
import { RequestHandler } from "./server/request_handler.ts";
import { ResourceHandler } from "./server/resource_handler.ts";
import { BUILT_IN, definitionOf } from "./storage/built_in.ts";
import { crdResources } from "./storage/crd.ts";
import { define } from "./storage/definition.ts";
import { Revisions } from "./storage/revisions.ts";
import { Store } from "./storage/store.ts";
import type { StoredCollection } from "./storage/stored_collection.ts";
import { parseStored } from "./storage/stored_object.ts";
import type { StoreEvent } from "./storage/watch_history.ts";
import { Admission } from "./writes/admission.ts";
import { Writer } from "./writes/writer.ts";

/** Number of recorded requests that are kept. */
const REQUESTS = 10_000;
/** Number of characters of their bodies that are kept. */
const BODIES = 67_108_864;
const DEFINITIONS = "customresourcedefinitions";

/** The components of a fake API server, wired together. */
export class Backend {
  /** All collections and the revision counter. */
  readonly store: Store;
  /** The open watches. */
  readonly watches: Watches;
  /** Validates writes and writes them to the store. */
  readonly writer: Writer;
  /** Answers HTTP requests. */
  readonly handler: RequestHandler;
  /** Faults that are armed or in effect. */
  readonly faults: Faults = new Faults();
  /** The registered admission hooks. */
  readonly admission: Admission = new Admission();
  /** Optional server features; faults switch them off and on. */
  readonly features: ServerFeatures;
  /** Requests that wait for a future revision. */
  readonly revisions: Revisions;
  /** The latest requests, oldest first. */
  readonly requests: OpenRecord[] = [];
  /** Called after each write, behind its delivery to watches. */
  readonly listeners: Set<(event: unknown) => void> = new Set();
  /** Number of writes in the watch history, unless a fault shortens it. */
  readonly history: number;
  /** At least the characters of their bodies. */
  #bodies = 0;

  /**
   * Creates the components.
   *
   * @throws {RangeError} if an option is out of range.
   */
  constructor(options: FakeApiServerOptions) {
    const { history = 10_000, chunkBytes = 65_536, bookmarkMs = 60_000, watchTimeoutMs = 1_800_000 } = options;
    const { streamingList = true, managedFields = true, tooLargeDelayMs = 0, seed = 1 } = options;
    for (const [name, value] of Object.entries({ history, chunkBytes, bookmarkMs, watchTimeoutMs })) {
      if (!(value >= 1)) {
        throw new RangeError(`Cannot start a fake API server: ${name} must be at least 1, found ${value}`);
      }
    }
    this.history = history;
    this.features = { streamingList, bookmarks: true };
    const random = new Random(seed);
    // A separate generator, so that uids do not depend on the number of watches.
    const durations = new Random(~seed);
    const store = new Store(history, {
      event: (event) => this.#changed(event),
      removing: (collection, stored) => {
        // The event of the definition's deletion comes after the deletion of all it defines.
        if (isDefinitions(collection)) { for (const old of crdResources(parseStored(stored))) store.undefine(old); }
      },
      undefined: (collection) => this.watches.endAll(collection),
    });
    for (const kind of BUILT_IN) store.define(define(kind, kind));
    for (const resource of options.resources ?? []) store.define(definitionOf(resource));
    this.store = store;
    this.revisions = new Revisions(store, tooLargeDelayMs);
    const until = (revision: number): Promise<boolean> => this.revisions.until(revision);
    const timeoutMs = (): number => Math.floor(watchTimeoutMs * (1 + durations.next()));
    const clock = options.now ?? ((): number => Date.now());
    const now = (): number => clock() + this.faults.skewMs;
    const { features } = this;
    this.watches = new Watches(store, { bookmarkMs, timeoutMs, chunkBytes, features, until });
    this.writer = new Writer(store, {
      now,
      uid: () => random.uid(),
      suffix: () => random.suffix(),
      managedFields,
      admission: this.admission,
    });
    const { watches, writer } = this;
    const discovery = new Discovery(store);
    const lister = new CollectionLister(store, until);
    this.handler = new RequestHandler({
      access: new AccessControl(options.tokens, options.authorize),
      faults: this.faults,
      discovery,
      openApi: new OpenApi(store),
      resources: new ResourceHandler({ store, lister, watches, writer, discovery, features, now }),
      chunkBytes,
      now,
      record: (request) => {
        if (this.requests.length >= REQUESTS) this.requests.splice(0, REQUESTS / 10);
        this.requests.push(request);
      },
      recordBody: (request, body) => {
        request.body = body;
        this.#bodies += body.length;
        if (this.#bodies > BODIES) this.#forgetBodies();
      },
    });
  }

  /** Removes the oldest requests, until the bodies of the others are no more than is kept. */
  #forgetBodies(): void {
    let kept = this.requests.length;
    this.#bodies = 0;
    for (; kept > 0; kept--) {
      const size = this.requests[kept - 1].body?.length ?? 0;
      if (this.#bodies + size > BODIES) break;
      this.#bodies += size;
    }
    this.requests.splice(0, kept);
  }

  #changed(event: StoreEvent): void {
    if (isDefinitions(event.collection) && event.type !== "DELETED") this.#redefine(event);
    this.watches.deliver(event);
    this.revisions.reached();
    for (const listener of this.listeners) listener(event);
  }

  #redefine({ stored, before }: StoreEvent): void {
    const now = crdResources(parseStored(stored));
    const old = before === undefined ? [] : crdResources(parseStored(before));
    for (const resource of now) this.store.define(definitionOf(resource));
    for (const resource of old) {
      const { group, version, plural } = resource;
      const kept = now.some((next) => next.group === group && next.version === version && next.plural === plural);
      if (!kept) this.store.undefine(resource);
    }
  }
}

function isDefinitions({ definition: { plural, group } }: StoredCollection): boolean {
  return plural === DEFINITIONS && group === "apiextensions.k8s.io";
}
