import { inspect } from "./inspect.ts";

/** Beyond this many pairs of lines only the common beginning and end are found. */
const MAX_PAIRS = 1_000_000;

/** How many equal lines are shown on either side of a change. */
const CONTEXT = 3;

type Line = { readonly mark: " " | "-" | "+"; readonly text: string };

/** Two values line by line: `-` is what was found, `+` is what was expected, long runs of equal lines are left out. */
export function difference(actual: unknown, expected: unknown): string {
  const lines = compareLines(linesOf(actual), linesOf(expected));
  const shown = ["    - actual", "    + expected", ""];
  let hidden = 0;
  for (const [index, { mark, text }] of lines.entries()) {
    const near = lines.slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1).some((line) => line.mark !== " ");
    if (near) {
      if (hidden > 0) shown.push(`      (${hidden} equal lines)`);
      hidden = 0;
      shown.push(`    ${mark} ${text}`);
    } else hidden++;
  }
  if (hidden > 0) shown.push(`      (${hidden} equal lines)`);
  return `\n${shown.join("\n")}\n`;
}

function linesOf(value: unknown): string[] {
  const text = typeof value === "string" && value.includes("\n") ? value : inspect(value, 40);
  return text.split("\n");
}

function compareLines(actual: string[], expected: string[]): Line[] {
  const shorter = Math.min(actual.length, expected.length);
  let head = 0;
  while (head < shorter && actual[head] === expected[head]) head++;
  let tail = 0;
  while (tail < shorter - head && actual.at(-1 - tail) === expected.at(-1 - tail)) tail++;
  return [
    ...actual.slice(0, head).map(equalLine),
    ...compareMiddle(actual.slice(head, actual.length - tail), expected.slice(head, expected.length - tail)),
    ...actual.slice(actual.length - tail).map(equalLine),
  ];
}

/** The longest common subsequence, by the textbook table. */
function compareMiddle(actual: string[], expected: string[]): Line[] {
  const [rows, columns] = [actual.length, expected.length];
  if (rows * columns > MAX_PAIRS) return [...actual.map(actualLine), ...expected.map(expectedLine)];
  const width = columns + 1;
  const common = new Uint32Array((rows + 1) * width);
  for (let row = rows - 1; row >= 0; row--) {
    for (let column = columns - 1; column >= 0; column--) {
      const at = row * width + column;
      common[at] = actual[row] === expected[column]
        ? common[at + width + 1] + 1
        : Math.max(common[at + width], common[at + 1]);
    }
  }
  const lines: Line[] = [];
  let [row, column] = [0, 0];
  while (row < rows && column < columns) {
    const at = row * width + column;
    if (actual[row] === expected[column]) {
      lines.push(equalLine(actual[row++]));
      column++;
    } else if (common[at + width] >= common[at + 1]) lines.push(actualLine(actual[row++]));
    else lines.push(expectedLine(expected[column++]));
  }
  return [...lines, ...actual.slice(row).map(actualLine), ...expected.slice(column).map(expectedLine)];
}

function equalLine(text: string): Line {
  return { mark: " ", text };
}

function actualLine(text: string): Line {
  return { mark: "-", text };
}

function expectedLine(text: string): Line {
  return { mark: "+", text };
}
