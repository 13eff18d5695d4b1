import { Client, StatusError } from "@kube/informer";
import { Lease } from "@kube/informer/kinds/coordination/v1";
import {
  LeaderElector,
  type LeaderElectorOptions,
  type Leadership,
  LeadershipLostError,
} from "@kube/informer/reconcile";
import { FakeApiServer, type RecordedRequest } from "@kube/informer/testing";
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { sleep } from "../../../../src/engine/async/time.ts";
import { seedGlobals } from "../../../../src/testing/fake/random.ts";
import { FakeTime } from "../../../support/times/fake_time.ts";

const START = Date.UTC(2026, 0, 1);

/** The time of a Lease, so many milliseconds after the start of a test. */
function at(ms: number): string {
  return new Date(START + ms).toISOString().replace("Z", "000Z");
}

/** An election on a fake server under fake time; waits between attempts are `retryMs`, without a random part. */
class Election implements AsyncDisposable {
  readonly time = new FakeTime(START);
  readonly server = new FakeApiServer();
  readonly client = new Client({ server: "http://fake", transport: this.server, namespace: "shop" });
  /** The events, in order. */
  readonly log: string[] = [];
  readonly #random = seedGlobals(() => 0);
  readonly #started = this.time.now;

  elector(identity: string, options: Partial<LeaderElectorOptions> = {}): LeaderElector {
    return new LeaderElector(this.client, {
      name: "it",
      identity,
      onLeader: (holder) => this.say(`${identity} sees "${holder}"`),
      ...options,
    });
  }

  readonly #runs: Running[] = [];

  /** Runs an elector whose work lasts until its signal aborts, and `windDownMs` longer. */
  run(elector: LeaderElector, windDownMs = 0): Running {
    const stop = new AbortController();
    const running: Running = { stop, leadership: undefined, ended: Promise.resolve() };
    this.#runs.push(running);
    const work = async (leadership: Leadership): Promise<void> => {
      this.say(`${elector.identity} leads`);
      running.leadership = leadership;
      await aborted(leadership.signal);
      this.say(`${elector.identity} stops leading`);
      if (windDownMs > 0) await new Promise((resolve) => setTimeout(resolve, windDownMs));
      this.say(`${elector.identity} has ended`);
    };
    running.ended = elector.run(work, { signal: stop.signal }).catch((error) => this.say(String(error)));
    return running;
  }

  say(line: string): void {
    this.log.push(`${this.time.now - this.#started} ${line}`);
  }

  get spec(): Lease["spec"] {
    return this.server.get(Lease, "shop/it")?.spec;
  }

  /** Puts a Lease there, as another process wrote it. */
  put(spec: Lease["spec"]): void {
    this.server.create(Lease, { metadata: { name: "it", namespace: "shop" }, spec });
  }

  /** The verbs of the requests so far; the next call has those after them. */
  verbs(): string {
    const verbs = this.server.requests.slice(this.#seen).map(({ verb }) => verb);
    this.#seen += verbs.length;
    return verbs.join(" ");
  }
  #seen = 0;

  async [Symbol.asyncDispose](): Promise<void> {
    await end(this, ...this.#runs);
    this.client[Symbol.dispose]();
    this.#random[Symbol.dispose]();
    assertEquals(this.time.timers, 0);
    this.time[Symbol.dispose]();
  }
}

interface Running {
  readonly stop: AbortController;
  leadership: Leadership | undefined;
  ended: Promise<void>;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

async function end(election: Election, ...running: Running[]): Promise<void> {
  for (const { stop } of running) stop.abort(new Error("stopped"));
  await election.time.tickAsync(20_000);
  for (const { ended } of running) await ended;
}

Deno.test("LeaderElector acquires and renews as client-go does, request by request [C150]", async (test) => {
  const mine = { holderIdentity: "a", leaseDurationSeconds: 15, acquireTime: at(0), renewTime: at(0) };
  const other = { holderIdentity: "b", leaseDurationSeconds: 3, acquireTime: at(-90_000), renewTime: at(-90_000) };

  await test.step("creates the lease where there is none", async () => {
    await using election = new Election();
    election.run(election.elector("a", { labels: { app: "tabs" } }));
    await election.time.tickAsync(0);
    assertEquals([election.verbs(), election.spec], ["get create", { ...mine, leaseTransitions: 0 }]);
    assertEquals(election.server.get(Lease, "shop/it")?.metadata.labels, { app: "tabs" });
    assertEquals(election.log, ['0 a sees "a"', "0 a leads"]);
  });

  await test.step("takes a lease without a record, which is a transition", async () => {
    await using election = new Election();
    election.put(undefined);
    election.run(election.elector("a"));
    await election.time.tickAsync(0);
    assertEquals([election.verbs(), election.spec], ["get update", { ...mine, leaseTransitions: 1 }]);
  });

  await test.step("waits the duration of a lease that it sees for the first time, however old that is", async () => {
    await using election = new Election();
    election.put({ ...other, leaseTransitions: 4 });
    election.run(election.elector("a"));
    await election.time.tickAsync(2_999);
    assertEquals([election.verbs(), election.spec?.holderIdentity], ["get get", "b"]);
    await election.time.tickAsync(1_001);
    assertEquals([election.verbs(), election.spec?.leaseTransitions], ["get update", 5]);
    assertEquals(election.spec?.acquireTime, at(4_000));
    assertEquals(election.log, ['0 a sees "b"', '4000 a sees "a"', "4000 a leads"]);
  });

  await test.step("does not take a lease that is renewed, whatever times its holder writes", async () => {
    await using election = new Election();
    election.put({ ...other, leaseTransitions: 4 });
    const running = election.run(election.elector("a"));
    for (let renewal = 1; renewal <= 20; renewal++) {
      await election.time.tickAsync(2_500);
      election.server.patch(Lease, "shop/it", { spec: { renewTime: at(-1_000_000 + renewal) } });
    }
    assertEquals(running.leadership, undefined);
    await end(election, running);
    assertEquals(election.spec?.holderIdentity, "b");
  });

  await test.step("takes a released lease at once", async () => {
    await using election = new Election();
    election.put({ ...other, holderIdentity: "", leaseTransitions: 4 });
    election.run(election.elector("a"));
    await election.time.tickAsync(0);
    assertEquals([election.verbs(), election.spec?.leaseTransitions], ["get update", 5]);
  });

  await test.step("renews a lease of its own identity, which is no transition", async () => {
    await using election = new Election();
    election.put({ ...mine, acquireTime: at(-5_000), leaseTransitions: 4 });
    election.run(election.elector("a"));
    await election.time.tickAsync(0);
    assertEquals(election.verbs(), "get update");
    assertEquals(election.spec, { ...mine, acquireTime: at(-5_000), leaseTransitions: 4 });
  });

  await test.step("waits between attempts up to 2.2 times as long, at random", async () => {
    await using election = new Election();
    election.put({ ...other, leaseDurationSeconds: 1_000 });
    using _random = seedGlobals(() => 0.999);
    election.run(election.elector("a"));
    await election.time.tickAsync(4_390);
    assertEquals(election.verbs(), "get");
    await election.time.tickAsync(10);
    assertEquals(election.verbs(), "get");
  });
});

Deno.test("LeaderElector renews without a read, and reads after a failure [C151]", async () => {
  await using election = new Election();
  election.run(election.elector("a"));
  await election.time.tickAsync(2_000);
  assertEquals(election.verbs(), "get create update");
  election.server.failNext(500, 1, ({ verb }) => verb === "update");
  await election.time.tickAsync(4_000);
  assertEquals(election.verbs(), "update get update update");
  assertEquals(election.spec?.renewTime, at(6_000));
  assertEquals(election.spec?.acquireTime, at(0));
});

Deno.test("LeaderElector releases the lease when it stops [C152]", async (test) => {
  await test.step("by a read and a write that keeps the transitions", async () => {
    await using election = new Election();
    const elector = election.elector("a");
    const running = election.run(elector);
    await election.time.tickAsync(1_000);
    election.verbs();
    await end(election, running);
    assertEquals(election.verbs(), "get update");
    assertEquals(election.spec, {
      holderIdentity: "",
      leaseDurationSeconds: 1,
      leaseTransitions: 0,
      acquireTime: at(1_000),
      renewTime: at(1_000),
    });
    assertEquals([elector.status().state, elector.status().holder], ["stopped", ""]);
    assertEquals(election.log.at(-1), '1000 a sees ""');
  });

  await test.step("again after a conflict, which a renewal in flight triggers", async () => {
    await using election = new Election();
    const running = election.run(election.elector("a"));
    await election.time.tickAsync(0);
    const conflict: (request: RecordedRequest) => boolean = ({ verb }) => verb === "update";
    election.server.beforeNext(() => election.server.annotate(Lease, "shop/it", { touched: "yes" }), 1, conflict);
    running.stop.abort(new Error("stopped"));
    await election.time.tickAsync(0);
    assertEquals(election.verbs(), "get create get update");
    await end(election, running);
    assertEquals([election.verbs(), election.spec?.holderIdentity], ["get update", ""]);
  });

  await test.step("not that of another holder, nor one that is gone", async () => {
    for (const change of ["steal", "delete"]) {
      await using election = new Election();
      const running = election.run(election.elector("a"));
      await election.time.tickAsync(0);
      if (change === "delete") election.server.delete(Lease, "shop/it");
      else election.server.patch(Lease, "shop/it", { spec: { holderIdentity: "b" } });
      await end(election, running);
      assertEquals([election.verbs(), election.spec?.holderIdentity], [
        "get create get",
        change === "delete" ? undefined : "b",
      ]);
    }
  });

  for (const verb of ["update", "get"]) {
    await test.step(`after a stop during the ${verb} of a renewal`, async () => {
      await using election = new Election();
      const running = election.run(election.elector("a"));
      await election.time.tickAsync(1_000);
      if (verb === "get") election.server.failNext(500, 1, (request) => request.verb === "update");
      using _stalled = election.server.stallNext(1, (request) => request.verb === verb);
      await election.time.tickAsync(1_500);
      await end(election, running);
      assertEquals(election.spec?.holderIdentity, "");
    });
  }

  await test.step("after a stop while the answer to the first write is awaited", async () => {
    await using election = new Election();
    const running = election.run(election.elector("a"));
    using _stalled = election.server.stallNext(1, ({ verb }) => verb === "create");
    await election.time.tickAsync(100);
    assertEquals(election.spec?.holderIdentity, "a");
    await end(election, running);
    assertEquals([election.spec?.holderIdentity, election.log], ["", ['100 a sees ""']]);
  });

  await test.step("not with release: false", async () => {
    await using election = new Election();
    const running = election.run(election.elector("a", { release: false }));
    await election.time.tickAsync(0);
    await end(election, running);
    assertEquals(election.spec?.holderIdentity, "a");
  });

  await test.step("not after it has seen another holder since a write without an answer", async () => {
    await using election = new Election();
    const running = election.run(election.elector("a"));
    {
      using _stalled = election.server.stallNext(1, ({ verb }) => verb === "create");
      await election.time.tickAsync(100);
      election.server.patch(Lease, "shop/it", { spec: { holderIdentity: "b" } });
      await election.time.tickAsync(10_000);
    }
    election.verbs();
    await end(election, running);
    assertEquals([election.verbs(), election.log], ["", ['7000 a sees "b"']]);
  });

  await test.step("and reports a refusal", async () => {
    await using election = new Election();
    const errors: unknown[] = [];
    const elector = election.elector("a", { onError: (error) => errors.push(error) });
    const running = election.run(elector);
    await election.time.tickAsync(0);
    election.server.failNext(403, 1);
    await end(election, running);
    assertEquals([errors.length, elector.status().lastError], [1, errors[0]]);
  });

  await test.step("within the deadline, when the server does not answer", async () => {
    await using election = new Election();
    const running = election.run(election.elector("a"));
    await election.time.tickAsync(0);
    using _stalled = election.server.stallNext(Infinity);
    running.stop.abort(new Error("stopped"));
    await election.time.tickAsync(10_000);
    await running.ended;
    assertEquals(election.spec?.holderIdentity, "a");
  });
});

Deno.test("LeaderElector renews the lease until the work has ended, and releases it then", async () => {
  await using election = new Election();
  const elector = election.elector("a");
  const first = election.run(elector, 60_000);
  await election.time.tickAsync(1_000);
  const second = election.run(election.elector("b", { onLeader: () => {} }));
  assertEquals(elector.status().state, "leading");
  first.stop.abort(new Error("stopped"));
  assertEquals(elector.status().state, "ending");
  await election.time.tickAsync(70_000);
  assertEquals(
    election.log,
    ['0 a sees "a"', "0 a leads", "1000 a stops leading", "61000 a has ended", '61000 a sees ""', "63000 b leads"],
  );
  assertEquals(second.leadership?.fencing, { holder: "b", transitions: 1, resourceVersion: "34" });
  await end(election, second);
});

Deno.test("LeaderElector stops leading at its deadline when the lease cannot be renewed, whatever the requests do", async (test) => {
  const triggers: Record<string, (server: FakeApiServer) => Disposable | void> = {
    "are refused": (server) => server.failNext(500, Infinity),
    "fail": (server) => server.breakNext(Infinity),
    "are not answered": (server) => server.stallNext(Infinity),
  };
  for (const [cause, arm] of Object.entries(triggers)) {
    await test.step(`they ${cause}`, async () => {
      await using election = new Election();
      const errors: unknown[] = [];
      const elector = election.elector("a", { onError: (error) => errors.push(error) });
      const running = election.run(elector);
      await election.time.tickAsync(6_000); // the last renewal is sent at 6 s
      const released = arm(election.server);
      await election.time.tickAsync(9_999);
      assertEquals([running.leadership?.isHeld(), running.leadership?.remainingMs()], [true, 1]);
      await election.time.tickAsync(1);
      assertEquals([running.leadership?.isHeld(), running.leadership?.remainingMs()], [false, 0]);
      await running.ended;
      assertEquals(election.log.slice(2, 4), ["16000 a stops leading", "16000 a has ended"]);
      assert(
        election.log[4].startsWith('16000 LeadershipLostError: Lost lease "shop/it": it was not renewed for 10000 ms'),
      );
      assert(errors.length > 0 && election.log[4].includes(". The last attempt failed: "), election.log[4]);
      assertEquals(elector.status().state, "stopped");
      released?.[Symbol.dispose]();
    });
  }
});

Deno.test("LeaderElector has lost the lease after a pause, whichever comes first: a renewal, or the end of the work", async () => {
  for (const first of ["renewal", "end"]) {
    await using election = new Election();
    let pausedMs = 0;
    const clock = { now: () => performance.now() + pausedMs, sleep };
    let leadership!: Leadership;
    const end = Promise.withResolvers<void>();
    const running = election.elector("a", { clock }).run(async (given) => {
      leadership = given;
      await Promise.race([end.promise, aborted(given.signal)]);
    });
    const rejected = assertRejects(() => running, LeadershipLostError, "it was not renewed for 10000 ms");
    await election.time.tickAsync(0);
    const { isHeld, remainingMs } = leadership;
    assertEquals([isHeld(), remainingMs()], [true, 10_000]);
    election.verbs();
    pausedMs = 20_000;
    assertEquals([isHeld(), remainingMs(), leadership.signal.aborted], [false, 0, false]);
    if (first === "end") end.resolve();
    await election.time.tickAsync(10_000);
    await rejected;
    assertEquals([isHeld(), leadership.lost.aborted, election.verbs(), election.spec?.holderIdentity], [
      false,
      true,
      "",
      "a",
    ]);
  }
});

Deno.test("LeaderElector counts its deadline from the time at which a renewal was sent", async () => {
  await using election = new Election();
  const running = election.run(election.elector("a"));
  await election.time.tickAsync(1_999);
  election.server.latency(4_000);
  await election.time.tickAsync(4_001); // sent at 2 s, answered at 6 s
  assertEquals([election.spec?.renewTime, running.leadership?.remainingMs()], [at(2_000), 6_000]);
  election.server.latency(0);
});

Deno.test("LeaderElector stops leading as soon as it sees another holder, and names it", async () => {
  await using election = new Election();
  const running = election.run(election.elector("a"));
  await election.time.tickAsync(500);
  election.server.patch(Lease, "shop/it", { spec: { holderIdentity: "thief" } });
  await election.time.tickAsync(1_500);
  await running.ended;
  assertEquals(election.log.slice(2), [
    '2000 a sees "thief"',
    "2000 a stops leading",
    "2000 a has ended",
    '2000 LeadershipLostError: Lost lease "shop/it": "thief" holds it',
  ]);
  assertEquals(election.spec?.holderIdentity, "thief");
});

Deno.test("LeaderElector creates its lease again after its deletion, and others let it", async () => {
  await using election = new Election();
  const running = [election.run(election.elector("a"))];
  await election.time.tickAsync(1_000);
  running.push(election.run(election.elector("b", { onLeader: () => {} })));
  await election.time.tickAsync(1_900);
  // The next attempt is b's, which has seen that a holds the lease.
  election.server.delete(Lease, "shop/it");
  await election.time.tickAsync(600);
  assertEquals(election.spec, undefined);
  await election.time.tickAsync(60_000);
  assertEquals([election.spec?.holderIdentity, election.spec?.acquireTime], ["a", at(0)]);
  assertEquals(election.log, ['0 a sees "a"', "0 a leads"]);
  await end(election, ...running);
});

Deno.test("LeaderElector waits out a deleted lease of a dead holder, and counts the transition", async () => {
  await using election = new Election();
  election.put({ holderIdentity: "b", leaseDurationSeconds: 15, leaseTransitions: 4 });
  const elector = election.elector("a");
  election.run(elector);
  await election.time.tickAsync(1_000);
  assertEquals(elector.status().resourceVersion, election.server.get(Lease, "shop/it")?.metadata.resourceVersion);
  election.server.delete(Lease, "shop/it");
  await election.time.tickAsync(13_999);
  assertEquals([election.spec, elector.status().resourceVersion], [undefined, undefined]);
  await election.time.tickAsync(1_001);
  assertEquals([election.spec?.holderIdentity, election.spec?.leaseTransitions], ["a", 5]);
});

Deno.test("LeaderElector ends with its work, and with the work's error", async () => {
  await using election = new Election();
  const elector = election.elector("a");
  let kept: Leadership | undefined;
  await elector.run((leadership) => void (kept = leadership));
  assertEquals([election.spec?.holderIdentity, kept?.isHeld(), kept?.signal.aborted], ["", false, true]);
  await assertRejects(() => elector.run(() => Promise.reject(new Error("no disk"))), Error, "no disk");
  assertEquals([election.spec?.holderIdentity, election.spec?.leaseTransitions], ["", 1]);
  // A work that ends by its signal has not failed.
  for (
    const wrap of [(reason: unknown) => reason, (reason: unknown) => Object.assign(new Error("given up"), { reason })]
  ) {
    const stop = new AbortController();
    const stopped = elector.run(async ({ signal }) => {
      await aborted(signal);
      throw wrap(signal.reason);
    }, { signal: stop.signal });
    await election.time.tickAsync(0);
    stop.abort(new Error("stopped"));
    await stopped;
  }
});

Deno.test("LeaderElector whose work has ended is ending until the lease is released", async () => {
  await using election = new Election();
  const elector = election.elector("a");
  const stalls = new DisposableStack();
  const running = elector.run(() => void stalls.use(election.server.stallNext(1)));
  await election.time.tickAsync(100);
  assertEquals([elector.status().state, election.spec?.holderIdentity], ["ending", "a"]);
  stalls.dispose();
  await running;
  assertEquals([elector.status().state, election.spec?.holderIdentity], ["stopped", ""]);
});

Deno.test("LeaderElector refuses a second run, and runs again after the first has ended", async () => {
  await using election = new Election();
  const elector = election.elector("a");
  const running = election.run(elector);
  await assertRejects(() => elector.run(() => {}), Error, 'the elector of lease "shop/it": it is already running');
  await end(election, running);
  const stop = new AbortController();
  await elector.run(() => {}, { signal: stop.signal });
  stop.abort();
  assertEquals(elector.status().state, "stopped");
  await elector.run(() => assert(false, "stopped before"), { signal: AbortSignal.abort() });
});

Deno.test("LeaderElector stops the work where its signal aborts between the acquisition and the work", async () => {
  for (let turns = 0; turns < 8; turns++) {
    await using election = new Election();
    const stop = new AbortController();
    const elector = election.elector("a", {
      onLeader: async (holder) => {
        for (let i = 0; i < turns; i++) await undefined;
        if (holder === "a") stop.abort();
      },
    });
    let hasEnded = false;
    const ended = elector.run(({ signal }) => aborted(signal), { signal: stop.signal }).then(() => hasEnded = true);
    await election.time.tickAsync(60_000);
    assertEquals([turns, hasEnded], [turns, true]);
    await ended;
  }
});

Deno.test("LeaderElector reports no error when it stops during an attempt", async () => {
  await using election = new Election();
  const errors: unknown[] = [];
  const elector = election.elector("a", { onError: (error) => errors.push(error) });
  const running = election.run(elector);
  using _stalled = election.server.stallNext(1);
  await election.time.tickAsync(100);
  await end(election, running);
  assertEquals([errors, elector.status().lastError], [[], undefined]);
});

Deno.test("LeaderElector reports errors of attempts, but no conflicts, and continues", async () => {
  await using election = new Election();
  const errors: unknown[] = [];
  const elector = election.elector("a", { onError: (error) => errors.push(error) });
  election.server.failNext(403, 2);
  election.server.beforeNext(() => election.put({ holderIdentity: "" }), 1, ({ verb }) => verb === "create");
  election.run(elector);
  await election.time.tickAsync(3_000);
  assert(elector.status().lastError instanceof StatusError);
  assertEquals(elector.status().state, "contending");
  await election.time.tickAsync(10_000);
  // That another one has created the Lease in between is no error.
  assertEquals(errors.map((error) => (error as StatusError).status.code), [403, 403]);
  assertEquals(
    [elector.status().errors, elector.status().state, elector.status().lastError],
    [2, "leading", undefined],
  );
});

Deno.test("LeaderElector refuses options that are not safe, and its check fails for work that outlives the lease [C153]", async (test) => {
  await test.step("options", async () => {
    await using election = new Election();
    const refused = (options: Partial<LeaderElectorOptions>, type: ErrorConstructor, text: string): void => {
      assertThrows(() => election.elector("a", options), type, text);
    };
    refused({ name: "" }, TypeError, 'name must be a non-empty string, but it is ""');
    refused({ identity: "" }, TypeError, 'identity must be a non-empty string, but it is ""');
    refused({ namespace: "" }, TypeError, 'namespace must be a non-empty string, but it is ""');
    refused({ leaseMs: 10_000 }, RangeError, "leaseMs must be more than renewDeadlineMs (10000), but it is 10000");
    refused(
      { leaseMs: 15_500 },
      RangeError,
      "leaseMs must be whole seconds, because a Lease stores seconds, but it is 15500",
    );
    refused({ renewDeadlineMs: 2_400 }, RangeError, "renewDeadlineMs must be more than 1.2 times retryMs (2000)");
    refused({ retryMs: 0 }, RangeError, "retryMs must be at least 1 milliseconds");
    refused({ renewMs: 1_999 }, RangeError, "renewMs must be from retryMs (2000) to less than renewDeadlineMs (10000)");
    refused(
      { renewMs: 10_000 },
      RangeError,
      "renewMs must be from retryMs (2000) to less than renewDeadlineMs (10000)",
    );
    refused({ leaseMs: NaN }, RangeError, "leaseMs must be at least 1 milliseconds");
    refused({ renewDeadlineMs: -1 }, RangeError, "renewDeadlineMs must be at least 1 milliseconds");
    const identities = [1, 2].map(() => new LeaderElector(election.client, { name: "it" }).identity);
    assert(identities[0] !== identities[1] && identities[0].length > 30);
  });

  await test.step("renewals are renewMs apart, and retries retryMs", async () => {
    await using election = new Election();
    election.run(election.elector("a", { renewMs: 5_000, retryMs: 1_000 }));
    await election.time.tickAsync(0);
    election.verbs();
    await election.time.tickAsync(4_999);
    assertEquals(election.verbs(), "");
    const disarm = election.server.stallNext(Infinity);
    await election.time.tickAsync(1);
    assertEquals(election.verbs(), "update");
    await election.time.tickAsync(2_500); // a share of the deadline
    disarm[Symbol.dispose]();
    await election.time.tickAsync(1_000);
    assertEquals([election.verbs(), election.log.at(-1)], ["update get update", "0 a leads"]);
  });

  await test.step("health", async () => {
    await using election = new Election();
    const elector = election.elector("a");
    elector.check();
    const running = election.run(elector, 40_000);
    await election.time.tickAsync(6_000);
    elector.check();
    const disarm = election.server.stallNext(Infinity);
    await election.time.tickAsync(15_000);
    elector.check(); // lost, and the work winds down
    assertEquals([elector.status().state, elector.status().sinceRenewalMs], ["ending", 15_000]);
    await election.time.tickAsync(1);
    assertThrows(() => elector.check(), Error, 'the last renewal of lease "shop/it" was 15001 ms ago');
    elector.check(1);
    disarm[Symbol.dispose]();
    await election.time.tickAsync(40_000);
    await running.ended;
    elector.check();
  });
});

Deno.test("an elector keeps the labels and other fields of a Lease [C154]", async (test) => {
  for (const labels of [undefined, { owner: "shop", app: "old" }]) {
    await test.step(`labels are added to ${labels ? "those" : "none"} that are there`, async () => {
      const server = new FakeApiServer();
      const spec = { holderIdentity: "", strategy: "OldestEmulationVersion" } as Lease["spec"];
      server.create(Lease, { metadata: { name: "it", namespace: "shop", ...(labels && { labels }) }, spec });
      using client = new Client({ server: "http://fake", transport: server, namespace: "shop" });
      await new LeaderElector(client, { name: "it", labels: { app: "tabs" } }).run(() => {});
      const lease = server.get(Lease, "shop/it");
      assertEquals(lease?.metadata.labels, { ...labels, app: "tabs" });
      assertEquals((lease?.spec as Record<string, unknown>).strategy, "OldestEmulationVersion");
    });
  }
});
