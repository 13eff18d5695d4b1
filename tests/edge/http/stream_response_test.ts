import { assertEquals } from "@std/assert";
import { EventBody } from "../../../src/edge/http/event_body.ts";
import { OpenRequests } from "../../../src/edge/http/open_requests.ts";
import { streamResponse } from "../../../src/edge/http/stream_response.ts";
import { FakeTime } from "../../support/fake_time.ts";

Deno.test("a stream ends when it expires, and one that has ended before leaves no timer", async () => {
  using time = new FakeTime();
  const requests = new OpenRequests(2);
  const bodies: EventBody[] = [];
  const begin = (): () => void => {
    let stop!: () => void;
    using open = requests.admit()!;
    streamResponse((onEnd) => {
      const body = new EventBody({ onRead: () => {}, onEnd });
      bodies.push(body);
      stop = () => void body.stream.cancel();
      return { body: body.stream, expireAt: (at) => body.expireAt(at) };
    }, { open, expiresAt: new Date(Date.now() + 60_000) });
    return stop;
  };
  begin()();
  assertEquals([time.timers, requests.size], [0, 0]);
  begin();
  time.tick(59_999);
  assertEquals(requests.size, 1);
  time.tick(1);
  assertEquals(requests.size, 0);
  const { value } = await bodies[1].stream.getReader().read();
  assertEquals(new TextDecoder().decode(value), 'event:end\ndata:{"reason":"expired"}\n\n');
  time.tick(5_000);
  assertEquals([time.timers, requests.size], [0, 0]);
});
