import { dirname } from "node:path";
import { EXIT_CODE, UsageError } from "./errors/explain_error.ts";
import { folderPermissions, replaceFile, temporaryPath } from "../deno/host.ts";
import type { KubernetesObject } from "../api/object.ts";
import { isForbidden, isNotFound, isUnauthorized, StatusError } from "../api/status.ts";
import { isSecret, type Resource, resourceName } from "../api/resource.ts";
import type { Client } from "../client/client.ts";
import type { HandlerRegistration } from "../informer/events/event.ts";
import type { SharedIndexInformer } from "../informer/shared_index_informer.ts";
import { SharedInformerFactory } from "../informer/shared_informer_factory.ts";
import type { ReflectorPhase } from "../reflector/transition.ts";
import { DerivedController } from "../async/signals.ts";
import type { BackoffOptions } from "../async/time.ts";
import { nextTurn } from "../async/turns.ts";
import { FailureReporter, type Terminal } from "./terminal/terminal.ts";
import {
  checkSelection,
  clientFor,
  type ConnectionFlags,
  durationMs,
  explainRefusal,
  resourcesFor,
  type SelectionFlags,
  selectionFor,
} from "./resources/resources_for.ts";
import {
  EventLines,
  formOf,
  GrowingTable,
  nothingFound,
  objectIn,
  type OutputFormat,
  type PrintedEvent,
  redactObject,
} from "./terminal/table.ts";
import { errorLine } from "../errors/errors.ts";
import { LiveView, WatchPage } from "./terminal/live_view.ts";

/**
 * Checks that the file that a flag names can be written, by creating a temporary file in the same folder.
 *
 * @param flag The flag, for messages: `"--cache"`.
 * @throws {UsageError}
 */
export async function checkOutputFile(flag: string, path: string): Promise<void> {
  if (path.startsWith("-")) {
    throw new UsageError(`${flag} needs a file, found "${path}"; a file of that name is "./${path}"`);
  }
  const folder = dirname(path);
  const there = await infoOf(folder, flag, path);
  if (there === undefined) throw new UsageError(`${flag}: folder "${folder}" does not exist; make it first`);
  if (!there.isDirectory) {
    throw new UsageError(`${flag}: "${folder}" is not a folder; name a file in a folder that exists`);
  }
  const old = await infoOf(path, flag, path);
  if (old?.isDirectory) throw new UsageError(`${flag}: "${path}" is a folder; name a file`);
  if (old !== undefined && !old.isFile) {
    throw new UsageError(`${flag}: "${path}" is a device or a pipe, which would be replaced; name a file`);
  }
  const beside = temporaryPath(path);
  try {
    await Deno.writeFile(beside, new Uint8Array(), { createNew: true });
    await Deno.remove(beside);
  } catch (error) {
    throw unwritable(flag, path, error);
  }
}

async function infoOf(place: string, flag: string, path: string): Promise<Deno.FileInfo | undefined> {
  try {
    return await Deno.stat(place);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw unwritable(flag, path, error);
  }
}

/** Returns the error for a file that cannot be written, with the flags that are missing or the reason. */
export function unwritable(flag: string, path: string, cause: unknown): UsageError {
  if (cause instanceof Deno.errors.NotCapable) {
    const flags = folderPermissions(path);
    return new UsageError(
      `${flag}: this program may not write "${path}"; run Deno with ${flags} or install it again with them`,
      {
        cause,
      },
    );
  }
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new UsageError(`${flag}: "${path}" cannot be written: ${reason}; name another file`, { cause });
}

/**
 * Writes objects as a JSON array, in the given order and atomically: to a temporary file, which then replaces the file.
 *
 * Its owner alone can read the file: objects such as pods may have passwords in their environment.
 *
 * @throws {Error} when it cannot be written; an existing file stays unchanged.
 */
export async function writeCacheFile(
  path: string,
  objects: Iterable<KubernetesObject>,
): Promise<void> {
  const encoder = new TextEncoder();
  await replaceFile(path, `Cannot write the cache to "${path}"`, async (beside) => {
    using file = await Deno.open(beside, { write: true, createNew: true, mode: 0o600 });
    const writer = file.writable.getWriter();
    let text = "[";
    let first = true;
    for (const object of objects) {
      text += `${first ? "\n" : ",\n"}${JSON.stringify(object)}`;
      first = false;
      if (text.length < 1_048_576) continue;
      await writer.write(encoder.encode(text));
      text = "";
    }
    await writer.write(encoder.encode(`${text}${first ? "" : "\n"}]\n`));
    await writer.close();
  });
}

/** The flags of `watch`. */
interface WatchFlags extends ConnectionFlags, SelectionFlags {
  /** Resync interval, as a duration. */
  readonly resync?: string;
  /** If `true`, fetches only the metadata of objects. */
  readonly metadataOnly?: boolean;
  /** Use of the streaming list: fetch the initial list over the watch. */
  readonly streamingList: "auto" | "on" | "off";
  /** If `true`, ends after the initial sync. */
  readonly untilSynced?: boolean;
  /** Time limit, as a duration. */
  readonly timeout?: string;
  /** Path of the file to which the cache is written at the end. */
  readonly cache?: string;
  /** If `true`, prints and writes the data of Secrets. */
  readonly showSecrets?: boolean;
  /** If `true`, prints objects. */
  readonly object: boolean;
  /** Format of the results. */
  readonly output: OutputFormat;
  /** Back-off of informers after failures. @default {that of the library} */
  readonly backoff?: BackoffOptions;
}

interface Watched {
  readonly resource: Resource<KubernetesObject>;
  readonly informer: SharedIndexInformer<KubernetesObject>;
  readonly printer: HandlerRegistration;
}

/** Runs informers and prints their events, until `stop` aborts. Returns the exit code. */
export async function watch(
  flags: WatchFlags,
  names: readonly string[],
  terminal: Terminal,
  stop: AbortController,
): Promise<number> {
  checkSelection(flags, names);
  const resyncMs = flags.resync === undefined ? 0 : durationMs(flags.resync, "resync");
  const timeoutMs = flags.timeout === undefined ? undefined : durationMs(flags.timeout, "timeout");
  if (timeoutMs === 0) throw new UsageError(`--timeout must be longer than 0; leave it out to watch on`);
  if (flags.untilSynced && resyncMs > 0) {
    throw new UsageError("--until-synced ends before a resync; leave out --resync");
  }
  if (flags.cache !== undefined) await checkOutputFile("--cache", flags.cache);
  const { signal } = stop;
  const timeUp = new DOMException(`the time of --timeout ${flags.timeout} is over`, "TimeoutError");
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => stop.abort(timeUp), timeoutMs);
  const hurry = (): void => terminal.unblock();
  signal.addEventListener("abort", hurry, { once: true });
  try {
    using client = await clientFor(flags, terminal);
    const { metadataOnly, output } = flags;
    // Events in the form of names have the objects, which --cache writes.
    const form = metadataOnly ? "metadata" : formOf(output) === "table" && flags.object ? "table" : "object";
    const resources = await resourcesFor(client, names, "watch", { form, signal, terminal });
    return await follow(client, resources, { ...flags, resyncMs, timeUp }, terminal, signal, () => {
      stop.abort(new DOMException("Quit", "AbortError"));
    });
  } catch (error) {
    if (error !== timeUp) throw error;
    const [code, kind] = flags.untilSynced ? [EXIT_CODE.failed, "error"] : [EXIT_CODE.done, "warning"];
    terminal.say(`${kind}: no answer within --timeout ${flags.timeout}; check the server, or give it more time`);
    return code;
  } finally {
    signal.removeEventListener("abort", hurry);
    clearTimeout(timer);
  }
}

/** Runs the informers, and writes the cache at the end. */
async function follow(
  client: Client,
  resources: readonly Resource<KubernetesObject>[],
  flags: WatchFlags & { readonly resyncMs: number; readonly timeUp: DOMException },
  terminal: Terminal,
  signal: AbortSignal,
  quit: () => void,
): Promise<number> {
  const { resyncMs, streamingList } = flags;
  const selection = selectionFor(flags, client);
  const informers = new SharedInformerFactory(client, { ...selection, resyncMs });
  const table = new GrowingTable();
  const namespaces = selection.namespace === undefined;
  const { output, object, showSecrets = false } = flags;
  const isPage = terminal.hasFullScreen && formOf(output) === "table" && object && !flags.untilSynced;
  using page = isPage
    ? new WatchPage(resources, { wide: output === "wide", namespaces }, selection.namespace, terminal, quit)
    : undefined;
  /** Aborted when the server rejects a resource that was never live: retrying cannot help. */
  using job = new DerivedController(signal);
  const watched = resources.map((resource): Watched => {
    const failures = new FailureReporter(resourceName(resource), (line) => terminal.say(line));
    let wasLive = false;
    const onPhase = (phase: ReflectorPhase): void => {
      if (phase.name !== "watching" || !phase.open) return;
      wasLive = true;
      failures.recovered();
    };
    const informer = informers.forResource(resource, {
      keep: isSecret(resource) ? "data" : undefined, // redacted when it is printed
      reflector: { streamingList, onPhase, backoff: flags.backoff },
      onError: (error) => {
        const trying = informer.status().cause === error;
        if (trying && !wasLive && isRefused(error)) job.abort(error);
        else failures.report(error, trying);
      },
    });
    const several = resources.length > 1;
    if (page !== undefined) return { resource, informer, printer: page.follow(resource, informer) };
    const lines = new EventLines(resource, { output, object, namespaces, showSecrets, table, several });
    return { resource, informer, printer: print(resource, informer, lines, selection.namespace, terminal) };
  });
  const unsynced = (): string =>
    watched.filter(({ informer }) => !informer.hasSynced).map(({ resource }) => resourceName(resource)).join(", ");
  using view = new LiveView(watched, terminal, page && ((line) => page.paint(line)));
  informers.start();
  try {
    await informers.waitForCacheSync({ signal: job.signal, patient: true });
    if (flags.untilSynced) { for (const { printer } of watched) await printer.waitForSync({ signal }); }
    else throw await aborted(job.signal);
  } catch (error) {
    if (!signal.aborted) throw explainRefusal(job.signal.aborted ? job.signal.reason : error, flags);
  } finally {
    // All delivered events are printed in the turn in which the informers stop, so that the output matches the cache.
    await drained(watched);
    try {
      await informers.shutdown();
    } finally {
      view[Symbol.dispose]();
      if (flags.cache !== undefined) await save(flags.cache, watched, unsynced(), flags.showSecrets ?? false, terminal);
    }
  }
  if (!flags.untilSynced || unsynced() === "" || signal.reason !== flags.timeUp) return EXIT_CODE.done;
  const cause = watched.map(({ informer }) => informer.status().cause).find((cause) => cause !== undefined);
  const why = cause === undefined ? "" : `: ${errorLine(cause)}`;
  terminal.say(
    `error: ${unsynced()} not synced within --timeout ${flags.timeout}${why}; check the server, or give it more time`,
  );
  return EXIT_CODE.failed;
}

/** Prints each event as a line, in order; waits while the reader of the output is slower. */
function print(
  resource: Resource<KubernetesObject>,
  informer: SharedIndexInformer<KubernetesObject>,
  lines: EventLines,
  namespace: string | undefined,
  terminal: Terminal,
): HandlerRegistration {
  const handle = (event: PrintedEvent): Promise<void> | void => {
    terminal.result(lines.of(event));
    return terminal.room;
  };
  return informer.addEventHandler({
    onAdd: handle,
    onUpdate: handle,
    onDelete: handle,
    onSynced: async (event) => {
      const line = lines.synced(event);
      if (line !== undefined) return terminal.result(line);
      await terminal.written();
      const { objects, resourceVersion } = event;
      terminal.say(
        objects === 0
          ? nothingFound([resource], namespace)
          : `synced ${objects} ${resource.plural} at version ${resourceVersion}`,
      );
    },
  }, { name: "print" });
}

/** Writes the cache if all resources are synced; otherwise the file of an earlier run stays. */
async function save(
  path: string,
  watched: readonly Watched[],
  unsynced: string,
  showSecrets: boolean,
  terminal: Terminal,
): Promise<void> {
  if (unsynced !== "") {
    terminal.say(`--cache: "${path}" was not written, as ${unsynced} never synced`);
    return;
  }
  const unreadable = watched.reduce((sum, { informer }) => sum + informer.status().quarantined, 0);
  await writeCacheFile(path, cached(watched, showSecrets));
  if (unreadable > 0) terminal.say(`--cache: ${unreadable} objects cannot be read, and are not in "${path}"`);
}

/** Yields the cached objects, sorted by key, with Secrets redacted. */
function* cached(watched: readonly Watched[], showSecrets: boolean): Generator<KubernetesObject> {
  for (const { resource, informer } of watched) {
    for (const key of [...informer.indexer.keys()].sort()) {
      const entry = informer.entries.getByKey(key)!;
      if (entry.error === undefined) yield redactObject(objectIn(resource, entry.object), resource, showSecrets);
    }
  }
}

/** Returns `true` if the server will reject the same request again. */
function isRefused(error: unknown): boolean {
  if (isUnauthorized(error) || isForbidden(error) || isNotFound(error)) return true;
  if (error instanceof StatusError) return error.status.code === 400 || error.status.code === 422;
  return error instanceof TypeError || error instanceof RangeError;
}

/** Resolves in a turn in which all delivered events are printed. */
async function drained(watched: readonly Watched[]): Promise<void> {
  while (watched.some(({ printer }) => printer.pending > 0)) await nextTurn();
}

/** Resolves with the reason when the signal aborts. */
function aborted(signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(signal.reason);
    else signal.addEventListener("abort", () => resolve(signal.reason), { once: true });
  });
}
