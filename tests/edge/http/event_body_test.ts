import { assertEquals, assertRejects } from "@std/assert";
import { EventBody } from "../../../src/edge/http/event_body.ts";
import { FakeTime } from "../../support/fake_time.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A body that is written `text` whenever its client has read everything. */
function bodyOf(text: string): { body: EventBody; ends: () => number } {
  let ends = 0;
  const body: EventBody = new EventBody({
    onRead: () => body.write(encoder.encode(text)),
    onEnd: () => ends++,
  });
  return { body, ends: () => ends };
}

Deno.test("an event body is written when its client has read what came before, and not earlier", async () => {
  const { body } = bodyOf("one");
  assertEquals(body.isReading, false);
  const reader = body.stream.getReader();
  assertEquals(decoder.decode((await reader.read()).value), "one");
  assertEquals(body.isReading, false);
  await reader.cancel();
});

Deno.test("an event body has one end, whether it is ended, read to its end, or cancelled", async () => {
  using time = new FakeTime();
  const { body, ends } = bodyOf("one");
  const reader = body.stream.getReader();
  await reader.read();
  body.end("expired");
  body.end("slow");
  assertEquals([ends(), body.isReading], [1, false]);
  assertEquals(decoder.decode((await reader.read()).value), 'event:end\ndata:{"reason":"expired"}\n\n');
  await reader.cancel();
  assertEquals([ends(), time.timers], [1, 0]);
});

Deno.test("an event body whose client does not read ends after the time for it, and breaks 5 s later", async () => {
  using time = new FakeTime();
  const { body, ends } = bodyOf("one");
  const reader = body.stream.getReader();
  await reader.read();
  await time.tickAsync(100);
  body.check(100);
  assertEquals(ends(), 0);
  await time.tickAsync(1);
  body.check(100);
  assertEquals(ends(), 1);
  await time.tickAsync(5_000);
  await assertRejects(() => reader.closed, Error, "The client does not read");
});
