import { type Delta, DeltaFIFO, type DeltaFIFOOptions, type Deltas } from "../../../src/engine/queue/delta_fifo.ts";
import { Indexer } from "../../../src/engine/store/indexer.ts";

/** The key of `"foo@1"` is `"foo"`: what stands behind the `@` is a version. */
export function keyOf(word: string): string {
  return word.split("@")[0];
}

/** `"Added foo@1"`; a deletion that was only noticed afterwards is `"Deleted? foo@1"`. */
export function print(delta: Delta<string>): string {
  return `${delta.type}${delta.type === "Deleted" && delta.finalStateUnknown ? "?" : ""} ${delta.value}`;
}

/** A queue over `known` words, and the deltas that it delivers as text. */
export class Words {
  readonly known: Indexer<string> = new Indexer({ keyOf });
  readonly queue: DeltaFIFO<string>;

  constructor(known: readonly string[] = [], options: Partial<DeltaFIFOOptions<string>> = {}) {
    for (const word of known) this.known.add(word);
    this.queue = new DeltaFIFO({ keyOf, knownObjects: this.known, ...options });
  }

  /** Pops one key: its deltas, printed; `undefined` when nothing waits. */
  pop(): string[] | undefined {
    let printed: string[] | undefined;
    this.queue.pop(({ deltas }) => printed = deltas.map(print));
    return printed;
  }

  /** Pops all keys. */
  drain(): string[][] {
    return [...this.#pops()];
  }

  /** Pops all keys, and applies their deltas to the known objects. */
  settle(): void {
    while (this.queue.pop((deltas) => apply(this.known, deltas)));
  }

  *#pops(): Generator<string[]> {
    for (let printed; (printed = this.pop()) !== undefined;) yield printed;
  }
}

/** Applies deltas to a store. */
export function apply(store: Indexer<string>, { deltas }: Deltas<string>): void {
  for (const delta of deltas) {
    if (delta.type === "Deleted") store.delete(delta.value);
    else store.update(delta.value);
  }
}
