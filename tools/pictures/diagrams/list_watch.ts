/**
 * List, watch, a lost connection, 410 Gone, and the relist, with the events that a handler receives.
 *
 * @module
 */
import { Drawing, type Words } from "../drawing.ts";
import type { Theme, Tone } from "../theme.ts";

/** The life lines of the server, the informer and the handler. */
const SERVER = 120;
const INFORMER = 390;
const HANDLER = 640;

const ROW = 25;

/** A message from one line to another. */
interface Message {
  readonly row: number;
  readonly way: "asks" | "answers" | "calls";
  readonly label: string;
  readonly tone?: Tone;
}

function message(drawing: Drawing, top: number, { row, way, label, tone }: Message): void {
  const y = top + 48 + row * ROW;
  const [from, to] = way === "asks" ? [INFORMER, SERVER] : way === "answers" ? [SERVER, INFORMER] : [INFORMER, HANDLER];
  const colour = tone ?? (way === "calls" ? "yours" : way === "asks" ? "client" : "server");
  const gap = to > from ? 7 : -7;
  drawing.arrow([[from + gap, y], [to - gap, y]], { tone: colour, label, at: [(from + to) / 2, y - 5] });
}

/** A band, with its heading, its height in rows, and the cache and the state of the informer at its end. */
function band(drawing: Drawing, { top, rows, title, cache, state, tone }: typeof BANDS[number]): void {
  drawing.panel(10, top, 740, rows * ROW + 34);
  drawing.text(22, top + 22, title, { bold: true, size: 14 });
  drawing.pill(500, top + 6, 112, `cache: ${cache}`, "text");
  drawing.pill(620, top + 6, 122, `state: ${state}`, tone);
}

const BANDS: readonly {
  readonly top: number;
  readonly rows: number;
  readonly title: string;
  readonly cache: string;
  readonly state: string;
  readonly tone: Tone;
}[] = [
  { top: 60, rows: 4.2, title: "1  List: read every object once", cache: "a, b", state: "listing", tone: "queue" },
  {
    top: 207,
    rows: 4.2,
    title: "2  Watch: the server sends each change",
    cache: "a, c",
    state: "live",
    tone: "client",
  },
  { top: 354, rows: 5.3, title: "3  Connection lost: reads still work", cache: "a, c", state: "stale", tone: "bad" },
  {
    top: 529,
    rows: 5.2,
    title: "4  Relist: the new list replaces the cache",
    cache: "a, d",
    state: "stale",
    tone: "bad",
  },
  { top: 701, rows: 1.3, title: "5  Watch again", cache: "a, d", state: "live", tone: "client" },
];

/** The events of the watch, and the calls of the handler for them. */
const CHANGES: readonly (readonly [event: string, call: string])[] = [
  ["a modified, version 101", "updated a"],
  ["b deleted, version 102", "deleted b"],
  ["c added, version 103", "added c"],
];

export function listWatch(theme: Theme, words: Words): string {
  const drawing = new Drawing(theme, 778, "panel");
  for (const it of BANDS) band(drawing, it);
  for (const x of [SERVER, INFORMER, HANDLER]) {
    for (const [i, { top, rows }] of BANDS.entries()) {
      const notes = i === 2 || i === 3 ? 26 : 0;
      const isCut = i === 2 && x !== HANDLER;
      drawing.line([[x, top + 33], [x, top + 28 + rows * ROW - notes]], { width: 1, dashed: isCut });
    }
  }
  drawing.box([30, 12, 180, 34], "server", "API server");
  drawing.box([300, 12, 180, 34], "client", "informer");
  drawing.box([550, 12, 180, 34], "yours", "your handler");

  const [list, watch, lost, relist, again] = BANDS.map(({ top }) => top);
  message(drawing, list, { row: 0, way: "asks", label: "list pods" });
  message(drawing, list, { row: 1, way: "answers", label: "pods a, b at version 100" });
  message(drawing, list, { row: 1, way: "calls", label: "added a (initial)" });
  message(drawing, list, { row: 2, way: "calls", label: "added b (initial)" });
  message(drawing, list, { row: 3, way: "calls", label: "synced" });

  message(drawing, watch, { row: 0, way: "asks", label: "watch from version 100" });
  for (const [i, [event, call]] of CHANGES.entries()) {
    message(drawing, watch, { row: i + 1, way: "answers", label: event });
    message(drawing, watch, { row: i + 1, way: "calls", label: call });
  }

  const middle = (SERVER + INFORMER) / 2;
  for (const [from, to] of [[SERVER + 7, middle - 14], [middle + 14, INFORMER - 7]]) {
    drawing.line([[from, lost + 48], [to, lost + 48]], { tone: "bad", dashed: true });
  }
  drawing.cross(middle, lost + 48);
  const missed = "missed: c deleted, d added, a modified";
  drawing.text(middle, lost + 72, missed, { anchor: "middle", tone: "bad", halo: true });
  drawing.text((INFORMER + HANDLER) / 2, lost + 72, "no events", { anchor: "middle", tone: "muted" });
  message(drawing, lost, { row: 2, way: "asks", label: "resume: watch from version 103" });
  message(drawing, lost, { row: 3, way: "answers", label: "410 Gone: 103 is too old", tone: "bad" });
  const otherwise =
    "If the server still has version 103, the watch resumes here. No change is missed, and nothing is relisted.";
  drawing.text(22, lost + 156, otherwise, { tone: "muted" });

  message(drawing, relist, { row: 0, way: "asks", label: "list pods" });
  message(drawing, relist, { row: 1, way: "answers", label: "pods a, d at version 250" });
  message(drawing, relist, { row: 1, way: "calls", label: "deleted c (finalStateUnknown)" });
  message(drawing, relist, { row: 2, way: "calls", label: "updated a" });
  message(drawing, relist, { row: 3, way: "calls", label: "added d" });
  const differences =
    "The handler receives only the differences. The deletion of c is a tombstone: its last state may be old.";
  drawing.text(22, relist + 153, differences, { tone: "muted" });

  message(drawing, again, { row: 0, way: "asks", label: "watch from version 250" });
  return drawing.svg(words);
}
