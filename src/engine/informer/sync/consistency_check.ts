/**
 * Compares a cache with a list of metadata, while list and watch continue.
 *
 * {@linkcode ConsistencyChecks} is the entry point. The list is not older than the cache, so an object that has an
 * older state there, or is missing, differs once the cache has reached the list's version. Repairs pass the queue like
 * changes of a watch.
 *
 * @module
 */
import type { Abortable } from "../../api/call_options.ts";
import { type CacheEntry, sameVersion } from "../../api/entry.ts";
import { defined } from "../../api/json.ts";
import { type IdentitySource, readPages } from "../../api/lister_watcher.ts";
import type { KubernetesObject, ObjectKey } from "../../api/object.ts";
import { Arrivals } from "../../api/shard.ts";
import { isOlder, isResourceVersion, isTooLargeResourceVersion } from "../../api/status.ts";
import { ReadAhead } from "../../async/iterate.ts";
import { abortReason, DerivedController, isAbortOf } from "../../async/signals.ts";
import { backoffMs, sleep, timedController } from "../../async/time.ts";
import { inTurn } from "../../async/turns.ts";
import { InformerError } from "../../errors/informer_error.ts";
import { ListDeadline } from "../../reflector/requests.ts";
import type { CollectionSync } from "./collection_sync.ts";
import type { PartSync, RunningCheck } from "./part_sync.ts";
import { readOne } from "./server_state.ts";

/** The number of keys in a {@linkcode CheckResult}. */
const MOST_KEYS = 10;

/** The result of a consistency check, which compares a cache with the server. */
export interface CheckResult {
  /** The number of objects that the server listed. */
  readonly objects: number;
  /** The number of objects that were missing in the cache, gone from the server, or cached at an older version. */
  readonly differences: number;
  /** The keys of the first ten differing objects. */
  readonly keys: readonly ObjectKey[];
  /**
   * How the check repaired the cache:
   *
   * - `"none"`: nothing to do, the cache matched the server.
   * - `"objects"`: the differing objects were read again.
   * - `"list"`: the collection will be listed again, for `reason`. Handlers receive the differences after that list.
   * - `"listed"`: the collection was listed during the check, which ended the check.
   */
  readonly repair: "none" | "objects" | "list" | "listed";
  /** Why a list is necessary. */
  readonly reason?: string;
}

/** Options for a consistency check. */
export interface CheckOptions extends Abortable {
  /**
   * The version that the server's list must have at least, if the server has it. `""` means the newest. The default is
   * the cache's version.
   */
  readonly resourceVersion?: string;
}

/** The same, of an empty collection. */
const NOTHING_CHECKED: CheckResult = { objects: 0, differences: 0, keys: [], repair: "none" };

const REPAIRS = ["none", "listed", "objects", "list"] as const;

/** Returns the result of two parts of a collection. */
function addResults(a: CheckResult, b: CheckResult): CheckResult {
  const reason = a.reason ?? b.reason;
  return {
    objects: a.objects + b.objects,
    differences: a.differences + b.differences,
    keys: [...a.keys, ...b.keys].slice(0, MOST_KEYS),
    repair: REPAIRS[Math.max(REPAIRS.indexOf(a.repair), REPAIRS.indexOf(b.repair))],
    ...defined({ reason }),
  };
}

/** Returns the result of a check that found `all` to differ. */
function resultOf(
  objects: number,
  all: readonly ObjectKey[],
  repair: CheckResult["repair"],
  reason?: string,
): CheckResult {
  return {
    objects,
    differences: all.length,
    keys: all.slice(0, MOST_KEYS),
    repair,
    ...defined({ reason }),
  };
}

/** The longest wait of a list for its first or next object, in milliseconds. */
const LIST_IDLE_MS = 70_000;

/**
 * The longest wait for the watch to reach the version of a list that differs: a server sends a bookmark each minute.
 */
const SILENT_MS = 90_000;

/** The largest number of objects that are read one by one; if more differ, the collection is listed. */
const MOST_READS = 100;

/** The reason with which a check ends when the reflector lists. */
const listedAnew = abortReason("The collection is being listed");

/** The part whose objects are compared. */
type Checked<T extends KubernetesObject> = Pick<
  PartSync<T>,
  | "source"
  | "known"
  | "cached"
  | "serverKeyOf"
  | "gate"
  | "repair"
  | "remove"
  | "relist"
  | "pageSize"
  | "check"
  | "valid"
>;

/** A list of the server, compared with the cache as it arrived. */
interface Compared {
  /** The version of the list. */
  version: string;
  /** The number of objects. */
  objects: number;
  /** The keys of the listed objects, as the server has them: the key in the cache may not be known yet. */
  readonly keys: Set<ObjectKey>;
  /** The listed objects that were not cached at that version. */
  readonly suspects: CacheEntry<KubernetesObject>[];
}

/** An object of which cache and server have different states; at least one of them has it. */
interface Difference<T> {
  readonly cached?: CacheEntry<T>;
  readonly listed?: CacheEntry<KubernetesObject>;
}

/**
 * Compares a cache with its server once, by uid and version, and repairs the objects that differ.
 *
 * The server's list is not older than the cache, which may be behind or ahead of it. So an object differs for sure only
 * once the cache has reached the version of the list, and still has an older state than the list has, or an object that
 * the list has not. Such an object is read again. What was read is applied unless the cache is behind it, for then the
 * watch sends it; has a newer state; or has seen the object deleted meanwhile. A deletion needs no second read: the
 * list has shown it.
 *
 * The server's history went back if its list is older than the cache, or has an older state of an object than the cache
 * has from before the list, or another object of that name at the same version. Then, and when the watch does not reach
 * the list's version, the collection is listed.
 */
class ConsistencyCheck<T extends KubernetesObject> implements RunningCheck {
  readonly #part: Checked<T>;
  readonly #job: DerivedController;
  readonly #version: string;
  /**
   * `#deleted` has the server's key of each object that the watch has reported as deleted since the last read began.
   */
  readonly #deleted = new Set<ObjectKey>();

  /** Sends no request yet. The check ends with `signal`. */
  constructor(part: Checked<T>, { signal, resourceVersion = "0" }: CheckOptions) {
    this.#part = part;
    this.#job = new DerivedController(signal);
    this.#version = resourceVersion;
  }

  listing(): void {
    this.#job.abort(listedAnew());
  }

  abort(reason: Error): void {
    this.#job.abort(reason);
  }

  deleted(key: ObjectKey): void {
    this.#deleted.add(key);
  }

  /** Compares and repairs. Rejects when a request fails, or with the reason of the signal. */
  async run(): Promise<CheckResult> {
    this.#part.check = this;
    try {
      return await this.#run();
    } catch (error) {
      if (this.#job.signal.reason === listedAnew()) return resultOf(0, [], "listed");
      throw error;
    } finally {
      this.#part.check = undefined;
    }
  }

  async #run(): Promise<CheckResult> {
    const { gate } = this.#part;
    const before = gate.version;
    const isNeeded = this.#version === "" || isOlder(before, this.#version);
    const compared = await this.#compare(isNeeded ? this.#version : before);
    const { version, objects } = compared;
    if (isOlder(version, before)) {
      const reason = `the server's history went back from version ${before} to ${version}`;
      return this.#relist(compared, this.#differences({ ...compared, version: before }), reason);
    }
    let differences = this.#differences(compared);
    if (differences.length > 0 && ![before, version].every(isResourceVersion)) {
      return this.#relist(compared, differences, "the server does not order its versions");
    }
    // What the watch brings meanwhile may differ from the list too, until the cache has reached a later version.
    for (let needed; isOlder(gate.version, needed = neededVersion(differences, version));) {
      const reached = await this.#reach(needed);
      differences = this.#differences(compared);
      if (reached || differences.length === 0) continue;
      const reason = `the watch has not reached version ${needed} for ${SILENT_MS / 1_000} s`;
      return this.#relist(compared, differences, reason);
    }
    const back = differences.find(({ cached, listed }) =>
      cached !== undefined && listed !== undefined && !isOlder(cached.resourceVersion, listed.resourceVersion)
    );
    if (back !== undefined) {
      const { cached, listed } = back;
      const reason = `the server's history went back: "${cached!.key}" is cached at version ` +
        `${cached!.resourceVersion}, and was ${cached!.uid === listed!.uid ? "" : "another object "}at ` +
        `${listed!.resourceVersion} when the server was at ${version}`;
      return this.#relist(compared, differences, reason);
    }
    if (differences.length > MOST_READS) {
      return this.#relist(compared, differences, "there are too many to read one by one");
    }
    const keys: ObjectKey[] = [];
    for (const difference of differences) {
      if (await this.#repair(difference)) keys.push(keyOf(difference));
    }
    return resultOf(objects, keys, keys.length === 0 ? "none" : "objects");
  }

  #relist({ objects }: Compared, differences: readonly Difference<T>[], reason: string): CheckResult {
    this.#part.relist(new Error(`A consistency check needs a list: ${reason}`));
    return resultOf(objects, differences.map(keyOf), "list", reason);
  }

  /** Lists the collection, at `version` or later, and compares it with the cache. */
  async #compare(version: string): Promise<Compared> {
    try {
      return await this.#list(version);
    } catch (error) {
      // Only the newest state shows if the server is slow, or its history went back.
      if (!isTooLargeResourceVersion(error)) throw error;
      return await this.#list("");
    }
  }

  async #list(version: string): Promise<Compared> {
    const { source, known, pageSize } = this.#part;
    const identities: Pick<IdentitySource, "listEntries"> = source.identities ?? source;
    using job = new DerivedController(this.#job.signal);
    using deadline = new ListDeadline(job, { beginMs: LIST_IDLE_MS, progressMs: LIST_IDLE_MS });
    let compared = nothingCompared();
    const [read, sent] = [new Arrivals(source.shard), new Arrivals(source.shard)];
    const pages = readPages({
      action: "compare the cache with the list",
      list: {
        limit: pageSize,
        ...(version === "" ? {} : { resourceVersion: version, resourceVersionMatch: "NotOlderThan" as const }),
      },
      open: (list) =>
        new ReadAhead(
          (signal) => identities.listEntries({ ...list, signal, known: (key) => known.getByKey(key) }),
          job.signal,
        ),
      sizeOf: ({ entries }) => sent.count(entries.length),
      restart: true,
    });
    for await (const { part, restarted } of pages) {
      deadline.progress(read.count(part.entries.length));
      if (restarted) compared = nothingCompared();
      compared.version ||= part.resourceVersion ?? "";
      compared.objects += part.entries.length;
      for (const entry of part.entries) {
        if (entry.key === "") continue; // the informer's own list has reported it
        compared.keys.add(entry.key);
        if (!isSame(this.#part.cached(entry.key), entry)) compared.suspects.push(entry);
      }
    }
    return compared;
  }

  /**
   * Returns the objects in which the cache differs at present, but for those that have changed since the list's
   * version.
   */
  #differences({ version, keys, suspects }: Compared): Difference<T>[] {
    const { known } = this.#part;
    const differences: Difference<T>[] = [];
    for (const listed of suspects) {
      const cached = this.#part.cached(listed.key);
      if (cached === undefined && this.#part.valid?.keepsOut(listed.key)) continue;
      if (cached === undefined) differences.push({ listed });
      else if (!isSame(cached, listed) && !isOlder(version, cached.resourceVersion)) {
        differences.push({ cached, listed });
      }
    }
    for (const key of known.keys()) {
      const cached = known.getByKey(key)!;
      if (keys.has(this.#part.serverKeyOf(cached))) continue;
      if (!isOlder(version, cached.resourceVersion)) differences.push({ cached });
    }
    return differences;
  }

  /** Returns `true` once the cache has reached `version`, and `false` if it does not within {@linkcode SILENT_MS}. */
  async #reach(version: string): Promise<boolean> {
    using job = timedController(SILENT_MS, "The watch is silent", this.#job.signal);
    try {
      await this.#part.gate.wait(version, job);
      return true;
    } catch (error) {
      if (this.#job.signal.aborted || !isAbortOf(job.signal, error)) throw error;
      return false;
    }
  }

  /** Repairs one object. Returns `true` if it differed. */
  async #repair({ cached, listed }: Difference<T>): Promise<boolean> {
    const part = this.#part;
    if (listed === undefined) {
      if (part.known.getByKey(cached!.key) !== cached) return false;
      part.remove(cached!);
      return true;
    }
    const read = await this.#read(listed);
    const present = part.cached(listed.key);
    const isNewer = read !== undefined && !this.#deleted.has(listed.key) &&
      !isOlder(part.gate.version, read.resourceVersion) &&
      (present === undefined || isOlder(present.resourceVersion, read.resourceVersion));
    if (isNewer) part.repair(read);
    return isNewer || cached !== undefined;
  }

  /** Reads an object by a list of it alone, to which the selectors of the cache apply. */
  async #read({ namespace, name }: CacheEntry<KubernetesObject>): Promise<CacheEntry<T> | undefined> {
    const { source } = this.#part;
    using job = new DerivedController(this.#job.signal);
    using _deadline = new ListDeadline(job, { beginMs: LIST_IDLE_MS, progressMs: LIST_IDLE_MS });
    this.#deleted.clear();
    return await readOne(source, { namespace, name }, job);
  }
}

/** Returns the version that the cache must have reached for all of `differences` to be sure, of a list at `version`. */
function neededVersion(differences: readonly Difference<unknown>[], version: string): string {
  return differences.map(({ listed }) => listed === undefined ? version : listed.resourceVersion)
    .reduce((a, b) => isOlder(a, b) ? b : a, "0");
}

function nothingCompared(): Compared {
  return { version: "", objects: 0, keys: new Set(), suspects: [] };
}

/**
 * As `sameVersion()`, but objects that cannot be read count too, and one without a version is the cached one: polls
 * compare its content.
 */
function isSame(cached: CacheEntry<unknown> | undefined, listed: CacheEntry<unknown>): boolean {
  if (cached === undefined) return false;
  if (listed.resourceVersion === "") return cached.uid === listed.uid;
  return sameVersion(cached, listed) ||
    (cached.uid === listed.uid && cached.resourceVersion === listed.resourceVersion && cached.error !== undefined);
}

function keyOf({ cached, listed }: Difference<unknown>): ObjectKey {
  return (cached ?? listed)!.key;
}

/** A consistency check found that the cache did not match the server. Reported to `onError`. */
export class CacheDifferenceError extends InformerError {
  /** `"CacheDifferenceError"`. */
  override readonly name = "CacheDifferenceError";
  /** The number of objects that were missing, gone, or cached at another version. */
  readonly differences: number;
  /** The keys of the first ten differing objects. */
  readonly keys: readonly ObjectKey[];

  /** Creates an error for this resource, its objects, and the repair. */
  constructor(resource: string, differences: number, keys: readonly ObjectKey[], repair: string) {
    const names = keys.map((key) => `"${key}"`).join(", ");
    const more = differences > keys.length ? ` and ${differences - keys.length} more` : "";
    super(
      `The cache of "${resource}" differs from the server in ${differences} ${
        differences === 1 ? "object" : "objects"
      }${names === "" ? "" : ` (${names}${more})`}: ${repair}`,
    );
    this.differences = differences;
    this.keys = keys;
  }
}

/** The largest share by which the time between two checks is longer than asked for. */
const JITTER = 0.2;

/** The consistency checks of an informer, and their results. */
export class ConsistencyChecks<T extends KubernetesObject> {
  readonly #sync: CollectionSync<T>;
  readonly #signalOf: () => AbortSignal;
  /** Only rises. */
  #differences = 0;
  #last: (CheckResult & { readonly at: Date }) | undefined;

  /** Checks nothing yet. `signalOf` returns the signal of the present run, which ends the checks. */
  constructor(sync: CollectionSync<T>, signalOf: () => AbortSignal) {
    this.#sync = sync;
    this.#signalOf = signalOf;
  }

  get #signal(): AbortSignal {
    return this.#signalOf();
  }

  /** The number of objects that have differed, and the result of the last check, if there was one. */
  get status(): { readonly differences: number; readonly lastCheck?: CheckResult & { readonly at: Date } } {
    return { differences: this.#differences, ...defined({ lastCheck: this.#last }) };
  }

  /** Checks all parts. Rejects as `SharedIndexInformer.checkConsistency()` does. */
  async check({ signal, resourceVersion }: CheckOptions = {}): Promise<CheckResult> {
    signal?.throwIfAborted();
    using job = new DerivedController(signal, this.#signal);
    const options = { signal: job.signal, resourceVersion };
    return await inTurn(this.#sync.collection.server, () => this.#check(options), { signal: job.signal });
  }

  /**
   * Resolves once a check has found or made the cache equal to the server's newest state, or there is nothing to check.
   * One that fails is reported, and repeated; so is one that a list has to follow.
   */
  async untilChecked(signal: AbortSignal): Promise<void> {
    for (let failures = 0;; failures++) {
      try {
        const { repair } = await this.check({ signal, resourceVersion: "" });
        if (repair === "none" || repair === "objects") return;
      } catch (error) {
        signal.throwIfAborted();
        if (this.#signal.aborted || this.#sync.parts.some(({ phase }) => this.#sync.lacksKind(phase))) return;
        this.#sync.report(error);
      }
      await sleep(backoffMs(failures, {}), { signal });
    }
  }

  /** Checks while the informer is live, each `intervalMs` milliseconds or up to 1.2 times that; `Infinity` is never. */
  async runEvery(intervalMs: number): Promise<void> {
    if (intervalMs === Infinity) return;
    const signal = this.#signal;
    const { state } = this.#sync;
    while (!signal.aborted) {
      try {
        await sleep(intervalMs * (1 + JITTER * Math.random()), { signal });
        // Otherwise a list or a resumed watch repairs the cache, or nothing can be read.
        if (state.state === "live") await this.check();
      } catch (error) {
        if (!signal.aborted && state.state !== "paused") this.#sync.report(error);
      }
    }
  }

  async #check(options: CheckOptions): Promise<CheckResult> {
    const sync = this.#sync;
    const { collection } = sync;
    let result = NOTHING_CHECKED;
    for (const part of sync.parts) {
      if (!sync.parts.includes(part)) continue; // no longer followed
      const { state } = sync.state;
      const isIdle = state === "paused" || state === "stopped";
      if (isIdle || !sync.hasSynced) {
        throw new Error(`Cannot check ${collection.informer}: it ${isIdle ? `is ${state}` : "has not synced yet"}`);
      }
      result = addResults(result, await new ConsistencyCheck<T>(part, options).run());
    }
    this.#differences += result.differences;
    this.#last = { ...result, at: new Date() };
    sync.changes.changed();
    const { differences, keys, repair, reason } = result;
    if (repair === "objects" || repair === "list") {
      const text = repair === "objects"
        ? "repaired by further reads"
        : `the collection is listed again, because ${reason}`;
      sync.report(new CacheDifferenceError(collection.name, differences, keys, text));
    }
    return result;
  }
}
