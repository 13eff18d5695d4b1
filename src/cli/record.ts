/**
 * The command `informer record`: writes lists and watches with their times to a file.
 *
 * {@linkcode record} is the entry point. It never writes the data of Secrets. `testing/fake/recording.ts` has the
 * format, and plays it.
 *
 * @module
 */
import type { CacheEntry } from "../api/entry.ts";
import type { ListerWatcher } from "../api/lister_watcher.ts";
import { encoder, type KubernetesObject } from "../api/object.ts";
import { type Resource, resourceName, SECRET_ANNOTATIONS } from "../api/resource.ts";
import { parseFieldPath } from "../api/selector.ts";
import { StatusError } from "../api/status.ts";
import { DerivedController } from "../async/signals.ts";
import { type BackoffOptions, humanDuration, LongTimer, monotonicMs } from "../async/time.ts";
import { entryBytes } from "../entry/entry.ts";
import { messageOf } from "../errors/errors.ts";
import { Reflector } from "../reflector/reflector.ts";
import type {
  ListWatchObserver,
  ReflectorRequest,
  ReflectorStore,
  Replacement,
  RequestEnd,
} from "../reflector/requests.ts";
import type { RecordedLine, RecordingHeader } from "../testing/fake/recording.ts";
import { EXIT_CODE, UsageError } from "./errors/explain_error.ts";
import { unwritable } from "./output_file.ts";
import {
  checkNumbers,
  checkSelection,
  clientFor,
  collectionsOf,
  type ConnectionFlags,
  durationMs,
  explainRefusal,
  readableSelection,
  resourcesFor,
  type SelectionFlags,
} from "./resources/resources_for.ts";
import { FailureReporter, type Terminal } from "./terminal/terminal.ts";
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
  /** Back-off of lists and watches after failures. @default {that of the library} */
  readonly backoff?: BackoffOptions;
}

/** Writes the lists and watches of kinds to a file until the signal aborts. Returns the exit code. */
export async function record(
  flags: RecordFlags,
  names: readonly string[],
  terminal: Terminal,
  signal: AbortSignal,
): Promise<number> {
  checkSelection(flags, names);
  const { out, maxMb } = flags;
  if (out === undefined) throw new UsageError("name the file to write by --out");
  checkNumbers({ "max-mb": maxMb });
  const redaction = new Redaction(flags.redact ?? []);
  const timeoutMs = flags.timeout === undefined ? Infinity : durationMs(flags.timeout, "timeout");
  using client = await clientFor(flags, terminal);
  const resources = await resourcesFor(client, names, "watch", { form: "object", signal, terminal });
  const recorder = new Recorder(flags, terminal, signal);
  using timer = new LongTimer(() => recorder.end());
  using file = RecordingFile.create(out, maxMb * 1e6, (error) => {
    if (error !== undefined) return recorder.end(error);
    terminal.say(`"${out}" has the ${maxMb} MB of --max-mb; the recording ends`);
    recorder.end();
  });
  const selection = await readableSelection(flags, client, resources, { say: (line) => terminal.say(line), signal });
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
  readonly #backoff: BackoffOptions | undefined;
  readonly #terminal: Terminal;
  readonly #stop: DerivedController;
  /** The error for which it ended; `undefined` where nothing failed. */
  error: unknown;

  constructor(flags: RecordFlags, terminal: Terminal, signal: AbortSignal) {
    this.#backoff = flags.backoff;
    this.#terminal = terminal;
    this.#stop = new DerivedController(signal);
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
    const failures = new FailureReporter(resourceName(source.resource), (line) => this.#terminal.say(line));
    let wasLive = false;
    const withoutData: ListerWatcher<KubernetesObject> = {
      listEntries: (options) => source.listEntries({ ...options, secretData: "drop" }),
      watchChanges: (options) => source.watchChanges({ ...options, secretData: "drop" }),
    };
    const reflector = new Reflector(withoutData, lines, {
      backoff: this.#backoff,
      observe: (request) => lines.observe(request),
      onError: (error) => failures.report(error, false),
      onPhase: (phase) => {
        if (phase.name === "watching" && phase.open) {
          wasLive = true;
          failures.recovered();
        } else if (phase.name === "waiting" && phase.error !== undefined) {
          if (!wasLive && isRefused(phase.error)) this.end(phase.error);
          else failures.report(phase.error, true);
        }
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

/** The name that stands for a text that was replaced. */
const REDACTED = "[redacted]";

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
      throw new UsageError(`--redact: "${path}" identifies objects, which a recording needs; name a field below it`);
    });
    // Copies of all fields, and the values of sets.
    if (paths.length > 0) {
      this.#keys = [...this.#keys, ...SECRET_ANNOTATIONS.map((name) => ["metadata", "annotations", name])];
    }
  }

  /** Returns the JSON text of an object, in one line. @throws {DecodeError} when it cannot be read. */
  textOf(entry: CacheEntry<KubernetesObject>): Uint8Array {
    if (this.paths.length === 0) {
      const { text } = entryBytes(entry);
      if (!text.includes(NEWLINE)) return text;
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
  if (typeof value === "object" && value !== null) {
    const members = value as Readonly<Record<string, unknown>>;
    if (key !== undefined) {
      return Object.hasOwn(members, key) ? { ...members, [key]: redact(members[key], rest) } : value;
    }
    return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, redact(member, keys)]));
  }
  if (key !== undefined) return value;
  return typeof value === "string"
    ? REDACTED
    : typeof value === "number"
    ? 0
    : typeof value === "boolean"
    ? false
    : value;
}

const NEWLINE = 0x0a;
const BUFFERED_BYTES = 262_144;

/** A new file of lines, up to a size. Its owner alone can read it. */
class RecordingFile implements Disposable {
  readonly startedMs: number = monotonicMs();
  readonly #file: Deno.FsFile;
  readonly #maxBytes: number;
  readonly #onEnd: (error?: unknown) => void;
  #buffer: Uint8Array[] = [];
  #buffered = 0;
  #ended = false;
  /** Lines so far. */
  lines = 0;
  /** Bytes so far. */
  bytes = 0;

  private constructor(file: Deno.FsFile, maxBytes: number, onEnd: (error?: unknown) => void) {
    this.#file = file;
    this.#maxBytes = maxBytes;
    this.#onEnd = onEnd;
  }

  /**
   * Creates the file. `onEnd` is called once, when a line would exceed `maxBytes`, or with the error of a write.
   *
   * @throws {UsageError} when the file exists, or cannot be written.
   */
  static create(path: string, maxBytes: number, onEnd: (error?: unknown) => void): RecordingFile {
    try {
      return new RecordingFile(Deno.openSync(path, { write: true, createNew: true, mode: 0o600 }), maxBytes, onEnd);
    } catch (error) {
      if (!(error instanceof Deno.errors.AlreadyExists)) throw unwritable("--out", path, error);
      throw new UsageError(`--out: "${path}" exists; name another file, or delete it`, { cause: error });
    }
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
    const text = new Uint8Array(this.#buffered);
    let at = 0;
    for (const part of this.#buffer.splice(0)) {
      text.set(part, at);
      at += part.length;
    }
    this.#buffered = 0;
    try {
      for (let written = 0; written < text.length;) written += this.#file.writeSync(text.subarray(written));
    } catch (error) {
      this.#ended = true;
      this.#onEnd(new Error(`Cannot write the recording: ${messageOf(error)}`, { cause: error }));
    }
  }

  [Symbol.dispose](): void {
    this.flush();
    this.#file.close();
  }
}
