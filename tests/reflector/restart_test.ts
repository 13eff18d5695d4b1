import { assert, assertEquals } from "@std/assert";
import type { Change, ListerWatcher, ListPart } from "../../src/api/lister_watcher.ts";
import { UnreachableError } from "../../src/api/status.ts";
import type { ListOptions, WatchOptions } from "../../src/api/options.ts";
import { Reflector } from "../../src/reflector/reflector.ts";
import { expired, part, type Thing } from "../support/fixtures.ts";
import { FakeTime } from "../support/fake_time.ts";
import { NotingStore, PAGES } from "../support/followed_source.ts";

const CLIENTS = 1_000;
const WINDOW_MS = 100;
const MOST = 200;

/**
 * A server that all clients follow. It ends all watches at once, and is then up, down, or has forgotten all versions.
 */
class RestartingServer implements ListerWatcher<Thing> {
  state: "up" | "down" | "forgetful" = "up";
  /** When each request came, by its kind. */
  readonly requests = { list: [] as number[], watch: [] as number[] };
  #watches: PromiseWithResolvers<void>[] = [];

  async *listEntries(_options: ListOptions = {}): AsyncGenerator<ListPart<Thing>> {
    this.#note("list");
    yield part(10, []);
  }

  async *watchChanges({ signal }: WatchOptions = {}): AsyncGenerator<readonly Change<Thing>[]> {
    this.#note("watch");
    if (this.state === "forgetful") throw expired();
    yield [];
    const ended = Promise.withResolvers<void>();
    this.#watches.push(ended);
    signal?.addEventListener("abort", () => ended.resolve(), { once: true });
    await ended.promise;
  }

  /** Ends all watches, in good order or by an error. */
  end(error?: Error): void {
    for (const list of Object.values(this.requests)) list.length = 0;
    for (const { resolve, reject } of this.#watches.splice(0)) error === undefined ? resolve() : reject(error);
  }

  #note(kind: "list" | "watch"): void {
    this.requests[kind].push(Date.now());
    if (this.state === "down") throw new UnreachableError("connection refused");
  }
}

/** Fails if more than `MOST` requests, whose times rise, are within any window. */
function assertSpread(times: readonly number[], what: string): void {
  let most = 0;
  for (let first = 0, last = 0; last < times.length; last++) {
    while (times[last] - times[first] >= WINDOW_MS) first++;
    most = Math.max(most, last - first + 1);
  }
  assert(most <= MOST, `${most} ${what} within ${WINDOW_MS} ms`);
}

async function restarted(play: (server: RestartingServer, time: FakeTime) => Promise<void>): Promise<void> {
  using time = new FakeTime();
  const server = new RestartingServer();
  const stop = new AbortController();
  const running = Array.from({ length: CLIENTS }, () => {
    return new Reflector<Thing>(server, new NotingStore(), PAGES).run({ signal: stop.signal });
  });
  await time.tickAsync(20_000);
  try {
    await play(server, time);
  } finally {
    stop.abort();
    await Promise.all(running);
  }
  assertEquals(time.timers, 0);
}

for (const [how, error] of [["in good order", undefined], ["with an error", new UnreachableError("reset")]] as const) {
  Deno.test(`1,000 reflectors whose server ends all watches ${how} resume within a second, spread over that second`, async () => {
    await restarted(async (server, time) => {
      server.end(error);
      await time.tickAsync(1_000);
      assertEquals([server.requests.watch.length, server.requests.list.length], [CLIENTS, 0]);
      assertSpread(server.requests.watch, "watches");
    });
  });
}

Deno.test("1,000 reflectors whose server is down for three seconds resume within two seconds after that, spread over them", async () => {
  await restarted(async (server, time) => {
    server.state = "down";
    server.end(new UnreachableError("reset"));
    await time.tickAsync(3_000);
    server.state = "up";
    server.requests.watch.length = 0;
    await time.tickAsync(2_000);
    assertEquals(server.requests.watch.length, CLIENTS);
    assertSpread(server.requests.watch, "watches");
  });
});

Deno.test("1,000 reflectors whose server has forgotten their version list within 0.8 to 2.6 s, spread over that time", async () => {
  await restarted(async (server, time) => {
    server.state = "forgetful";
    server.end(new UnreachableError("reset"));
    await time.tickAsync(799);
    assertEquals(server.requests.list.length, 0);
    await time.tickAsync(1_801);
    // Some list again by then: their next watches have expired, too.
    assert(server.requests.list.length >= CLIENTS);
    assertSpread(server.requests.list.slice(0, CLIENTS), "lists");
  });
});
