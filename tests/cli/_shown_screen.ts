/** The rows of a screen after the text of `FramePainter` was written to it. */
export class ShownScreen {
  readonly rows: string[] = [];
  /** Rows that were written, by number from 1, in order. */
  readonly written: number[] = [];

  /** Writes text: rows by their position, erasures of lines, and of the screen. */
  write(text: string): void {
    // deno-lint-ignore no-control-regex -- control sequences begin with it
    for (const [, clear, row, line] of text.matchAll(/(\x1b\[2J)|\x1b\[(\d+);1H([^\x1b]*)(?:\x1b\[K)?/g)) {
      if (clear !== undefined) this.rows.length = 0;
      else {
        this.rows[Number(row) - 1] = line;
        this.written.push(Number(row));
      }
    }
  }
}
