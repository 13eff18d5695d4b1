/**
 * The parts of a fake API server, connected, and its options.
 *
 * {@linkcode Backend} is the entry point. It has the store, the watches, the faults and the server's features.
 * `server/request_handler.ts` handles requests.
 *
 * @module
 */
import { Discovery } from "../../engine/protocol/discovery.ts";
import { checkNames } from "../../engine/errors/option_names.ts";
import { Random } from "./random.ts";
import { PodLogs } from "./reads/pod_logs.ts";
import { type ServerFeatures, Watches } from "./reads/watch.ts";
import { Conversions } from "./server/conversion.ts";
import { RequestHandler } from "./server/request_handler.ts";
import type { ResourceParts } from "./server/resource_handler.ts";
import type { WebhookHandler } from "./server/webhook_call.ts";
import { builtInResources, crdResources, define, definitionOf, type ResourceDefinition } from "./storage/definition.ts";
import { parseStored, Store, type StoredCollection, type StoreEvent } from "./storage/store.ts";
import { AccessControl, type Authorize, type OpenRecord, type Tokens } from "./wire/exchange.ts";
import { Faults } from "./wire/faults.ts";
import { Admission } from "./writes/admission.ts";
import { FIRST_NAMESPACES, NamespaceLifecycle, NAMESPACES } from "./writes/identity.ts";
import { Writer } from "./writes/writer.ts";

/** The option names that say which parts a server has. */
const PARTS = "resources namespaces schemas managedFields streamingList shards tokens authorize";

/** Options for {@linkcode FakeApiServer}. */
export interface FakeApiServerOptions {
  /** The number of writes in the watch history. Older watches and exact lists get 410. @default {10_000} */
  readonly history?: number;
  /** Resources to serve in addition to the built-in resources. @default {none} */
  readonly resources?: readonly ResourceDefinition[];
  /**
   * The time between a watch's bookmarks, in milliseconds. A last bookmark follows 2 s before the watch ends.
   * @default {60_000}
   */
  readonly bookmarkMs?: number;
  /**
   * How long a watch without `timeoutSeconds` lasts, in milliseconds. The server picks up to twice as long.
   * @default {1_800_000}
   */
  readonly watchTimeoutMs?: number;
  /** Support for streaming lists. If `false`, they get 422, like from servers before 1.32. @default {true} */
  readonly streamingList?: boolean;
  /**
   * If `true`, `shardSelector` filters lists and watches, like on servers with the feature gate ShardedListAndWatch.
   * Otherwise it is ignored. @default {false}
   */
  readonly shards?: boolean;
  /** If `true`, writes record `managedFields`. @default {true} */
  readonly managedFields?: boolean;
  /**
   * Selects the objects that must follow their kind's schema, in field names and types, defaults, and validation.
   * `requests` means objects in requests, and `fixtures` means objects that your test creates and updates directly.
   * Rules in CEL, and the checks of CRDs, count only for requests.
   * @default {{ requests: true, fixtures: false }}
   */
  readonly schemas?: { readonly requests?: boolean; readonly fixtures?: boolean };
  /**
   * Whether namespaces behave like on a cluster:
   *
   * - `"any"`: namespaces need not exist, and are deleted at once.
   * - `"real"`: requests that create an object get 404 if its namespace does not exist, and 403 if it is being deleted.
   *   A new cluster's namespaces exist from the start, and cannot be deleted. Others end when
   *   {@linkcode FakeApiServer.finalizeNamespaces} has removed their objects.
   *
   * @default {"any"}
   */
  readonly namespaces?: "any" | "real";
  /** The largest chunk in a response, in bytes. Small values split lines and characters. @default {65_536} */
  readonly chunkBytes?: number;
  /** The seed for uids, generated names and watch durations. @default {1} */
  readonly seed?: number;
  /** The clock for creation and deletion timestamps, in milliseconds since 1970. @default {Date.now} */
  readonly now?: () => number;
  /**
   * Users by bearer token. If you give it, unknown tokens get 401, and requests without a token come from
   * `system:anonymous`. @default {no authentication}
   */
  readonly tokens?: Tokens;
  /**
   * Authorizes each request: `false` responds with 403. @default {everything is allowed, except for `system:anonymous`}
   */
  readonly authorize?: Authorize;
}

/** The number of recorded requests that are kept. */
const REQUESTS = 10_000;
/** The number of characters in their bodies that are kept. */
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
  /** The logs of containers. */
  readonly logs: PodLogs;
  /** The server's clock, in milliseconds since 1970. */
  readonly now: () => number;
  /** Answers HTTP requests. */
  readonly handler: RequestHandler;
  /** Faults that are armed or in effect. */
  readonly faults: Faults = new Faults();
  /** The registered admission hooks. */
  readonly admission: Admission = new Admission();
  /** Converts the objects of kinds with a conversion webhook, and has what answers for all webhooks. */
  readonly conversions: Conversions;
  /** Optional server features; faults switch them off and on. */
  readonly features: ServerFeatures;
  /** The latest requests, oldest first. */
  readonly requests: OpenRecord[] = [];
  /** Called after each write, behind its delivery to watches. */
  readonly listeners: Set<(event: StoreEvent) => void> = new Set();
  /** Number of writes in the watch history, unless a fault shortens it. */
  readonly history: number;
  /** The characters of their bodies. */
  #bodies = 0;

  /**
   * Creates the components.
   *
   * @throws {RangeError} if an option is out of range.
   */
  constructor(options: FakeApiServerOptions) {
    checkNames("create a fake API server", options, `${PARTS} history bookmarkMs watchTimeoutMs chunkBytes seed now`);
    const { history = 10_000, chunkBytes = 65_536, bookmarkMs = 60_000, watchTimeoutMs = 1_800_000 } = options;
    const { streamingList = true, managedFields = true, seed = 1, shards = false } = options;
    for (const [name, value] of Object.entries({ history, chunkBytes, bookmarkMs, watchTimeoutMs })) {
      if (!(value >= 1)) {
        throw new RangeError(`Cannot start a fake API server: ${name} must be at least 1, but it is ${value}`);
      }
    }
    this.history = history;
    this.features = { streamingList, bookmarks: true, shards };
    const random = new Random(seed);
    // A separate generator, so that uids do not depend on the number of watches.
    const durations = new Random(~seed);
    let services = 0;
    const store = new Store(history, {
      event: (event) => this.#changed(event),
      removing: (collection, stored) => {
        // The event of the definition's deletion comes after the deletion of all it defines.
        if (isDefinitions(collection)) { for (const old of crdResources(parseStored(stored))) store.undefine(old); }
      },
      versions: (definition) => this.conversions.versionsOf(definition),
      unconverted: (collection, key) => this.conversions.later(collection, key),
      undefined: (collection) => this.watches.endAll(collection),
    });
    for (const kind of builtInResources()) store.define(define(kind, kind));
    for (const resource of options.resources ?? []) store.define(definitionOf(resource));
    this.store = store;
    const reviews = new Random(seed + 2);
    this.conversions = new Conversions(store, { handler: undefined, uid: () => reviews.uid() });
    const timeoutMs = (): number => Math.floor(watchTimeoutMs * (1 + durations.next()));
    const clock = options.now ?? ((): number => Date.now());
    const now = this.now = (): number => clock() + this.faults.skewMs;
    const { features } = this;
    this.watches = new Watches(store, { bookmarkMs, timeoutMs, chunkBytes, features });
    const namespaces = options.namespaces === "real" ? new NamespaceLifecycle(store) : undefined;
    this.writer = new Writer(store, {
      now,
      uid: () => random.uid(),
      suffix: () => random.suffix(),
      managedFields,
      schemas: { requests: true, fixtures: false, ...options.schemas },
      admission: this.admission,
      clusterIp: () => `10.96.${++services >> 8}.${services & 255}`,
      namespaces,
    });
    const ids = new Random(seed + 1);
    this.logs = new PodLogs(store, this.writer, now, () => ids.hex(64));
    if (namespaces !== undefined) this.#createNamespaces();
    const { watches, writer, logs } = this;
    const discovery = new Discovery(() => Array.from(store.collections(), ({ definition }) => definition));
    const parts = { store, watches, writer, logs, namespaces, discovery, features, now };
    this.handler = this.#handler(options, parts, chunkBytes);
  }

  #handler(options: FakeApiServerOptions, parts: ResourceParts, chunkBytes: number): RequestHandler {
    return new RequestHandler({
      ...parts,
      chunkBytes,
      access: new AccessControl(options.tokens, options.authorize),
      conversions: this.conversions,
      faults: this.faults,
      record: (request) => {
        if (this.requests.length >= REQUESTS) this.#forget(REQUESTS / 10);
        this.requests.push(request);
      },
      recordBody: (request, body) => {
        request.body = body;
        this.#bodies += body.length;
        while (this.#bodies > BODIES) this.#forget(1);
      },
    });
  }

  /** Creates the namespaces of a new cluster. */
  #createNamespaces(): void {
    const mode = { manager: "kube-apiserver", subresource: "", dryRun: false, direct: true };
    for (const name of FIRST_NAMESPACES) {
      this.writer.create(this.store.collection(NAMESPACES)!, "", { metadata: { name } }, mode);
    }
  }

  /** Removes the oldest requests. */
  #forget(count: number): void {
    for (const { body = "" } of this.requests.splice(0, count)) this.#bodies -= body.length;
  }

  #changed(event: StoreEvent): void {
    if (isDefinitions(event.collection) && event.type !== "DELETED") this.#redefine(event);
    this.watches.deliver(event);
    this.logs.changed(event);
    for (const listener of this.listeners) listener(event);
  }

  /** Asks a handler about writes and conversions from now on. */
  serveWebhooks(handler: WebhookHandler): void {
    this.conversions.source.handler = handler;
    for (const { definition } of [...this.store.collections()]) {
      if (definition.custom) this.conversions.compare(definition);
    }
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
    if (now.length > 0) this.conversions.compare(now[0]);
  }
}

function isDefinitions({ definition: { plural, group } }: StoredCollection): boolean {
  return plural === DEFINITIONS && group === "apiextensions.k8s.io";
}
