import { assert, assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import type { WatchEvent } from "../../../src/engine/api/lister_watcher.ts";
import type { KubernetesObject } from "../../../src/engine/api/object.ts";
import { defineResource } from "../../../src/engine/api/resource.ts";
import {
  CredentialsError,
  DecodeError,
  isExpired,
  isForbidden,
  isNotFound,
  isUnauthorized,
  StatusError,
  UnreachableError,
} from "../../../src/engine/api/status.ts";
import { Client } from "../../../src/engine/client/client.ts";
import type { Credentials } from "../../../src/engine/client/http/connection.ts";
import type { FollowOptions } from "../../../src/engine/client/resource_client.ts";
import { Warnings } from "../../support/texts/console.ts";
import { FakeTime } from "../../support/times/fake_time.ts";
import { CountedController } from "../../support/times/listeners.ts";
import {
  type Answer,
  bookmark,
  collect,
  line,
  LiveBody,
  pod,
  refusal,
  ScriptedTransport,
  statusObject,
  text,
  watchOf,
} from "../../support/servers/transport.ts";

const Pod = defineResource({ version: "v1", plural: "pods", kind: "Pod" });

/** A `follow()` in the background, from version 1 on, with its events so far and its end. */
class Followed implements AsyncDisposable {
  readonly sent: ScriptedTransport;
  readonly delivered: string[] = [];
  readonly interruptions: [string, number][] = [];
  readonly events: AsyncIterableIterator<WatchEvent<KubernetesObject>>;
  readonly ended: Promise<unknown>;
  readonly #controller = new AbortController();

  constructor(answers: readonly Answer[], options: FollowOptions = {}, credentials?: Credentials) {
    this.sent = new ScriptedTransport(...answers);
    const client = new Client({ server: "https://kube.test", transport: this.sent, credentials });
    this.events = client.resource(Pod).follow({
      resourceVersion: "1",
      signal: this.#controller.signal,
      backoff: { initialMs: 2_000, factor: 2, maxMs: 10_000, jitter: 0 },
      onInterrupted: (error, delayMs) => this.interruptions.push([(error as Error).name, delayMs]),
      ...options,
    });
    this.ended = this.#run();
  }

  /** The versions that the watches so far were asked to begin at. */
  get asked(): (string | undefined)[] {
    return this.sent.requests.map(({ query }) => query.resourceVersion);
  }

  stop(reason: unknown): void {
    this.#controller.abort(reason);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop(new Error("the test is over"));
    await this.ended;
  }

  async #run(): Promise<unknown> {
    try {
      for await (const event of this.events) {
        this.delivered.push(
          event.type === "BOOKMARK"
            ? `bookmark ${event.resourceVersion}`
            : `${event.type} ${event.object.metadata.resourceVersion}`,
        );
      }
    } catch (error) {
      return error;
    }
    return "left";
  }
}

const added = (version: string): string => line("ADDED", pod(`p${version}`, version));
const failed = (code: number, reason: string): string => line("ERROR", statusObject(code, reason, "no"));

/** A watch that stays open and says nothing. */
const silent: Answer = (sent) => new LiveBody().answer(sent);

Deno.test('ResourceClient.follow refuses a missing version, "" and "0" at once [C115]', () => {
  const sent = new ScriptedTransport();
  const pods = new Client({ server: "https://kube.test", transport: sent }).resource(Pod);
  assertThrows(() => pods.follow(), TypeError, 'Cannot follow "pods": resourceVersion is missing');
  assertThrows(() => pods.follow({ resourceVersion: "" }), RangeError, 'Cannot follow "pods"');
  assertThrows(() => pods.follow({ resourceVersion: "0" }), RangeError, 'Cannot follow "pods"');
  assertThrows(
    () => pods.follow({ resourceVersion: "1", allowBookmarks: true, sendInitialEvents: true }),
    TypeError,
    "sendInitialEvents",
  );
  assertEquals(sent.requests.length, 0);
});

Deno.test("ResourceClient.follow retries when its first watch is refused or lost, but throws for an expired version [C116]", async () => {
  using time = new FakeTime();
  await using followed = new Followed([
    new TypeError("connection refused"),
    text(500, "no"),
    text(429, "later", { "retry-after": "9" }),
    new Response(null, { headers: { "content-type": "application/json" } }),
    watchOf(added("5")),
    refusal(410, "Expired", "too old resource version: 5 (9)"),
  ]);
  await time.tickAsync(0);
  assertEquals(followed.sent.requests.length, 1);
  await time.tickAsync(2_000);
  assertEquals(followed.sent.requests.length, 2);
  await time.tickAsync(4_000);
  assertEquals(followed.sent.requests.length, 3);
  await time.tickAsync(8_999);
  assertEquals(followed.sent.requests.length, 3);
  await time.tickAsync(1);
  assertEquals([followed.sent.requests.length, followed.delivered], [4, []]);
  await time.tickAsync(1_000);
  assertEquals(followed.delivered, ["ADDED 5"]);
  await time.tickAsync(1_000);
  assert(isExpired(await followed.ended));
  assertEquals(followed.asked, ["1", "1", "1", "1", "1", "5"]);
  // The third wait would have been 8 s: the server asked for more.
  assertEquals(followed.interruptions, [["UnreachableError", 2_000], ["StatusError", 4_000], ["StatusError", 9_000]]);
  assertEquals(time.timers, 0);
});

Deno.test("ResourceClient.follow yields every event once and in order over many watches, and resumes at the newest version [C117]", async () => {
  using time = new FakeTime();
  const watches = [
    [["2", "3"]],
    [["2", "3"], ["10"]],
    [["2"], ["11"], ["9"], ["11"], ["100"]],
    [["100"], ["99"], ["1000000000000000000000"], ["999999999999999999999"]],
  ];
  for (const count of [1, 2, 4]) {
    const bodies = watches.slice(0, count).map((versions) => versions.flat());
    await using followed = new Followed([...bodies.map((versions) => watchOf(...versions.map(added))), silent]);
    for (const _ of bodies) await time.tickAsync(1_000);
    const expected: string[] = [];
    const starts = ["1"];
    for (const versions of bodies) {
      for (const version of versions) {
        const newest = expected.at(-1) ?? "1";
        if (BigInt(version) > BigInt(newest)) expected.push(version);
      }
      starts.push(expected.at(-1)!);
    }
    assertEquals(followed.delivered, expected.map((version) => `ADDED ${version}`));
    assertEquals(followed.asked, starts);
    assertEquals(followed.interruptions, []);
  }
  assertEquals(time.timers, 0);
});

Deno.test("ResourceClient.follow ends on 410, 401, 403 and 404, and resumes after every other error in the stream [C118]", async () => {
  using time = new FakeTime();
  const final: [Answer, (error: unknown) => boolean][] = [
    [watchOf(added("2"), failed(410, "Expired")), isExpired],
    [watchOf(added("2"), failed(410, "Gone")), isExpired],
    [refusal(403, "Forbidden", "no"), isForbidden],
    [refusal(401, "Unauthorized", "no"), isUnauthorized],
    [text(404, "404 page not found"), isNotFound],
    [refusal(400, "BadRequest", "field label not supported"), (error) => error instanceof StatusError],
    [refusal(405, "MethodNotAllowed", "watch is not supported"), (error) => error instanceof StatusError],
  ];
  for (const [answer, is] of final) {
    await using followed = new Followed([answer]);
    await time.tickAsync(0);
    assert(is(await followed.ended));
    assertEquals(followed.sent.requests.length, 1);
  }
  const odd = line("ERROR", { kind: "Pod", apiVersion: "v1", metadata: { name: "not a status" } });
  for (const error of [failed(500, "InternalError"), failed(504, "Timeout"), failed(418, "Teapot"), odd]) {
    await using followed = new Followed([watchOf(added("2"), error), watchOf(added("3")), silent]);
    await time.tickAsync(0);
    assertEquals(followed.delivered, ["ADDED 2"]);
    await time.tickAsync(2_000);
    assertEquals([followed.delivered, followed.asked], [["ADDED 2", "ADDED 3"], ["1", "2"]]);
    assertEquals(followed.interruptions, [["StatusError", 2_000]]);
  }
});

Deno.test("ResourceClient.follow that is left or aborted with unread events leaves nothing behind [C119]", async () => {
  using time = new FakeTime();
  for (const way of ["return", "abort"]) {
    const live = new LiveBody();
    const counting = new CountedController();
    const sent = new ScriptedTransport(live.answer);
    const client = new Client({ server: "https://kube.test", transport: sent });
    const events = client.resource(Pod).follow({ resourceVersion: "1", signal: counting.signal });
    live.push(added("2") + added("3"), added("4"));
    assertEquals((await events.next()).value.object.metadata.resourceVersion, "2");
    if (way === "abort") {
      counting.abort(new Error("enough"));
      await collect(events); // events that have arrived may still be yielded
    } else {
      await events.return?.();
      assertEquals(counting.listeners, 0);
    }
    assertEquals(await events.next(), { done: true, value: undefined });
    assert(live.ended === "cancelled" || live.ended === "aborted");
    assertEquals([time.timers, sent.requests.length], [0, 1]);
  }
});

Deno.test("a loop over ResourceClient.follow waits for conditions in turn, until one throws, the signal aborts, or the stream ends [C120]", async () => {
  using time = new FakeTime();
  const phases = (versions: string[]): Answer => watchOf(...versions.map(added));
  const sent = new ScriptedTransport(phases(["2", "3"]), phases(["3", "4", "5"]), silent);
  const client = new Client({ server: "https://kube.test", transport: sent });
  const controller = new AbortController();
  const events = client.resource(Pod).follow({ resourceVersion: "1", signal: controller.signal });
  const until = async (condition: (version: string) => boolean): Promise<string> => {
    for (;;) {
      const { done, value } = await events.next();
      if (done) throw new Error("over");
      if (value.type !== "BOOKMARK" && condition(value.object.metadata.resourceVersion)) {
        return value.object.metadata.resourceVersion;
      }
    }
  };
  const first = until((version) => version === "2");
  await time.tickAsync(0);
  assertEquals(await first, "2");
  const second = until((version) => version === "4"); // in the next watch
  await time.tickAsync(1_000);
  assertEquals(await second, "4");
  await assertRejects(
    () =>
      until(() => {
        throw new Error("no such condition");
      }),
    Error,
    "no such condition",
  );
  const never = assertRejects(() => until(() => false), Error, "over");
  await time.tickAsync(5_000);
  controller.abort(new DOMException("too long", "TimeoutError"));
  await never;
  await assertRejects(() => until(() => true), Error, "over");
});

Deno.test("ResourceClient.follow keeps short watches a second apart, and resumes at once after a longer one", async () => {
  using time = new FakeTime();
  const long = new LiveBody();
  await using followed = new Followed([watchOf(), watchOf(), long.answer, silent]);
  await time.tickAsync(999);
  assertEquals(followed.sent.requests.length, 1);
  await time.tickAsync(1);
  assertEquals(followed.sent.requests.length, 2);
  await time.tickAsync(1_000);
  assertEquals(followed.sent.requests.length, 3);
  await time.tickAsync(5_000);
  long.end();
  await time.tickAsync(0);
  assertEquals(followed.sent.requests.length, 4);
  assertEquals(followed.interruptions, []);
});

Deno.test("ResourceClient.follow advances its version with bookmarks, and yields them on request", async () => {
  using time = new FakeTime();
  for (const allowBookmarks of [false, true]) {
    await using followed = new Followed([watchOf(added("2"), bookmark("7"), bookmark("6")), silent], {
      allowBookmarks,
    });
    await time.tickAsync(1_000);
    assertEquals(followed.delivered, allowBookmarks ? ["ADDED 2", "bookmark 7"] : ["ADDED 2"]);
    assertEquals(followed.asked, ["1", "7"]);
    assertEquals(followed.sent.last.query.allowWatchBookmarks, "true");
  }
});

Deno.test("ResourceClient.follow cancels a watch that stays open 10 s beyond its time, but not one whose reader is slow", async () => {
  using time = new FakeTime();
  const [first, second] = [new LiveBody(), new LiveBody()];
  const sent = new ScriptedTransport(first.answer, second.answer);
  const client = new Client({ server: "https://kube.test", transport: sent });
  const errors: unknown[] = [];
  const events = client.resource(Pod).follow({
    resourceVersion: "1",
    timeoutSeconds: 30,
    backoff: { initialMs: 2_000, jitter: 0 },
    onInterrupted: (error) => errors.push(error),
  });
  first.push(added("2"));
  assertEquals((await events.next()).done, false);
  await time.tickAsync(300_000); // the reader is slow: nothing of that counts
  assertEquals([errors.length, time.timers], [0, 1]); // that of the client for its watches
  const next = events.next();
  await time.tickAsync(9_999);
  assertEquals([first.ended, sent.requests.length], ["no", 1]);
  await time.tickAsync(1);
  assertEquals(first.ended, "aborted");
  assert(errors[0] instanceof UnreachableError);
  assert(errors[0].message.includes("has not ended the watch 10 s after the 30 s"), errors[0].message);
  await time.tickAsync(2_000);
  second.push(added("3"));
  assertEquals((await next).value.object.metadata.resourceVersion, "3");
  assertEquals(sent.last.query.resourceVersion, "2");
  // A reader that waits gives it 40 s from its start, whatever the server sends.
  const last = events.next();
  for (let elapsedMs = 0; elapsedMs < 39_000; elapsedMs += 1_000) {
    second.push("\n");
    await time.tickAsync(1_000);
  }
  await time.tickAsync(999);
  assertEquals(second.ended, "no");
  await time.tickAsync(1);
  assertEquals(second.ended, "aborted");
  await events.return?.();
  assertEquals([(await last).done, time.timers], [true, 0]);
});

Deno.test("ResourceClient.follow without onInterrupted writes each new cause to the console, once a minute, and with it none", async () => {
  using time = new FakeTime();
  using warnings = new Warnings();
  for (const onInterrupted of [undefined, (): void => {}]) {
    await using followed = new Followed(Array.from({ length: 20 }, () => text(500, "out of order")), { onInterrupted });
    await time.tickAsync(50_000);
    assert(followed.sent.requests.length > 3);
    const expected = 'watch of "pods": Cannot watch "pods": 500 InternalError: out of order';
    assertEquals(warnings.take(), onInterrupted === undefined ? [expected] : []);
  }
});

Deno.test("ResourceClient.follow cancels a watch that is not answered", async () => {
  using time = new FakeTime();
  const unanswered: Answer = ({ signal }) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  await using followed = new Followed([unanswered, watchOf(added("2")), silent], { timeoutSeconds: 30 });
  await time.tickAsync(39_999);
  assertEquals(followed.interruptions, []);
  await time.tickAsync(1);
  assertEquals(followed.interruptions, [["UnreachableError", 2_000]]);
  await time.tickAsync(2_000);
  assertEquals(followed.delivered, ["ADDED 2"]);
});

Deno.test("ResourceClient.follow requests watches of 2 to 4 minutes by default", async () => {
  using time = new FakeTime();
  await using followed = new Followed([silent]);
  await time.tickAsync(0);
  const asked = Number(followed.sent.last.query.timeoutSeconds);
  assert(asked >= 120 && asked <= 220, String(asked));
});

Deno.test("ResourceClient.follow ends on an object or a line that cannot be read a second time", async () => {
  using time = new FakeTime();
  const versionless = { kind: "Pod", apiVersion: "v1", metadata: { name: "a", namespace: "shop", uid: "u" } };
  const broken = added("3").replace('"name":"p3"', '"name":"p3","labels":[}');
  const service = { kind: "Service", apiVersion: "v1", metadata: { name: "a", resourceVersion: "11" } };
  const cases: [line: string, message: RegExp][] = [
    [line("ADDED", versionless), /./],
    ["{oops}\n", /./],
    [broken, /./],
    [line("ADDED", service), /its kind is "Service" instead of "Pod"/],
  ];
  for (const [bad, message] of cases) {
    // A watch that comes further in between shows that it was damaged on the way.
    await using followed = new Followed([
      watchOf(added("2"), bad),
      watchOf(added("3"), bad),
      watchOf(added("3"), added("4"), bad),
      watchOf(bad),
    ]);
    await time.tickAsync(2_000 + 4_000 + 8_000);
    const error = await followed.ended;
    assert(error instanceof DecodeError);
    assertMatch(error.message, message);
    assertEquals(followed.asked, ["1", "2", "3", "4"]);
    assertEquals(followed.delivered, ["ADDED 2", "ADDED 3", "ADDED 4"]);
    assertEquals(followed.interruptions.map(([name]) => name), Array(3).fill("DecodeError"));
  }
  assertEquals(time.timers, 0);
});

Deno.test("ResourceClient.follow resumes after responses that are not a watch", async () => {
  using time = new FakeTime();
  const page = (): Response => text(200, "<html>", { "content-type": "text/html" });
  const encoded = text(200, "", { "content-type": "application/json", "content-encoding": "gzip" });
  await using followed = new Followed([page(), page(), encoded, watchOf(added("2")), silent]);
  await time.tickAsync(2_000 + 4_000 + 8_000);
  assertEquals(followed.delivered, ["ADDED 2"]);
  assertEquals(followed.interruptions, [["DecodeError", 2_000], ["DecodeError", 4_000], ["DecodeError", 8_000]]);
});

Deno.test("ResourceClient.follow retries after a CredentialsError, and ends on any other error of its credentials", async () => {
  using time = new FakeTime();
  const failures: (Error | undefined)[] = [new CredentialsError("the plugin timed out"), undefined, new Error("a bug")];
  await using followed = new Followed([watchOf(added("2")), watchOf(added("3"))], {}, {
    apply: () => {
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
    },
  });
  await time.tickAsync(2_000 + 1_000);
  assertEquals((await followed.ended as Error).message, "a bug");
  assertEquals(followed.delivered, ["ADDED 2"]);
  assertEquals(followed.interruptions, [["CredentialsError", 2_000]]);
});

Deno.test("ResourceClient.follow yields each deletion once, whatever version it has", async () => {
  using time = new FakeTime();
  const event = (type: string, name: string, version: string): string => line(type, pod(name, version));
  await using followed = new Followed([
    watchOf(
      event("DELETED", "a", "10"),
      event("DELETED", "b", "7"),
      event("DELETED", "b", "7"),
      event("ADDED", "c", "12"),
    ),
    // These servers send again what they do not see the version of.
    watchOf(
      event("DELETED", "b", "7"),
      event("DELETED", "c", "12"),
      event("ADDED", "c", "13"),
      event("DELETED", "c", "13"),
    ),
    silent,
  ], { resourceVersion: "10" });
  await time.tickAsync(2_000);
  assertEquals(followed.delivered, ["DELETED 10", "DELETED 7", "ADDED 12", "DELETED 12", "ADDED 13", "DELETED 13"]);
  assertEquals(followed.asked, ["10", "12", "13"]);
});

Deno.test("ResourceClient.follow remembers the latest thousand deletions", async () => {
  using time = new FakeTime();
  const gone = (number: number): string => line("DELETED", pod(`p${number}`, "7"));
  const all = Array.from({ length: 1_001 }, (_, number) => gone(number));
  await using followed = new Followed([watchOf(...all), watchOf(gone(1), gone(1_000), gone(0)), silent], {
    resourceVersion: "10",
  });
  await time.tickAsync(2_000);
  assertEquals(followed.delivered.length, 1_001 + 1);
});

Deno.test("ResourceClient.follow does not mistake its own signal's reason for an interruption", async () => {
  using time = new FakeTime();
  await using followed = new Followed([silent]);
  await time.tickAsync(0);
  followed.stop(new UnreachableError("given up by the caller"));
  assertEquals(await followed.ended, "left");
  assertEquals([followed.interruptions, time.timers], [[], 0]);
});

Deno.test("ResourceClient.follow waits for its full time, whatever the time of day is set to", async () => {
  using time = new FakeTime();
  const [first, second] = [new LiveBody(), new LiveBody()];
  await using followed = new Followed([first.answer, second.answer, silent], { timeoutSeconds: 30 });
  await time.tickAsync(0);
  time.setClock(time.now - 3_600_000);
  first.end();
  await time.tickAsync(1_000);
  assertEquals(followed.asked.length, 2);
  time.setClock(time.now + 19_000); // further on it would be a suspension
  second.push("\n");
  await time.tickAsync(39_999);
  assertEquals(second.ended, "no");
  time.setClock(time.now - 3_600_000);
  second.push("\n");
  await time.tickAsync(10_000);
  assertEquals(second.ended, "aborted");
});

Deno.test("ResourceClient.follow ends without an error when its signal aborts while it waits for the next attempt", async () => {
  using time = new FakeTime();
  await using followed = new Followed([new TypeError("no")]);
  await time.tickAsync(1_000);
  followed.stop({ because: "the test" });
  assertEquals(await followed.ended, "left");
  assertEquals([time.timers, followed.sent.requests.length], [0, 1]);
});

Deno.test("ResourceClient.follow starts with short waits again after a healthy watch", async () => {
  using time = new FakeTime();
  const healthy = new LiveBody();
  await using followed = new Followed([text(500, "no"), text(500, "no"), healthy.answer, text(500, "no"), silent], {
    timeoutSeconds: 200,
  });
  await time.tickAsync(6_000);
  await time.tickAsync(60_000);
  healthy.fail(new TypeError("connection lost"));
  await time.tickAsync(0);
  assertEquals(followed.interruptions.map(([, delayMs]) => delayMs), [2_000, 4_000, 2_000]);
});

Deno.test("ResourceClient.follow detects a silent watch in time when the time of day is set, back or forward", async () => {
  for (const jumpMs of [-3_600_000, 19_000]) {
    using time = new FakeTime();
    const body = new LiveBody();
    await using followed = new Followed([body.answer, silent], { timeoutSeconds: 30 });
    await time.tickAsync(1_000);
    time.setClock(time.now + jumpMs);
    body.push("\n"); // from here on it is silent
    await time.tickAsync(38_999);
    assertEquals(followed.interruptions.length, 0);
    await time.tickAsync(1);
    assertEquals(followed.interruptions.length, 1);
  }
});

Deno.test("ResourceClient.follow allows a watch to last longer than the runtime's timers allow", async () => {
  using time = new FakeTime(); // as with the real ones, a timer of more than 31 bits fires at once
  await using followed = new Followed([new LiveBody().answer, silent], { timeoutSeconds: 2 ** 31 / 1_000 | 0 });
  await time.tickAsync(60_000);
  assertEquals([followed.interruptions.length, time.timers], [0, 2]); // its own, and that of the client
});
