/**
 * Random histories: writes and faults by seed, how each step is performed, and how a failing history is shrunk.
 *
 * {@linkcode history}, {@linkcode perform} and {@linkcode shrink} are the entry points. Steps are plain data. This file
 * does not check the result: its users do.
 *
 * @module
 */
import { keyOf, type KubernetesObject, type ObjectKey } from "../../engine/api/object.ts";
import { defineResource, type Resource } from "../../engine/api/resource.ts";
import { isNotFound } from "../../engine/api/status.ts";
import { parseRoute } from "../../engine/protocol/requests.ts";
import { checkNames } from "../../engine/errors/option_names.ts";
import type { FakeApiServer } from "./fake_api_server.ts";
import { type Fixture, pod } from "./objects.ts";
import { Random } from "./random.ts";
import { isStreamingList, type RecordedRequest } from "./wire/exchange.ts";
import type { RequestFilter } from "./wire/faults.ts";

/**
 * A moment between a request and its response, or between two requests.
 *
 * - `"list"`, `"page"`, `"watch"`: before the server answers a list, a list's later page, or a watch.
 * - `"listed"`: the server has answered a list, and the client has read nothing yet, so its watch has not begun.
 * - `"stream"`: the server has answered a streaming list, and the client has read nothing yet.
 */
export type ProtocolMoment = "list" | "page" | "watch" | "listed" | "stream";

/** A write to the object with a `name` in a `namespace`. */
export type WriteStep =
  /**
   * Creates or updates the object, with `tier` as the value of its label `tier`, and `value` in its data. With `again`,
   * it deletes the object and re-creates it, so that it gets a new uid.
   */
  | {
    readonly do: "write";
    readonly namespace: string;
    readonly name: string;
    readonly tier: string;
    readonly value: number;
    readonly again: boolean;
  }
  /** Deletes the object, if it exists. */
  | { readonly do: "delete"; readonly namespace: string; readonly name: string };

/**
 * A step in a history. It is plain data, so you can print, shrink and replay a history.
 *
 * Faults of requests affect the next `times` requests with a `verb`: `"write"` means all writes, and `"any"` means all
 * requests. `ms` are milliseconds.
 */
export type HistoryStep =
  | WriteStep
  /** Makes `writes`, in order, at the next such moment. */
  | { readonly do: "writeAt"; readonly moment: ProtocolMoment; readonly writes: readonly WriteStep[] }
  /** Sends the initial events in the next `times` streaming lists one by one, `intervalMs` milliseconds apart. */
  | { readonly do: "spread"; readonly times: number; readonly intervalMs: number }
  /** Fails requests with the HTTP status code `code`, and with `retryAfterSeconds` in the header `Retry-After`. */
  | {
    readonly do: "refuse";
    readonly code: number;
    readonly times: number;
    readonly verb: "list" | "watch" | "write" | "any";
    readonly retryAfterSeconds?: number;
  }
  /** Breaks connections before a response, or annotates the written objects just before the writes arrive. */
  | { readonly do: "break" | "conflict"; readonly times: number }
  /** Ends all watches with an ERROR event that has the HTTP status code `code`. */
  | { readonly do: "failWatches"; readonly code: number }
  /**
   * Stalls the open watches for `ms`. `of` is the index of the path whose watches to stall, in the order of each path's
   * first watch. Without it, all watches stall.
   */
  | { readonly do: "stall"; readonly ms: number; readonly of?: number }
  /** Delays all responses by `ms`. 0 ends it. */
  | { readonly do: "latency"; readonly ms: number }
  /** Stalls responses after their headers, or slows them down, for `ms`. */
  | { readonly do: "stallNext" | "drip"; readonly times: number; readonly verb: "list" | "watch"; readonly ms: number }
  /** Responds with an HTML page, an empty body, or a compressed body. */
  | { readonly do: "html" | "empty" | "gzip"; readonly times: number; readonly verb: "list" | "watch" }
  /** Compacts the history at the next such moment. */
  | { readonly do: "compactAt"; readonly moment: ProtocolMoment }
  /** Shortens the watch history to the last `writes` writes. */
  | { readonly do: "shortenHistory"; readonly writes: number }
  /** Restarts the server. `"lost"` compacts the history. */
  | { readonly do: "restart"; readonly history: "kept" | "lost" }
  /** Moves to a version that is `by` versions later, without an event. */
  | { readonly do: "jump"; readonly by: number }
  /** Switches support for streaming lists, or automatic bookmarks, on or off. */
  | { readonly do: "streamingList" | "bookmarks"; readonly on: boolean }
  /** Makes the server's clock fast by `ms`. Negative values make it slow. */
  | { readonly do: "clockSkew"; readonly ms: number }
  /**
   * Breaks or ends connections, truncates, splits, duplicates, reorders, corrupts or loses the watches' next events,
   * compacts the history, forces a relist, or sends a bookmark.
   */
  | { readonly do: "drop" | "end" | "truncate" | "truncateNext" | "cutInCharacter" | "duplicate" | "reorder" }
  | { readonly do: "corrupt" | "lose" | "compact" | "forceRelist" | "bookmark" };

/** A fault: a step that writes no object. */
export type FaultStep = Exclude<HistoryStep, WriteStep | { readonly do: "writeAt" }>;

/** Options for {@linkcode history}. */
export interface HistoryOptions {
  /** The number of steps. @default {40} */
  readonly steps?: number;
  /**
   * Which faults occur:
   *
   * - `"none"`: only writes.
   * - `"harmless"`: writes, and faults that a client survives without a relist.
   * - `"all"`: writes and all faults.
   *
   * @default {"all"}
   */
  readonly faults?: "none" | "harmless" | "all";
  /** The objects' namespaces. @default {["a", "b"]} */
  readonly namespaces?: readonly string[];
  /** The number of object names per namespace. @default {5} */
  readonly names?: number;
}

/**
 * Generates a random history: writes to a few names, mixed with faults. Use it to find event sequences that break your
 * code. The same seed gives the same history.
 *
 * A history that loses an event ends with a forced relist, because nothing else repairs the cache.
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
  checkNames("create a history", options, "steps faults namespaces names");
  const { steps = 40, faults = "all", namespaces = ["a", "b"], names = 5 } = options;
  const random = new Random(seed);
  const found: HistoryStep[] = [];
  while (found.length < steps) {
    if (faults === "none" || random.next() >= 0.3) found.push(writesStep(random, namespaces, names));
    else found.push(random.pick(faults === "all" && random.next() < 0.5 ? HARMFUL : HARMLESS)(random));
  }
  const lost = found.findLastIndex((step) => step.do === "lose");
  if (lost >= 0) {
    const place = lost + 1 + random.below(found.length - lost);
    // A fault armed after the last relist could still lose an event, so the relist follows all of them.
    found.splice(place, 0, { do: "forceRelist" });
  }
  return found;
}

/** Returns a write for now, or several writes at a protocol moment. */
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

type MakeFault = (random: Random) => FaultStep;

const anyVerb = (random: Random): "list" | "watch" => random.pick(["list", "watch"]);
const stallMs = (random: Random): number => random.pick([5_000, 60_000, 400_000]);

/** Draws refusals of 1 to 3 requests, here and for `chaos()`. */
export function refused(
  random: Random,
  codes: readonly number[],
  verb: (random: Random) => StepOf<"refuse">["verb"],
): StepOf<"refuse"> {
  return { do: "refuse", code: random.pick(codes), times: 1 + random.below(3), verb: verb(random) };
}

/** Draws whether refusals have a `Retry-After`. */
export function retryAfter(random: Random): Pick<StepOf<"refuse">, "retryAfterSeconds"> {
  return random.next() < 0.5 ? { retryAfterSeconds: 1 + random.below(5) } : {};
}

/** Faults that a client survives without a relist. */
const HARMLESS: readonly MakeFault[] = [
  ...(["drop", "end", "truncate", "truncateNext", "cutInCharacter", "duplicate", "reorder", "bookmark"] as const)
    .map((name): MakeFault => () => ({ do: name })),
  (random) => ({ do: "stall", ms: stallMs(random) }),
  ...(["stallNext", "drip"] as const).map((name): MakeFault => (random) => {
    const verb = anyVerb(random);
    return { do: name, times: 1 + random.below(2), verb, ms: stallMs(random) };
  }),
  (random) => ({ do: "spread", times: 1 + random.below(2), intervalMs: random.pick([1, 30, 700]) }),
  (random) => ({ do: "latency", ms: random.pick([0, 0, 20, 900]) }),
  (random) => ({ ...refused(random, [429, 503], () => "watch"), ...retryAfter(random) }),
  () => ({ do: "restart", history: "kept" }),
  (random) => ({ do: "jump", by: random.pick([1, 90, 12_345]) }),
  (random) => ({ do: "streamingList", on: random.next() < 0.5 }),
  (random) => ({ do: "bookmarks", on: random.next() < 0.5 }),
  (random) => ({ do: "clockSkew", ms: random.pick([-3_600_000, 0, 250, 86_400_000]) }),
];

/** Faults after which a client may have to relist. */
const HARMFUL: readonly MakeFault[] = [
  () => ({ do: "compact" }),
  (random) => ({ do: "compactAt", moment: random.pick(MOMENTS) }),
  (random) => ({ do: "shortenHistory", writes: random.pick([1, 2, 5]) }),
  () => ({ do: "failWatches", code: 410 }),
  (random) => ({ do: "failWatches", code: random.pick([429, 500, 504]) }),
  (random) => refused(random, [400, 401, 403, 404, 410, 422, 429, 500, 504], anyVerb),
  (random) => ({ do: "break", times: 1 + random.below(3) }),
  () => ({ do: "restart", history: "lost" }),
  () => ({ do: "lose" }),
  () => ({ do: "corrupt" }),
  ...(["html", "empty", "gzip"] as const).map((name): MakeFault => (random) => ({
    do: name,
    times: 1 + random.below(2),
    verb: anyVerb(random),
  })),
];

/**
 * Performs a step from {@linkcode history} on a server. A fault that lasts (a stall, slow responses, a short history,
 * no bookmarks) does not end by itself: dispose the result to end it.
 *
 * Written objects have a label `tier`, and `data.value` if the resource has data.
 */
export function perform<T extends KubernetesObject>(
  server: FakeApiServer,
  resource: Resource<T>,
  step: HistoryStep,
): Disposable | undefined {
  switch (step.do) {
    case "write":
      return void write(server, resource, step);
    case "delete": {
      const key = `${step.namespace}/${step.name}`;
      if (server.get(resource, key) !== undefined) server.delete(resource, key, { force: true });
      return undefined;
    }
    case "writeAt":
      return void onceAt(server, step.moment, () => {
        for (const write of step.writes) perform(server, resource, write);
      });
    default:
      return performFault(server, step);
  }
}

/** What all objects have in common, so that caches hold them compactly. */
const NOTE = "This text is the same in each object. ".repeat(12);

function write<T extends KubernetesObject>(
  server: FakeApiServer,
  resource: Resource<T>,
  { namespace, name, tier, value, again }: WriteStep & { readonly do: "write" },
): void {
  const key = `${namespace}/${name}`;
  const labels = { tier };
  const annotations = { note: NOTE };
  const data = { value: String(value), text: "größer 大" };
  if (again && server.get(resource, key) !== undefined) server.delete(resource, key, { force: true });
  if (server.get(resource, key) !== undefined) server.patch(resource, key, { metadata: { labels }, data });
  else server.create(resource, { metadata: { namespace, name, labels, annotations }, data } as unknown as Fixture<T>);
}

/**
 * Performs a fault on a server, and returns a disposable that ends the fault if it lasts. A request fault affects only
 * the requests that `among` selects.
 */
export function performFault(server: FakeApiServer, step: FaultStep, among?: RequestFilter): Disposable | undefined {
  const performed = FAULTS[step.do] as Performed<FaultStep>;
  return performed(server, step, "verb" in step ? requestsOf(step.verb, among) : among) ?? undefined;
}

/** Selects requests with a verb that `among` selects too, without the first `skip` requests. */
export function requestsOf(
  verb: "list" | "watch" | "write" | "any",
  among: RequestFilter = () => true,
  skip = 0,
): RequestFilter {
  return (request) =>
    (verb === "any" || verb === request.verb || (verb === "write" && isWrite(request))) && among(request) &&
    skip-- <= 0;
}

/** Performs a fault. If it is a request fault, it affects the requests that `filter` selects. */
type Performed<Step> = (server: FakeApiServer, step: Step, filter?: RequestFilter) => Disposable | void;

/** The step with a name, even if steps with several names are described together. */
export type StepOf<Name, Step = FaultStep> = Step extends { readonly do: infer Names }
  ? Name extends Names ? Step : never
  : never;

/** How to perform each fault. */
const FAULTS: { readonly [Name in FaultStep["do"]]: Performed<StepOf<Name>> } = {
  refuse: (server, { code, retryAfterSeconds, times }, filter) =>
    server.failNext({ code, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) }, times, filter),
  break: (server, { times }, filter) => server.breakNext(times, filter),
  conflict: (server, { times }, filter) =>
    server.beforeNext((request) => annotateObjectOf(server, request), times, requestsOf("write", filter)),
  stallNext: (server, { times }, filter) => server.stallNext(times, filter),
  drip: (server, { times }, filter) => server.dripNext(DROP_BYTES, DROP_MS, times, filter),
  spread: (server, { intervalMs, times }) => server.spreadNext(intervalMs, times),
  html: (server, { times }, filter) => server.htmlNext(times, filter),
  empty: (server, { times }, filter) => server.emptyNext(times, filter),
  gzip: (server, { times }, filter) => server.gzipNext(times, filter),
  compactAt: (server, { moment }) => onceAt(server, moment, () => server.compact()),
  shortenHistory: (server, { writes }) => server.shortenHistory(writes),
  restart: (server, { history }) => server.restart({ history }),
  jump: (server, { by }) => server.jump(Number(server.resourceVersion) + by),
  streamingList: (server, { on }) => server.supportStreamingList(on),
  bookmarks: (server, { on }) => {
    server.sendBookmarks(on);
    return on ? undefined : { [Symbol.dispose]: () => server.sendBookmarks(true) };
  },
  clockSkew: (server, { ms }) => server.clockSkew(ms),
  failWatches: (server, { code }) => server.failWatches({ code }),
  stall: (server, { of }) => server.stallWatches(of === undefined ? undefined : watchedResource(server, of)),
  latency: (server, { ms }) => server.latency(ms),
  drop: (server) => server.dropWatches(),
  end: (server) => server.endWatches(),
  truncate: (server) => server.truncateWatches(),
  truncateNext: (server) => server.truncateWatches(undefined, "nextEvent"),
  cutInCharacter: (server) => server.cutInCharacter(),
  duplicate: (server) => server.duplicateNext(),
  reorder: (server) => server.reorderNext(),
  corrupt: (server) => server.corruptNext(),
  lose: (server) => server.loseNext(),
  forceRelist: (server) => server.forceRelist(),
  compact: (server) => server.compact(),
  bookmark: (server) => server.bookmark(),
};

/** Writes to a request's object, so that a write with its version meets a conflict. */
function annotateObjectOf(server: FakeApiServer, { path }: RecordedRequest): void {
  const route = parseRoute(path);
  if (route.type !== "resource" || route.name === undefined) return;
  const resource = defineResource({ ...route, kind: route.plural });
  const key = route.namespace === "" ? route.name : `${route.namespace}/${route.name}`;
  if (server.get(resource, key) === undefined) return;
  server.annotate(resource, key, { "perturb.example.com/annotated": server.resourceVersion });
}

/** Returns the resource for one of the watched paths, or `undefined` if there is none. */
function watchedResource({ requests }: FakeApiServer, of: number): Resource | undefined {
  const paths = [...new Set(requests.filter(({ verb }) => verb === "watch").map(({ path }) => path))];
  const route = paths.length === 0 ? undefined : parseRoute(paths[of % paths.length]);
  return route?.type === "resource" ? defineResource({ ...route, kind: route.plural }) : undefined;
}

/** Calls `act` once, at the next such moment. */
export function onceAt(server: FakeApiServer, moment: ProtocolMoment, act: () => void): void {
  const isAnswered = moment === "listed" || moment === "stream";
  server[isAnswered ? "afterNext" : "beforeNext"](act, 1, REQUESTS[moment]);
}

/** The requests of each moment. */
const REQUESTS: Readonly<Record<ProtocolMoment, RequestFilter>> = {
  list: requestsOf("list"),
  page: ({ query }) => query.has("continue"),
  watch: requestsOf("watch"),
  listed: requestsOf("list"),
  stream: isStreamingList,
};
const MOMENTS = Object.keys(REQUESTS) as ProtocolMoment[];

/** A slow response's chunk size in bytes, and the interval in milliseconds. */
const DROP_BYTES = 60;
const DROP_MS = 500;

/** Returns `true` if a request writes an object. */
export function isWrite({ verb }: Pick<RecordedRequest, "verb">): boolean {
  return verb !== "get" && verb !== "list" && verb !== "watch";
}

/** The remaining steps from a failing sequence, and how they fail. */
interface Shrunk<Step, Failure> {
  /** The remaining steps. */
  readonly steps: readonly Step[];
  /** How these steps fail. */
  readonly failure: Failure;
}

/**
 * Leaves steps out while the sequence still fails: first large pieces, then single steps, until each remaining step is
 * needed.
 *
 * It tries at most `tries` sequences. `failureOf` returns `undefined` for a sequence that does not fail.
 */
export async function shrink<Step, Failure>(
  failing: Shrunk<Step, Failure>,
  failureOf: (steps: readonly Step[]) => Promise<Failure | undefined>,
  tries: number,
): Promise<Shrunk<Step, Failure>> {
  let { steps, failure } = failing;
  for (let size = Math.ceil(steps.length / 2), shorter = false; size >= 1 && tries > 0;) {
    for (let from = 0; from < steps.length && tries > 0; tries--) {
      const without = steps.toSpliced(from, size);
      const still = await failureOf(without);
      if (still === undefined) from += size;
      else [steps, failure, shorter] = [without, still, true];
    }
    if (size > 1) size = Math.ceil(size / 2);
    else if (!shorter) break;
    shorter = false;
  }
  return { steps, failure };
}

/** Options for {@linkcode churn}. */
export interface ChurnOptions<T extends KubernetesObject> {
  /** The resource whose objects to change. */
  readonly resource: Resource<T>;
  /** `"update"`: only updates. `"all"`: one step in five creates or deletes, in balance. @default {"update"} */
  readonly mix?: "update" | "all";
  /** The seed. The same seed and the same objects give the same steps. @default {1} */
  readonly seed?: number;
  /**
   * Builds the object to create. The number passed is never used twice.
   * @default {for pods, a pod from `pod()`, otherwise an object with a name}
   */
  readonly make?: (index: number) => Fixture<T>;
}

/** The change that a step made. */
export interface ChurnStep {
  /** The change's type. */
  readonly type: "create" | "update" | "delete";
  /** The changed object's key. */
  readonly key: ObjectKey;
}

/**
 * Returns a function that makes one random change to the server's objects per call. Use it to measure your code under
 * load.
 *
 * An update increments an annotation, and every eighth update to a pod also sets the phase. Updates and deletions pick
 * among the objects that existed at the start or that churn has created. If there are none, the step creates one.
 */
export function churn<T extends KubernetesObject>(server: FakeApiServer, options: ChurnOptions<T>): () => ChurnStep {
  checkNames("create churn", options, "resource mix seed make");
  const { resource, mix = "update", seed = 1 } = options;
  const isPods = resource.plural === "pods" && resource.group === "";
  const make = options.make ??
    ((index: number): Fixture<T> =>
      (isPods
        ? pod({ name: `churn-${seed}-${index}` })
        : { metadata: { name: `churn-${seed}-${index}` } }) as unknown as Fixture<T>);
  const random = new Random(seed);
  const keys = server.keys(resource);
  const usual = keys.length;
  let made = keys.length;
  let steps = 0;

  function create(): ChurnStep {
    const key = keyOf(server.create(resource, make(made++)));
    keys.push(key);
    return { type: "create", key };
  }

  /** Removes a key by moving the last key into its place. */
  function forget(place: number): void {
    const last = keys.pop()!;
    if (place < keys.length) keys[place] = last;
  }

  function change(place: number, type: "update" | "delete"): ChurnStep {
    const key = keys[place];
    if (type === "delete") {
      forget(place);
      server.delete(resource, key, { force: true });
    } else {
      const annotations = { "example.com/churn": String(steps) };
      if (isPods && steps % 8 === 0) {
        const phase = steps % 16 === 0 ? "Running" : "Pending";
        server.patch(resource, key, { metadata: { annotations }, status: { phase } });
      } else server.annotate(resource, key, annotations);
    }
    return { type, key };
  }

  return (): ChurnStep => {
    steps++;
    const dice = mix === "update" ? 1 : random.next();
    if (keys.length === 0 || (dice < 0.2 && keys.length <= usual)) return create();
    const place = random.below(keys.length);
    try {
      return change(place, dice < 0.2 ? "delete" : "update");
    } catch (error) {
      if (!isNotFound(error)) throw error;
      // The object was deleted elsewhere: drop its key.
      if (keys[place] !== undefined) forget(place);
      return create();
    }
  };
}
