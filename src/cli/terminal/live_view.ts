/**
 * Shows on a terminal what changes: a status line, and tables that are updated in place.
 *
 * {@linkcode LiveView} and {@linkcode WatchScreen} are the entry points. Formats of objects and events are in
 * `terminal.ts`. Nothing is drawn if the output is not a terminal.
 *
 * @module
 */
import type { KubernetesObject } from "../../engine/api/object.ts";
import { type Resource, resourceName } from "../../engine/api/resource.ts";
import type { HandlerRegistration } from "../../engine/informer/events/event.ts";
import type { SharedIndexInformer } from "../../engine/informer/shared_index_informer.ts";
import type { InformerStatus } from "../../engine/informer/status.ts";
import {
  ageOf,
  cellsOf,
  type CommandContext,
  type FullScreen,
  GrowingTable,
  nothingFound,
  rowCells,
  rowHeads,
  type RowStyle,
  shortened,
  type Terminal,
} from "./terminal.ts";

const PERIOD_MS = 250;
/** Period of the event rate, in milliseconds. */
const RATE_MS = 1_000;

interface Viewed {
  /** The name of the cluster, if there are several. */
  readonly cluster?: string;
  readonly resource: Resource;
  readonly informer: Pick<SharedIndexInformer<KubernetesObject>, "status">;
}

/** Shows the status of informers, four times a second, if standard error is a terminal. */
export class LiveView implements Disposable {
  readonly #viewed: readonly Viewed[];
  readonly #terminal: Terminal;
  readonly #onLine: (line: string) => void;
  readonly #timer: ReturnType<typeof setInterval> | undefined;
  /** Number of events at the time `#at`. */
  #events = 0;
  /** Time of the last change of `#perSecond`, by the monotonic clock. */
  #at = performance.now();
  /** The event rate of the last period; 0 during the first. */
  #perSecond = 0;

  /** `onLine` shows the line. @default {as the live line of the terminal} */
  constructor(
    viewed: readonly Viewed[],
    terminal: Terminal,
    onLine: (line: string) => void = (line) => terminal.live(line),
  ) {
    this.#viewed = viewed;
    this.#terminal = terminal;
    this.#onLine = onLine;
    this.#timer = terminal.interactive ? setInterval(() => this.#show(), PERIOD_MS) : undefined;
  }

  /** Removes the line. */
  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#terminal.live("");
  }

  #show(): void {
    const all = this.#viewed.map(({ informer, ...place }) => ({ ...place, status: informer.status() }));
    const now = performance.now();
    if (now - this.#at >= RATE_MS) {
      const events = all.reduce((sum, { status }) => sum + status.events, 0);
      this.#perSecond = Math.round(((events - this.#events) * 1_000) / (now - this.#at));
      this.#events = events;
      this.#at = now;
    }
    const parts = all.map(({ cluster, resource, status }) => {
      const name = cluster === undefined ? resource.plural : `${cluster} ${resource.plural}`;
      return `${name}: ${statusParts(status).join(", ")}`;
    });
    this.#onLine(`${parts.join(" · ")} · ${this.#perSecond} events/s`);
  }
}

function statusParts({ state, since, objects, listing, lastBookmarkAt, handlers }: InformerStatus): string[] {
  const behind = handlers.reduce((sum, handler) => sum + handler.pending, 0);
  const well = state === "live" || state === "listing";
  return [
    well ? state : `${state} for ${ageOf(since.toISOString())}`,
    listing === undefined || !well ? `${objects} objects` : progressOf(listing),
    ...(behind > 0 ? [`${behind} behind`] : []),
    ...(lastBookmarkAt === undefined ? [] : [`bookmark ${ageOf(lastBookmarkAt.toISOString())} ago`]),
  ];
}

function progressOf({ objects, remaining }: { readonly objects: number; readonly remaining?: number }): string {
  return remaining === undefined ? `${objects} listed` : `${objects} of ${objects + remaining} listed`;
}

const CLEAR = "\x1b[H\x1b[2J";

/** Draws frames on a screen, and writes only rows that differ from those of the frame before. */
export class FramePainter {
  #shown: readonly string[] = [];
  #size: FullScreen["size"] = { columns: 0, rows: 0 };

  /**
   * Returns the text that turns the latest frame into this one; `""` if nothing differs. After a change of the size,
   * all is drawn anew. Rows that the screen does not have are left out, and longer lines are shortened. Lines have no
   * control characters.
   */
  paint(lines: readonly string[], size: FullScreen["size"]): string {
    const { columns, rows } = size;
    const frame = lines.slice(0, rows).map((line) => shortened(line, columns));
    const isResized = columns !== this.#size.columns || rows !== this.#size.rows;
    const before = isResized ? [] : this.#shown;
    let text = isResized ? CLEAR : "";
    for (let row = 0; row < Math.max(frame.length, before.length); row++) {
      const line = frame[row] ?? "";
      if (line !== (before[row] ?? "")) text += `\x1b[${row + 1};1H${line}${cellsOf(line) < columns ? "\x1b[K" : ""}`;
    }
    this.#shown = frame;
    this.#size = size;
    return text;
  }
}

/** Keys, and the row to which they lead from the first one; a page has `page` rows. */
type Move = readonly [keys: readonly string[], to: (first: number, page: number) => number];

/** Keys, as a terminal sends them: letters, and CSI sequences of ECMA-48 and xterm. */
const MOVES: readonly Move[] = [
  [["k", "\x1b[A", "\x1bOA"], (first) => first - 1],
  [["j", "\x1b[B", "\x1bOB"], (first) => first + 1],
  [["b", "\x1b[5~"], (first, page) => first - page],
  [[" ", "f", "\x1b[6~"], (first, page) => first + page],
  [["g", "\x1b[H", "\x1b[1~", "\x1bOH"], () => 0],
  [["G", "\x1b[F", "\x1b[4~", "\x1bOF"], () => Number.MAX_SAFE_INTEGER],
];

/**
 * The first row of a long table that a screen shows; keys move it, as in `less`. A page moves by one row less than fit.
 */
export class ScrollPosition {
  #first = 0;
  #height = 1;

  /** Returns the first row to show of `count`, where `height` fit. */
  within(count: number, height: number): number {
    this.#height = Math.max(1, height);
    this.#first = Math.max(0, Math.min(this.#first, count - this.#height));
    return this.#first;
  }

  /** Moves by a key; other keys do nothing. Returns `true` if it moved. */
  press(key: string): boolean {
    const before = this.#first;
    const [, to] = MOVES.find(([keys]) => keys.includes(key)) ?? [];
    if (to !== undefined) this.#first = Math.max(0, to(before, Math.max(1, this.#height - 1)));
    return this.#first !== before;
  }
}

/** An object, and its cluster, if there are several. */
interface Shown {
  readonly cluster?: string;
  readonly object: KubernetesObject;
}

/** The objects of one resource. */
interface Section {
  readonly resource: Resource;
  readonly layout: GrowingTable;
  readonly objects: Map<string, Shown>;
  /** The keys in order; `undefined` after an object came or went. */
  keys: readonly string[] | undefined;
}

/** A line of a {@linkcode LiveTable} before it is formatted: the heads of a section, an object, or an empty line. */
interface Line {
  readonly section: Section;
  readonly key?: string;
  readonly isEmpty?: boolean;
}

/** The rows of one or more resources, as they change. Only rows that are asked for are formatted. */
export class LiveTable {
  readonly #style: Pick<RowStyle, "wide" | "namespaces">;
  readonly #sections = new Map<string, Section>();

  /** A table of these resources, in their order. */
  constructor(resources: readonly Resource[], style: Pick<RowStyle, "wide" | "namespaces">) {
    this.#style = style;
    for (const resource of resources) {
      const section = { resource, layout: new GrowingTable(), objects: new Map(), keys: undefined };
      this.#sections.set(resourceName(resource), section);
    }
  }

  /** Adds or replaces an object. */
  set(resource: Resource, key: string, object: KubernetesObject, cluster?: string): void {
    const section = this.#sections.get(resourceName(resource))!;
    const place = shownKey(key, cluster);
    if (!section.objects.has(place)) section.keys = undefined;
    section.objects.set(place, { cluster, object });
  }

  /** Removes an object. */
  delete(resource: Resource, key: string, cluster?: string): void {
    const section = this.#sections.get(resourceName(resource))!;
    if (section.objects.delete(shownKey(key, cluster))) section.keys = undefined;
  }

  /** Number of lines: of each resource that has objects, its heads and rows; an empty line between two resources. */
  get length(): number {
    const sizes = [...this.#sections.values()].map(({ objects }) => objects.size).filter((size) => size > 0);
    return sizes.reduce((sum, size) => sum + size + 1, Math.max(0, sizes.length - 1));
  }

  /**
   * Returns the lines from `first` on, at most `count`, whose widest cells are shortened to `columns`; `now` is the
   * time for ages. The heads of the resource that line `first` belongs to take the place of that line.
   */
  lines(first: number, count: number, now: number, columns = Infinity): string[] {
    const shown = this.#from(first, count);
    if (shown.length > 0 && shown[0].key !== undefined) shown[0] = { section: shown[0].section };
    const style = { ...this.#style, kinds: this.#sections.size > 1, now };
    // Twice, as a later row may widen a column.
    for (const line of shown) format(line, style, columns);
    return shown.map((line) => format(line, style, columns));
  }

  #from(first: number, count: number): Line[] {
    const found: Line[] = [];
    let at = 0;
    const add = (line: Line): void => {
      if (at++ >= first && found.length < count) found.push(line);
    };
    for (const section of this.#sections.values()) {
      const { objects } = section;
      if (objects.size === 0) continue;
      if (at > 0) add({ section, isEmpty: true });
      add({ section });
      section.keys ??= [...objects.keys()].sort();
      const start = Math.max(0, first - at);
      const stop = Math.min(objects.size, first + count - at);
      for (let i = start; i < stop; i++) found.push({ section, key: section.keys[i] });
      at += objects.size;
    }
    return found.slice(0, count);
  }
}

function format({ section, key, isEmpty }: Line, style: RowStyle, columns: number): string {
  if (isEmpty) return "";
  const { resource, objects, layout } = section;
  const [first] = objects.values();
  const { cluster, object } = key === undefined ? first : objects.get(key)!;
  const cells = key === undefined ? rowHeads : rowCells;
  return layout.line(cells(resource, object, { ...style, cluster }), columns);
}

/** Returns the place of an object among those of all clusters. */
function shownKey(key: string, cluster: string | undefined): string {
  return cluster === undefined ? key : `${cluster}/${key}`;
}

/** Lines around the rows: the status, and at the end a message or the keys. */
const AROUND = 2;

/**
 * The screen of `watch` on a terminal: the status of the informers, and their objects as a table that changes in place.
 *
 * The table follows the events at once; the screen follows when {@linkcode WatchScreen.paint} is called, or a key
 * scrolls.
 */
export class WatchScreen implements Disposable {
  readonly #table: LiveTable;
  readonly #where: string;
  readonly #screen: FullScreen;
  readonly #painter = new FramePainter();
  readonly #scroll = new ScrollPosition();
  #status = "";
  #isSynced = false;

  /** Takes over the screen. The key q stops the command. */
  constructor(
    resources: readonly Resource[],
    style: Pick<RowStyle, "wide" | "namespaces">,
    namespace: string | undefined,
    { terminal, stop }: Pick<CommandContext, "terminal" | "stop">,
  ) {
    this.#table = new LiveTable(resources, style);
    this.#where = nothingFound(resources, namespace);
    this.#screen = terminal.takeOver((key) => {
      if (key === "q") stop.abort(new DOMException("Quit", "AbortError"));
      else if (this.#scroll.press(key)) this.paint(this.#status);
    });
  }

  /** Shows the objects of an informer from now on. */
  follow(resource: Resource, informer: SharedIndexInformer<KubernetesObject>): HandlerRegistration {
    return informer.addEventHandler({
      onAdd: ({ key, object, cluster }) => this.#table.set(resource, key, object, cluster),
      onUpdate: ({ key, object, cluster }) => this.#table.set(resource, key, object, cluster),
      onDelete: ({ key, cluster }) => this.#table.delete(resource, key, cluster),
      onSynced: () => {
        this.#isSynced = true;
      },
    }, { name: "print" });
  }

  /** Draws what has changed; `status` is the first line. */
  paint(status: string): void {
    this.#status = status;
    const { size, messages } = this.#screen;
    const height = Math.max(0, size.rows - AROUND);
    const { length } = this.#table;
    const first = this.#scroll.within(length, height);
    const rows = this.#table.lines(first, height, Date.now(), size.columns);
    if (length === 0 && this.#isSynced && rows.length < height) rows.push(this.#where);
    while (rows.length < height) rows.push("");
    const hidden = length - height;
    const keys = hidden > 0
      ? `lines ${first + 1} to ${first + height} of ${length}; arrows, space, b, g, G; q ends`
      : "q ends";
    this.#screen.draw(this.#painter.paint([status, ...rows, messages.at(-1) ?? keys], size));
  }

  /** Gives the screen back. */
  [Symbol.dispose](): void {
    this.#screen[Symbol.dispose]();
  }
}
