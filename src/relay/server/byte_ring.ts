/**
 * The last batches of events, as bytes that all readers share.
 *
 * {@linkcode ByteRing} is the entry point. A reader keeps a position and no bytes. This file does not know what the
 * bytes are, and does not bound them: its user drops the oldest.
 *
 * @module
 */
import { lowerBound } from "../../engine/api/lower_bound.ts";

/** One change as an event, or several. */
export interface Batch {
  /** The position after the last one. */
  readonly position: number;
  /** Its events. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Batches in one buffer. Bytes that were written to it never change, so that readers share it. */
interface Block {
  readonly buffer: Uint8Array<ArrayBuffer>;
  /** The position before its first batch. */
  readonly base: number;
  /** The positions of its batches. */
  readonly positions: number[];
  /** The offset after each of its batches. */
  readonly ends: number[];
}

function newBlock(base: number, room: number): Block {
  return { buffer: new Uint8Array(room), base, positions: [], ends: [] };
}

function lengthOf(batches: readonly Batch[]): number {
  return batches.reduce((sum, { bytes }) => sum + bytes.length, 0);
}

/** Adds batches to a block, which has room for them. */
function fill({ buffer, positions, ends }: Block, batches: readonly Batch[]): void {
  for (const { position, bytes } of batches) {
    const start = ends.at(-1) ?? 0;
    buffer.set(bytes, start);
    positions.push(position);
    ends.push(start + bytes.length);
  }
}

/**
 * A block has an eighth of the ring's bytes, within these bounds. A batch that is larger gets a block for itself.
 */
const MIN_BLOCK = 256;
const MAX_BLOCK = 64 * 1024;

/**
 * The last batches of changes, as bytes that all readers share.
 *
 * Batches are written one after the other into blocks of up to 64 KiB. An array per small batch would cost four times
 * its bytes, and several batches in one block are read without a copy.
 */
export class ByteRing {
  /** In the order of their positions; there is a batch in each. */
  readonly #blocks: Block[] = [];
  #bytes = 0;
  #base: number;
  /** The last result of {@linkcode after}, and the position that it begins at; `undefined` since the last change. */
  #read: { readonly from: number; readonly batch: Batch } | undefined;

  /** A ring without batches, whose readers begin at `base` or later. */
  constructor(base: number) {
    this.#base = base;
  }

  /** The earliest position from which everything can be read. */
  get base(): number {
    return this.#base;
  }

  /** The number of bytes of its blocks, room for further batches included. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Adds batches that come together, into one block. Their positions rise, and follow the last position. */
  push(batches: readonly Batch[]): void {
    this.#read = undefined;
    const length = lengthOf(batches);
    let block = this.#blocks.at(-1);
    if (block === undefined || block.ends.at(-1)! + length > block.buffer.length) {
      const room = Math.max(length, Math.min(MAX_BLOCK, Math.max(MIN_BLOCK, this.#bytes >> 3)));
      block = newBlock(block?.positions.at(-1) ?? this.#base, room);
      this.#blocks.push(block);
      this.#bytes += room;
    }
    fill(block, batches);
  }

  /** Adds batches before all others, so that readers can begin at `base`. */
  prepend(base: number, batches: readonly Batch[]): void {
    this.#read = undefined;
    this.#base = base;
    if (batches.length === 0) return;
    const block = newBlock(base, lengthOf(batches));
    fill(block, batches);
    this.#blocks.unshift(block);
    this.#bytes += block.buffer.length;
  }

  /** Drops the oldest block, which must exist. */
  drop(): void {
    const { buffer, positions } = this.#blocks.shift()!;
    this.#bytes -= buffer.length;
    this.#base = positions.at(-1)!;
    this.#read = undefined;
  }

  /**
   * Returns the bytes after `position`, up to the end of a block, and the position after them; `undefined` if there are
   * none.
   */
  after(position: number): Batch | undefined {
    if (this.#read?.from === position) return this.#read.batch;
    const found = this.#find(position);
    if (found === undefined) return undefined;
    const { block, index } = found;
    const batch = this.#batch(block, index, block.positions.length - 1);
    this.#read = { from: position, batch };
    return batch;
  }

  /** Returns the first batch after `position`; `undefined` if there is none. */
  next(position: number): Batch | undefined {
    const found = this.#find(position);
    return found && this.#batch(found.block, found.index, found.index);
  }

  #batch({ buffer, positions, ends }: Block, first: number, last: number): Batch {
    return { position: positions[last]!, bytes: buffer.subarray(ends[first - 1] ?? 0, ends[last]) };
  }

  /**
   * Returns the first batch after `position`. Readers are mostly at the end, so the search for its block begins there.
   */
  #find(position: number): { readonly block: Block; readonly index: number } | undefined {
    let at = this.#blocks.length - 1;
    while (at > 0 && this.#blocks[at]!.base > position) at--;
    if (at >= 0 && this.#blocks[at].positions.at(-1)! <= position) at++;
    const block = this.#blocks[at];
    if (block === undefined) return undefined;
    return { block, index: lowerBound(block.positions.length, (at) => block.positions[at] <= position) };
  }
}
