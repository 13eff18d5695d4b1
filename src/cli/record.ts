/**
 * The command `informer record`: writes lists and watches with their times to a file.
 *
 * {@linkcode record} is the entry point. It never writes the data of Secrets. `testing/fake/recording.ts` has the
 * format, and plays it.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { closeSync, openSync, writeFileSync } from "node:fs";
import type { CacheEntry } from "../engine/api/entry.ts";
import type { ListerWatcher } from "../engine/api/lister_watcher.ts";
import { isObject } from "../engine/api/json.ts";
import { encoder, type KubernetesObject } from "../engine/api/object.ts";
import { type Resource, resourceName, SECRET_ANNOTATIONS } from "../engine/api/resource.ts";
import { parseFieldPath } from "../engine/api/selector.ts";
import { StatusError } from "../engine/api/status.ts";
import { DerivedController } from "../engine/async/signals.ts";
import { humanDuration, LongTimer, monotonicMs } from "../engine/async/time.ts";
import { failureKind } from "../host/connect/runtime/runtime.ts";
import { entryText } from "../engine/entry/entry_json.ts";
import { messageOf, REDACTED } from "../engine/errors/errors.ts";
import { Reflector } from "../engine/reflector/reflector.ts";
import type {
  ListWatchObserver,
  ReflectorRequest,
  ReflectorStore,
  Replacement,
  RequestEnd,
} from "../engine/reflector/requests.ts";
import type { RecordedLine, RecordingHeader } from "../testing/fake/recording.ts";
import { unwritable } from "./output_file.ts";
import { clientFor, type ConnectionFlags } from "./shared/connect.ts";
import { EXIT_CODE, UsageError } from "./shared/usage.ts";
import { checkNumbers, durationMs } from "./shared/flag_values.ts";
import {
  checkSelection,
  collectionsOf,
  explainRefusal,
  readableSelection,
  resourcesFor,
  type SelectionFlags,
} from "./shared/targets.ts";
import { type CommandContext, FailureReporter } from "./terminal/terminal.ts";
import { isRefused } from "./watch.ts";

interface RecordFlags extends ConnectionFlags, SelectionFlags {
  /** Path of the file to write, which must not exist. */
  readonly out?: string;
  /** Paths of fields whose values are replaced. */
  readonly redact?: readonly string[];
  /** Size of the file at which it ends, in megabytes. */
  readonly maxMb: number;
  /** Time limit, as a duration. */
  readonly timeout?: string;
}

/** Writes the lists and watches of kinds to a file until the signal aborts. Returns the exit code. */
export async function record(flags: RecordFlags, names: readonly string[], context: CommandContext): Promise<number> {
  const { terminal, signal } = context;
  checkSelection(flags, names);
  const { out, maxMb } = flags;
  if (out === undefined) throw new UsageError("name the file to write with --out");
  checkNumbers({ "max-mb": maxMb });
  const redaction = new Redaction(flags.redact ?? []);
  const timeoutMs = flags.timeout === undefined ? Infinity : durationMs(flags.timeout, "timeout");
  using client = await clientFor(flags, terminal);
  const resources = await resourcesFor(names, "watch", { form: "object", terminal }, client, signal);
  const recorder = new Recorder(context);
  using timer = new LongTimer(() => recorder.end());
  using file = new RecordingFile(out, maxMb * 1e6, (error) => {
    if (error !== undefined) return recorder.end(error);
    terminal.say(`"${out}" has reached --max-mb ${maxMb} MB; the recording ends`);
    recorder.end();
  });
  const selection = await readableSelection(flags, client, resources, { terminal, signal });
  // Each of several namespaces is a kind of its own to the lines.
  const followed = resources.flatMap((resource) => collectionsOf(client, resource, selection));
  file.write(JSON.stringify(headerOf(followed.map(({ source }) => source.resource), redaction)));
  timer.arm(timeoutMs);
  terminal.say(`recording ${resources.map(({ plural }) => plural).join(", ")} to ${out}; interrupt to end`);
  await Promise.all(followed.map(({ source }, kind) => {
    return recorder.follow(source, new KindLines(file, kind, redaction));
  }));
  file.flush();
  if (recorder.error !== undefined) throw explainRefusal(recorder.error, flags);
  const time = humanDuration(monotonicMs() - file.startedMs);
  terminal.say(`recorded ${file.lines} lines, ${(file.bytes / 1e6).toFixed(1)} MB, in ${time}: ${out}`);
  return EXIT_CODE.done;
}

function headerOf(resources: readonly Resource[], { paths }: Redaction): RecordingHeader {
  const kinds = resources.map(({ group, version, plural, kind, scope }) => ({ group, version, plural, kind, scope }));
  return { recording: 1, startedAt: new Date().toISOString(), kinds, redacted: paths };
}

/** Lists and watches kinds until it ends for all of them. */
class Recorder {
  readonly #context: CommandContext;
  readonly #stop: DerivedController;
  /** The error for which it ended; `undefined` where nothing failed. */
  error: unknown;

  constructor(context: CommandContext) {
    this.#context = context;
    this.#stop = new DerivedController(context.signal);
  }

  /** Ends it, with `error` if that is the reason. */
  end(error?: unknown): void {
    this.error ??= error;
    this.#stop.abort();
  }

  /** Writes the lines of a kind until the end. A refusal before the first list ends it for all kinds. */
  async follow(
    source: ListerWatcher<KubernetesObject> & { readonly resource: Resource },
    lines: KindLines,
  ): Promise<void> {
    const failures = new FailureReporter(resourceName(source.resource), (line) => this.#context.terminal.say(line));
    const withoutData: ListerWatcher<KubernetesObject> = {
      listEntries: (options) => source.listEntries({ ...options, secretData: "drop" }),
      watchChanges: (options) => source.watchChanges({ ...options, secretData: "drop" }),
    };
    const reflector = new Reflector(withoutData, lines, {
      backoff: this.#context.backoff,
      observe: (request) => lines.observe(request),
      onError: (error) => failures.report(error, false),
      onPhase: (phase) => {
        failures.onPhase(phase);
        if (phase.name !== "waiting" || phase.error === undefined) return;
        if (!failures.wasLive && isRefused(phase.error)) this.end(phase.error);
        else failures.report(phase.error, true);
      },
    });
    await reflector.run({ signal: this.#stop.signal });
  }
}

/** A store that keeps nothing: it writes a line for whatever it receives. */
class KindLines implements ReflectorStore<CacheEntry<KubernetesObject>> {
  readonly #file: RecordingFile;
  readonly #kind: number;
  readonly #redaction: Redaction;
  /** The version of the last line. */
  #version = "";

  /** Lines of the kind at this position in the header. */
  constructor(file: RecordingFile, kind: number, redaction: Redaction) {
    this.#file = file;
    this.#kind = kind;
    this.#redaction = redaction;
  }

  add(entry: CacheEntry<KubernetesObject>): void {
    this.#object("ADDED", entry);
  }

  update(entry: CacheEntry<KubernetesObject>): void {
    this.#object("MODIFIED", entry);
  }

  delete(entry: CacheEntry<KubernetesObject>): void {
    this.#object("DELETED", entry);
  }

  replacing(): Replacement<CacheEntry<KubernetesObject>> {
    this.#line({ type: "LIST" });
    return {
      add: (entries) => entries.forEach((entry) => this.#object("ITEM", entry)),
      delete: (entry) => this.#object("DELETED", entry),
      commit: (resourceVersion) => {
        this.#version = resourceVersion;
        this.#line({ type: "LISTED", resourceVersion });
      },
      abandon: () => {}, // the next list begins anew
    };
  }

  flush(resourceVersion: string): void {
    if (resourceVersion !== this.#version) this.#line({ type: "BOOKMARK", resourceVersion });
    this.#version = resourceVersion;
    this.#file.flush();
  }

  /** Writes a line for each list and watch that fails. */
  observe({ type }: ReflectorRequest): ListWatchObserver {
    const ended = ({ outcome, error }: RequestEnd): void => {
      if (outcome !== "failed") return;
      const status = error instanceof StatusError ? error.status : { message: messageOf(error) };
      this.#line({ type: type === "watch" ? "ENDED" : "FAILED", error: status });
      this.#file.flush();
    };
    const observer = { send: <R>(send: () => R): R => send(), decoded: () => {}, ended: () => {} };
    return { ...observer, ended, committed: () => {}, page: () => observer };
  }

  #line(line: { readonly type: RecordedLine["type"]; readonly [member: string]: unknown }): void {
    this.#file.write(JSON.stringify({ at: this.#file.now, kind: this.#kind, ...line }));
  }

  #object(type: string, entry: CacheEntry<KubernetesObject>): void {
    this.#version = entry.resourceVersion;
    const head = JSON.stringify({ at: this.#file.now, kind: this.#kind, type }).slice(0, -1);
    this.#file.write(`${head},"object":`, this.#redaction.textOf(entry), "}");
  }
}

/** The values that stand for others, by their type. */
const BLANKS: Readonly<Record<string, unknown>> = { string: REDACTED, number: 0, boolean: false };

/** The fields that make an object the one that it is. */
const IDENTITY = /^(apiVersion|kind|metadata|metadata\.(name|namespace|uid|resourceVersion))$/;

/** Replaces the values of fields. */
class Redaction {
  readonly paths: readonly string[];
  readonly #keys: readonly (readonly string[])[];

  /** @throws {UsageError} when a path is none, or names what identifies an object. */
  constructor(paths: readonly string[]) {
    this.paths = paths;
    this.#keys = paths.map((path) => {
      try {
        const keys = parseFieldPath(path);
        if (!IDENTITY.test(keys.join("."))) return keys;
      } catch (cause) {
        throw new UsageError(`--redact: ${messageOf(cause)}`, { cause });
      }
      throw new UsageError(`--redact: "${path}" identifies objects, so a recording needs it; name a field below it`);
    });
    // Copies of all fields, and the values of sets.
    if (paths.length > 0) {
      this.#keys = [...this.#keys, ...SECRET_ANNOTATIONS.map((name) => ["metadata", "annotations", name])];
    }
  }

  /** Returns the JSON text of an object, in one line. @throws {DecodeError} when it cannot be read. */
  textOf(entry: CacheEntry<KubernetesObject>): Uint8Array {
    if (this.paths.length === 0) {
      const text = entryText(entry);
      if (!text.includes("\n")) return encoder.encode(text);
    }
    const { managedFields: _copies, ...metadata } = entry.object.metadata;
    const object = this.paths.length === 0 ? entry.object : { ...entry.object, metadata };
    return encoder.encode(JSON.stringify(this.#keys.reduce<unknown>((value, keys) => redact(value, keys), object)));
  }
}

/** Returns a value whose texts at a path are `[redacted]`, and its numbers 0; arrays are passed through. */
function redact(value: unknown, keys: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((element) => redact(element, keys));
  const [key, ...rest] = keys;
  if (isObject(value)) {
    if (key !== undefined) return Object.hasOwn(value, key) ? { ...value, [key]: redact(value[key], rest) } : value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, redact(member, keys)]));
  }
  return key === undefined && Object.hasOwn(BLANKS, typeof value) ? BLANKS[typeof value] : value;
}

const BUFFERED_BYTES = 262_144;

/** A new file of lines, up to a size. Its owner alone can read it. */
class RecordingFile implements Disposable {
  readonly startedMs: number = monotonicMs();
  readonly #file: number;
  readonly #maxBytes: number;
  readonly #onEnd: (error?: unknown) => void;
  #buffer: Uint8Array[] = [];
  #buffered = 0;
  #ended = false;
  /** Lines so far. */
  lines = 0;
  /** Bytes so far. */
  bytes = 0;

  /**
   * Creates the file. `onEnd` is called once, when a line would exceed `maxBytes`, or with the error of a write.
   *
   * @throws {UsageError} when the file exists, or cannot be written.
   */
  constructor(path: string, maxBytes: number, onEnd: (error?: unknown) => void) {
    try {
      this.#file = openSync(path, "wx", 0o600);
    } catch (error) {
      if (failureKind(error) !== "there") throw unwritable("--out", path, error);
      throw new UsageError(`--out: "${path}" exists; name another file, or delete it`, { cause: error });
    }
    this.#maxBytes = maxBytes;
    this.#onEnd = onEnd;
  }

  /** Milliseconds since the beginning. */
  get now(): number {
    return Math.round((monotonicMs() - this.startedMs) * 10) / 10;
  }

  /** Adds a line of these parts. */
  write(...parts: readonly (string | Uint8Array)[]): void {
    const bytes = [...parts, "\n"].map((part) => typeof part === "string" ? encoder.encode(part) : part);
    const size = bytes.reduce((sum, { length }) => sum + length, 0);
    if (this.#ended) return;
    if (this.bytes + size > this.#maxBytes) {
      this.#ended = true;
      return this.#onEnd();
    }
    this.#buffer.push(...bytes);
    this.#buffered += size;
    this.bytes += size;
    this.lines++;
    if (this.#buffered > BUFFERED_BYTES) this.flush();
  }

  /** Writes what is buffered. */
  flush(): void {
    const bytes = Buffer.concat(this.#buffer.splice(0));
    this.#buffered = 0;
    try {
      writeFileSync(this.#file, bytes);
    } catch (error) {
      this.#ended = true;
      this.#onEnd(new Error(`Cannot write the recording: ${messageOf(error)}`, { cause: error }));
    }
  }

  [Symbol.dispose](): void {
    this.flush();
    closeSync(this.#file);
  }
}
