/** Lays out the rows of a stream: a column is as wide as its widest cell so far. */
export class GrowingTable {
  /** The width of each column, which never decreases. */
  readonly #widths: number[] = [];

  /** Returns the cells as a line. */
  line(cells: readonly string[]): string {
    cells.forEach((cell, i) => this.#widths[i] = Math.max(this.#widths[i] ?? 0, cell.length));
    return cells.map((cell, i) => (i === cells.length - 1 ? cell : cell.padEnd(this.#widths[i]))).join("   ").trimEnd();
  }
}

/** Returns the lines of a table whose columns are as wide as their widest cell. */
export function tableLines(rows: readonly (readonly string[])[]): string[] {
  const table = new GrowingTable();
  for (const row of rows) table.line(row);
  return rows.map((row) => table.line(row));
}
