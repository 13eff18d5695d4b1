/**
 * The ranges of three processes before and after one of them crashes, as the group plans them.
 *
 * @module
 */
import { planRanges, RANGE_COUNT } from "../../../src/operator/controllers/reconcile/group_leases.ts";
import { Drawing, type Words } from "../drawing.ts";
import type { Theme, Tone } from "../theme.ts";

const TONES: Readonly<Record<string, Tone>> = { A: "server", B: "queue", C: "yours" };

/** The first cell, and the width of each. */
const [X, CELL] = [28, 11];

/** The runs of neighbouring ranges with one holder. */
function runsOf(holders: readonly (string | undefined)[]): { holder?: string; from: number; to: number }[] {
  const runs: { holder?: string; from: number; to: number }[] = [];
  for (const [range, holder] of holders.entries()) {
    const last = runs.at(-1);
    if (last !== undefined && last.holder === holder) last.to = range;
    else runs.push({ holder, from: range, to: range });
  }
  return runs;
}

/** All ranges, in the colours of their holders. */
function ranges(drawing: Drawing, y: number, holders: readonly (string | undefined)[]): void {
  for (const { holder, from, to } of runsOf(holders)) {
    const tone = TONES[holder ?? ""] ?? "bad";
    const { ink, fill } = drawing.palette.tones[tone];
    for (let range = from; range <= to; range++) {
      drawing.raw(
        `<rect x="${X + range * CELL}" y="${y}" width="${
          CELL - 1.5
        }" height="40" rx="2" fill="${fill}" stroke="${ink}"${holder === undefined ? ' stroke-dasharray="2 2"' : ""}/>`,
      );
    }
  }
}

function nameRun(drawing: Drawing, y: number, [from, to]: readonly [number, number], text: string, tone: Tone): void {
  drawing.text(X + ((from + to + 1) * CELL) / 2, y, text, { tone, anchor: "middle", bold: true });
}

export function shards(theme: Theme, words: Words): string {
  const drawing = new Drawing(theme, 506);
  const before = planRanges(["A", "B", "C"], Array(RANGE_COUNT).fill(undefined));
  const lost = before.map((holder) => holder === "B" ? undefined : holder);
  const after = planRanges(["A", "C"], lost);
  const label = (holder: string | undefined, from: number, to: number): string =>
    holder === undefined ? `${to - from + 1} ranges without a process` : `${holder} holds ${to - from + 1} ranges`;

  drawing.text(X, 26, `Each object's uid is hashed into one of ${RANGE_COUNT} ranges. Each range has one process.`, {
    bold: true,
    size: 14,
  });
  const rows = [
    [84, "Before: A, B and C run.", before],
    [226, "B crashes.", lost],
    [388, "After at most 17 s: A and C have divided B's ranges.", after],
  ] as const;
  for (const [y, title, holders] of rows) {
    drawing.text(X, y - 28, title, { size: 14, bold: true, tone: y === 226 ? "bad" : "text" });
    ranges(drawing, y, holders);
    for (const { holder, from, to } of runsOf(holders)) {
      nameRun(drawing, y - 8, [from, to], label(holder, from, to), TONES[holder ?? ""] ?? "bad");
    }
  }
  drawing.text(
    X,
    148,
    "The informers in a process list and watch the objects of its ranges only. Each process renews a Lease.",
    {
      tone: "muted",
    },
  );
  drawing.text(
    X,
    290,
    "A and C keep their ranges and work on. They wait until B's Lease has run out (15 s), so that no range",
    {
      tone: "muted",
    },
  );
  drawing.text(X, 308, "ever has two processes.", { tone: "muted" });
  for (const { holder, from, to } of runsOf(after)) {
    const taken = [...Array(to - from + 1).keys()].map((i) => from + i).filter((range) => lost[range] === undefined);
    const [start, end] = [taken[0], taken[taken.length - 1] + 1].map((range) => X + range * CELL);
    drawing.line([[start, 436], [start, 442], [end - 1.5, 442], [end - 1.5, 436]], { tone: TONES[holder!] });
    drawing.text((start + end) / 2, 459, `${taken.length} go to ${holder}`, {
      anchor: "middle",
      tone: TONES[holder!],
    });
  }
  drawing.text(
    X,
    486,
    "A and C list only the objects of the ranges that they receive. No other range moves.",
    {
      tone: "muted",
    },
  );
  return drawing.svg(words);
}
