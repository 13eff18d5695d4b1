/** A batch of changes. */
export interface Batch {
  /** The position behind it. */
  readonly position: number;
  /** Its events. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** The largest number of bytes that are joined to one write; a single batch may be larger. */
const JOINED = 64 * 1024;

/** The last batches of changes, as bytes that all readers share. */
export class ByteRing {
  /** In the order of their positions, from `#first` on; those before it were dropped. */
  #batches: (Batch | undefined)[] = [];
  #first = 0;
  #bytes = 0;
  #base: number;
  /** The last result of joining several batches, and the position that it begins at. */
  #joined: { readonly from: number; readonly batch: Batch } | undefined;

  /** A ring without batches, whose readers begin at `base` or later. */
  constructor(base: number) {
    this.#base = base;
  }

  /** The earliest position from which everything can be read. */
  get base(): number {
    return this.#base;
  }

  /** The number of bytes that are kept. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Adds a batch; `position` is above that of the last one. */
  push(position: number, bytes: Uint8Array<ArrayBuffer>): void {
    this.#batches.push({ position, bytes });
    this.#bytes += bytes.length;
    this.#joined = undefined;
    if (this.#first > 1_024 && this.#first * 2 > this.#batches.length) {
      this.#batches = this.#batches.slice(this.#first);
      this.#first = 0;
    }
  }

  /** Drops the oldest batch, of which there is one. */
  drop(): void {
    const dropped = this.#batches[this.#first]!;
    this.#batches[this.#first++] = undefined;
    this.#bytes -= dropped.bytes.length;
    this.#base = dropped.position;
    this.#joined = undefined;
  }

  /** Returns the bytes behind `position`, and the position behind them; `undefined` if there are none. */
  after(position: number): Batch | undefined {
    const index = this.#indexAfter(position);
    const next = this.#batches[index];
    if (next === undefined || index + 1 === this.#batches.length) return next;
    if (this.#joined?.from === position) return this.#joined.batch;
    const batch = this.#join(index);
    this.#joined = { from: position, batch };
    return batch;
  }

  /** Returns the first batch behind `position`; `undefined` if there is none. */
  next(position: number): Batch | undefined {
    return this.#batches[this.#indexAfter(position)];
  }

  /** Readers are mostly at the end, so the search begins there, in growing steps. */
  #indexAfter(position: number): number {
    let high = this.#batches.length;
    let low = high;
    for (let step = 1; low > this.#first && this.#batches[low - 1]!.position > position; step *= 2) {
      high = low - 1;
      low = Math.max(this.#first, low - step);
    }
    // Those from `high` on are behind the position, and those before `low` are not.
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#batches[middle]!.position > position) high = middle;
      else low = middle + 1;
    }
    return high;
  }

  #join(index: number): Batch {
    const parts: Uint8Array[] = [];
    let length = 0;
    let position = 0;
    for (; index < this.#batches.length; index++) {
      const batch = this.#batches[index]!;
      if (length > 0 && length + batch.bytes.length > JOINED) break;
      parts.push(batch.bytes);
      length += batch.bytes.length;
      position = batch.position;
    }
    const bytes = new Uint8Array(length);
    let at = 0;
    for (const part of parts) {
      bytes.set(part, at);
      at += part.length;
    }
    return { position, bytes };
  }
}
