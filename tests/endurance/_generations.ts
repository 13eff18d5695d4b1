/**
 * Informers whose handlers and iterators come, are delivered everything, and stay or go, while every object is replaced
 * by its next version. Prints how many objects of an outdated generation are still alive in each case.
 *
 * Needs `--v8-flags=--expose-gc`.
 */
import { setImmediate } from "node:timers";
import {
  type CacheEntry,
  entryOf,
  type KubernetesObject,
  type ListerWatcher,
  type ListPart,
  SharedIndexInformer,
  type WatchChange,
} from "../../mod.ts";

const OBJECTS = 1_000;

class Source implements ListerWatcher<KubernetesObject> {
  #version = 0;
  #batch = Promise.withResolvers<readonly WatchChange<KubernetesObject>[]>();
  /** The objects of the last generation. */
  last: WeakRef<CacheEntry<KubernetesObject>>[] = [];

  #entries(): CacheEntry<KubernetesObject>[] {
    this.#version++;
    const entries = Array.from({ length: OBJECTS }, (_, i) =>
      entryOf<KubernetesObject>({
        metadata: {
          name: `object-${i}`,
          uid: `uid-${i}`,
          resourceVersion: String(this.#version),
        } as KubernetesObject["metadata"],
      }));
    this.last = entries.map((entry) => new WeakRef(entry));
    return entries;
  }

  async *listEntries(): AsyncGenerator<ListPart<KubernetesObject>, void, undefined> {
    await Promise.resolve();
    yield { entries: this.#entries(), resourceVersion: String(this.#version) };
  }

  async *watchChanges(
    { signal }: { readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<readonly WatchChange<KubernetesObject>[], void, undefined> {
    signal?.addEventListener("abort", () => this.#batch.reject(signal.reason), { once: true });
    yield [];
    for (;;) yield await this.#batch.promise;
  }

  /** Replaces every object by its next version. */
  update(): string {
    const { resolve } = this.#batch;
    this.#batch = Promise.withResolvers();
    resolve(this.#entries().map((entry) => ({ type: "MODIFIED", entry })));
    return String(this.#version);
  }
}

type Informer = SharedIndexInformer<KubernetesObject>;

/**
 * Attaches to an informer that has synced, or will; returns what a program would keep, and how to let go of the
 * informer.
 */
type Case = (informer: Informer) => { readonly kept: unknown; readonly leave?: () => void };

function iterate(informer: Informer): { kept: unknown; leave: () => void } {
  const events = informer.events();
  (async (): Promise<void> => {
    for await (const _event of events);
  })();
  return { kept: events, leave: (): void => void events.return!() };
}

function handle(options: Parameters<Informer["addEventHandler"]>[1] = {}): Case {
  return (informer) => {
    const registration = informer.addEventHandler({ onUpdate: () => {} }, options);
    return { kept: registration, leave: () => registration.remove() };
  };
}

const CASES: Readonly<Record<string, Case>> = {
  "no handler": () => ({ kept: undefined }),
  "handler": handle(),
  "handler with the latest per key": handle({ backlog: "latestPerKey" }),
  "handler with a limit": handle({ backlog: { max: 1_000_000 } }),
  "handler with a filter": handle({ filter: () => true }),
  "handler that is resynced": handle({ resyncMs: 1 }),
  "events()": iterate,
  "five of each": (informer) => {
    const all = Array.from({ length: 5 }, () => [handle()(informer), iterate(informer)]).flat();
    return { kept: all, leave: () => all.forEach(({ leave }) => leave?.()) };
  },
};

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Until every reader has been delivered everything. */
async function delivered(informer: Informer): Promise<void> {
  do await turn(); while (informer.status().handlers.some(({ pending }) => pending > 0));
}

async function alive(refs: readonly WeakRef<CacheEntry<KubernetesObject>>[]): Promise<number> {
  await turn(); // a reference that was read in this turn keeps its object alive to its end
  (globalThis as unknown as { gc(): void }).gc();
  return refs.filter((ref) => ref.deref() !== undefined).length;
}

async function update(source: Source, informer: Informer): Promise<number> {
  const before = source.last;
  await informer.waitForVersion(source.update());
  await delivered(informer);
  return await alive(before);
}

const found: Record<string, number> = {};
for (const [name, attach] of Object.entries(CASES)) {
  for (const when of ["early", "late"] as const) {
    const source = new Source();
    await using informer = new SharedIndexInformer<KubernetesObject>(source, { reflector: { streamingList: "off" } });
    const early = when === "early" ? attach(informer) : undefined;
    informer.run();
    await informer.waitForCacheSync();
    const { kept, leave } = early ?? attach(informer);
    await delivered(informer);
    found[`${when} ${name}`] = await update(source, informer);
    if (leave === undefined) continue;
    // Nobody is left to deliver anything to, so nothing is logged any more.
    leave();
    found[`${when} ${name}, removed`] = await update(source, informer);
    const other = iterate(informer);
    await delivered(informer);
    await update(source, informer);
    found[`${when} ${name}, removed, with another reader`] = await update(source, informer);
    other.leave();
    if (kept === undefined) throw new Error("unreachable: what is kept must be alive up to here");
  }
  {
    const source = new Source();
    await using informer = new SharedIndexInformer<KubernetesObject>(source, { reflector: { streamingList: "off" } });
    const { leave } = attach(informer);
    informer.run();
    await informer.waitForCacheSync();
    await delivered(informer);
    leave?.();
    found[`early ${name}, removed before the first change`] = await update(source, informer);
  }
}
console.log(JSON.stringify(found));
