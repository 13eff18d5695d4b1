import { Client, type StatusError } from "@kube/informer";
import { Event } from "@kube/informer/kinds/events/v1";
import { type EventDetails, EventRecorder, type EventRecorderOptions } from "@kube/informer/reconcile";
import { FakeApiServer, type FakeApiServerOptions } from "@kube/informer/testing";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { seedGlobals } from "../../../../src/testing/fake/random.ts";
import { FakeTime } from "../../../support/times/fake_time.ts";
import { thing } from "../../../support/sources/fixtures.ts";

const MINUTE = 60_000;
const DETAILS: EventDetails = { reason: "Painted", action: "Paint", note: "It is red." };

class Fixture implements AsyncDisposable {
  readonly time = new FakeTime();
  readonly server: FakeApiServer;
  readonly recorder: EventRecorder;
  readonly errors: unknown[] = [];
  readonly #client: Client;
  readonly #random = seedGlobals(() => 0);
  #seen = 0;

  constructor(options: Partial<EventRecorderOptions> = {}, server: FakeApiServerOptions = {}) {
    this.server = new FakeApiServer(server);
    this.#client = new Client({ server: "http://fake", transport: this.server });
    this.recorder = new EventRecorder(this.#client, {
      controller: "painter",
      instance: "painter-0",
      onError: (error) => this.errors.push(error),
      ...options,
    });
  }

  /** Records so many equal events, and lets them be written. */
  async record(name: string, times = 1, details: Partial<EventDetails> = {}): Promise<void> {
    for (let time = 0; time < times; time++) this.recorder.record(thing(name, 5), { ...DETAILS, ...details });
    await this.time.tickAsync(0);
  }

  /** `"cart-0 Painted"`, with `"×2"` for a series, for each event on the server. */
  events(namespace = "default"): string[] {
    return this.server.list(Event, { namespace }).map(({ regarding, reason, series }) => {
      return `${regarding?.name} ${reason}${series ? ` ×${series.count}` : ""}`;
    }).sort();
  }

  /** The verbs of the requests since the last call. */
  verbs(): string {
    const verbs = this.server.requests.slice(this.#seen).map(({ verb }) => verb);
    this.#seen += verbs.length;
    return verbs.join(" ");
  }

  async stop(): Promise<void> {
    const stopped = this.recorder[Symbol.asyncDispose]();
    await this.time.tickAsync(10_000);
    await stopped;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    this.#client[Symbol.dispose]();
    this.#random[Symbol.dispose]();
    assertEquals(this.time.timers, 0);
    this.time[Symbol.dispose]();
  }
}

Deno.test("EventRecorder writes an event in the form of events.k8s.io/v1, into the namespace of its object", async () => {
  await using fixture = new Fixture();
  const related = thing("brush", 7);
  fixture.recorder.record(thing("wall", 5, { namespace: "shop" }), { ...DETAILS, type: "Warning", related });
  await fixture.time.tickAsync(0);
  const [{ metadata, apiVersion, kind, ...event }] = fixture.server.list(Event, { namespace: "shop" });
  assertEquals([apiVersion, kind], ["events.k8s.io/v1", "Event"]);
  assert(/^wall\.[0-9a-f-]{18}$/.test(metadata.name), metadata.name);
  const identity = { apiVersion: "acme.dev/v1", kind: "Thing" };
  // The server writes what Go does not leave out.
  const empty = { deprecatedSource: {}, deprecatedFirstTimestamp: null, deprecatedLastTimestamp: null };
  assertEquals<unknown>(event, {
    ...empty,
    eventTime: "2026-01-01T00:00:00.000000Z",
    reportingController: "painter",
    reportingInstance: "painter-0",
    action: "Paint",
    reason: "Painted",
    regarding: { ...identity, name: "wall", namespace: "shop", uid: "uid-wall", resourceVersion: "5" },
    related: { ...identity, name: "brush", namespace: "default", uid: "uid-brush", resourceVersion: "7" },
    note: "It is red.",
    type: "Warning",
  });
});

Deno.test("EventRecorder counts equal events in one series, whatever their notes and versions [C156]", async (test) => {
  await test.step("the second one makes it a series, later ones are counted in memory", async () => {
    await using fixture = new Fixture();
    await fixture.record("a");
    assertEquals([fixture.verbs(), fixture.events()], ["create", ["a Painted"]]);
    fixture.recorder.record(thing("a", 6), { ...DETAILS, note: "It is blue." });
    await fixture.time.tickAsync(0);
    assertEquals([fixture.verbs(), fixture.events()], ["patch", ["a Painted ×2"]]);
    await fixture.record("a", 100);
    assertEquals([fixture.verbs(), fixture.events()], ["", ["a Painted ×2"]]);
    assertEquals(fixture.server.list(Event)[0].note, "It is red.");
  });

  await test.step("events that differ in type, reason, action, object or related object are others", async () => {
    await using fixture = new Fixture();
    await fixture.record("a");
    await fixture.record("a", 1, { type: "Warning" });
    await fixture.record("a", 1, { reason: "Cleaned" });
    await fixture.record("a", 1, { action: "Clean" });
    await fixture.record("a", 1, { related: thing("b", 1) });
    fixture.recorder.record(thing("a", 5, { uid: "another" }), DETAILS);
    await fixture.record("b");
    assertEquals([fixture.verbs(), fixture.recorder.status().created], [Array(7).fill("create").join(" "), 7]);
  });

  await test.step("the count is written 30 minutes after the last write", async () => {
    await using fixture = new Fixture();
    await fixture.record("a", 2);
    assertEquals(fixture.verbs(), "create patch");
    for (let minute = 0; minute < 35; minute++) {
      await fixture.record("a");
      await fixture.time.tickAsync(MINUTE);
    }
    assertEquals(fixture.verbs(), "patch");
    assertEquals(fixture.events(), ["a Painted ×32"]);
  });

  await test.step("the count is written when the series was silent for 6 minutes, and a new one begins then", async () => {
    await using fixture = new Fixture();
    await fixture.record("a", 2);
    await fixture.record("a", 8);
    await fixture.record("single");
    fixture.verbs();
    await fixture.time.tickAsync(12 * MINUTE);
    assertEquals([fixture.verbs(), fixture.events()], ["patch", ["a Painted ×10", "single Painted"]]);
    assertEquals(fixture.time.timers, 0);
    await fixture.record("a");
    assertEquals([fixture.verbs(), fixture.events()], ["create", ["a Painted", "a Painted ×10", "single Painted"]]);
  });

  await test.step("an event that the server has forgotten is created again, as a series", async () => {
    await using fixture = new Fixture();
    await fixture.record("a");
    const [{ metadata }] = fixture.server.list(Event);
    fixture.server.delete(Event, `default/${metadata.name}`);
    await fixture.record("a");
    assertEquals([fixture.verbs(), fixture.events()], ["create patch create", ["a Painted ×2"]]);
  });

  await test.step("repetitions during the creation are not lost", async () => {
    await using fixture = new Fixture();
    fixture.server.latency(1_000);
    await fixture.record("a");
    await fixture.record("a", 4);
    await fixture.time.tickAsync(3_000);
    assertEquals([fixture.verbs(), fixture.events()], ["create patch", ["a Painted ×5"]]);
  });
});

Deno.test("EventRecorder drops what would flood a server, and repeats what may succeed later [C155]", async (test) => {
  await test.step('writes into "default" for objects without a namespace', async () => {
    await using fixture = new Fixture();
    fixture.recorder.record(thing("node", 5, { namespace: "" }), DETAILS);
    await fixture.time.tickAsync(0);
    assertEquals(fixture.events("default"), ["node Painted"]);
  });

  await test.step("an object has 25 different events at once, and one more every 300 s; others have their own", async () => {
    await using fixture = new Fixture();
    for (let index = 0; index < 40; index++) await fixture.record("a", 1, { reason: `R${index}` });
    assertEquals([fixture.recorder.status().created, fixture.recorder.status().dropped], [25, 15]);
    await fixture.record("b");
    await fixture.time.tickAsync(300_000);
    await fixture.record("a", 1, { reason: "Later" });
    await fixture.record("a", 1, { reason: "TooEarly" });
    assertEquals([fixture.recorder.status().created, fixture.recorder.status().dropped], [27, 16]);
  });

  await test.step("what exceeds the queue is dropped", async () => {
    await using fixture = new Fixture({ maxQueued: 10 });
    for (let index = 0; index < 30; index++) fixture.recorder.record(thing(`a${index}`, 5), DETAILS);
    assertEquals(fixture.recorder.status(), { queued: 18, created: 0, updated: 0, dropped: 12, lastError: undefined });
    await fixture.time.tickAsync(0);
    assertEquals(fixture.recorder.status().created, 18);
  });

  await test.step("a refused event is not repeated", async () => {
    await using fixture = new Fixture();
    fixture.server.failNext(422);
    await fixture.record("a");
    await fixture.time.tickAsync(MINUTE);
    assertEquals([fixture.verbs(), fixture.recorder.status().dropped, fixture.errors.length], ["create", 1, 1]);
  });

  for (
    const [cause, arm] of [
      ["fails", (fixture: Fixture) => fixture.server.breakNext(Infinity)],
      ["answers 500", (fixture: Fixture) => fixture.server.failNext(500, Infinity)],
    ] as const
  ) {
    await test.step(`a write that ${cause} is repeated 12 times, 10 s apart`, async () => {
      await using fixture = new Fixture();
      arm(fixture);
      await fixture.record("a");
      await fixture.time.tickAsync(109_999);
      assertEquals(fixture.verbs().split(" ").length, 11);
      assertEquals(fixture.errors.length, 0);
      await fixture.time.tickAsync(1);
      assertEquals([fixture.verbs(), fixture.errors.length, fixture.recorder.status().dropped], ["create", 1, 1]);
      await fixture.time.tickAsync(MINUTE);
      assertEquals(fixture.verbs(), "");
    });
  }

  await test.step("a write that succeeds at a later attempt is one event", async () => {
    await using fixture = new Fixture();
    fixture.server.failNext(503, 2);
    await fixture.record("a");
    await fixture.time.tickAsync(20_000);
    assertEquals([fixture.verbs(), fixture.events(), fixture.errors], ["create create create", ["a Painted"], []]);
  });

  await test.step("a silent server stops a worker for 30 s at most", async () => {
    await using fixture = new Fixture();
    const stalled = fixture.server.stallNext(1);
    await fixture.record("a");
    await fixture.time.tickAsync(40_000);
    stalled[Symbol.dispose]();
    assertEquals([fixture.verbs(), fixture.recorder.status().queued], ["create create", 0]);
    assertEquals([fixture.events(), fixture.recorder.status().created], [["a Painted"], 1]);
  });

  await test.step("an event whose answer was lost is created once, and its count is not lost", async () => {
    await using fixture = new Fixture();
    const stalled = fixture.server.stallNext(1);
    await fixture.record("a", 3);
    await fixture.time.tickAsync(40_000);
    stalled[Symbol.dispose]();
    assertEquals([fixture.verbs(), fixture.events()], ["create create patch", ["a Painted ×3"]]);
  });

  await test.step("an object that was not seen among 4,096 others has its rate anew", async () => {
    await using fixture = new Fixture({ rate: { burst: 1, intervalMs: 300_000 }, maxQueued: 1 });
    await fixture.record("a", 1, { reason: "First" });
    await fixture.record("a", 1, { reason: "Second" });
    for (let index = 0; index < 4_096; index++) fixture.recorder.record(thing(`b${index}`, 5), DETAILS);
    await fixture.time.tickAsync(0);
    const { created } = fixture.recorder.status();
    await fixture.record("a", 1, { reason: "Third" });
    assertEquals(fixture.recorder.status().created, created + 1);
  });

  await test.step("nothing is written after the stop", async () => {
    await using fixture = new Fixture();
    await fixture.stop();
    await fixture.record("a");
    assertEquals([fixture.verbs(), fixture.recorder.status().dropped], ["", 1]);
  });
});

Deno.test("EventRecorder reports a 403 once for each namespace, until an event is written there", async () => {
  let isAllowed = false;
  await using fixture = new Fixture({}, { authorize: ({ namespace }) => isAllowed || namespace === "open" });
  const record = async (namespace: string): Promise<void> => {
    for (const name of ["a", "b", "c"]) fixture.recorder.record(thing(name, 5, { namespace }), DETAILS);
    await fixture.time.tickAsync(0);
  };
  await record("shop");
  await record("open");
  await record("shop");
  assertEquals(fixture.errors.map((error) => (error as StatusError).status.code), [403]);
  await record("bank");
  assertEquals([fixture.errors.length, fixture.recorder.status().dropped], [2, 9]);
  isAllowed = true;
  await record("shop");
  isAllowed = false;
  fixture.recorder.record(thing("d", 5, { namespace: "shop" }), DETAILS);
  await fixture.time.tickAsync(0);
  assertEquals(fixture.errors.length, 3);
});

Deno.test("EventRecorder.record never throws, and reports what cannot be an event", async () => {
  const cases: [unknown, unknown, string][] = [
    [undefined, DETAILS, ""],
    [{ metadata: { name: "a" } }, DETAILS, "it needs apiVersion, kind and name"],
    [thing("a", 5), undefined, ""],
    [thing("a", 5), { ...DETAILS, reason: "" }, 'reason must have 1 to 128 characters, but it is ""'],
    [thing("a", 5), { ...DETAILS, action: "x".repeat(129) }, "action must have 1 to 128 characters"],
    [thing("a", 5), { ...DETAILS, type: "Error" }, 'type must be "Normal" or "Warning", but it is "Error"'],
  ];
  for (const [object, details, text] of cases) {
    await using fixture = new Fixture();
    fixture.recorder.record(object as never, details as never);
    assertEquals([fixture.errors.length, fixture.recorder.status().dropped], [1, 1]);
    assert(String(fixture.errors[0]).includes(text), String(fixture.errors[0]));
    fixture.recorder.record(object as never, details as never);
    assertEquals([fixture.errors.length, fixture.recorder.status().dropped], [1, 2]);
  }
});

Deno.test("EventRecorder cuts a note to 1,024 bytes, at a character", async () => {
  await using fixture = new Fixture();
  await fixture.record("a", 1, { note: "ä".repeat(600) });
  await fixture.record("b", 1, { note: "ä".repeat(512) });
  const notes = fixture.server.list(Event).map(({ note }) => note).sort();
  assertEquals(notes, ["ä".repeat(512), "ä".repeat(510) + "…"]);
});

Deno.test("EventRecorder gives events of objects with other names a valid name", async () => {
  await using fixture = new Fixture();
  await fixture.record("system:node:worker-1");
  await fixture.record("x".repeat(253));
  assertEquals(fixture.server.list(Event).length, 2);
});

Deno.test("EventRecorder writes what waits when it stops, counts of series too, and none after its time", async (test) => {
  await test.step("in time", async () => {
    await using fixture = new Fixture();
    await fixture.record("a", 5);
    for (let index = 0; index < 20; index++) fixture.recorder.record(thing(`b${index}`, 5), DETAILS);
    await fixture.record("a", 5);
    fixture.recorder.record(thing("last", 5), DETAILS);
    await fixture.stop();
    assertEquals(fixture.events().slice(0, 1), ["a Painted ×10"]);
    assertEquals([fixture.events().length, fixture.recorder.status().queued], [22, 0]);
  });

  await test.step("events counted while their series is written", async () => {
    await using fixture = new Fixture();
    await fixture.record("a");
    fixture.server.latency(1_000);
    await fixture.record("a");
    await fixture.record("a", 3);
    await fixture.stop();
    assertEquals(fixture.events(), ["a Painted ×5"]);
  });

  await test.step("a server that does not answer holds a stop up for its time", async () => {
    await using fixture = new Fixture({ flushMs: 2_000 });
    using _stalled = fixture.server.stallNext(Infinity);
    for (let index = 0; index < 20; index++) await fixture.record(`a${index}`);
    const startedAt = fixture.time.now;
    const stopped = fixture.recorder[Symbol.asyncDispose]().then(() => fixture.time.now - startedAt);
    await fixture.time.tickAsync(3_000);
    assertEquals([await stopped, fixture.recorder.status().queued, fixture.recorder.status().dropped], [2_000, 0, 20]);
  });

  await test.step("a write that waits for another attempt is dropped at once", async () => {
    await using fixture = new Fixture();
    fixture.server.breakNext(Infinity);
    await fixture.record("a");
    const startedAt = fixture.time.now;
    const stopped = fixture.recorder[Symbol.asyncDispose]().then(() => fixture.time.now - startedAt);
    await fixture.time.tickAsync(3_000);
    assertEquals([await stopped, fixture.recorder.status().dropped, fixture.errors.length], [0, 1, 1]);
  });
});

Deno.test("EventRecorder refuses options that are not valid", () => {
  using client = new Client({ server: "http://fake", transport: new FakeApiServer() });
  const refused = (options: Partial<EventRecorderOptions>, text: string): void => {
    assertThrows(() => new EventRecorder(client, { controller: "painter", ...options }), Error, text);
  };
  for (const controller of ["", "my controller", "a/b/c", "/a", "-a", "A.example.com/a", "x".repeat(64)]) {
    refused({ controller }, `controller must be a qualified name of letters, digits, "-", "_" and "."`);
  }
  for (const controller of ["a", "My_ctl.v1", "example.com/crontabs"]) new EventRecorder(client, { controller });
  refused({ instance: "x".repeat(129) }, "instance must have 1 to 128 characters");
  refused({ maxQueued: 0 }, "maxQueued must be a whole number of at least 1, but it is 0");
  refused({ flushMs: -1 }, "flushMs must be at least 0 milliseconds");
  refused({ rate: { burst: 1, intervalMs: 0 } }, "rate.intervalMs must be at least 1 milliseconds");
});

Deno.test("EventRecorder names the event of an object whose name is no subdomain by RFC 1123 without it", async () => {
  for (
    const [name, isUsed] of [["a.b-c", true], ["a..b", false], ["x-.y", false], ["a.-b", false], ["A", false]] as const
  ) {
    await using fixture = new Fixture();
    await fixture.record(name);
    const [event] = fixture.server.list(Event);
    assertEquals(event.metadata.name.startsWith(`${name}.`), isUsed, name);
    assertEquals(event.regarding?.name, name);
  }
});
