import type { Entry } from "../../api/entry.ts";
import type { KubernetesObject } from "../../api/object.ts";
import type { ByteBudget, Hold } from "../budget/byte_budget.ts";
import type { Show } from "../objects/show.ts";
import { ShownObject } from "../objects/shown_object.ts";

/** The bytes of an object in a list of its own, beside the object. */
const OBJECT_BYTES = 64;

/** The bytes of an object that came as something else than text. */
const UNKNOWN_BYTES = 2_048;

/** The objects of one version of the cache, while a list of them is being read. */
interface Version {
  readonly name: string;
  readonly entries: readonly Entry<KubernetesObject>[];
  readonly objects: readonly ShownObject[];
  readonly hold: Hold;
  /** Each cuts the list of one reader. */
  readonly readers: Set<() => void>;
}

/** The objects of a list, until its disposal. */
export interface ListReading extends Disposable {
  /** The objects. */
  readonly objects: readonly ShownObject[];
}

/**
 * The objects of unread lists. Lists of one version of the cache share them. A version holds what it has beside the cache: a reference
 * to each object, and the objects that the next version does not have.
 */
export class SharedLists implements Disposable {
  readonly #budget: ByteBudget;
  readonly #show: Show;
  /** Those that have readers, from the oldest on. */
  readonly #versions: Version[] = [];

  /** None yet, of objects as `show` leaves them. */
  constructor(budget: ByteBudget, show: Show) {
    this.#budget = budget;
    this.#show = show;
  }

  /**
   * Begins to read the version of that name, whose entries are `entries()`. `cut` ends the list, when others need the bytes. Returns
   * `undefined` if there is no room.
   */
  read(name: string, entries: () => readonly Entry<KubernetesObject>[], cut: () => void): ListReading | undefined {
    const last = this.#versions.at(-1);
    const version = last?.name === name ? last : this.#begin(name, entries());
    if (version === undefined) return undefined;
    version.readers.add(cut);
    return {
      objects: version.objects,
      [Symbol.dispose]: () => {
        if (version.readers.delete(cut) && version.readers.size === 0) this.#end(version);
      },
    };
  }

  /** Cuts all lists. */
  [Symbol.dispose](): void {
    for (const { readers } of [...this.#versions]) for (const cut of [...readers]) cut();
  }

  #begin(name: string, entries: readonly Entry<KubernetesObject>[]): Version | undefined {
    const last = this.#versions.at(-1);
    if (last !== undefined) {
      const present = new Set(entries);
      const old = last.entries.filter((entry) => !present.has(entry));
      last.hold.resize(
        old.reduce((sum, { textBytes = UNKNOWN_BYTES }) => sum + textBytes, entries.length * OBJECT_BYTES),
      );
    }
    const readers = new Set<() => void>();
    const hold = this.#budget.hold(Math.max(1, entries.length * OBJECT_BYTES), () => {
      for (const cut of [...readers]) cut();
    });
    if (hold === undefined) return undefined;
    const objects = entries.map((entry) => new ShownObject(entry, this.#show));
    const version = { name, entries, objects, hold, readers };
    this.#versions.push(version);
    return version;
  }

  /** Forgets a version without readers. What it alone had, an older one may have too. */
  #end(version: Version): void {
    const index = this.#versions.indexOf(version);
    this.#versions.splice(index, 1);
    const bytes = version.hold.bytes - version.entries.length * OBJECT_BYTES;
    version.hold[Symbol.dispose]();
    const older = this.#versions[index - 1]?.hold;
    if (bytes > 0) older?.resize(older.bytes + bytes);
  }
}
