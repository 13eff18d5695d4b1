import { visibleLength } from "./colors.ts";

/** No column is made narrower than this. */
const MIN_WIDTH = 16;

/** How a table is laid out. */
export interface TableOptions {
  /** How many columns it may have, indentation included. */
  readonly width: number;
  /** How far it stands from the left. */
  readonly indent: number;
  /** Which of its columns may be made narrower, from the left. */
  readonly flexible: readonly number[];
}

/**
 * Rows of cells as text: columns as wide as their longest cell, the flexible ones wrapped where the width is too small.
 * Each cell is padded to the width of its column, the last one too.
 */
export function table(rows: readonly (readonly string[])[], { width, indent, flexible }: TableOptions): string {
  const columns = Math.max(...rows.map((row) => row.length));
  const widths = Array.from(
    { length: columns },
    (_, column) => Math.max(...rows.flatMap((row) => (row[column] ?? "").split("\n").map(visibleLength))),
  );
  const gaps = 2 * (widths.filter((one) => one > 0).length - 1);
  let excess = widths.reduce((sum, one) => sum + one, indent + gaps) - width;
  for (const column of [...flexible].sort((a, b) => widths[b] - widths[a])) {
    const cut = Math.max(0, Math.min(excess, widths[column] - MIN_WIDTH));
    widths[column] -= cut;
    excess -= cut;
  }
  return rows.flatMap((row) => rowLines(row, widths)).map((line) => " ".repeat(indent) + line).join("\n");
}

function rowLines(row: readonly string[], widths: readonly number[]): string[] {
  const cells = widths.map((width, column) => wrap(row[column] ?? "", width));
  const height = Math.max(...cells.map((lines) => lines.length));
  return Array.from(
    { length: height },
    (_, line) =>
      cells.flatMap((lines, column) =>
        widths[column] === 0 && column < widths.length - 1 ? [] : [pad(lines[line] ?? "", widths[column])]
      ).join("  "),
  );
}

/** A text with blanks up to a width. */
export function pad(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - visibleLength(text)));
}

function wrap(text: string, width: number): string[] {
  return text.split("\n").flatMap((line) => {
    if (visibleLength(line) <= width) return [line];
    const lines: string[] = [];
    for (const word of line.split(" ")) {
      const last = lines.at(-1);
      if (last !== undefined && visibleLength(`${last} ${word}`) <= width) lines[lines.length - 1] = `${last} ${word}`;
      else lines.push(word);
    }
    return lines;
  });
}
