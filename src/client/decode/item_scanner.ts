const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPEN_BRACKET = 91;
const BACKSLASH = 92;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;
/** All that a bracket differs in from the brace of its side. */
const BRACE_BIT = 32;
const SPACE = 32;
const ITEMS = new TextEncoder().encode(`"items"`);

/** What is done with what the scanner finds; bytes are valid during the call. */
export interface ItemScannerTarget {
  /** Bytes around the items, `[` and `]` of the array included. */
  outline(bytes: Uint8Array, start: number, end: number): void;
  /** The array of items begins; the outline so far ends with its `[`. */
  itemsBegin(): void;
  /** An item begins: where its metadata ends, if that is seen at once; -1 when it is to be looked for byte by byte. */
  head(bytes: Uint8Array, start: number, end: number): number;
  /** The beginning or middle of an item that goes on in the next chunk. */
  part(bytes: Uint8Array, start: number, end: number): void;
  /** The end of an item: all of it, unless parts came before. */
  item(bytes: Uint8Array, start: number, end: number): void;
}

/**
 * Finds the items of a list in its bytes, however they are split: one pass that knows strings and depth, so that what it
 * cuts is exact. An array under a top-level key `items` is the items; its elements must be objects.
 */
export class ItemScanner {
  readonly #target: ItemScannerTarget;
  /** Where the scanner is: around the items, between two of them, or inside one. */
  #place: "outline" | "between" | "item" = "outline";
  /** Between two items: whether no comma may come yet, one must if anything does, or one has and an item must follow. */
  #comma: "none" | "may" | "had" = "none";
  #depth = 0;
  #inString = false;
  #escaped = false;
  #sawItems = false;
  /** How much of `"items"`, and then of the colon behind it, stands before this byte, at depth 1. */
  #matched = 0;

  /** A scanner that tells `target`. */
  constructor(target: ItemScannerTarget) {
    this.#target = target;
  }

  /** Whether the array of items has begun. */
  get sawItems(): boolean {
    return this.#sawItems;
  }

  /** Whether it has not ended yet. */
  get inItems(): boolean {
    return this.#place !== "outline";
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
        // A key of the list itself, byte for byte; one with escapes stays in the outline.
        this.#matched = this.#matched > 0 && this.#matched < ITEMS.length && byte === ITEMS[this.#matched]
          ? this.#matched + 1
          : 0;
        continue;
      }
      if (byte <= SPACE) continue;
      if (byte === OPEN_BRACKET && this.#depth === 1 && this.#matched === ITEMS.length + 1 && !this.#sawItems) {
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
      this.#matched = byte === COLON && this.#matched === ITEMS.length ? this.#matched + 1 : 0;
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
        const expected = this.#comma === "may" ? "the items should go on or end" : "an item should begin";
        throw new SyntaxError(`found ${quoted(byte)} where ${expected}`);
      }
    }
    return at;
  }

  /** One loop over local variables: this is where nearly all bytes of a list go through. */
  #item(chunk: Uint8Array, start: number): number {
    const end = chunk.length;
    let depth = this.#depth;
    let inString = this.#inString;
    let at = this.#escaped ? start + 1 : start;
    if (depth === 0 && !inString) {
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
