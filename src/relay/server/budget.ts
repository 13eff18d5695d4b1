/**
 * The one bound for the bytes that a relay keeps and holds for its clients.
 *
 * {@linkcode ByteBudget} is the entry point. The relay first drops what it can make again; then it ends streams and
 * refuses views. This file does not know what the bytes are.
 *
 * @module
 */

/**
 * A part of a relay that keeps bytes it can do without: changes for clients that resume, and parts of snapshots that
 * are made again.
 */
export interface Evictable {
  /** The number of bytes. */
  readonly bytes: number;
  /** Drops some of them, of which there are some. */
  shrink(): void;
}

/** Bytes that an answer needs, until its disposal. */
export class HeldBytes implements Disposable {
  /** Ends what the bytes are held for, where others need them; `undefined` while that may not be. */
  giveUp: (() => void) | undefined;
  readonly #resize: (hold: HeldBytes, bytes: number) => void;
  #bytes = 0;

  /** None yet. `resize` is called before each change of their number. */
  constructor(resize: (hold: HeldBytes, bytes: number) => void, giveUp: (() => void) | undefined) {
    this.#resize = resize;
    this.giveUp = giveUp;
  }

  /** The number of bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Changes their number; where that is too many, the oldest that can be given up are, which may be these. */
  resize(bytes: number): void {
    this.#resize(this, bytes);
    this.#bytes = bytes;
  }

  /** Needs them no more. */
  [Symbol.dispose](): void {
    this.resize(0);
  }
}

/**
 * The bytes that a relay keeps and holds for its clients: a quarter for what it keeps, and three quarters for what
 * answers hold, so that neither takes the place of the other.
 */
export class ByteBudget {
  readonly #limits: { readonly kept: number; readonly held: number };
  readonly #keepers = new Set<Evictable>();
  /** From the oldest on. */
  readonly #holds = new Set<HeldBytes>();
  #kept = 0;
  #held = 0;

  /** A budget of `limit` bytes. */
  constructor(limit: number) {
    this.#limits = { kept: limit / 4, held: limit * 3 / 4 };
  }

  /** The number of bytes that are kept and held. */
  get bytes(): number {
    return this.#kept + this.#held;
  }

  /**
   * Counts `bytes` more of a keeper, which has them; where all keepers have too many, those with the most drop some.
   */
  keep(keeper: Evictable, bytes: number): void {
    this.#keepers.add(keeper);
    this.#kept += bytes;
    while (this.#kept > this.#limits.kept) {
      const largest = [...this.#keepers].reduce((a, b) => b.bytes > a.bytes ? b : a);
      const before = largest.bytes;
      largest.shrink();
      this.#kept -= before - largest.bytes;
    }
  }

  /** Counts a keeper no more, which has `bytes`. */
  drop(keeper: Evictable): void {
    if (this.#keepers.delete(keeper)) this.#kept -= keeper.bytes;
  }

  /**
   * Holds bytes, for which the oldest holds that can be are given up where they are too many; `undefined` if they still
   * are. One hold has as many as it needs, whatever the limit.
   */
  hold(bytes: number, giveUp?: () => void): HeldBytes | undefined {
    this.#make(bytes);
    if (this.#held > 0 && this.#held + bytes > this.#limits.held) return undefined;
    const hold = new HeldBytes((it, next) => this.#resize(it, next), giveUp);
    hold.resize(bytes);
    this.#holds.add(hold);
    return hold;
  }

  #resize(hold: HeldBytes, bytes: number): void {
    this.#held += bytes - hold.bytes;
    if (bytes === 0) this.#holds.delete(hold);
    else if (bytes > hold.bytes && this.#holds.has(hold)) this.#make(0);
  }

  /** Gives up holds until there is room for `bytes`, if that is possible. */
  #make(bytes: number): void {
    for (const hold of this.#holds) {
      if (this.#held + bytes <= this.#limits.held) return;
      hold.giveUp?.(); // which disposes it
    }
  }
}
