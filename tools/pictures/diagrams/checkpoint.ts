/**
 * The events that a handler receives after a restart, without and with a checkpoint.
 *
 * @module
 */
import { Drawing, type Words } from "../drawing.ts";
import type { Theme, Tone } from "../theme.ts";

const COLUMNS: readonly (readonly [x: number, width: number, title: string, lines: readonly string[]])[] = [
  [126, 156, "first run", ["pods a, b and c exist"]],
  [294, 222, "your process is down", ["b deleted, c changed, d added"]],
  [528, 220, "second run", ["pods a, c and d exist"]],
];

/** The events in one column, one below the other. */
function events(
  drawing: Drawing,
  column: number,
  top: number,
  lines: readonly (readonly [text: string, tone: Tone])[],
): void {
  const [x, width] = COLUMNS[column];
  for (const [i, [text, tone]] of lines.entries()) {
    drawing.rect(x + 4, top + i * 30, width - 8, 24, { tone, width: 1, radius: 4 });
    drawing.text(x + width / 2, top + i * 30 + 17, text, { tone, anchor: "middle" });
  }
}

export function checkpoint(theme: Theme, words: Words): string {
  const drawing = new Drawing(theme, 392);
  for (const [i, [x, width, title, lines]] of COLUMNS.entries()) {
    drawing.rect(x, 12, width, 50, { tone: i === 1 ? "bad" : "server", dashed: i === 1 });
    drawing.text(x + width / 2, 33, title, {
      bold: true,
      size: 14,
      anchor: "middle",
      tone: i === 1 ? "bad" : "server",
    });
    drawing.text(x + width / 2, 52, lines[0], { anchor: "middle" });
  }
  const [without, kept] = [76, 236];
  drawing.panel(10, without, 740, 146);
  drawing.panel(10, kept, 740, 146);
  drawing.text(22, without + 30, "Without a", { bold: true, size: 14 });
  drawing.text(22, without + 50, "checkpoint", { bold: true, size: 14 });
  drawing.text(22, kept + 30, "With a", { bold: true, size: 14 });
  drawing.text(22, kept + 50, "checkpoint", { bold: true, size: 14 });

  for (const top of [without, kept]) {
    drawing.text(22, top + 80, ["your handler", "receives:"], { tone: "muted" });
  }

  const first = [["added a", "yours"], ["added b", "yours"], ["added c", "yours"]] as const;
  events(drawing, 0, without + 14, first);
  events(drawing, 0, kept + 14, first);

  drawing.text(405, without + 62, ["nothing is remembered"], { anchor: "middle", tone: "muted" });
  events(drawing, 2, without + 14, [
    ["added a: again", "bad"],
    ["added c: again", "bad"],
    ["added d", "yours"],
    ["b's deletion never arrives", "bad"],
  ]);

  drawing.rect(314, kept + 14, 182, 84, { tone: "queue", dashed: true });
  drawing.text(405, kept + 36, "the store keeps", { anchor: "middle", tone: "queue", bold: true });
  drawing.text(405, kept + 58, "a: version 11", { anchor: "middle" });
  drawing.text(405, kept + 74, "b: version 12", { anchor: "middle" });
  drawing.text(405, kept + 90, "c: version 13", { anchor: "middle" });
  drawing.arrow([[278, kept + 56], [314, kept + 56]], { tone: "queue" });
  drawing.arrow([[496, kept + 56], [532, kept + 56]], { tone: "queue" });
  events(drawing, 2, kept + 14, [
    ["added d", "yours"],
    ["updated c", "yours"],
    ["deleted b (finalStateUnknown)", "yours"],
  ]);
  drawing.text(638, kept + 121, "a has not changed: no event", { anchor: "middle", tone: "muted" });
  return drawing.svg(words);
}
