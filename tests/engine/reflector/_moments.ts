import type { NotingStore } from "../../support/sources/followed_source.ts";
import type { ScriptedSource } from "../../support/sources/scripted_source.ts";

/** Calls `moment` at each request of a reflector, each read of an answer, and each call of its store. */
export function observeMoments(source: ScriptedSource, store: NotingStore, moment: () => void): void {
  store.refuses = () => (moment(), undefined);
  for (const method of ["listEntries", "watchChanges"] as const) {
    const open = source[method].bind(source) as (options: object) => ReturnType<typeof source.listEntries>;
    source[method] = ((options: object) => {
      moment();
      const call = open(options);
      const next = call.next.bind(call);
      call.next = () => (moment(), next());
      return call;
    }) as never;
  }
}
