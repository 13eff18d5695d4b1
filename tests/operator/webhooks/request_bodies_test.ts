import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { StatusError } from "../../../src/engine/api/status.ts";
import { RequestBodies } from "../../../src/operator/webhooks/request_bodies.ts";
import { Webhooks } from "../../../src/operator/webhooks/webhooks.ts";
import { FakeTime } from "../../support/times/fake_time.ts";
import { ADMISSION, requestOf, Website } from "./_reviews.ts";

const LONGEST = 1_000_000;
const never = new AbortController().signal;

/** A client that sends a body by parts, and what became of it. */
class Sender {
  readonly result: Promise<string>;
  isCancelled = false;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;

  constructor(read: (request: Request) => Promise<string>) {
    const body = new ReadableStream<Uint8Array>({
      start: (controller): void => void (this.#controller = controller),
      cancel: (): void => void (this.isCancelled = true),
    });
    const init = { method: "POST", body, duplex: "half" }; // Node requires it of a stream
    this.result = read(new Request("https://hooks/", init)).catch((error) => {
      if (!(error instanceof StatusError)) throw error;
      return `${error.status.code}`;
    });
  }
  static of(bodies: RequestBodies, signal = never): Sender {
    return new Sender((request) => bodies.text(request, LONGEST, signal));
  }
  async send(bytes: number): Promise<void> {
    this.#controller!.enqueue(new Uint8Array(bytes).fill(97));
    await settled();
  }
  end(): Promise<string> {
    this.#controller!.close();
    return this.result;
  }
  fail(): void {
    this.#controller!.error(new Error("gone"));
  }
}

/** Resolves when what was sent has been read. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}

Deno.test("RequestBodies ends the slowest body with 408, neither the newest nor one that goes on", async () => {
  using time = new FakeTime();
  const bodies = new RequestBodies(550_000); // buffers are up to twice as large as what they hold
  const stalled = Sender.of(bodies);
  await stalled.send(131_072);
  const steady = Sender.of(bodies); // begins before the next one, and its bytes are newer
  await steady.send(1);
  time.tick(1_000);
  const second = Sender.of(bodies);
  await second.send(131_072);
  for (let part = 0; part < 5; part++) {
    time.tick(1_000);
    await steady.send(20_000);
  }
  const silent = Sender.of(bodies); // needs nothing
  const newest = Sender.of(bodies);
  await newest.send(100_000);
  assertEquals([stalled.isCancelled, second.isCancelled], [false, false]);
  await newest.send(100_000);
  assertEquals(await stalled.result, "408");
  assertEquals([stalled.isCancelled, second.isCancelled], [true, false]);
  await newest.send(200_000);
  assertEquals(await second.result, "408");
  const [own, other] = await Promise.all([newest.end(), steady.end()]);
  assertEquals([own.length, other.length, await silent.end()], [400_000, 100_001, ""]);
});

Deno.test("RequestBodies forgets a body that has ended, broken off, is too long or too late", async () => {
  const bodies = new RequestBodies(200_000);
  for (let round = 0; round < 3; round++) {
    const [read, broken, long] = [Sender.of(bodies), Sender.of(bodies), Sender.of(bodies)];
    for (const it of [read, broken]) await it.send(60_000);
    assertEquals((await read.end()).length, 60_000);
    broken.fail();
    await long.send(LONGEST + 1);
    assertEquals([await broken.result, await long.result, long.isCancelled], ["400", "413", true]);
    const stop = new AbortController();
    const late = Sender.of(bodies, stop.signal);
    await late.send(60_000);
    stop.abort();
    assertEquals([await late.result, late.isCancelled, await Sender.of(bodies, stop.signal).result], [
      "408",
      true,
      "408",
    ]);
    assertEquals(bodies.bytes, 0);
  }
});

Deno.test("RequestBodies refuses a length that is too long before it reads", async () => {
  const request = new Request("https://hooks/", {
    method: "POST",
    body: "x".repeat(11),
    headers: { "content-length": "11" },
  });
  const error = await assertRejects(() => new RequestBodies(100).text(request, 10, never), StatusError);
  assertEquals([error.status.code, request.bodyUsed], [413, false]);
});

Deno.test("Webhooks reads bodies within maxBytes, and reports none that it ends", async () => {
  assertThrows(() => new Webhooks({ maxBytes: 1_000 }), RangeError, "maxBytes must be a whole number");
  const maxBytes = 16 * 1_024 * 1_024;
  const errors: unknown[] = [];
  const webhooks = new Webhooks({ maxBytes, onError: (error) => errors.push(error) }).validate(Website, () => {});
  const url = "https://hooks/validate/validate.v1.websites.example.com";
  const headers = { "content-type": "application/json" };
  const statuses: number[] = [];
  const strangers = Array.from({ length: 60 }, () =>
    new Sender(async ({ body }) => {
      const init = { method: "POST", headers, body, duplex: "half" };
      const { status } = await webhooks.fetch(new Request(url, init));
      statuses.push(status);
      return "";
    }));
  const review = JSON.stringify({ ...ADMISSION, request: requestOf(Website, {}) });
  for (const stranger of strangers) {
    await stranger.send(1_000_000);
    const response = await webhooks.fetch(new Request(url, { method: "POST", headers, body: review }));
    assertEquals(response.status, 200);
    await response.body?.cancel();
  }
  assertEquals(new Set(statuses), new Set([408]));
  for (const stranger of strangers) stranger.fail();
  await Promise.all(strangers.map((it) => it.result));
  assertEquals([...new Set(statuses)].sort(), [400, 408]);
  assertEquals(errors, []);
});
