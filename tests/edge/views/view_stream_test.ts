import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { KubernetesObject } from "../../../src/api/object.ts";
import { ViewSelection } from "../../../src/edge/views/view_selection.ts";
import { ViewStream } from "../../../src/edge/views/view_stream.ts";
import type { ViewUpdate } from "../../../src/informer/view/view_update.ts";
import { FakeTime } from "../../support/fake_time.ts";

const VIEWS = ViewSelection.parse('{"a":{"of":"pods"}}');
const TIMES = { stallMs: 30_000, heartbeatMs: 15_000 };

/** A stream of one view, whose updates are given one by one. */
class Streamed {
  readonly stream: ViewStream;
  readonly reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  /** The number of updates that the stream has asked for. */
  asked = 0;
  ends = 0;
  leases = 0;
  #give: ((update: IteratorResult<ViewUpdate<KubernetesObject>, undefined>) => void) | undefined;

  constructor() {
    this.stream = new ViewStream(() => {
      this.leases++;
      const updates: AsyncIterableIterator<ViewUpdate<KubernetesObject>> = {
        next: () => {
          this.asked++;
          return new Promise((resolve) => this.#give = resolve);
        },
        return: () => Promise.resolve({ done: true, value: undefined }),
        [Symbol.asyncIterator]: () => updates,
      };
      return {
        updates: Object.assign(updates, { moveTo: () => {} }),
        show: ({ object }) => object,
        [Symbol.dispose]: () => void this.leases--,
      };
    }, () => this.ends++);
    this.reader = this.stream.body.getReader();
    this.stream.replace(VIEWS);
  }

  update(total: number): void {
    this.#give?.({ done: false, value: { total, offset: 0, rows: [], changes: [] } });
  }

  finish(): void {
    this.#give?.({ done: true, value: undefined });
  }

  /** The text of the next chunk; `undefined` at the end. */
  async read(): Promise<string | undefined> {
    const { value } = await this.reader.read();
    return value && this.#decoder.decode(value);
  }
}

Deno.test("a stream of views asks for the next update when the last one was taken, and not within 50 ms", async () => {
  using time = new FakeTime();
  const streamed = new Streamed();
  streamed.update(1);
  await time.tickAsync(1_000);
  assertEquals(streamed.asked, 1); // nobody has read
  assertStringIncludes((await streamed.read())!, '"total":1');
  await time.tickAsync(0);
  assertEquals(streamed.asked, 2);
  const next = streamed.read();
  streamed.update(2);
  assertStringIncludes((await next)!, '"total":2');
  await time.tickAsync(49);
  assertEquals(streamed.asked, 2);
  await time.tickAsync(1);
  assertEquals(streamed.asked, 3);
  streamed.stream.end("closed");
  await streamed.reader.cancel();
});

Deno.test("a view that is closed before its client reads is not written", async () => {
  using time = new FakeTime();
  const streamed = new Streamed();
  streamed.update(1);
  await time.tickAsync(0);
  streamed.stream.replace(new Map());
  assertEquals(streamed.leases, 0);
  assertEquals((await streamed.read())!.includes("event:view"), false);
  await streamed.reader.cancel();
  assertEquals([streamed.ends, time.timers], [1, 0]);
});

Deno.test("a stream of views that has nothing to write has heartbeats", async () => {
  using time = new FakeTime();
  const streamed = new Streamed();
  await streamed.read();
  const heartbeat = streamed.read();
  await time.tickAsync(14_999);
  streamed.stream.check(TIMES);
  await time.tickAsync(1);
  streamed.stream.offer("x", "text\n\n");
  assertEquals(await heartbeat, "text\n\n");
  const next = streamed.read();
  await time.tickAsync(15_000);
  streamed.stream.check(TIMES);
  assertEquals(await next, ":\n\n");
  await streamed.reader.cancel();
});

Deno.test("a client of views that does not read has the reason 5 s long", async () => {
  using time = new FakeTime();
  const slow = new Streamed();
  await slow.read();
  slow.stream.offer("x", "text\n\n");
  await time.tickAsync(0);
  const again = new Streamed(); // reads the reason in time
  for (const { stream } of [slow, again]) stream.offer("x", "text\n\n");
  await again.read();
  await time.tickAsync(30_001);
  for (const { stream } of [slow, again]) stream.check(TIMES);
  assertEquals([slow.ends, again.ends], [1, 1]);
  assertStringIncludes((await again.read())!, 'event:end\ndata:{"reason":"slow"}');
  assertEquals(await again.read(), undefined);
  await time.tickAsync(5_000);
  await assertRejects(() => slow.reader.closed, Error, "The client does not read");
  assertEquals(time.timers, 0);
});

Deno.test("a stream of views ends with the informer of one, and takes nothing afterwards", async () => {
  using time = new FakeTime();
  const streamed = new Streamed();
  await streamed.read();
  const last = streamed.read();
  streamed.finish();
  assertStringIncludes((await last)!, 'event:end\ndata:{"reason":"closed"}');
  streamed.stream.offer("x", "text");
  streamed.stream.end("slow");
  assertEquals([await streamed.read(), streamed.ends, streamed.leases, time.timers], [undefined, 1, 0, 0]);
});
