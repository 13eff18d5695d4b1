import { Random } from "./random.ts";
import type { KubernetesObject } from "../api/object.ts";
import type { Resource } from "../api/resource.ts";
import type { FakeApiServer } from "./fake_api_server.ts";
import type { RequestFilter } from "./faults/faults.ts";
import type { Fixture } from "./objects.ts";
import { isStreamingList, type RecordedRequest } from "./http/request.ts";

/**
 * A moment between a request and its response, or between two requests.
 *
 * - `"list"`, `"page"`, `"watch"`: before a list, a later page of one, or a watch is answered.
 * - `"listed"`: a list is answered, and the client has read nothing of it: before its watch.
 * - `"stream"`: a streaming list is answered, and the client has read nothing of it.
 */
export type ProtocolMoment = "list" | "page" | "watch" | "listed" | "stream";

/** A write to one object. */
export type WriteStep =
  | {
    /** Creates or updates an object; with `again`, deletes it first, so that it gets a new uid. */
    readonly do: "write";
    /** Namespace of the object. */
    readonly namespace: string;
    /** Name of the object. */
    readonly name: string;
    /** Value of the label `tier`. */
    readonly tier: string;
    /** Value written to the data. */
    readonly value: number;
    /** If true, the object is deleted and recreated. */
    readonly again: boolean;
  }
  | {
    /** Deletes an object, if it exists. */
    readonly do: "delete";
    /** Namespace of the object. */
    readonly namespace: string;
    /** Name of the object. */
    readonly name: string;
  };

/** A step of a history, as plain data: a history can be printed, shrunk and replayed. */
export type HistoryStep =
  | WriteStep
  | {
    /** Makes writes at the next such moment. */
    readonly do: "writeAt";
    /** The moment. */
    readonly moment: ProtocolMoment;
    /** The writes, in order. */
    readonly writes: readonly WriteStep[];
  }
  | {
    /** Sends the initial events of streaming lists one at a time. */
    readonly do: "spread";
    /** Number of streaming lists. */
    readonly times: number;
    /** Milliseconds between two events. */
    readonly everyMs: number;
  }
  | {
    /** Fails requests. */
    readonly do: "refuse";
    /** HTTP status code. */
    readonly code: number;
    /** Number of requests. */
    readonly times: number;
    /** Verb of the requests. */
    readonly verb: "list" | "watch";
    /** Value of `Retry-After`, in seconds. */
    readonly retryAfterSeconds?: number;
  }
  | {
    /** Breaks connections before a response. */
    readonly do: "break";
    /** Number of requests. */
    readonly times: number;
  }
  | {
    /** Ends all watches with an ERROR event. */
    readonly do: "failWatches";
    /** HTTP status code in the event. */
    readonly code: number;
  }
  | {
    /** Stalls all watches. */
    readonly do: "stall";
    /** Duration in milliseconds. */
    readonly ms: number;
  }
  | {
    /** Delays all responses. */
    readonly do: "latency";
    /** Delay in milliseconds; 0 ends it. */
    readonly ms: number;
  }
  | {
    /** Stalls responses after their headers, or slows them down. */
    readonly do: "stallNext" | "drip";
    /** Number of responses. */
    readonly times: number;
    /** Verb of the requests. */
    readonly verb: "list" | "watch";
    /** Duration in milliseconds. */
    readonly ms: number;
  }
  | {
    /** Answers with an HTML page, an empty body, or compressed. */
    readonly do: "html" | "empty" | "gzip";
    /** Number of requests. */
    readonly times: number;
    /** Verb of the requests. */
    readonly verb: "list" | "watch";
  }
  | {
    /** Compacts the history at the next such moment. */
    readonly do: "compactAt";
    /** The moment. */
    readonly moment: ProtocolMoment;
  }
  | {
    /** Shortens the watch history. */
    readonly do: "shortenHistory";
    /** Number of writes to keep. */
    readonly writes: number;
  }
  | {
    /** Restarts the server. */
    readonly do: "restart";
    /** `"lost"` compacts the history. */
    readonly history: "kept" | "lost";
  }
  | {
    /** Moves the version on without an event. */
    readonly do: "jump";
    /** Number of versions. */
    readonly by: number;
  }
  | {
    /** Switches support for streaming lists, or automatic bookmarks. */
    readonly do: "streamingList" | "bookmarks";
    /** The new setting. */
    readonly on: boolean;
  }
  | {
    /** Skews the server's clock. */
    readonly do: "clockSkew";
    /** Milliseconds ahead; negative values are behind. */
    readonly ms: number;
  }
  | {
    /**
     * Breaks or ends connections, truncates, splits, duplicates, reorders, corrupts or loses the next events of
     * watches, compacts the history, forces a relist, or sends a bookmark.
     */
    readonly do:
      | "drop"
      | "end"
      | "truncate"
      | "truncateNext"
      | "cutInCharacter"
      | "duplicate"
      | "reorder"
      | "corrupt"
      | "lose"
      | "compact"
      | "forceRelist"
      | "bookmark";
  };

/** Options for {@linkcode history}. */
export interface HistoryOptions {
  /** Number of steps. @default {40} */
  readonly steps?: number;
  /**
   * `"none"`: writes only. `"harmless"`: also faults that a client survives without a relist. `"all"`: all faults.
   * @default {"all"}
   */
  readonly faults?: "none" | "harmless" | "all";
  /** Namespaces of the objects. @default {["a", "b"]} */
  readonly namespaces?: readonly string[];
  /** Number of object names per namespace. @default {5} */
  readonly names?: number;
}

const HARMLESS = [
  "drop",
  "end",
  "truncate",
  "truncateNext",
  "cutInCharacter",
  "duplicate",
  "reorder",
  "bookmark",
  "stall",
  "stallNext",
  "drip",
  "spread",
  "latency",
  "throttle",
  "restart",
  "jump",
  "streamingList",
  "bookmarks",
  "clockSkew",
] as const;
const HARMFUL = [
  "compact",
  "compactAt",
  "shortenHistory",
  "gone",
  "failWatches",
  "refuse",
  "break",
  "restartWithoutHistory",
  "lose",
  "corrupt",
  "html",
  "empty",
  "gzip",
] as const;
const MOMENTS: readonly ProtocolMoment[] = ["list", "page", "watch", "listed", "stream"];

/**
 * Generates a random history: writes to a few names, mixed with faults. The same seed gives the same history. A
 * history that loses an event ends with a forced relist, since nothing else repairs the cache.
 *
 * @example
 * ```ts
 * import { FakeApiServer, history, perform } from "@kube/informer/testing";
 * import { ConfigMap } from "@kube/informer/kinds/core/v1";
 *
 * const server = new FakeApiServer();
 * for (const step of history(7, { faults: "none" })) perform(server, ConfigMap, step);
 * ```
 */
export function history(seed: number, options: HistoryOptions = {}): HistoryStep[] {
  const { steps = 40, faults = "all", namespaces = ["a", "b"], names = 5 } = options;
  const random = new Random(seed);
  const found: HistoryStep[] = [];
  while (found.length < steps) {
    const fault = faults !== "none" && random.next() < 0.3;
    found.push(fault ? faultStep(random, faults) : writesStep(random, namespaces, names));
  }
  const lost = found.findLastIndex((step) => step.do === "lose");
  if (lost >= 0) {
    const place = lost + 1 + random.below(found.length - lost);
    // A fault armed after the last relist could still lose an event, so the relist follows all of them.
    found.splice(place, 0, { do: "forceRelist" });
  }
  return found;
}

/** A write now, or several at a moment of the protocol. */
function writesStep(random: Random, namespaces: readonly string[], names: number): HistoryStep {
  const write = (): WriteStep => writeStep(random, namespaces, names);
  if (random.next() >= 0.12) return write();
  return { do: "writeAt", moment: random.pick(MOMENTS), writes: Array.from({ length: 1 + random.below(3) }, write) };
}

function writeStep(random: Random, namespaces: readonly string[], names: number): WriteStep {
  const where = { namespace: random.pick(namespaces), name: `n${random.below(names)}` };
  if (random.next() < 0.2) return { do: "delete", ...where };
  return {
    do: "write",
    ...where,
    tier: random.pick(["web", "db"]),
    value: random.below(1_000),
    again: random.next() < 0.1,
  };
}

function faultStep(random: Random, faults: "harmless" | "all"): HistoryStep {
  const kind = faults === "all" && random.next() < 0.5 ? random.pick(HARMFUL) : random.pick(HARMLESS);
  switch (kind) {
    case "stall":
      return { do: "stall", ms: random.pick([5_000, 60_000, 400_000]) };
    case "latency":
      return { do: "latency", ms: random.pick([0, 0, 20, 900]) };
    case "throttle":
      return {
        do: "refuse",
        code: random.pick([429, 503]),
        times: 1 + random.below(3),
        verb: "watch",
        ...(random.next() < 0.5 ? { retryAfterSeconds: 1 + random.below(5) } : {}),
      };
    case "refuse":
      return {
        do: "refuse",
        code: random.pick([400, 401, 403, 404, 410, 422, 429, 500, 504]),
        times: 1 + random.below(3),
        verb: random.pick(["list", "watch"]),
      };
    case "break":
      return { do: "break", times: 1 + random.below(3) };
    case "stallNext":
    case "drip": {
      const verb = random.pick(["list", "watch"] as const);
      return { do: kind, times: 1 + random.below(2), verb, ms: random.pick([5_000, 60_000, 400_000]) };
    }
    case "html":
    case "empty":
    case "gzip":
      return { do: kind, times: 1 + random.below(2), verb: random.pick(["list", "watch"]) };
    case "compactAt":
      return { do: kind, moment: random.pick(MOMENTS) };
    case "spread":
      return { do: kind, times: 1 + random.below(2), everyMs: random.pick([1, 30, 700]) };
    case "shortenHistory":
      return { do: kind, writes: random.pick([1, 2, 5]) };
    case "restart":
      return { do: kind, history: "kept" };
    case "restartWithoutHistory":
      return { do: "restart", history: "lost" };
    case "jump":
      return { do: kind, by: random.pick([1, 90, 12_345]) };
    case "streamingList":
    case "bookmarks":
      return { do: kind, on: random.next() < 0.5 };
    case "clockSkew":
      return { do: kind, ms: random.pick([-3_600_000, 0, 250, 86_400_000]) };
    case "failWatches":
      return { do: "failWatches", code: random.pick([429, 500, 504]) };
    case "gone":
      return { do: "failWatches", code: 410 };
    default:
      return { do: kind };
  }
}

/**
 * Performs a history step on a server. For a fault that lasts (a stall, slow responses, a short history, bookmarks
 * switched off), it returns a disposable that ends it; such a fault does not end by itself.
 *
 * Written objects have a label `tier`, and `data.value` if the resource has data.
 */
export function perform<T extends KubernetesObject>(
  server: FakeApiServer,
  resource: Resource<T>,
  step: HistoryStep,
): Disposable | undefined {
  switch (step.do) {
    case "write": {
      const key = `${step.namespace}/${step.name}`;
      const labels = { tier: step.tier };
      const data = { value: String(step.value), text: "größer 大" };
      if (step.again && server.get(resource, key) !== undefined) server.delete(resource, key);
      if (server.get(resource, key) !== undefined) {
        server.patch(resource, key, { metadata: { labels }, data });
        return undefined;
      }
      const draft = { metadata: { namespace: step.namespace, name: step.name, labels }, data };
      server.create(resource, draft as unknown as Fixture<T>);
      return undefined;
    }
    case "delete":
      if (server.get(resource, `${step.namespace}/${step.name}`) !== undefined) {
        server.delete(resource, `${step.namespace}/${step.name}`);
      }
      return undefined;
    case "refuse": {
      const { code, retryAfterSeconds, times, verb } = step;
      server.failNext({ code, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) }, times, only(verb));
      return undefined;
    }
    case "break":
      server.breakNext(step.times);
      return undefined;
    case "stallNext":
      return server.stallNext(step.times, only(step.verb));
    case "drip":
      return server.dripNext(DROP_BYTES, DROP_MS, step.times, only(step.verb));
    case "spread":
      server.spreadNext(step.everyMs, step.times);
      return undefined;
    case "html":
      server.htmlNext(step.times, only(step.verb));
      return undefined;
    case "empty":
      server.emptyNext(step.times, only(step.verb));
      return undefined;
    case "gzip":
      server.gzipNext(step.times, only(step.verb));
      return undefined;
    case "compactAt":
      onceAt(server, step.moment, () => server.compact());
      return undefined;
    case "writeAt":
      onceAt(server, step.moment, () => {
        for (const write of step.writes) perform(server, resource, write);
      });
      return undefined;
    case "shortenHistory":
      return server.shortenHistory(step.writes);
    case "restart":
      server.restart({ history: step.history });
      return undefined;
    case "jump":
      server.jump(Number(server.resourceVersion) + step.by);
      return undefined;
    case "streamingList":
      server.supportStreamingList(step.on);
      return undefined;
    case "bookmarks":
      server.sendBookmarks(step.on);
      return step.on ? undefined : { [Symbol.dispose]: (): void => server.sendBookmarks(true) };
    case "clockSkew":
      server.clockSkew(step.ms);
      return undefined;
    case "failWatches":
      server.failWatches({ code: step.code });
      return undefined;
    case "stall":
      return server.stallWatches();
    case "latency":
      server.latency(step.ms);
      return undefined;
    case "drop":
      server.dropWatches();
      return undefined;
    case "end":
      server.endWatches();
      return undefined;
    case "truncate":
      server.truncateWatches();
      return undefined;
    case "truncateNext":
      server.truncateWatches(undefined, "nextEvent");
      return undefined;
    case "cutInCharacter":
      server.cutInCharacter();
      return undefined;
    case "duplicate":
      server.duplicateNext();
      return undefined;
    case "reorder":
      server.reorderNext();
      return undefined;
    case "corrupt":
      server.corruptNext();
      return undefined;
    case "lose":
      server.loseNext();
      return undefined;
    case "forceRelist":
      server.forceRelist();
      return undefined;
    case "compact":
      server.compact();
      return undefined;
    case "bookmark":
      server.bookmark();
      return undefined;
    default:
      return step satisfies never;
  }
}

/** Calls `act` once, at the next such moment. */
export function onceAt(server: FakeApiServer, moment: ProtocolMoment, act: () => void): void {
  switch (moment) {
    case "list":
    case "watch":
      return server.beforeNext(act, 1, only(moment));
    case "page":
      return server.beforeNext(act, 1, isPage);
    case "listed":
      return server.afterNext(act, 1, only("list"));
    case "stream":
      return server.afterNext(act, 1, isStreamingList);
    default:
      return moment satisfies never;
  }
}

/** Chunk size of a slow response in bytes, and the interval in milliseconds. */
const DROP_BYTES = 60;
const DROP_MS = 500;

function only(verb: "list" | "watch"): RequestFilter {
  return (request) => request.verb === verb;
}

function isPage({ query }: RecordedRequest): boolean {
  return query.has("continue");
}
