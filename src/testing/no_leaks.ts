/**
 * Fails a test that leaves something running.
 *
 * {@linkcode noLeaks} is the entry point. It asks the servers, informers and clocks that you pass, and keeps no list of
 * its own. What the runtime owns, such as sockets and real timers, is the work of Deno's sanitizers.
 *
 * @module
 */
import { type Resource, resourceName } from "../engine/api/resource.ts";
import { nextTurn } from "../engine/async/turns.ts";
import { internals } from "../engine/errors/internals.ts";
import { FakeApiServer } from "./fake/fake_api_server.ts";
import { FakeTime } from "./fake/fake_time.ts";

/** The status of an informer or derived collection, as far as it is read here. */
interface Status {
  readonly state: string;
  readonly handlers: readonly { readonly name: string; readonly pending: number }[];
}

/** Anything that {@linkcode noLeaks} can look at: also an informer, a derived collection or a factory. */
export type LeakSource = FakeApiServer | FakeTime | { status(): object };

/** Looks for leaks when it is disposed. */
export interface LeakGuard extends AsyncDisposable {
  /** Adds something to look at, and returns it. */
  add<T extends LeakSource>(source: T): T;
}

/** Work that goes on after a disposal ends within so many turns of the event loop. */
const TURNS = 20;

/**
 * Fails your test if it leaves something running. Declare it with `await using` before the objects that it guards, so
 * that it looks after their disposal. It then throws an error that names everything that is left:
 *
 * - for a {@linkcode FakeApiServer}, open watches and requests without a response. A running informer has one, unless
 *   it backs off.
 * - for an informer, a derived collection or a factory, informers that still run, and handlers that are still
 *   registered
 * - for a {@linkcode FakeTime}, timers that still wait. Deno's sanitizers do not see them.
 *
 * Pass the server and the time, which must live until then. Pass later objects to `add()`, which returns them. If the
 * test has failed too, you see both errors.
 *
 * @throws {Error} when it is disposed, if something is left.
 *
 * @example
 * ```ts
 * import { Client, SharedInformerFactory } from "@kube/informer";
 * import { Pod } from "@kube/informer/kinds/core/v1";
 * import { FakeApiServer, noLeaks } from "@kube/informer/testing";
 *
 * using server = new FakeApiServer();
 * await using leaks = noLeaks(server);
 * using client = new Client({ server: "http://fake", transport: server });
 * await using informers = leaks.add(new SharedInformerFactory(client));
 * informers.forResource(Pod).addEventHandler({});
 * informers.start();
 * await informers.waitForCacheSync();
 * ```
 */
export function noLeaks(...sources: readonly LeakSource[]): LeakGuard {
  const all = new Set(sources);
  return {
    add<T extends LeakSource>(source: T): T {
      all.add(source);
      return source;
    },
    async [Symbol.asyncDispose](): Promise<void> {
      let left: readonly string[] = [];
      for (let turn = 0; turn < TURNS; turn++, await nextTurn()) {
        left = [...all].flatMap(leaksOf);
        if (left.length === 0) return;
      }
      throw new Error(
        `Cannot end the test without leaks: ${left.join("; ")}. Dispose them: declare their owners with using or ` +
          "await using, after noLeaks()",
      );
    },
  };
}

function leaksOf(source: LeakSource): readonly string[] {
  if (source instanceof FakeApiServer) return source[internals].open();
  if (source instanceof FakeTime) return source[internals].dueInMs().map((ms) => `a fake timer is due in ${ms} ms`);
  const status = source.status();
  if (Array.isArray(status)) {
    return (status as readonly { readonly resource: Resource; readonly status: Status }[])
      .flatMap(({ resource, status }) => leaksOfOne(`the informer of "${resourceName(resource)}"`, status));
  }
  const { sync } = (source as { readonly [internals]?: Followed })[internals] ?? {};
  return leaksOfOne(sync?.collection.informer ?? "an informer", status as Status);
}

/** The part of an informer or derived collection that has its name. */
interface Followed {
  readonly sync?: { readonly collection: { readonly informer: string } };
}

function leaksOfOne(name: string, { state, handlers }: Status): string[] {
  return [
    ...(state === "idle" || state === "stopped" ? [] : [`${name} still runs, and its state is "${state}"`]),
    ...handlers.map((it) => `handler "${it.name}" on ${name} is still registered, and ${it.pending} events wait`),
  ];
}
