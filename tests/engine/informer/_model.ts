import {
  applyViewUpdate,
  type ViewRow,
  type ViewUpdate,
  type ViewUpdates,
} from "../../../src/engine/informer/cache_view.ts";
import type { Thing } from "../../support/sources/fixtures.ts";

/** A screen that shows a window by its updates alone. */
export class Screen {
  readonly updates: ViewUpdates<Thing>;
  readonly seen: ViewUpdate<Thing>[] = [];
  #rows: ViewRow<Thing>[] = [];
  #end: Promise<void>;
  #isOpen = true;

  /** Reads all updates as soon as they come, if `eager`; otherwise those of `read()`. */
  constructor(updates: ViewUpdates<Thing>, eager = true) {
    this.updates = updates;
    this.#end = eager ? this.#run() : Promise.resolve();
  }

  /** `"default/a@5"` for each row. */
  get rows(): string[] {
    return this.#rows.map(({ key, object }) => `${key}@${object.metadata.resourceVersion}`);
  }

  /** The last number of rows. */
  get total(): number | undefined {
    return this.seen.at(-1)?.total;
  }

  /**
   * The changes since the last call: `"+0 default/a"`, `"-1 default/b"`, `"1>0 default/c"`, `"~2 default/d"`,
   * `"= 3 of 5"`.
   */
  take(): string[] {
    return this.seen.splice(0).flatMap(({ rows, changes, total }) => [
      ...(rows === undefined ? [] : [`= ${rows.length} of ${total}`]),
      ...changes.map((change) => {
        if (change.type === "left") return `-${change.from} ${change.key}`;
        const { key } = change.row;
        if (change.type === "moved") return `${change.from}>${change.to} ${key}`;
        return `${change.type === "entered" ? "+" : "~"}${change.to} ${key}`;
      }),
    ]);
  }

  /** Reads one update. */
  async read(): Promise<void> {
    const { done, value } = await this.updates.next();
    if (done) this.#isOpen = false;
    else {
      this.seen.push(value);
      this.#rows = applyViewUpdate(this.#rows, value);
    }
  }

  async end(): Promise<void> {
    await this.updates.return!();
    await this.#end;
  }

  async #run(): Promise<void> {
    while (this.#isOpen) await this.read();
  }
}
