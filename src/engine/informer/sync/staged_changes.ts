/**
 * What a part has read before its objects may be cached.
 *
 * {@linkcode stagedChanges} is the entry point: it stands between the reflector of a part and the part. It does not
 * decide when they may be; `changing_parts.ts` does.
 *
 * @module
 */
import type { ReflectorStore, Replacement } from "../../reflector/requests.ts";

/**
 * The list of a part, and the changes that its watch sends after it, up to `version`, which is `undefined` before the
 * first list. `commit` passes them on in one step, and later changes as they come. `abandon` drops them.
 */
export type StagedChanges<E> = ReflectorStore<E> & { version?: string; commit(): void; abandon(): void };

/** Stages changes of `store`, and calls `onProgress` whenever they have reached a version. */
export function stagedChanges<E>(store: ReflectorStore<E>, onProgress: () => void): StagedChanges<E> {
  /** The last complete list, with the changes since; `undefined` before the first one, and after the commit. */
  let list: Replacement<E> | undefined;
  let isCommitted = false;
  const put = (entry: E): void => {
    list!.delete(entry); // the later state may be one that is kept out
    list!.add([entry]);
  };
  const staged: StagedChanges<E> = {
    add: (entry) => list === undefined ? store.add(entry) : put(entry),
    update: (entry) => list === undefined ? store.update(entry) : put(entry),
    delete: (entry) => (list ?? store).delete(entry),
    replacing: () => {
      const next = store.replacing();
      const commit = next.commit.bind(next);
      next.commit = (version) => {
        if (isCommitted) return commit(version);
        list?.abandon();
        list = next;
      };
      return next;
    },
    flush: (version) => {
      if (isCommitted) return store.flush?.(version);
      staged.version = version;
      onProgress();
    },
    room: async (signal) => await store.room?.(signal),
    commit: () => {
      isCommitted = true;
      list!.commit(staged.version!);
      list = undefined;
    },
    abandon: () => list?.abandon(),
  };
  return staged;
}
