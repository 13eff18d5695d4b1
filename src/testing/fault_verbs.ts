import type { Resource } from "../api/resource.ts";
import type { Status } from "../api/status.ts";
import type { Backend } from "./backend.ts";
import type { RequestFilter } from "./faults/armed_list.ts";
import { BrokenConnection } from "./faults/broken_connection.ts";
import type { RequestFailure, RequestHook } from "./faults/faults.ts";
import { isStreamingList } from "./http/recorded_request.ts";
import { refusalOf, statusJson } from "./http/refusal.ts";
import type { Watch } from "./reads/watch.ts";

/** The highest version that is told apart from its neighbours everywhere. */
const HIGHEST_REVISION = 999_999_999_999_999;

const PAGE = "<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body><h1>Sign in</h1></body></html>\n";

/**
 * What can go wrong with a {@linkcode FakeApiServer}, on command.
 *
 * Three kinds of verbs:
 *
 * - those with `Next` and a filter wait for the next requests that the filter takes ({@linkcode failNext},
 *   {@linkcode stallNext}, {@linkcode spreadNext}, {@linkcode beforeNext} …);
 * - those with `Next` and a resource wait for the next event of each watch that is open now ({@linkcode loseNext},
 *   {@linkcode duplicateNext} …);
 * - the others happen at once ({@linkcode dropWatches}, {@linkcode compact}, {@linkcode restart} …) or last until they are
 *   taken back ({@linkcode latency}, {@linkcode stallWatches} …).
 *
 * All of them work in this process and over a port alike; where a network makes a difference, the verb says so.
 */
export abstract class FaultVerbs {
  readonly #backend: Backend;

  /** Goes wrong with these parts. */
  protected constructor(backend: Backend) {
    this.#backend = backend;
  }

  // ── requests ───────────────────────────────────────────────────────────

  /**
   * Refuses the next `times` requests that `filter` takes, or any: with that status code, that Status, or, where the
   * failure has a `text`, with plain text. Armed several times, requests meet the oldest that fits.
   */
  failNext(failure: number | RequestFailure, times = 1, filter?: RequestFilter): void {
    this.#backend.faults.fail(failure, times, filter);
  }

  /**
   * Breaks the connection under the next `times` requests that `filter` takes, or any: `fetch` rejects with a
   * `TypeError`, as it does when nobody answers. Over a port, Deno makes a 500 of it.
   */
  breakNext(times = 1, filter?: RequestFilter): void {
    this.#backend.faults.break(times, filter);
  }

  /** Answers the next `times` requests that `filter` takes with 200 and a web page, as a proxy's sign-in does. */
  htmlNext(times = 1, filter?: RequestFilter): void {
    const headers = { "content-type": "text/html; charset=utf-8" };
    this.#backend.faults.instead.arm(() => new Response(PAGE, { headers }), times, filter);
  }

  /** Answers the next `times` requests that `filter` takes with 200 and nothing in it; nothing is done for them. */
  emptyNext(times = 1, filter?: RequestFilter): void {
    const headers = { "content-type": "application/json" };
    this.#backend.faults.instead.arm(() => new Response("", { headers }), times, filter);
  }

  /**
   * Compresses the next `times` answers to requests that `filter` takes, asked for or not, each chunk as a gzip member of
   * its own, as a proxy may do with a watch. Over a port, a client whose `fetch` decompresses does not see that it was.
   */
  gzipNext(times = 1, filter?: RequestFilter): void {
    this.#backend.faults.gzip.arm(true, times, filter);
  }

  /**
   * Lets the next `times` answers to requests that `filter` takes stop behind their headers: connected, and silent.
   * Disposing what is returned lets through what was held back, and takes back what was not met yet.
   */
  stallNext(times = 1, filter?: RequestFilter): Disposable {
    const held: WeakRef<{ release(): void }>[] = [];
    const disarm = this.#backend.faults.bodies.arm(
      (body) => {
        body.hold();
        held.push(new WeakRef(body));
      },
      times,
      filter,
    );
    return {
      [Symbol.dispose]: (): void => {
        disarm();
        for (const body of held.splice(0)) body.deref()?.release();
      },
    };
  }

  /**
   * Lets the next `times` answers to requests that `filter` takes come in drops: at most `bytes` at a time, one drop in
   * `everyMs` milliseconds. Disposing what is returned lets them flow, and takes back what was not met yet.
   *
   * @throws {RangeError} when there is less than a byte to a drop, or less than a millisecond between two.
   */
  dripNext(bytes: number, everyMs: number, times = 1, filter?: RequestFilter): Disposable {
    if (!(bytes >= 1 && everyMs >= 1)) {
      const found = `${bytes} bytes in ${everyMs} ms`;
      throw new RangeError(`Cannot slow answers down: it takes at least 1 byte and 1 ms to a drop, found ${found}`);
    }
    const dripping: WeakRef<{ drip(pace: undefined): void }>[] = [];
    const disarm = this.#backend.faults.bodies.arm(
      (body) => {
        body.drip({ bytes, everyMs });
        dripping.push(new WeakRef(body));
      },
      times,
      filter,
    );
    return {
      [Symbol.dispose]: (): void => {
        disarm();
        for (const body of dripping.splice(0)) body.deref()?.drip(undefined);
      },
    };
  }

  /**
   * Sends the initial events of the next `times` streaming lists that `filter` takes one at a time, one in `everyMs`
   * milliseconds, instead of all at once. Changes that happen meanwhile follow them, one at a time too, and come before the
   * bookmark that ends the list; no other bookmark comes before that one.
   *
   * ```ts
   * import { FakeApiServer } from "@kube/informer/testing";
   *
   * const server = new FakeApiServer();
   * server.spreadNext(100); // what is deleted in the next 100 ms is deleted before the streaming list ends
   * ```
   *
   * @throws {RangeError} when `everyMs` is less than a millisecond.
   */
  spreadNext(everyMs: number, times = 1, filter?: RequestFilter): void {
    if (!(everyMs >= 1)) {
      throw new RangeError(`Cannot spread initial events: milliseconds must be at least 1, found ${everyMs}`);
    }
    const streams: RequestFilter = (request) => isStreamingList(request) && (filter?.(request) ?? true);
    this.#backend.faults.spread.arm(everyMs, times, streams);
  }

  /**
   * Does something just before the next `times` requests that `filter` takes are answered, and lets them wait for it: so
   * anything can happen between a list and its watch, or between two pages.
   *
   * ```ts
   * import { FakeApiServer } from "@kube/informer/testing";
   *
   * const server = new FakeApiServer();
   * server.beforeNext(() => server.compact(), 1, (request) => request.query.has("continue"));
   * ```
   */
  beforeNext(hook: RequestHook, times = 1, filter?: RequestFilter): void {
    this.#backend.faults.before.arm(hook, times, filter);
  }

  /**
   * Does something when the next `times` requests that `filter` takes have been answered, and nothing of the answer has
   * been read: what happens there to a streaming list happens while it is under way.
   */
  afterNext(hook: RequestHook, times = 1, filter?: RequestFilter): void {
    this.#backend.faults.after.arm(hook, times, filter);
  }

  /** Waits so many milliseconds before each answer from now on; 0 ends that. */
  latency(ms: number): void {
    if (!(ms >= 0)) throw new RangeError(`Cannot set the latency: milliseconds must not be negative, found ${ms}`);
    this.#backend.faults.latencyMs = ms;
  }

  // ── watches ────────────────────────────────────────────────────────────

  /**
   * Breaks the connections of all open watches, or those of one resource: reading fails with a `TypeError`, and what was
   * not read yet is lost. Over a port, the connection ends without a last chunk, and Deno writes the error to its log.
   */
  dropWatches(resource?: Resource): void {
    for (const watch of this.#of(resource)) watch.body.break(new BrokenConnection());
  }

  /** Ends all open watches, or those of one resource, cleanly, as a timeout does; what is queued still arrives. */
  endWatches(resource?: Resource): void {
    for (const watch of this.#of(resource)) watch.end();
  }

  /**
   * Ends all open watches, or those of one resource, inside a line: half an event arrives, then a clean end, which is how
   * a killed server looks to most clients. With `"nextEvent"` it is the next event that arrives by half, and is lost.
   */
  truncateWatches(resource?: Resource, when: "now" | "nextEvent" = "now"): void {
    for (const watch of this.#of(resource)) {
      if (when === "now") watch.truncate();
      else watch.faultNext("line");
    }
  }

  /**
   * Cuts inside a character: on each open watch, or those of one resource, the next event that has a character of several
   * bytes arrives in two chunks, split inside that character. Nothing is lost.
   */
  cutInCharacter(resource?: Resource): void {
    for (const watch of this.#of(resource)) watch.faultNext("character");
  }

  /** Tells the next event of each open watch, or of those of one resource, twice. */
  duplicateNext(resource?: Resource): void {
    for (const watch of this.#of(resource)) watch.faultNext("duplicate");
  }

  /**
   * Tells the next event of each open watch, or of those of one resource, behind the next one of another object, both in
   * one chunk (which a network may cut). Until then it is held back, but for a bookmark or the end, which come behind it.
   * The events of one object stay in order.
   */
  reorderNext(resource?: Resource): void {
    for (const watch of this.#of(resource)) watch.faultNext("reorder");
  }

  /**
   * Does not tell the next event of each open watch, or of those of one resource. Nobody can notice, so nobody is right
   * about that object until it changes again, or everything is listed: {@linkcode forceRelist}.
   */
  loseNext(resource?: Resource): void {
    for (const watch of this.#of(resource)) watch.faultNext("lose");
  }

  /**
   * Makes the next event of each open watch, or of those of one resource, a line that is not JSON: `"line"` from its first
   * character on, `"object"` at its end, so that who reads no further than the metadata does not notice at once.
   */
  corruptNext(resource?: Resource, where: "line" | "object" = "line"): void {
    for (const watch of this.#of(resource)) watch.faultNext(where === "line" ? "corrupt" : "corruptObject");
  }

  /** Sends an ERROR event to all open watches, or those of one resource, and ends them: how a server fails inside a 200. */
  failWatches(status: Partial<Status>, resource?: Resource): void {
    const error = refusalOf(status);
    for (const watch of this.#of(resource)) watch.fail(statusJson(error.status));
  }

  /**
   * Makes a black hole of all watches that are open now, or those of one resource: connected, and silent, also about
   * their own end. Disposing what is returned lets everything through that was held back. Other watches work.
   */
  stallWatches(resource?: Resource): Disposable {
    const stalled: Watch[] = this.#of(resource);
    for (const watch of stalled) watch.body.hold();
    return {
      [Symbol.dispose]: (): void => {
        for (const watch of stalled.splice(0)) watch.body.release();
      },
    };
  }

  /** Sends a bookmark with the newest version to all open watches that asked for bookmarks, or those of one resource. */
  bookmark(resource?: Resource): void {
    for (const watch of this.#of(resource)) if (watch.plan.bookmarks) watch.bookmark();
  }

  // ── the server ─────────────────────────────────────────────────────────

  /**
   * Forgets all history: a watch from any version but the newest gets an ERROR event with 410, an exact list and a
   * `continue` token get 410. Open watches go on.
   */
  compact(): void {
    this.#backend.store.compact();
  }

  /**
   * Remembers only so many writes from now on, so that clients that fall behind find their position gone. Disposing what
   * is returned gives back the length of history that the server began with; what is forgotten stays so.
   */
  shortenHistory(writes: number): Disposable {
    if (!(writes >= 1)) throw new RangeError(`Cannot shorten the history: writes must be at least 1, found ${writes}`);
    this.#backend.store.remember(writes);
    return { [Symbol.dispose]: (): void => this.#backend.store.remember(this.#backend.history) };
  }

  /**
   * Goes to a later version without an event, as when much is written that nobody here watches. By one unless `to` names
   * the version.
   *
   * @throws {RangeError} when `to` is not later than the newest version, or has more than 15 digits.
   */
  jump(to?: number | string): void {
    const { store, revisions } = this.#backend;
    const revision = to === undefined ? store.revision + 1 : Number(to);
    if (!(Number.isInteger(revision) && revision > store.revision && revision <= HIGHEST_REVISION)) {
      throw new RangeError(`Cannot jump: the version must be a later one than ${store.revision}, found ${to}`);
    }
    store.jump(revision);
    revisions.reached();
  }

  /**
   * Makes everybody who watches list anew, whatever happens to the connections meanwhile: the version moves on by one,
   * history ends there, and open watches get an ERROR event with 410.
   */
  forceRelist(): void {
    this.jump();
    this.compact();
    const version = this.#backend.store.revision;
    this.failWatches({
      code: 410,
      reason: "Expired",
      message: `too old resource version: ${version - 1} (${version})`,
    });
  }

  /**
   * Restarts: all connections break, also under answers that are half read and requests that wait. The objects stay, as
   * they do in etcd. With `history: "lost"`, what the versions before held is gone as after {@linkcode compact}; else
   * watches go on where they were.
   */
  restart(options: { readonly history?: "kept" | "lost" } = {}): void {
    const { faults, revisions, store } = this.#backend;
    faults.breakAll();
    revisions.giveUp();
    if (options.history === "lost") store.compact();
  }

  /** Whether there are streaming lists from now on; without, they get 422, as from servers before 1.32. */
  supportStreamingList(supported: boolean): void {
    this.#backend.features.streamingList = supported;
  }

  /**
   * Whether bookmarks are sent by themselves from now on; without, a streaming list does not tell its end either.
   * {@linkcode bookmark} sends them all the same.
   */
  sendBookmarks(sent: boolean): void {
    this.#backend.features.bookmarks = sent;
  }

  /** Puts the server's clock so many milliseconds ahead, or back: the `Date` header, and the times it writes. */
  clockSkew(ms: number): void {
    if (!Number.isFinite(ms)) throw new RangeError(`Cannot skew the clock: milliseconds must be a number, found ${ms}`);
    this.#backend.faults.skewMs = ms;
  }

  #of(resource: Resource | undefined): Watch[] {
    return this.#backend.watches.of(resource);
  }
}
