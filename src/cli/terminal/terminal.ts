/**
 * Prints results, messages and a live line, and formats objects and events for them.
 *
 * {@linkcode Terminal} is the entry point. It sends no requests, and does not choose what is printed.
 *
 * @module
 */
import { holdsLiterals, literalOf, literalReplacer } from "../../engine/api/large_integers.ts";
import { encoder, type KubernetesObject } from "../../engine/api/object.ts";
import {
  isSecret,
  type Resource,
  SECRET_ANNOTATIONS,
  SECRET_DATA,
  type TableColumn,
  type TableRow,
} from "../../engine/api/resource.ts";
import { type BackoffOptions, humanDuration } from "../../engine/async/time.ts";
import { failureKind } from "../../host/connect/runtime/runtime.ts";
import { errorLine, REDACTED } from "../../engine/errors/errors.ts";
import type { ReflectorPhase } from "../../engine/reflector/transition.ts";
import { processScreen } from "./process_screen.ts";
import type { Keyboard, Output, Screen } from "./process_screen.ts";

/** Control characters, and characters that reorder or break lines: foreign text must not control the terminal. */
// deno-lint-ignore no-control-regex -- these are what is looked for
export const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/** Returns the text on one line, safe for a terminal: line ends become spaces, other control characters `\u001b`. */
export function plain(text: string): string {
  return text.trim().replace(/[^\S\n\r]*[\r\n]+\s*/g, " ").replace(UNPRINTABLE, escaped);
}

/** `JSON.rawJSON`, which TypeScript does not know yet: `JSON.stringify` writes its result as `text`. */
const { rawJSON } = JSON as unknown as { readonly rawJSON: (text: string) => unknown };

/** Returns the JSON text of a value, whose control characters a terminal does not obey. */
export function jsonText(value: unknown, indent?: number): string {
  // What is below U+0020 is escaped already, but for the line ends between members.
  return JSON.stringify(value, hasLiterals(value) ? literalReplacer(rawJSON) : undefined, indent).replace(
    UNPRINTABLE,
    (found) => found === "\n" ? found : escaped(found),
  );
}

/** Returns true if a value, or a member of it, has integers that JavaScript rounds. */
export function hasLiterals(value: unknown): boolean {
  return [value, ...Object.values(Object(value))].some(holdsLiterals);
}

/** Returns a character as `\u001b`. */
export function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Characters that take two cells of a terminal (Unicode TR11, and emoji), and characters that take none. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
const NARROW = /[\p{Mn}\p{Me}\p{Cf}]/u;

/** Returns the number of a terminal's cells that a text takes. */
export function cellsOf(text: string): number {
  if (!/[^\x20-\x7e]/.test(text)) return text.length;
  let cells = 0;
  for (const character of text) cells += NARROW.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return cells;
}

/** Returns a text that takes at most so many cells, of a longer one its beginning and `…`. */
export function shortened(text: string, cells: number): string {
  if (cellsOf(text) <= cells) return text;
  let shown = "";
  for (const character of text) {
    if (cellsOf(shown + character) >= cells) break;
    shown += character;
  }
  return `${shown}…`.slice(0, cells);
}

/** Alternate screen, no cursor, no line breaks at the right edge (xterm control sequences); and back. */
const TAKE_OVER = "\x1b[?1049h\x1b[?25l\x1b[?7l";
const GIVE_BACK = "\x1b[?7h\x1b[?25h\x1b[?1049l";

/** Number of messages that are kept while the screen is taken over. */
const MESSAGES = 20;

/** Number of unwritten characters above which {@linkcode Terminal.room} asks to wait. */
const ROOM = 4_194_304;

/** The terminal of a command, and the signal that ends it. */
export interface CommandContext {
  readonly terminal: Terminal;
  /** Aborts when the program is interrupted, or by the command. */
  readonly stop: AbortController;
  /** The signal of `stop`. */
  readonly signal: AbortSignal;
  /** Back-off of informers after failures. @default {the library's} */
  readonly backoff?: BackoffOptions;
}

/** The screen of a terminal, taken over by {@linkcode Terminal.takeOver}. Disposing it gives the screen back. */
export interface FullScreen extends Disposable {
  /** Width and height, in characters. */
  readonly size: { readonly columns: number; readonly rows: number };
  /** Lines for people that came meanwhile, the latest last; they are printed when the screen is given back. */
  readonly messages: readonly string[];
  /** Writes to the screen; `text` may have control sequences. */
  draw(text: string): void;
}

/**
 * Prints the output of a command: results on standard output, other lines on standard error, and there also a live
 * line, if it is a terminal.
 *
 * Results are collected and written in large pieces. If the reader closes the output (`| head`), the command stops
 * gracefully.
 */
export class Terminal {
  readonly #stop: () => void;
  readonly #screen: Screen;
  /** Results not passed to standard output yet; empty once it is closed. */
  #waiting: string[] = [];
  /** Number of characters that are not written yet: those of `#waiting` and of the running write. */
  #waitingLength = 0;
  /** The running write; set whenever `#waiting` is not empty. */
  #writing: Promise<void> | undefined;
  /** Resolves the promise of {@linkcode Terminal.room}; `undefined` while no caller waits for it. */
  #room: PromiseWithResolvers<void> | undefined;
  /** Once `true`, {@linkcode Terminal.room} never asks to wait. */
  #hurried = false;
  /** Once `true`, standard output has no reader or has failed, and results are dropped. */
  #closed = false;
  /** Once `true`, standard error has no reader, and messages are dropped. */
  #unheard = false;
  /** The error of writing results, thrown by {@linkcode Terminal.flush}; a reader that has gone is none. */
  #failure: Error | undefined;
  /** The live line on the screen, or an empty text if there is none. */
  #live = "";
  /** The messages since the screen was taken over; `undefined` if it is not. */
  #messages: string[] | undefined;
  /** `true` if standard error is a terminal that can show a live line. */
  readonly interactive: boolean;
  /** `true` if both outputs are one terminal, so that {@linkcode Terminal.takeOver} can be called. */
  readonly hasFullScreen: boolean;

  /** `stop` is called when standard output is closed or cannot be written. */
  constructor(stop: () => void, screen: Screen = processScreen()) {
    this.#stop = stop;
    this.#screen = screen;
    this.interactive = screen.stderr.isTerminal() && screen.capable;
    this.hasFullScreen = this.interactive && screen.stdout.isTerminal();
  }

  /** Prints one line of the result. Lines are buffered; await {@linkcode Terminal.room} to bound the buffer. */
  result(line: string): void {
    if (this.#closed) return;
    this.#waiting.push(line, "\n");
    this.#waitingLength += line.length + 1;
    this.#writing ??= this.#write();
  }

  /** `undefined` while the buffer has room, else a promise that resolves when all lines are written. */
  get room(): Promise<void> | undefined {
    if (this.#hurried || this.#waitingLength < ROOM) return undefined;
    this.#room ??= Promise.withResolvers<void>();
    return this.#room.promise;
  }

  /** Ends waiting for room, for a command that stops; {@linkcode Terminal.flush} writes the rest. */
  unblock(): void {
    this.#hurried = true;
    this.#makeRoom();
  }

  /** Takes over the screen. Results must not be printed until it is given back. `onKey` is called with each key. */
  takeOver(onKey: (key: string) => void): FullScreen {
    const { stdout, columns, rows = () => 24, keyboard } = this.#screen;
    this.live("");
    const messages: string[] = this.#messages = [];
    writeAllSync(stdout, TAKE_OVER);
    let isOpen = true;
    if (keyboard !== undefined) {
      keyboard.setKeys(true);
      void readKeys(keyboard, (key) => isOpen && onKey(key), () => isOpen);
    }
    return {
      messages,
      get size(): { columns: number; rows: number } {
        return { columns: columns(), rows: rows() };
      },
      draw: (text) => {
        if (isOpen && text !== "") this.#onScreen(text);
      },
      [Symbol.dispose]: () => {
        if (!isOpen) return;
        isOpen = false;
        keyboard?.setKeys(false);
        this.#onScreen(GIVE_BACK);
        this.#messages = undefined;
        for (const line of messages) this.say(line);
      },
    };
  }

  /** Writes to the screen; a terminal that has gone away ends the command. */
  #onScreen(text: string): void {
    try {
      writeAllSync(this.#screen.stdout, text);
    } catch {
      this.#stop();
    }
  }

  /** Prints one line on standard error. */
  say(line: string): void {
    if (this.#messages !== undefined) {
      this.#messages.push(plain(line));
      if (this.#messages.length > MESSAGES) this.#messages.shift();
      return;
    }
    this.#toPeople(`${this.#erasure}${plain(line)}\n${this.#visible}`);
  }

  /** Shows a line that the next call replaces; an empty one removes it. Does nothing if there is no terminal. */
  live(line: string): void {
    if (!this.interactive || this.#messages !== undefined) return;
    const erasure = this.#erasure;
    this.#live = plain(line);
    this.#toPeople(erasure + this.#visible);
  }

  /** Resolves when the results so far are written, so that a line for people can follow them. */
  async written(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
  }

  /** Writes buffered results, and removes the live line. @throws {Error} when results could not be written. */
  async flush(): Promise<void> {
    await this.written();
    this.live("");
    if (this.#failure !== undefined) throw this.#failure;
  }

  get #erasure(): string {
    return this.#live === "" ? "" : "\r\x1b[2K";
  }

  /** The part of the live line that fits on one row: a terminal cannot erase wrapped rows. */
  get #visible(): string {
    return this.#live === "" ? "" : shortened(this.#live, Math.max(0, this.#screen.columns() - 1));
  }

  #toPeople(text: string): void {
    if (text === "" || this.#unheard) return;
    try {
      writeAllSync(this.#screen.stderr, text);
    } catch (error) {
      // Results may still have a reader.
      if (failureKind(error) !== "not read") throw error;
      this.#unheard = true;
    }
  }

  async #write(): Promise<void> {
    await Promise.resolve(); // lines printed in one turn are written in one piece
    try {
      while (this.#waiting.length > 0) {
        const text = this.#waiting.join("");
        this.#waiting = [];
        // Synchronously, so that no other output comes between.
        if (this.hasFullScreen) this.#above(text);
        else await writeAll(this.#screen.stdout, text);
        this.#waitingLength -= text.length;
      }
    } catch (error) {
      this.#closed = true;
      this.#waiting = [];
      this.#waitingLength = 0;
      if (failureKind(error) !== "not read") {
        this.#failure = new Error("Cannot write the results to standard output", { cause: error });
      }
      this.#stop();
    } finally {
      this.#writing = undefined;
      this.#makeRoom();
    }
  }

  #makeRoom(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }

  #above(text: string): void {
    this.#toPeople(this.#erasure);
    writeAllSync(this.#screen.stdout, text);
    this.#toPeople(this.#visible);
  }
}

/** Calls `onKey` with what the keyboard sends at a time, mostly one key, until it ends or `isOpen` is `false`. */
async function readKeys(keyboard: Keyboard, onKey: (key: string) => void, isOpen: () => boolean): Promise<void> {
  const bytes = new Uint8Array(64);
  const decoder = new TextDecoder();
  while (isOpen()) {
    const length = await keyboard.read(bytes);
    if (length === null) return;
    onKey(decoder.decode(bytes.subarray(0, length)));
  }
}

/** Writes all of a text. */
async function writeAll(to: Output, text: string): Promise<void> {
  const bytes = encoder.encode(text);
  for (let written = 0; written < bytes.length;) written += await to.write(bytes.subarray(written));
}

/** Writes all of a text. */
function writeAllSync(to: Pick<Output, "writeSync">, text: string): void {
  const bytes = encoder.encode(text);
  for (let written = 0; written < bytes.length;) written += to.writeSync(bytes.subarray(written));
}

/**
 * Reports failures of one resource to people: each message once, and again only after a recovery.
 *
 * An unreachable server fails every few seconds with one or two different messages; each is printed once.
 */
export class FailureReporter {
  readonly #name: string;
  readonly #say: (line: string) => void;
  /** Lines printed since the last recovery; at most `MOST`. */
  readonly #said = new Set<string>();
  /** `true` from a failure that is retried until the recovery. */
  #ill = false;
  /** `true` once a watch was open. */
  wasLive = false;

  /** Messages begin with `name`. */
  constructor(name: string, say: (line: string) => void) {
    this.#name = name;
    this.#say = say;
  }

  /** Reports a failure; `trying` means that it is retried until it succeeds. */
  report(error: unknown, trying: boolean): void {
    this.#ill ||= trying;
    const line = `${this.#name}: ${errorLine(error)}${trying ? "; trying again" : ""}`;
    if (this.#said.has(line)) return;
    if (this.#said.size >= MOST) this.#said.clear();
    this.#said.add(line);
    this.#say(line);
  }

  /** Follows the phases of a reflector: reports the recovery, if a failure was being retried. */
  onPhase(phase: ReflectorPhase): void {
    if (phase.name !== "watching" || !phase.open) return;
    this.wasLive = true;
    if (!this.#ill) return;
    this.#ill = false;
    this.#said.clear();
    this.#say(`${this.#name}: live again`);
  }
}

/** Maximum number of messages to remember: failures of single objects can be as many as the objects. */
const MOST = 1_000;

/** Between two columns. */
const GAP = "   ";

/** Returns the width to which wider columns are cut so that all have room together; narrower columns stay. */
function widest(widths: readonly number[], room: number): number {
  let left = room;
  for (const [i, width] of widths.toSorted((a, b) => a - b).entries()) {
    const share = Math.max(1, Math.floor(left / (widths.length - i)));
    if (width > share) return share;
    left -= width;
  }
  return Infinity;
}

/** Lays out the rows of a stream: a column is as wide as its widest cell so far. */
export class GrowingTable {
  /** The width of each column, which never decreases. */
  readonly #widths: number[] = [];

  /** Formats a row. If it would take more than `columns` cells of a terminal, the widest cells are shortened. */
  line(cells: readonly string[], columns = Infinity): string {
    cells.forEach((cell, i) => this.#widths[i] = Math.max(this.#widths[i] ?? 0, cellsOf(cell)));
    const most = widest(this.#widths, columns - GAP.length * (this.#widths.length - 1));
    return cells.map((cell, i) => {
      const width = Math.min(this.#widths[i], most);
      const shown = shortened(cell, width);
      return shown + " ".repeat(width - cellsOf(shown));
    }).join(GAP).trimEnd();
  }
}

/** Returns the lines of a table whose columns are as wide as their widest cell. */
export function tableLines(rows: readonly (readonly string[])[]): string[] {
  const table = new GrowingTable();
  for (const row of rows) table.line(row);
  return rows.map((row) => table.line(row));
}

/** Returns the name that kubectl accepts: `"pod/cart-0"`, `"deployment.apps/web"`. */
export function qualifiedName(resource: Resource, name: string): string {
  const kind = resource.kind.toLowerCase();
  return `${resource.group === "" ? kind : `${kind}.${resource.group}`}/${name}`;
}

/** Formats the time since `time` as kubectl does: `"42s"`, `"5m10s"`, `"3h"`, `"12d"`. */
export function ageOf(time: string | undefined, now: number = Date.now()): string {
  const ms = time === undefined ? NaN : now - Date.parse(time);
  return Number.isNaN(ms) ? "<unknown>" : humanDuration(Math.max(0, ms));
}

/** The columns to show of the objects of one resource. */
export interface RowStyle {
  /** If `true`, all columns of the server, also those of the wide output. */
  readonly wide: boolean;
  /** If `true`, a column with the namespace comes first. Cluster-scoped resources have none. */
  readonly namespaces: boolean;
  /** The name of the cluster, in the first column; of heads, any. @default {there is no such column} */
  readonly cluster?: string;
  /** If `true`, names have the kind, `"pod/cart-0"`. */
  readonly kinds?: boolean;
  /** The time at which ages are shown, in milliseconds since 1970. @default {that at which the server sent them} */
  readonly now?: number;
}

/** The columns of objects without cells of the server. */
const PLAIN_COLUMNS: readonly TableColumn[] = [
  { name: "Name", type: "string", format: "name", description: "", priority: 0 },
  { name: "Age", type: "date", format: "", description: "", priority: 0 },
];

/** Returns the object itself where `object` is a row of a table. */
export function objectIn(resource: Resource, object: KubernetesObject): KubernetesObject {
  return resource.representation === "table" ? (object as TableRow).object : object;
}

/** Returns the heads of the columns of an object, as kubectl prints them: `"NAMESPACE"`, `"NAME"`, `"READY"`. */
export function rowHeads(resource: Resource, object: KubernetesObject, style: RowStyle): string[] {
  const shown = columnsOf(resource, object).filter(({ priority }) => style.wide || priority === 0);
  return [
    ...placeCells(resource, style, "CLUSTER", "NAMESPACE"),
    ...shown.map(({ name }) => plain(name.toUpperCase())),
  ];
}

/** Returns the cells of an object: those of the server, or name and age if only metadata was fetched. */
export function rowCells(resource: Resource, object: KubernetesObject, style: RowStyle): string[] {
  const { name: ownName, namespace = "", creationTimestamp } = object.metadata;
  const cells = resource.representation === "table" ? (object as TableRow).cells : [ownName, ageOf(creationTimestamp)];
  const shown = columnsOf(resource, object).flatMap(({ name, format, priority }, i) => {
    if (priority > 0 && !style.wide) return [];
    if (format === "name" && style.kinds) return plain(qualifiedName(resource, ownName));
    return name === "Age" && style.now !== undefined
      ? ageOf(creationTimestamp, style.now)
      : cellText(literalOf(cells, `${i}`, cells[i]) ?? cells[i]);
  });
  return [...placeCells(resource, style, style.cluster ?? "", namespace), ...shown];
}

/** Returns the cells of the columns that a style puts first, for an object in a place, or for the heads. */
function placeCells(resource: Resource, style: RowStyle, cluster: string, namespace: string): string[] {
  const hasNamespace = style.namespaces && resource.scope === "Namespaced";
  return [...(style.cluster === undefined ? [] : [cluster]), ...(hasNamespace ? [namespace] : [])].map(plain);
}

function columnsOf(resource: Resource, object: KubernetesObject): readonly TableColumn[] {
  return resource.representation === "table" ? (object as TableRow).columns : PLAIN_COLUMNS;
}

/** Formats a cell as kubectl does: nothing for null, and the first line of several. */
function cellText(cell: unknown): string {
  if (cell === undefined || cell === null) return "";
  const text = typeof cell === "object" ? JSON.stringify(cell) : String(cell);
  const [first] = text.split(/[\n\r\f]/, 1);
  return plain(first.length < text.length ? `${first}...` : first);
}

/** Output formats of results. `"wide"` is a table with all columns. */
export type OutputFormat = "table" | "wide" | "json" | "yaml" | "name";

/** Returns the form in which the server is asked for objects that are printed in a format. */
export function formOf(format: OutputFormat): "object" | "metadata" | "table" {
  if (format === "table" || format === "wide") return "table";
  return format === "name" ? "metadata" : "object";
}

/**
 * Returns the object with the data of a Secret, and the copies in its annotations, replaced by `[redacted]`; the keys
 * stay.
 */
export function redactObject<T extends KubernetesObject>(object: T, resource: Resource, secretData: boolean): T {
  if (secretData || !isSecret(resource)) return object;
  const shown = { ...object } as Record<string, unknown>;
  for (const field of SECRET_DATA) {
    const values = shown[field];
    if (typeof values !== "object" || values === null) continue;
    shown[field] = Object.fromEntries(Object.keys(values).map((key) => [key, REDACTED]));
  }
  const { annotations } = object.metadata;
  const copies = SECRET_ANNOTATIONS.filter((name) => annotations?.[name] !== undefined);
  if (copies.length > 0) {
    const redacted = Object.fromEntries(copies.map((name) => [name, REDACTED]));
    shown.metadata = { ...object.metadata, annotations: { ...annotations, ...redacted } };
  }
  return shown as unknown as T;
}

/**
 * Returns the message for a selection without objects: `"no pods found in namespace shop"`; `namespace` is absent for
 * all.
 */
export function nothingFound(resources: readonly Resource[], namespace: string | undefined): string {
  const names = resources.map(({ plural }) => plural).join(" or ");
  const namespaced = resources.some(({ scope }) => scope === "Namespaced");
  return `no ${names} found${namespaced && namespace !== undefined ? ` in namespace ${namespace}` : ""}`;
}
