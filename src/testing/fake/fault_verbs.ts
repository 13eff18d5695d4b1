/**
 * The fake API server's faults, as methods for tests.
 *
 * {@linkcode FaultVerbs} is the entry point, and `FakeApiServer` extends it. The methods only arm faults:
 * `wire/faults.ts` and `reads/watch.ts` apply them.
 *
 * @module
 */
import type { Resource } from "../../engine/api/resource.ts";
import type { ApiStatus } from "../../engine/api/status.ts";
import { checkCounts } from "../../engine/errors/checks.ts";
import { PlainRefusal, statusJson } from "../../engine/protocol/refusal.ts";
import { checkNames } from "../../engine/errors/option_names.ts";
import type { Backend } from "./backend.ts";
import type { Watch } from "./reads/watch.ts";
import type { ByteBody } from "./wire/byte_body.ts";
import { isStreamingList, refusalOf } from "./wire/exchange.ts";
import type { BodyFault, RequestFailure, RequestFilter, RequestHook } from "./wire/faults.ts";
import { BrokenConnection } from "./wire/faults.ts";

/** The highest version that fits exactly into every number type in use. */
const HIGHEST_REVISION = 999_999_999_999_999;

const PAGE = "<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body><h1>Sign in</h1></body></html>\n";

/**
 * Injects faults into a {@linkcode FakeApiServer}, so that your test can check how your code survives them.
 *
 * There are three kinds of methods:
 *
 * - Methods with `Next` and a filter apply to the next requests that match the filter ({@linkcode failNext},
 *   {@linkcode stallNext}, {@linkcode spreadNext}, {@linkcode beforeNext} …).
 * - Methods with `Next` and a resource apply to the next event on each open watch ({@linkcode loseNext},
 *   {@linkcode duplicateNext} …).
 * - The other methods act at once ({@linkcode dropWatches}, {@linkcode compact}, {@linkcode restart} …), or last until
 *   you revert them ({@linkcode latency}, {@linkcode stallWatches} …).
 *
 * They work the same in this process and over a port. If a network makes a difference, the method says so.
 */
export abstract class FaultVerbs {
  readonly #backend: Backend;

  /** Injects faults into these components. */
  protected constructor(backend: Backend) {
    this.#backend = backend;
  }

  // ── requests ───────────────────────────────────────────────────────────

  /**
   * Fails the next `times` requests that match `filter`: with a status code, a Status, or plain text if the failure has
   * a `text`. If several failures match a request, the failure armed first applies.
   *
   * ```ts
   * import { Client, isForbidden } from "@kube/informer";
   * import { Pod } from "@kube/informer/kinds/core/v1";
   * import { FakeApiServer } from "@kube/informer/testing";
   * import { assert } from "@std/assert";
   *
   * using server = new FakeApiServer();
   * using client = new Client({ server: server.url, transport: server });
   * server.failNext(403, 1, (request) => request.verb === "list");
   * const error = await client.resource(Pod).list().catch((error) => error);
   * assert(isForbidden(error));
   * ```
   */
  failNext(failure: number | RequestFailure, times = 1, filter?: RequestFilter): void {
    const { text, ...status }: RequestFailure = typeof failure === "number" ? { code: failure } : failure;
    const error = (): Error =>
      text === undefined ? refusalOf(status) : new PlainRefusal(status.code ?? 500, text, status.retryAfterSeconds);
    this.#backend.faults.fail(error, times, filter);
  }

  /**
   * Breaks the connection for the next `times` requests that match `filter`: `fetch` rejects with a `TypeError`, like
   * for a refused connection. Over a port, Deno responds with 500 instead.
   */
  breakNext(times = 1, filter?: RequestFilter): void {
    this.#backend.faults.fail(() => new BrokenConnection(), times, filter);
  }

  /** Answers the next `times` requests that match `filter` with 200 and an HTML page, like a proxy's sign-in page. */
  htmlNext(times = 1, filter?: RequestFilter): void {
    const headers = { "content-type": "text/html; charset=utf-8" };
    this.#backend.faults.instead.arm(() => new Response(PAGE, { headers }), times, filter);
  }

  /** Answers the next `times` requests that match `filter` with 200 and an empty body. The requests have no effect. */
  emptyNext(times = 1, filter?: RequestFilter): void {
    const headers = { "content-type": "application/json" };
    this.#backend.faults.instead.arm(() => new Response("", { headers }), times, filter);
  }

  /**
   * Compresses the responses to the next `times` requests that match `filter`, whatever their Accept-Encoding. Each
   * chunk becomes a gzip member, which a proxy may do to a watch. Over a port, a `fetch` that decompresses hides this
   * from the client.
   */
  gzipNext(times = 1, filter?: RequestFilter): void {
    this.#backend.faults.gzip.arm(true, times, filter);
  }

  /**
   * Stalls the responses to the next `times` requests that match `filter` after their headers: the connection stays
   * open and silent. Dispose the result to release the stalled responses and disarm the fault.
   */
  stallNext(times = 1, filter?: RequestFilter): Disposable {
    return this.#slow((body) => body.hold(), (body) => body.release(), times, filter);
  }

  /**
   * Slows the responses to the next `times` requests that match `filter`: at most `bytes` per chunk, one chunk every
   * `intervalMs` milliseconds. Dispose the result to restore full speed and disarm the fault.
   *
   * @throws {RangeError} if `bytes` or `intervalMs` is less than 1.
   */
  dripNext(bytes: number, intervalMs: number, times = 1, filter?: RequestFilter): Disposable {
    if (!(bytes >= 1 && intervalMs >= 1)) {
      const found = `${bytes} bytes in ${intervalMs} ms`;
      throw new RangeError(
        `Cannot slow responses down: bytes and milliseconds per chunk must be at least 1, but they are ${found}`,
      );
    }
    return this.#slow((body) => body.drip({ bytes, intervalMs }), (body) => body.drip(undefined), times, filter);
  }

  /**
   * Spreads the next `times` streaming lists that match `filter`: the initial events arrive one by one, every
   * `intervalMs` milliseconds. Use it to change objects while a list is in progress.
   *
   * Later changes follow the initial events, also one by one, before the bookmark that ends the list. No other bookmark
   * is sent before it.
   *
   * ```ts
   * import { FakeApiServer } from "@kube/informer/testing";
   *
   * const server = new FakeApiServer();
   * server.spreadNext(100); // objects deleted in the next 100 ms are deleted before the streaming list ends
   * ```
   *
   * @throws {RangeError} if `intervalMs` is less than 1.
   */
  spreadNext(intervalMs: number, times = 1, filter?: RequestFilter): void {
    if (!(intervalMs >= 1)) {
      throw new RangeError(`Cannot spread initial events: milliseconds must be at least 1, but it is ${intervalMs}`);
    }
    const streams: RequestFilter = (request) => isStreamingList(request) && (filter?.(request) ?? true);
    this.#backend.faults.spread.arm(intervalMs, times, streams);
  }

  /**
   * Calls `hook` just before the server answers each of the next `times` requests that match `filter`. The request
   * waits for the hook. Use it to change the server between a list and its watch, or between two pages.
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
   * Calls `hook` after the server has answered each of the next `times` requests that match `filter`, before the client
   * reads the response. For a streaming list, the list is then still in progress.
   */
  afterNext(hook: RequestHook, times = 1, filter?: RequestFilter): void {
    this.#backend.faults.after.arm(hook, times, filter);
  }

  /** Disarms all faults and hooks for future requests. Faults that requests have met already remain. */
  disarm(): void {
    this.#backend.faults.disarm();
  }

  /** Delays each response by `ms` milliseconds. 0 ends the delay. */
  latency(ms: number): void {
    if (!(ms >= 0)) throw new RangeError(`Cannot set the latency: milliseconds must not be negative, but it is ${ms}`);
    this.#backend.faults.latencyMs = ms;
  }

  // ── watches ────────────────────────────────────────────────────────────

  /**
   * Breaks the connections of all open watches and followed logs, or only one resource's watches: reading fails with a
   * `TypeError`, and unread data is lost. Over a port, the connection ends without a last chunk, and Deno logs the
   * error.
   */
  dropWatches(resource?: Resource): void {
    for (const watch of this.#of(resource)) watch.body.break(new BrokenConnection());
    if (resource === undefined) this.#backend.logs.interrupt((body) => body.break(new BrokenConnection()));
  }

  /**
   * Ends all open watches and followed logs cleanly, or only one resource's watches, like a timeout. Queued events and
   * lines are still delivered.
   */
  endWatches(resource?: Resource): void {
    for (const watch of this.#of(resource)) watch.end();
    if (resource === undefined) this.#backend.logs.interrupt((body) => body.end());
  }

  /**
   * Ends all open watches, or only one resource's, inside a line: half an event arrives, and then a clean end. Most
   * clients see this when a server is killed. With `"nextEvent"`, the next event is truncated and lost.
   */
  truncateWatches(resource?: Resource, when: "now" | "nextEvent" = "now"): void {
    for (const watch of this.#of(resource)) {
      if (when === "now") watch.truncate();
      else watch.faultNext("line");
    }
  }

  /**
   * Splits a character: on each open watch, or only one resource's, the next event with a multi-byte character arrives
   * in two chunks, split inside that character. Nothing is lost.
   */
  cutInCharacter(resource?: Resource): void {
    for (const watch of this.#of(resource)) watch.faultNext("character");
  }

  /** Sends the next event on each open watch, or only one resource's, twice. */
  duplicateNext(resource?: Resource): void {
    for (const watch of this.#of(resource)) watch.faultNext("duplicate");
  }

  /**
   * Sends the next event on each open watch, or only one resource's, after another object's next event. Both arrive in
   * one chunk, which a network may split.
   *
   * Until then the event is held back. A bookmark or the end of the watch releases it first. Events for the same object
   * stay in order.
   */
  reorderNext(resource?: Resource): void {
    for (const watch of this.#of(resource)) watch.faultNext("reorder");
  }

  /**
   * Drops the next event on each open watch, or only one resource's. A client cannot detect this: its cache is stale
   * until the object changes again or the client relists, see {@linkcode forceRelist}.
   */
  loseNext(resource?: Resource): void {
    for (const watch of this.#of(resource)) watch.faultNext("lose");
  }

  /**
   * Corrupts the next event on each open watch, or only one resource's, so that its line is not JSON. `"line"` corrupts
   * it from the first character on. `"object"` corrupts the end, which a client that parses only the metadata does not
   * notice at once.
   */
  corruptNext(resource?: Resource, where: "line" | "object" = "line"): void {
    for (const watch of this.#of(resource)) watch.faultNext(where === "line" ? "corrupt" : "corruptObject");
  }

  /**
   * Sends an ERROR event to all open watches, or only one resource's, and ends them. A server reports errors this way
   * after status 200.
   */
  failWatches(status: Partial<ApiStatus>, resource?: Resource): void {
    const error = refusalOf(status);
    for (const watch of this.#of(resource)) watch.fail(statusJson(error.status));
  }

  /**
   * Stalls all open watches, or only one resource's: the connections stay open and silent, even when the watches end.
   * Dispose the result to deliver everything that was held back. Watches opened later are not affected.
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

  /** Sends a bookmark with the current version to all open watches that allow bookmarks, or only one resource's. */
  bookmark(resource?: Resource): void {
    for (const watch of this.#of(resource)) if (watch.plan.bookmarks) watch.bookmark();
  }

  // ── the server ─────────────────────────────────────────────────────────

  /**
   * Compacts the history, so that a client with an older version must relist. A watch from any version but the current
   * one gets an ERROR event with 410. Exact lists and `continue` tokens get 410. Open watches continue.
   */
  compact(): void {
    this.#backend.store.compact();
  }

  /**
   * Shortens the watch history to `writes` writes, so that slow clients cannot resume. Dispose the result to restore
   * the original length. Compacted versions stay compacted.
   */
  shortenHistory(writes: number): Disposable {
    checkCounts("shorten the history", { writes }, { min: 1, infinite: true });
    this.#backend.store.history.resize(writes);
    return { [Symbol.dispose]: (): void => this.#backend.store.history.resize(this.#backend.history) };
  }

  /**
   * Moves to a later version without an event, as if unwatched resources had changed. The version grows by one unless
   * you give `to`.
   *
   * @throws {RangeError} if `to` is not later than the current version, or has more than 15 digits.
   */
  jump(to?: number | string): void {
    const { store } = this.#backend;
    const revision = to === undefined ? store.revision + 1 : Number(to);
    if (!(Number.isInteger(revision) && revision > store.revision && revision <= HIGHEST_REVISION)) {
      throw new RangeError(`Cannot jump: the version must be later than ${store.revision}, but it is ${to}`);
    }
    store.jump(revision);
  }

  /**
   * Forces all watching clients to relist: the version grows by one, the history is compacted, and open watches get an
   * ERROR event with 410.
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
   * Restarts the server: all connections break, including half-read responses and waiting requests. The objects stay,
   * because etcd keeps them.
   *
   * - `history: "lost"` compacts the history like {@linkcode compact}. Otherwise watches can resume.
   * - `backup` restores etcd from a backup at that version, which must be in the history. Later writes are undone, the
   *   version goes back, and the history is lost. Version 1 is a new cluster without objects.
   *
   * @throws {RangeError} if the history does not have the backup's version.
   */
  restart(options: { readonly history?: "kept" | "lost"; readonly backup?: number | string } = {}): void {
    checkNames("restart a fake API server", options, "history backup");
    const { faults, store } = this.#backend;
    const { history, backup = store.revision } = options;
    const revision = Number(backup);
    const isKnown = revision === 1 || revision >= store.history.compacted;
    if (!(Number.isInteger(revision) && isKnown && revision <= store.revision)) {
      const known = `${store.history.compacted} to ${store.revision}, or 1`;
      throw new RangeError(`Cannot restore a backup: its version must be ${known}, but it is ${backup}`);
    }
    faults.breakAll();
    if (options.backup !== undefined) store.rollBack(revision);
    else if (history === "lost") store.compact();
  }

  /** Switches support for streaming lists. Without it, they get 422, like from servers before 1.32. */
  supportStreamingList(supported: boolean): void {
    this.#backend.features.streamingList = supported;
  }

  /**
   * Switches automatic bookmarks. Without them, a streaming list does not mark its end either. {@linkcode bookmark}
   * works in both cases.
   */
  sendBookmarks(sent: boolean): void {
    this.#backend.features.bookmarks = sent;
  }

  /**
   * Switches whether followed logs end when their pod is deleted. If not, they stay open without another line, like
   * those from a kubelet that has lost its network.
   */
  endDeletedLogs(ended: boolean): void {
    this.#backend.logs.endsDeleted = ended;
  }

  /** Skews the server's clock by `ms` milliseconds: the `Date` header and the timestamps that it writes. */
  clockSkew(ms: number): void {
    if (!Number.isFinite(ms)) {
      throw new RangeError(`Cannot skew the clock: milliseconds must be a number, but it is ${ms}`);
    }
    this.#backend.faults.skewMs = ms;
  }

  #of(resource: Resource | undefined): Watch[] {
    return this.#backend.watches.of(resource);
  }

  /** Arms a fault on response bodies. Dispose the result to disarm it and to restore the bodies that have it. */
  #slow(slow: BodyFault, restore: BodyFault, times: number, filter?: RequestFilter): Disposable {
    const slowed: WeakRef<ByteBody>[] = [];
    const fault: BodyFault = (body) => {
      slow(body);
      slowed.push(new WeakRef(body));
    };
    const disarm = this.#backend.faults.bodies.arm(fault, times, filter);
    return {
      [Symbol.dispose]: (): void => {
        disarm();
        for (const ref of slowed.splice(0)) {
          const body = ref.deref();
          if (body !== undefined) restore(body);
        }
      },
    };
  }
}
