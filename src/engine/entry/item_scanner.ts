/**
 * Finds the items of a list in its bytes.
 *
 * {@linkcode ItemScanner} is the entry point. It takes the bytes as they come, and keeps none of them. It does not
 * look into items; its target in `client/decode/readers.ts` does.
 *
 * @module
 */
import { encoder } from "../api/object.ts";

const SPACE = 32;
const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPEN_BRACKET = 91;
const BACKSLASH = 92;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;
/** The bit in which a brace differs from the bracket of the same side. */
const BRACE_BIT = 32;

const ITEMS = encoder.encode(`"items"`);
/** The items of a table. */
const ROWS = encoder.encode(`"rows"`);

/** Receives the parts of a list. Bytes are valid during the call. */
interface ItemScannerTarget {
  /** Receives bytes outside of the items; `[` and `]` of their array are among them. */
  outline(bytes: Uint8Array, start: number, end: number): void;
  /** The array of items begins. The outline so far ends with its `[`. */
  itemsBegin(): void;
  /** An item begins. Returns the end of its metadata, or -1 if the scanner has to search the item from its start. */
  head(bytes: Uint8Array, start: number, end: number): number;
  /**
   * An item begins. Returns its end if the target has read all of it, or -1 if the scanner has to search for the end.
   */
  all(bytes: Uint8Array, start: number, end: number): number;
  /** Receives a part of an item that continues in the next chunk. */
  part(bytes: Uint8Array, start: number, end: number): void;
  /** Receives the last part of an item, or all of it. */
  item(bytes: Uint8Array, start: number, end: number): void;
}

/**
 * Finds the items of a list in its bytes, however they are split, in one pass that tracks strings and depth. The items
 * are the elements of the array under the top-level key `items`, or `rows` in a table; they must be objects.
 */
export class ItemScanner {
  readonly #target: ItemScannerTarget;
  /** `"items"`; where a table may come, `"rows"` once a key begins like it. */
  #key = ITEMS;
  readonly #mayBeTable: boolean;
  /** The position of the scanner: outside of the items, between two of them, or inside of one. */
  #place: "outline" | "between" | "item" = "outline";
  /** Between items: `none` before the first item, `may` after an item, `had` after a comma. */
  #comma: "none" | "may" | "had" = "none";
  /** The number of open brackets and braces: of the list outside of its items, else of the item. */
  #depth = 0;
  #inString = false;
  #escaped = false;
  #sawItems = false;
  /** The number of bytes of the key and its colon that come directly before this byte, at depth 1. */
  #matched = 0;

  /** Passes the parts of a list to `target`. With `mayBeTable`, it also accepts a table. */
  constructor(target: ItemScannerTarget, mayBeTable = false) {
    this.#target = target;
    this.#mayBeTable = mayBeTable;
  }

  /** True once the array of items has begun. */
  get sawItems(): boolean {
    return this.#sawItems;
  }

  /** True inside of the array of items. */
  get inItems(): boolean {
    return this.#place !== "outline";
  }

  /** Returns to the start of the latest item, which is scanned again. */
  reopen(): void {
    this.#place = "item";
    this.#depth = 0;
  }

  /** Scans one more chunk. */
  push(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length;) {
      if (this.#place === "item") at = this.#item(chunk, at);
      else if (this.#place === "between") at = this.#between(chunk, at);
      else at = this.#outline(chunk, at);
    }
  }

  #outline(chunk: Uint8Array, start: number): number {
    for (let at = start; at < chunk.length; at++) {
      const byte = chunk[at];
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false;
        else if (byte === BACKSLASH) this.#escaped = true;
        else if (byte === QUOTE) this.#inString = false;
        if (this.#matched === 1 && this.#mayBeTable) this.#key = byte === ROWS[1] ? ROWS : ITEMS;
        // A key with escapes is not recognized, and stays in the outline.
        this.#matched = this.#matched > 0 && this.#matched < this.#key.length && byte === this.#key[this.#matched]
          ? this.#matched + 1
          : 0;
        continue;
      }
      if (byte <= SPACE) continue;
      if (byte === OPEN_BRACKET && this.#depth === 1 && this.#matched === this.#key.length + 1 && !this.#sawItems) {
        this.#target.outline(chunk, start, at + 1);
        this.#sawItems = true;
        this.#place = "between";
        this.#target.itemsBegin();
        return at + 1;
      }
      if (byte === QUOTE) {
        this.#inString = true;
        this.#matched = this.#depth === 1 ? 1 : 0;
        continue;
      }
      this.#matched = byte === COLON && this.#matched === this.#key.length ? this.#matched + 1 : 0;
      if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.#depth++;
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) this.#depth--;
    }
    this.#target.outline(chunk, start, chunk.length);
    return chunk.length;
  }

  #between(chunk: Uint8Array, at: number): number {
    for (; at < chunk.length; at++) {
      const byte = chunk[at];
      if (byte <= SPACE) continue;
      if (byte === COMMA && this.#comma === "may") {
        this.#comma = "had";
      } else if (byte === OPEN_BRACE && this.#comma !== "may") {
        this.#place = "item";
        this.#depth = 0;
        return at;
      } else if (byte === CLOSE_BRACKET && this.#comma !== "had") {
        this.#place = "outline";
        this.#depth = 2;
        this.#matched = 0;
        return at;
      } else {
        const place = this.#comma === "may" ? "a comma or the end of the items" : "an item";
        throw new SyntaxError(`${quoted(byte)} is in the place of ${place}`);
      }
    }
    return at;
  }

  /** One loop over local variables: nearly all bytes of a list pass here. */
  #item(chunk: Uint8Array, start: number): number {
    const end = chunk.length;
    let depth = this.#depth;
    let inString = this.#inString;
    let at = this.#escaped ? start + 1 : start;
    if (depth === 0 && !inString) {
      const all = this.#target.all(chunk, start, end);
      if (all !== -1) {
        this.#place = "between";
        this.#comma = "may";
        this.#target.item(chunk, start, all);
        return all;
      }
      const behind = this.#target.head(chunk, start, end);
      if (behind !== -1) {
        at = behind;
        depth = 1;
      }
    }
    for (;;) {
      if (inString) {
        while (at < end) {
          const byte = chunk[at++];
          if (byte === QUOTE) {
            inString = false;
            break;
          }
          if (byte === BACKSLASH) at++;
        }
      }
      if (at >= end) break;
      const byte = chunk[at++];
      if (byte === QUOTE) {
        inString = true;
      } else if ((byte | BRACE_BIT) === OPEN_BRACE) {
        depth++;
      } else if ((byte | BRACE_BIT) === CLOSE_BRACE && --depth === 0) {
        this.#inString = this.#escaped = false;
        this.#place = "between";
        this.#comma = "may";
        this.#target.item(chunk, start, at);
        return at;
      }
    }
    this.#inString = inString;
    this.#escaped = at > end; // the chunk ends with a backslash
    this.#depth = depth;
    this.#target.part(chunk, start, end);
    return end;
  }
}

function quoted(byte: number): string {
  return byte > 127 ? "a character that is not ASCII" : JSON.stringify(String.fromCharCode(byte));
}
