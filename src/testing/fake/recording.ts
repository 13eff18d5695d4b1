/**
 * Recordings of lists and watches, which `informer record` writes and a fake API server plays.
 *
 * A recording is lines of JSON: a {@linkcode RecordingHeader}, and then a {@linkcode RecordedLine} for each object of a
 * list, change, bookmark and failure, in the order in which they arrived. {@linkcode readRecording} puts the changes of
 * all kinds into the order of their versions, which is that of the server; {@linkcode Playback} commits them.
 *
 * @module
 */

import { keyOf, type KubernetesObject, type ObjectKey } from "../../engine/api/object.ts";
import { defineResource, type Resource } from "../../engine/api/resource.ts";
import type { ApiStatus } from "../../engine/api/status.ts";
import { DerivedController } from "../../engine/async/signals.ts";
import { differences } from "../../engine/api/selector.ts";
import { nextTurn } from "../../engine/async/turns.ts";
import { monotonicMs, sleep } from "../../engine/async/time.ts";
import { checkDurations } from "../../engine/errors/checks.ts";
import { checkNames } from "../../engine/errors/option_names.ts";
import { Random } from "./random.ts";
import { parseStored, type Store } from "./storage/store.ts";
import { isList, type JsonObject } from "../../engine/api/json.ts";

/** The first line of a recording, as JSON. `informer record` writes recordings, and `server.replay()` plays them. */
export interface RecordingHeader {
  /** The version of this format, `1`. */
  readonly recording: 1;
  /** The time at which the recording began, as `Date.toISOString()` writes it. */
  readonly startedAt: string;
  /** The kinds, to whose positions here the lines refer. */
  readonly kinds: readonly Required<Pick<Resource, "group" | "version" | "plural" | "kind" | "scope">>[];
  /** The paths whose values were replaced. */
  readonly redacted: readonly string[];
}

/**
 * A line of a recording after its {@linkcode RecordingHeader}, as JSON.
 *
 * - `LIST`: a list begins. Each `ITEM` is an object in the list, and `LISTED` ends it with its version. A list without
 *   `LISTED` is ignored.
 * - `ADDED`, `MODIFIED`, `DELETED` and `BOOKMARK`: an event of a watch, or of a streaming list before `LISTED`.
 * - `ENDED`: a watch failed. A watch that the server ended without an error has no line.
 * - `FAILED`: a list failed.
 */
export type RecordedLine =
  & {
    /** Milliseconds since the recording began. */
    readonly at: number;
    /** Position of the kind in the header. */
    readonly kind: number;
  }
  & (
    | { readonly type: "LIST" }
    | { readonly type: "ITEM" | "ADDED" | "MODIFIED" | "DELETED"; readonly object: KubernetesObject }
    | { readonly type: "LISTED" | "BOOKMARK"; readonly resourceVersion: string }
    | { readonly type: "ENDED" | "FAILED"; readonly error: Partial<ApiStatus> }
  );

/** Something to do to the server that plays a recording. */
interface Step {
  /** The version that the server has behind it; 0 for the end of a watch. */
  readonly version: number;
  /** Milliseconds since the recording began. */
  at: number;
  readonly kind: number;
  /** A write, the end of a watch, or no more than a version that was seen. */
  readonly does: "set" | "delete" | "end" | "reach";
  readonly key: ObjectKey;
  /** The line with the object, or with the error; `""` for a deletion that a list showed. */
  readonly text: string;
}

/** A recording in the order of versions. */
interface Recording {
  /** The kinds. */
  readonly kinds: readonly Resource[];
  /** The version at which all kinds had been listed. */
  readonly base: number;
  /** The steps up to that version. */
  readonly before: readonly Step[];
  /** The steps after it. */
  readonly steps: readonly Step[];
  /** Why it is not played to its end; `undefined` for a complete one. */
  readonly cut: string | undefined;
}

/** The state of a kind while its lines are read. */
class ReadKind {
  /** The versions of the objects. */
  readonly versions = new Map<ObjectKey, number>();
  /** The latest version seen. */
  last = 0;
  /** The objects of a list that has not ended. */
  staged: Map<ObjectKey, { readonly version: number; readonly text: string }> | undefined;
  /** The version and time of the first list. */
  first: { readonly version: number; readonly at: number } | undefined;
}

/**
 * Reads a recording. A last line without its end is left out, and so is what follows a list of an earlier version: the
 * server was restored from a backup.
 *
 * @throws {SyntaxError} when another line is not one of a recording.
 */
export async function readRecording(bytes: AsyncIterable<Uint8Array>): Promise<Recording> {
  let reader: LineOrder | undefined;
  let line = 0;
  for await (const { text, ended } of linesOf(bytes)) {
    line++;
    if (reader === undefined) {
      reader = new LineOrder(headerOf(text));
      continue;
    }
    if (!ended) return reader.recording(`line ${line} has no end`);
    try {
      if (!reader.read(text)) return reader.recording(`line ${line} lists an earlier version than lines before it`);
    } catch (cause) {
      throw new SyntaxError(`Cannot read the recording: line ${line}: ${(cause as Error).message}`, { cause });
    }
  }
  return (reader ?? new LineOrder(headerOf(""))).recording(undefined);
}

async function* linesOf(
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ readonly text: string; readonly ended: boolean }, void> {
  const decoder = new TextDecoder();
  let rest: string[] = [];
  for await (const chunk of bytes) {
    const [first, ...more] = decoder.decode(chunk, { stream: true }).split("\n");
    rest.push(first);
    for (const next of more) {
      yield { text: rest.join(""), ended: true };
      rest = [next];
    }
  }
  const text = rest.join("");
  if (text !== "") yield { text, ended: false };
}

function headerOf(text: string): RecordingHeader {
  let header: Partial<RecordingHeader> | undefined;
  try {
    header = JSON.parse(text);
  } catch { /* refused below, as other text that is no header */ }
  if (header?.recording === 1 && isList(header.kinds)) return header as RecordingHeader;
  const found = text.length > 60 ? `${text.slice(0, 60)}…` : text;
  throw new SyntaxError(
    `Cannot read the recording: its first line must be the header of a recording of version 1, ` +
      `but it is ${JSON.stringify(found)}. Create the file with "informer record"`,
  );
}

/** Puts the lines of all kinds into the order of their versions. */
class LineOrder {
  readonly #kinds: readonly Resource[];
  readonly #states: readonly ReadKind[];
  readonly #steps: Step[] = [];

  constructor({ kinds }: RecordingHeader) {
    this.#kinds = kinds.map((kind) => defineResource(kind));
    this.#states = kinds.map(() => new ReadKind());
  }

  /** Takes the next line. Returns false if it cannot be put in order. */
  read(text: string): boolean {
    const line = JSON.parse(text) as RecordedLine;
    const state = this.#states[line.kind];
    if (state === undefined) throw new SyntaxError(`"kind" must be a position in the header, but it is ${line.kind}`);
    const { at, kind, type } = line;
    const step: AddStep = (does, version, key = "", of = "") => {
      state.last = Math.max(state.last, version);
      this.#steps.push({ version, at, kind, does, key, text: of });
    };
    switch (type) {
      case "LIST":
        state.staged = new Map();
        return true;
      case "ITEM":
      case "ADDED":
      case "MODIFIED":
      case "DELETED": {
        const [key, version] = [keyOf(line.object), versionOf(line.object.metadata.resourceVersion)];
        if (state.staged !== undefined) {
          if (type === "DELETED") state.staged.delete(key);
          else state.staged.set(key, { version, text });
        } else if (type === "DELETED") {
          if (state.versions.delete(key)) step("delete", version, key, text);
        } else if (state.versions.get(key) !== version) {
          state.versions.set(key, version);
          step("set", version, key, text);
        }
        return true;
      }
      case "LISTED":
        return this.#listed(state, versionOf(line.resourceVersion), at, step);
      case "BOOKMARK":
        step("reach", versionOf(line.resourceVersion));
        return true;
      case "ENDED":
        step("end", 0, "", text);
        return true;
      case "FAILED":
        return true;
      default:
        throw new SyntaxError(`the "type" ${JSON.stringify(type satisfies never)} is unknown`);
    }
  }

  /** Ends a list: what differs from the state before it has changed since. */
  #listed(state: ReadKind, version: number, at: number, step: AddStep): boolean {
    const { staged, versions } = state;
    if (staged === undefined) throw new SyntaxError("a list ends that did not begin");
    if (version < state.last) return false;
    state.staged = undefined;
    state.first ??= { version, at };
    for (const key of [...versions.keys()]) {
      if (staged.has(key)) continue;
      versions.delete(key);
      step("delete", version, key);
    }
    for (const [key, item] of staged) {
      if (versions.get(key) === item.version) continue;
      versions.set(key, item.version);
      step("set", item.version, key, item.text);
    }
    step("reach", version);
    return true;
  }

  recording(cut: string | undefined): Recording {
    const firsts = this.#states.flatMap(({ first }) => first ?? []);
    const base = Math.max(1, ...firsts.map(({ version }) => version));
    const begun = Math.max(0, ...firsts.map(({ at }) => at));
    const writes = this.#steps.filter(({ does }) => does !== "end").sort((a, b) => a.version - b.version);
    // The server had a change, at the latest, when it sent a later one of any kind.
    for (let i = writes.length - 2; i >= 0; i--) writes[i].at = Math.min(writes[i].at, writes[i + 1].at);
    const ends = this.#steps.filter(({ does, at }) => does === "end" && at > begun);
    const steps = [...writes.filter(({ version }) => version > base), ...ends].sort((a, b) => a.at - b.at);
    return { kinds: this.#kinds, base, before: writes.filter(({ version }) => version <= base), steps, cut };
  }
}

/** Adds a step of the line that is read. */
type AddStep = (does: Step["does"], version: number, key?: ObjectKey, text?: string) => void;

function versionOf(text: string | undefined): number {
  const version = Number(text);
  if (Number.isSafeInteger(version) && version > 0) return version;
  throw new SyntaxError(
    `a resourceVersion must be a number, because it orders the changes, but it is ${JSON.stringify(text)}`,
  );
}

/** How a replay delays and repeats status writes, see {@linkcode ReplayOptions}. */
export interface LateStatusOptions {
  /** The seed for all choices. The same seed gives the same replay. */
  readonly seed: number;
  /** The longest delay of a write, in milliseconds of the recording. @default {1_000} */
  readonly maxDelayMs?: number;
}

/** Options for `FakeApiServer.replay()`. */
export interface ReplayOptions {
  /**
   * How many times faster than recorded to play: 10 plays a minute in six seconds. `Infinity` waits only one turn
   * between changes. @default {1}
   */
  readonly speed?: number;
  /**
   * Delays status writes, and repeats one in four at a new version, so that your controller meets other orders of
   * events. A status write is a change to the status only. An object's changes keep their order, but different
   * objects are late independently. Late writes get other versions. Only the first call's options count.
   * @default {all writes as recorded}
   */
  readonly lateStatus?: LateStatusOptions;
  /** Stops playing. A later call continues. */
  readonly signal?: AbortSignal;
}

/** Returns a recording with late and repeated status writes. */
function withLateStatus(recording: Recording, options: LateStatusOptions): Recording {
  checkNames("replay late status writes", options, "seed maxDelayMs");
  const { seed, maxDelayMs = 1_000 } = options;
  checkDurations("replay late status writes", { maxDelayMs }, { finite: true });
  const random = new Random(seed);
  const last = new Map<string, Step>();
  for (const step of recording.before) last.set(`${step.kind} ${step.key}`, step);
  const steps = recording.steps.flatMap((step) => {
    if (step.does !== "set" && step.does !== "delete") return [step];
    const id = `${step.kind} ${step.key}`;
    const { at: lastAt, text } = last.get(id) ?? { at: 0, text: step.text };
    const isStatus = step.does === "set" && changesStatus(text, step.text);
    const late = (from: number): Step => ({ ...step, at: from + (isStatus ? random.below(maxDelayMs + 1) : 0) });
    const moved = [late(Math.max(step.at, lastAt))];
    if (isStatus && random.below(4) === 0) moved.push(late(moved[0].at));
    last.set(id, moved.at(-1)!);
    return moved;
  });
  return { ...recording, steps: steps.sort((a, b) => a.at - b.at) };
}

/** Returns true if two lines have objects that differ in their status only. */
function changesStatus(...lines: readonly [string, string]): boolean {
  const [before, after] = lines.map((line) => JSON.parse(line || "{}").object);
  const paths = differences(before ?? {}, after);
  return paths.length > 0 && paths.every((path) => /^status(\.|$)/.test(path));
}

/** The end of a replay. */
export interface ReplayEnd {
  /** The number of writes that this call has played. */
  readonly writes: number;
  /**
   * Why the recording was not played to its end: its last line is cut off, or a list goes back. Otherwise `undefined`.
   */
  readonly cut: string | undefined;
}

/** Commits the steps of a recording to a store. */
export class Playback {
  #recording: Recording;
  readonly #store: Store;
  readonly #endWatches: (resource: Resource, error: Partial<ApiStatus>) => void;
  /** The number of steps played. */
  #next = 0;
  /** The version that this has reached; the store is beyond it if somebody else has written. */
  #reached = 0;
  #isPlaying = false;

  /** The recorded kinds. */
  get kinds(): readonly Resource[] {
    return this.#recording.kinds;
  }

  /** Commits the state at the beginning. `endWatches` ends the watches of a resource with an error. */
  constructor(recording: Recording, store: Store, endWatches: (resource: Resource, error: Partial<ApiStatus>) => void) {
    this.#recording = recording;
    this.#store = store;
    this.#endWatches = endWatches;
    this.#reached = store.revision;
    for (const step of recording.before) this.#perform(step);
    this.#reach(recording.base);
    store.compact();
  }

  /** Plays on until the end. @throws the signal's reason. @throws {TypeError} while it is playing. */
  async play({ speed = 1, signal, lateStatus }: ReplayOptions, ended: AbortSignal): Promise<ReplayEnd> {
    if (!(speed > 0)) throw new RangeError(`Cannot replay: speed must be above 0, but it is ${speed}`);
    if (this.#isPlaying) throw new TypeError("Cannot replay: the recording is already being played");
    if (this.#next === 0 && lateStatus !== undefined) this.#recording = withLateStatus(this.#recording, lateStatus);
    const { steps, cut } = this.#recording;
    const startedMs = monotonicMs();
    const fromMs = this.#next === 0 ? 0 : steps[this.#next - 1].at;
    let writes = 0;
    using stop = new DerivedController(signal, ended);
    this.#isPlaying = true;
    try {
      while (this.#next < steps.length && !stop.signal.aborted) {
        const step = steps[this.#next];
        const waitMs = startedMs + (step.at - fromMs) / speed - monotonicMs();
        if (waitMs > 0) {
          await sleep(waitMs, stop).catch((error) => {
            if (!stop.signal.aborted) throw error;
          });
          continue;
        }
        if (speed === Infinity) await nextTurn();
        this.#next++;
        if (this.#perform(step)) writes++;
      }
      signal?.throwIfAborted();
      return { writes, cut };
    } finally {
      this.#isPlaying = false;
    }
  }

  /** Returns true if it wrote. */
  #perform({ does, version, kind, key, text }: Step): boolean {
    const resource = this.#recording.kinds[kind];
    const collection = this.#store.collection(resource);
    if (does === "reach" || collection === undefined) return this.#reach(version);
    if (does === "end") {
      this.#endWatches(resource, (JSON.parse(text) as { readonly error: Partial<ApiStatus> }).error);
      return false;
    }
    const before = collection.get(key);
    if (does === "delete" && before === undefined) return this.#reach(version);
    const object = text === "" ? parseStored(before!) : (JSON.parse(text) as { readonly object: JsonObject }).object;
    const { revision } = this.#store;
    // Deletions that a list showed have its version together; a write of somebody else comes before what is played.
    const own = revision === this.#reached && version >= revision && before?.revision !== version;
    const at = own || version > revision ? version : revision + 1;
    this.#store.commitAt(collection, object, at, does === "delete");
    if (at === version) this.#reached = at; // else it is beyond the recording
    return true;
  }

  #reach(version: number): false {
    if (version > this.#store.revision) this.#store.jump(version);
    if (this.#store.revision === version) this.#reached = version;
    return false;
  }
}
