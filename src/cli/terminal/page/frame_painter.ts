/** Size of a screen, in characters. */
export interface ScreenSize {
  /** Characters in a row. */
  readonly columns: number;
  /** Rows. */
  readonly rows: number;
}

const CLEAR = "\x1b[H\x1b[2J";

/** Draws frames on a screen, and writes only rows that differ from those of the frame before. */
export class FramePainter {
  #shown: readonly string[] = [];
  #size: ScreenSize = { columns: 0, rows: 0 };

  /**
   * Returns the text that turns the latest frame into this one; `""` if nothing differs. After a change of the size, all
   * is drawn anew. Rows and characters that the screen does not have are left out. Lines have no control characters.
   */
  paint(lines: readonly string[], size: ScreenSize): string {
    const { columns, rows } = size;
    const frame = lines.slice(0, rows).map((line) => line.slice(0, columns));
    const isResized = columns !== this.#size.columns || rows !== this.#size.rows;
    const before = isResized ? [] : this.#shown;
    let text = isResized ? CLEAR : "";
    for (let row = 0; row < Math.max(frame.length, before.length); row++) {
      const line = frame[row] ?? "";
      if (line !== (before[row] ?? "")) text += `\x1b[${row + 1};1H${line}${line.length < columns ? "\x1b[K" : ""}`;
    }
    this.#shown = frame;
    this.#size = size;
    return text;
  }
}
