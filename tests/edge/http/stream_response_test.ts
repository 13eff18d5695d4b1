import { assertEquals } from "@std/assert";
import { OpenRequests } from "../../../src/edge/http/open_requests.ts";
import { streamResponse } from "../../../src/edge/http/stream_response.ts";
import { FakeTime } from "../../support/fake_time.ts";

Deno.test("a stream ends when it expires, and one that has ended before leaves no timer", () => {
  using time = new FakeTime();
  const requests = new OpenRequests(2);
  const reasons: string[] = [];
  const begin = (): () => void => {
    let stop!: () => void;
    using open = requests.admit()!;
    streamResponse((onEnd) => {
      stop = onEnd;
      return { body: new ReadableStream(), end: (reason) => reasons.push(reason) };
    }, { open, expiresAt: new Date(Date.now() + 60_000) });
    return stop;
  };
  begin()();
  assertEquals([time.timers, requests.size], [0, 0]);
  const stop = begin();
  time.tick(60_000);
  assertEquals([reasons, requests.size], [["expired"], 1]);
  stop();
  assertEquals([time.timers, requests.size], [0, 0]);
});
