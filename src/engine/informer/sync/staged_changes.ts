/**
 * What a part has read before its objects may be cached.
 *
 * {@linkcode StagedChanges} is the entry point: it stands between the reflector of a part and the part. It does not
 * decide when; `changing_parts.ts` does.
 *
 * @module
 */
import type { ReflectorStore, Replacement } from "../../reflector/requests.ts";

/**
 * Keeps the list of a part, and the changes that its watch sends after it, until they are committed in one step. Then
 * everything is passed on.
 */
export class StagedChanges<E> implements ReflectorStore<E> {
  readonly #store: ReflectorStore<E>;
  readonly #onProgress: () => void;
  /** The last complete list, with the changes since; `undefined` before the first one, and after the commit. */
  #list: Replacement<E> | undefined;
  #isCommitted = false;
  /** The version up to which the list and the changes are staged; `undefined` before the first list. */
  version: string | undefined;

  /** Passes to `store` once it is committed; calls `onProgress` whenever it has reached a version before that. */
  constructor(store: ReflectorStore<E>, onProgress: () => void) {
    this.#store = store;
    this.#onProgress = onProgress;
  }

  add(entry: E): void {
    if (this.#list === undefined) return this.#store.add(entry);
    this.#list.delete(entry); // the later state may be one that is kept out
    this.#list.add([entry]);
  }

  update(entry: E): void {
    if (this.#list === undefined) this.#store.update(entry);
    else this.add(entry);
  }

  delete(entry: E): void {
    (this.#list ?? this.#store).delete(entry);
  }

  replacing(): Replacement<E> {
    const list = this.#store.replacing();
    return {
      add: (entries) => list.add(entries),
      delete: (entry) => list.delete(entry),
      abandon: () => list.abandon(),
      commit: (version) => {
        if (this.#isCommitted) return list.commit(version);
        this.abandon();
        this.#list = list;
      },
    };
  }

  flush(version: string): void {
    if (this.#isCommitted) return this.#store.flush?.(version);
    this.version = version;
    this.#onProgress();
  }

  async room(signal: AbortSignal): Promise<void> {
    await this.#store.room?.(signal);
  }

  /** Passes on what is staged, in one step. */
  commit(): void {
    this.#isCommitted = true;
    this.#list!.commit(this.version!);
    this.#list = undefined;
  }

  /** Drops what is staged. */
  abandon(): void {
    this.#list?.abandon();
  }
}
