/**
 * A write, its response and its watch event in time, with what reads show.
 *
 * @module
 */
import { Drawing, type Words } from "../drawing.ts";
import type { Theme, Tone } from "../theme.ts";

/** When the request is sent, when the response is there, when the watch brings the write; and where time ends. */
const [SENT, ANSWERED, WATCHED, END] = [262, 372, 604, 744];
const START = 180;
/** When the function counts. */
const COUNT = 490;

/** A stretch of time in a lane. */
function bar(drawing: Drawing, y: number, from: number, to: number, tone: Tone, text: string): void {
  drawing.rect(from, y, to - from, 34, { tone, width: 1, radius: 4 });
  drawing.text((from + to) / 2, y + 22, text, { tone, anchor: "middle" });
}

export function ownWrites(theme: Theme, words: Words): string {
  const drawing = new Drawing(theme, 392);
  drawing.text(16, 26, "Your function creates a third Job, then counts the Jobs.", { bold: true, size: 15 });

  const lanes: readonly (readonly [y: number, title: string, line: string])[] = [
    [92, "API server", "what is stored"],
    [152, "informer.lister", "the cache only"],
    [212, "context.cache(Job)", "cache + own writes"],
  ];
  for (const [y, title, line] of lanes) {
    drawing.text(16, y + 14, y === 92 ? title : `\`${title}\``, { bold: y === 92 });
    drawing.text(16, y + 31, line, { tone: "muted" });
  }
  for (
    const [x, label, anchor] of [
      [SENT, "create(job)", "middle"],
      [ANSWERED, "response", "middle"],
      [WATCHED, "watch event", "middle"],
    ] as const
  ) {
    drawing.line([[x, 72], [x, 268]], { width: 1, dashed: true });
    drawing.text(x, 64, label, { anchor, tone: x === SENT ? "yours" : "server" });
  }
  drawing.line([[COUNT, 72], [COUNT, 262]], { tone: "yours", width: 2 });
  drawing.text(COUNT, 64, "count", { anchor: "middle", tone: "yours", bold: true });
  bar(drawing, 92, START, 316, "server", "2 Jobs");
  bar(drawing, 92, 316, END, "server", "3 Jobs");
  bar(drawing, 152, START, ANSWERED, "client", "2 Jobs");
  bar(drawing, 152, ANSWERED, WATCHED, "bad", "2 Jobs: the new one is missing");
  bar(drawing, 152, WATCHED, END, "client", "3 Jobs");
  bar(drawing, 212, START, ANSWERED, "client", "2 Jobs");
  bar(drawing, 212, ANSWERED, WATCHED, "yours", "3 Jobs: the response on top");
  bar(drawing, 212, WATCHED, END, "client", "3 Jobs");
  drawing.arrow([[START, 278], [END, 278]], { tone: "muted" });
  drawing.text(END, 298, "time", { anchor: "end", tone: "muted" });
  drawing.text((ANSWERED + WATCHED) / 2, 298, "some milliseconds", { anchor: "middle", tone: "muted" });
  drawing.text(16, 330, "What your function counts:", { bold: true });
  drawing.text(16, 353, "`informer.lister.list().length` is 2, so your function creates a duplicate.", { tone: "bad" });
  drawing.text(16, 376, "`context.cache(Job).list().length` is 3, so it creates nothing.", { tone: "client" });
  return drawing.svg(words);
}
