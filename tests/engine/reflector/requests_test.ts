import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { defineResource } from "../../../src/engine/api/resource.ts";
import { UnreachableError } from "../../../src/engine/api/status.ts";
import { Client } from "../../../src/engine/client/client.ts";
import {
  type ListWatchObserver,
  type ObserveRequest,
  type RequestObserver,
  WatchStream,
} from "../../../src/engine/reflector/requests.ts";
import { FakeTime } from "../../support/times/fake_time.ts";
import { added, bookmark, endBookmark, entry, modified, part, type Thing } from "../../support/sources/fixtures.ts";
import { Follow, PAGES } from "../../support/sources/followed_source.ts";
import { Uncaught } from "../../support/sources/informer.ts";
import { END, ScriptedSource } from "../../support/sources/scripted_source.ts";
import { line, pod } from "../../support/servers/transport.ts";

/** Notes each call, with the number of the list or watch. */
function noting(notes: string[]): ObserveRequest {
  let lists = 0;
  return ({ type, resourceVersion }) => {
    const id = `${type} ${++lists}`;
    notes.push(`${id} from ${JSON.stringify(resourceVersion)}`);
    const request = (id: string): RequestObserver => ({
      send: (send) => {
        notes.push(`${id} sent`);
        return send();
      },
      decoded: () => void notes.push(`${id} decoded`),
      ended: ({ outcome, objects, events, error }) => {
        const facts = [outcome, objects, events, error instanceof Error ? error.name : undefined];
        notes.push(`${id} ${facts.filter((fact) => fact !== undefined).join(" ")}`);
      },
    });
    let pages = 0;
    const list: ListWatchObserver = {
      ...request(id),
      page: () => request(`${id} page ${++pages}`),
      committed: () => void notes.push(`${id} committed`),
    };
    return list;
  };
}

Deno.test("a reflector observes pages, commits and watches, and a page is sent before the one before it has ended", async () => {
  const notes: string[] = [];
  const source = new ScriptedSource()
    .list(part(1, [entry("a", 1), entry("b", 1)], { continue: "next" }), END)
    .list(part(1, [entry("c", 1)]), END)
    .watch([], [modified("a", 2)], [modified("b", 3)], END)
    .watch([]);
  {
    await using follow = new Follow(source, { ...PAGES, observe: noting(notes) });
    await follow.tick();
    await follow.tick(1_000);
  }
  assertEquals(notes, [
    `pages 1 from "0"`,
    "pages 1 page 1 sent",
    "pages 1 page 2 sent",
    "pages 1 page 1 listed 2",
    "pages 1 page 2 listed 1",
    "pages 1 committed",
    "pages 1 listed 3",
    `watch 2 from "1"`,
    "watch 2 sent",
    "watch 2 ended 2",
    `watch 3 from "3"`,
    "watch 3 sent",
    "watch 3 stopped 0",
  ]);
});

Deno.test("a reflector observes the commit of a streaming list before its end", async () => {
  const notes: string[] = [];
  const source = new ScriptedSource().watch([], [added("a", 1), endBookmark(2)]);
  await using follow = new Follow(source, { observe: noting(notes) });
  await follow.tick();
  assertEquals(notes.filter((note) => note.includes("committed") || note.includes("listed")), [
    "stream 1 committed",
    "stream 1 listed 1",
  ]);
});

Deno.test("a list that fails, takes too long or is paused says so, and its page too", async () => {
  const notes: string[] = [];
  const source = new ScriptedSource()
    .list(part(1, [entry("a", 1)]), new UnreachableError("reset"))
    .list(part(1, []))
    .list(part(1, []));
  await using follow = new Follow(source, { ...PAGES, listIdleMs: 1_000, observe: noting(notes) });
  await follow.tick();
  await follow.tick(800);
  await follow.tick(1_000);
  await follow.tick(800);
  follow.reflector.pause();
  await follow.tick();
  assertEquals(notes.filter((note) => !note.includes("sent") && !note.includes("from")), [
    "pages 1 page 1 failed 1 UnreachableError",
    "pages 1 failed 1 UnreachableError",
    "pages 2 page 1 failed 0 UnreachableError",
    "pages 2 failed 0 UnreachableError",
    "pages 3 page 1 stopped 0",
    "pages 3 paused 0",
  ]);
});

Deno.test("a watch that is paused or ended by relist() says so, and waits and pauses are not observed", async () => {
  const notes: string[] = [];
  const source = new ScriptedSource()
    .list(part(1, []), END)
    .watch([])
    .watch([])
    .list(part(4, []), END)
    .watch([]);
  await using follow = new Follow(source, { ...PAGES, observe: noting(notes) });
  await follow.tick();
  follow.reflector.pause();
  await follow.tick(5_000);
  follow.reflector.resume();
  await follow.tick(1_000);
  follow.reflector.relist(new Error("on purpose"));
  await follow.tick(1_000);
  assertEquals(
    notes.filter((note) => note.startsWith("watch") && !note.includes("sent")),
    [`watch 2 from "1"`, "watch 2 paused 0", `watch 3 from "1"`, "watch 3 relist 0", `watch 5 from "4"`],
  );
});

Deno.test("an observer that throws at the end is reported as uncaught, and observe() may leave a request unobserved", async () => {
  using uncaught = new Uncaught();
  const source = new ScriptedSource().list(part(1, [entry("a", 1)]), END).watch([]);
  await using follow = new Follow(source, {
    ...PAGES,
    observe: ({ type }) => {
      if (type === "watch") return undefined;
      const request: RequestObserver = {
        send: (send) => send(),
        decoded: () => {},
        ended: ({ outcome }) => {
          throw new Error(outcome);
        },
      };
      return { ...request, page: () => ({ ...request, ended: () => {} }), committed: () => {} };
    },
  });
  await follow.tick();
  assertEquals(follow.reflector.phase.name, "watching");
  assertEquals([follow.stored, uncaught.errors.map(String)], [["default/a@1"], ["Error: listed"]]);
});

Deno.test("a page that was requested and not read has stopped, and a list that was paused before its request is not observed", async () => {
  const notes: string[] = [];
  const source = new ScriptedSource()
    .list(part(1, [entry("a", 1)], { continue: "next" }), new UnreachableError("reset"))
    .list(part(1, [entry("b", 1)]));
  await using follow = new Follow(source, {
    ...PAGES,
    observe: noting(notes),
    onPhase: (phase) => {
      if (phase.name === "listing" && notes.length > 0) follow.reflector.pause();
    },
  });
  await follow.tick();
  await follow.tick(800);
  assertEquals(follow.reflector.phase.name, "paused");
  assertEquals(notes, [
    `pages 1 from "0"`,
    "pages 1 page 1 sent",
    "pages 1 page 2 sent",
    "pages 1 page 1 failed 1 UnreachableError",
    "pages 1 page 2 stopped 0",
    "pages 1 failed 1 UnreachableError",
  ]);
});

/** A signal that counts its listeners. */
function counted(): { readonly signal: AbortSignal; readonly listeners: number } {
  const { signal } = new AbortController();
  const listening = new Set<unknown>();
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (...args: unknown[]): void => {
    listening.add(args[1]);
    addEventListener.apply(signal, args as never);
  };
  signal.removeEventListener = (...args: unknown[]): void => {
    listening.delete(args[1]);
    removeEventListener.apply(signal, args as never);
  };
  return {
    signal,
    get listeners() {
      return listening.size;
    },
  };
}

const TIMES = { timeoutMs: 120_000 };

Deno.test("WatchStream keeps neither timer nor listener after it is closed", async () => {
  using time = new FakeTime();
  const parent = counted();
  const source = new ScriptedSource().watch([], [bookmark(1), bookmark(2)], END);
  const stream = new WatchStream<Thing>((signal) => source.watchChanges({ signal }), { ...TIMES, ...parent });
  assertEquals([parent.listeners, time.timers], [1, 1]);
  const results = [await stream.next(), await stream.next(), await stream.next()];
  assertEquals(results.map(({ value }) => value?.length), [0, 2, undefined]);
  stream.close();
  stream.close();
  assertEquals([parent.listeners, time.timers, parent.signal.aborted], [0, 0, false]);
});

Deno.test("WatchStream that cannot be opened keeps neither timer nor listener", () => {
  using time = new FakeTime();
  const parent = counted();
  const open = (): never => {
    throw new TypeError("the selector makes no sense");
  };
  assertThrows(() => new WatchStream<Thing>(open, { ...TIMES, ...parent }), TypeError, "selector");
  assertEquals([parent.listeners, time.timers], [0, 0]);
});

Deno.test("WatchStream.fail() rejects a pending read with that error, and ends the source", async () => {
  using time = new FakeTime();
  const source = new ScriptedSource().watch();
  const parent = counted();
  const stream = new WatchStream<Thing>((signal) => source.watchChanges({ signal }), { ...TIMES, ...parent });
  const waiting = assertRejects(() => stream.next(), Error, "given up");
  await time.tickAsync(0);
  stream.fail(new Error("given up"));
  await waiting;
  stream.close();
  assertEquals([source.open, parent.listeners, time.timers], [0, 0, 0]);
});

const Pod = defineResource({ version: "v1", plural: "pods", kind: "Pod" });
const CHUNKS = 1_000;

/** A body with one event to a chunk, each ready when it is read. */
function eventBody(): ReadableStream<Uint8Array> {
  const chunk = new TextEncoder().encode(line("MODIFIED", pod("a", "1")));
  return new ReadableStream({
    type: "bytes",
    pull: (controller: ReadableByteStreamController): void => controller.enqueue(chunk.slice()),
  }, { highWaterMark: 0 });
}

/**
 * The promises that are created while `read` is called and awaited `CHUNKS` times. The runtime counts, `await`
 * included.
 */
async function promisesOf(read: () => Promise<void>): Promise<number> {
  await read(); // what is created once is not counted
  const before = promises;
  for (let n = 0; n < CHUNKS; n++) await read();
  return promises - before;
}

let promises = 0;

Deno.test("WatchStream passes a chunk from the body's reader to the reflector in two promises", async () => {
  type Core = { setPromiseHooks(init: () => void): void };
  // deno-lint-ignore no-explicit-any -- the only way to see promises of async functions too
  const { core } = (Deno as any)[(Deno as any).internal] as { core: Core };
  core.setPromiseHooks(() => promises++);

  const reader = eventBody().getReader({ mode: "byob" });
  let buffer = new Uint8Array(65_536);
  const byReader = await promisesOf(async () => {
    const { value } = await reader.read(buffer);
    buffer = new Uint8Array(value!.buffer);
  });
  await reader.cancel();

  const transport = {
    fetch: () => Promise.resolve(new Response(eventBody(), { headers: { "content-type": "application/json" } })),
  };
  using client = new Client({ server: "http://kube.test", transport });
  const { signal } = new AbortController();
  const stream = new WatchStream((signal) => client.resource(Pod).watchChanges({ signal }), {
    signal,
    timeoutMs: 60_000,
  });
  await stream.next();
  let changes = 0;
  const byStream = await promisesOf(async () => {
    changes += (await stream.next()).value!.length;
  });
  await stream.close();
  assertEquals(changes, CHUNKS + 1);
  // The stream's pacer yields now and then, which takes a few promises.
  assertEquals(Math.round((byStream - byReader) / CHUNKS), 2, `${byStream} against ${byReader}`);
});
