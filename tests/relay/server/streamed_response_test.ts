import { assertEquals, assertRejects } from "@std/assert";
import { nextTurn } from "../../../src/engine/async/turns.ts";
import { errorLine } from "../../../src/engine/errors/errors.ts";
import { Pod } from "../../../src/engine/kinds/core/v1.ts";
import { OpenRequest, OpenRequests } from "../../../src/relay/server/open_requests.ts";
import { StreamedResponse } from "../../../src/relay/server/streamed_response.ts";
import { pod } from "../../../src/testing/mod.ts";
import { FakeTime } from "../../support/times/fake_time.ts";
import { Relayed, threePods } from "../../support/servers/relayed.ts";

const decoder = new TextDecoder();

/** A stream that writes `text` whenever its client has read everything. */
class Repeated extends StreamedResponse {
  ends = 0;
  writes = 0;
  readonly #text: string;

  constructor(text: string, open: OpenRequest = new OpenRequest(() => {}, () => {})) {
    super(open);
    this.#text = text;
  }

  protected override next(): Uint8Array<ArrayBuffer> {
    this.writes++;
    return new TextEncoder().encode(this.#text);
  }

  protected override finish(): void {
    this.ends++;
  }

  protected override change(): void {}
}

Deno.test("an event stream is written when its client has read what came before, and not earlier", async () => {
  const stream = new Repeated("one");
  stream.write();
  const reader = stream.body.getReader();
  assertEquals(stream.writes, 0);
  assertEquals(decoder.decode((await reader.read()).value), "one");
  stream.write();
  assertEquals(stream.writes, 1);
  await reader.cancel();
});

Deno.test("a stream that has no next bytes is reported, ended, and counted off, whatever was thrown", async () => {
  for (const thrown of [new TypeError("no key"), "a text", undefined]) {
    const errors: Error[] = [];
    let left = 0;
    const open = new OpenRequest(() => left++, (error) => errors.push(error));
    const stream = new class extends Repeated {
      protected override next(): Uint8Array<ArrayBuffer> {
        if (this.writes === 1) throw thrown;
        return super.next();
      }
    }("one", open);
    stream.response({});
    const reader = stream.body.getReader();
    await reader.read();
    await assertRejects(() => reader.read(), Error, "The relay failed");
    stream.write();
    assertEquals([stream.ends, left, errors.map(({ cause }) => cause)], [1, 1, [thrown]]);
  }
});

Deno.test("a stream whose rights cannot be shown, or that cannot give back what it holds, is reported and counted off", async () => {
  using time = new FakeTime();
  const errors: string[] = [];
  const requests = new OpenRequests({ maxConnections: 1, onError: (error) => errors.push(errorLine(error)) });
  using open = requests.admit()!;
  const stream = new class extends Repeated {
    protected override finish(): never {
      throw new Error("it is held");
    }
    protected override change(): never {
      throw new Error("no rights");
    }
  }("one", open);
  const body = stream.response({ askAgainAt: new Date(0), again: () => Promise.resolve({}) }).body!.getReader();
  await time.tickAsync(1_000);
  await assertRejects(() => body.read(), Error, "The relay failed");
  assertEquals([requests.size, time.timers, errors], [0, 0, [
    "Cannot continue a stream, so it was closed: no rights",
    "Cannot release the resources of a stream: it is held",
  ]]);
});

Deno.test("objects that cannot be written end the streams that show them, and no others", async () => {
  await using relayed = new Relayed({
    // A function of the program that makes what is no JSON.
    redact: (object) => object.metadata.name === "bad" ? { ...object, spec: { n: 1n } } : object,
  }, { server: threePods() });
  await using names = await relayed.events("/events/pods?fields=metadata.name");
  await names.through("synced");
  const complete = await relayed.get("/events/pods");
  const reading = assertRejects(() => complete.text(), Error, "The relay failed");
  await relayed.untilConnections(2);
  while (relayed.relay.status().streams.pods !== 2) await nextTurn();
  for (let turn = 0; turn < 20; turn++) await nextTurn();
  relayed.server.create(Pod, pod({ name: "bad", namespace: "shop" }));
  relayed.server.create(Pod, pod({ name: "good", namespace: "shop" }));
  assertEquals(await names.through("added good"), ["added bad", "added good"]);
  await reading;
  const again = await relayed.get("/events/pods");
  await assertRejects(() => again.text(), Error, "The relay failed");
  assertEquals(relayed.present, { connections: 1, streams: { pods: 1 } });
  assertEquals(relayed.errors.length, 2);
  const views = `/views?views=${encodeURIComponent('{"a":{"of":"pods"}}')}`;
  for (const path of ["/api/pods", views]) {
    const answer = await relayed.get(path);
    await assertRejects(() => answer.text(), Error, "The relay failed", path);
    assertEquals([relayed.present.connections, relayed.errors.splice(0).length > 0], [1, true], path);
  }
});

Deno.test("an event stream has one end, whether it is ended, read to its end, or cancelled", async () => {
  using time = new FakeTime();
  const stream = new Repeated("one");
  const reader = stream.body.getReader();
  await reader.read();
  stream.end("expired");
  stream.end("slow");
  stream.write();
  assertEquals(stream.ends, 1);
  assertEquals(decoder.decode((await reader.read()).value), 'event:end\ndata:{"reason":"expired"}\n\n');
  await reader.cancel();
  assertEquals([stream.ends, time.timers], [1, 0]);
});

Deno.test("an event stream whose client does not read ends after the time for it, and breaks 5 s later", async () => {
  using time = new FakeTime();
  const stream = new Repeated("one");
  const times = { stallMs: 100, heartbeatMs: Infinity };
  const reader = stream.body.getReader();
  await reader.read();
  await time.tickAsync(100);
  stream.check(times);
  assertEquals(stream.ends, 0);
  await time.tickAsync(1);
  stream.check(times);
  assertEquals(stream.ends, 1);
  await time.tickAsync(5_000);
  await assertRejects(() => reader.closed, Error, "The client does not read");
});

Deno.test("a stream ends when it expires, and one that has ended before leaves no timer", async () => {
  using time = new FakeTime();
  const requests = new OpenRequests({ maxConnections: 2, onError: () => {} });
  const begin = (): StreamedResponse => {
    using open = requests.admit()!;
    const stream = new Repeated("one", open);
    stream.response({ expiresAt: new Date(Date.now() + 60_000) });
    return stream;
  };
  void begin().body.cancel();
  assertEquals([time.timers, requests.size], [0, 0]);
  const stream = begin();
  time.tick(59_999);
  assertEquals(requests.size, 1);
  time.tick(1);
  assertEquals(requests.size, 0);
  const { value } = await stream.body.getReader().read();
  assertEquals(new TextDecoder().decode(value), 'event:end\ndata:{"reason":"expired"}\n\n');
  time.tick(5_000);
  assertEquals([time.timers, requests.size], [0, 0]);
});
