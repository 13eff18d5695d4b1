import { type Client, copyOf, defineResource, isAlreadyExists, SharedIndexInformer } from "@kube/informer";
import { Lease } from "@kube/informer/kinds/coordination/v1";
import { ConfigMap } from "@kube/informer/kinds/core/v1";
import { type FakeApiServer, FakeTime } from "@kube/informer/testing";
import {
  chaos,
  ChaosError,
  type ChaosOptions,
  type ChaosStep,
  type ControllerFunction,
} from "@kube/informer/testing/chaos";
import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { sleep } from "../../../src/engine/async/time.ts";
import { type TrialResult, tryPlan } from "../../../src/testing/chaos/chaos.ts";
import { planOf } from "../../../src/testing/chaos/plan.ts";
import { APP, type Outside } from "../../support/chaos/app.ts";
import { appController } from "../../support/chaos/app_controller.ts";

const OPTIONS: ChaosOptions<Outside> = { ...APP, controller: appController() };

Deno.test("chaos reports the seeds, steps and writes of a controller that passes", async () => {
  const report = await chaos({ ...OPTIONS, seeds: 2, from: 5 });
  assertEquals(report.seeds, 2);
  const planned = [5, 6].map((seed) => planOf(seed, { changes: Object.keys(APP.changes) }).steps.length);
  assertEquals(report.steps, planned[0] + planned[1]);
});

Deno.test("chaos rejects with the shortest steps of a failing seed, and the seed to run it again", async () => {
  const controller = appController("takes no replicas for one");
  const error = await assertRejects(() => chaos({ ...OPTIONS, controller, seeds: 100 }), ChaosError);
  const [{ seed, message, lines }] = error.failures;
  assertEquals(error.failures.length, 1);
  assertEquals(
    error.message,
    `seed ${seed}: ${message}\n${lines.join("\n")}\nto run it again: chaos({ …, from: ${seed}, seeds: 1 })`,
  );
  // Few steps are enough: an application without replicas.
  const steps = lines.filter((line) => /^ *\d+\. /.test(line));
  assertEquals(steps.length <= 4, true, lines.join("\n"));
  const again = await assertRejects(() => chaos({ ...OPTIONS, controller, from: seed, seeds: 1 }), ChaosError);
  assertEquals(again.failures, error.failures);
});

Deno.test("chaos restores time and random numbers when a change throws", async () => {
  const { random } = Math;
  const changes = {
    break: () => {
      throw new Error("no such object");
    },
  };
  const setup = changes.break;
  await assertRejects(() => chaos({ ...OPTIONS, setup }), Error, 'The change "setup" failed: no such object');
  using time = new FakeTime();
  assertEquals([Math.random === random, time.timers], [true, 0]);
});

Deno.test("chaos refuses a number of seeds that is none", async () => {
  await assertRejects(
    () => chaos({ ...OPTIONS, seeds: 0 }),
    RangeError,
    "seeds must be a whole number of at least 1, but it is 0",
  );
  await assertRejects(
    () => chaos({ ...OPTIONS, from: 1.5 }),
    RangeError,
    "from must be a whole number of at least 1, but it is 1.5",
  );
});

Deno.test("a plan has a third to all of the steps, without the faults that are left out", () => {
  const options = { steps: 30, without: ["stall", "crash"] as const, changes: ["a"] };
  const kinds = new Set<string>();
  for (let seed = 1; seed <= 300; seed++) {
    const { steps } = planOf(seed, options);
    assertEquals(steps.length >= 10 && steps.length <= 30, true);
    for (const step of steps) kinds.add(step.do);
    assertEquals(planOf(seed, options), planOf(seed, options));
  }
  assertEquals(
    [kinds.has("stall"), kinds.has("crash"), kinds.has("crashAtWrite"), kinds.size],
    [false, false, true, 21],
  );
});

Deno.test("chaos names the resource that the server did not know, and the option for it", async () => {
  const CronTab = defineResource({ group: "stable.example.com", version: "v1", plural: "crontabs", kind: "CronTab" });
  const options: ChaosOptions = {
    seeds: 20,
    without: ["crash"],
    controller: async ({ client }) => void await client.resource(CronTab).list(),
    changes: { make: () => {} },
    converges: () => true,
  };
  const error = await assertRejects(() => chaos(options), ChaosError);
  assertStringIncludes(
    error.failures[0].message,
    "; the server did not know crontabs.stable.example.com when it was asked for: give the resource, as in " +
      "`resources: [CronTab]`, so that it is served before the first object is created",
  );
  const known = await assertRejects(() => chaos({ ...options, resources: [CronTab] }), ChaosError);
  assertEquals(known.failures[0].message.includes("did not know"), false);
});

Deno.test("renewals are lost in plans of programs that elect a leader, and in no others", () => {
  const has = (elects: boolean): boolean =>
    Array.from({ length: 100 }, (_, index) => planOf(index + 1, { elects, changes: ["a"] }))
      .some(({ steps }) => steps.some((step) => step.do === "loseRenewals"));
  assertEquals([has(true), has(false)], [true, false]);
});

const MAP = { metadata: { name: "x", namespace: "default" } };

/** Performs steps on a server that answers in the same moment. */
async function perform<World = undefined>(
  controller: ControllerFunction<World>,
  steps: readonly ChaosStep[] = [],
  options: Partial<ChaosOptions<World>> = {},
): Promise<TrialResult> {
  const plan = { seed: 1, streamingList: false, latencyMs: 0, watchMs: 0, steps };
  return await tryPlan({ changes: {}, converges: () => {}, keeps: ["configmaps"], controller, ...options }, plan);
}

/** Resolves when the signal aborts. */
function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** A controller that does something once, at its start, and waits for its end. */
function once(
  act: (client: Client, identity: string, log: string[], signal: AbortSignal) => Promise<unknown>,
): ControllerFunction<string[]> {
  return async ({ client, signal, identity, world: log }) => {
    log.push(`${identity} starts`);
    await act(client, identity, log, signal).then(
      (result) => log.push(`${identity} ${result}`),
      (error: Error) =>
        log.push(
          `${identity} ${error.message.includes("409") ? "409" : error.message.includes("429") ? "429" : error.name}`,
        ),
    );
    await aborted(signal);
  };
}

/** Performs steps after a moment in which nothing happens, and returns what the controller has noted. */
async function logOf(
  controller: ControllerFunction<string[]>,
  steps: readonly ChaosStep[],
  options: Partial<ChaosOptions<string[]>> = {},
): Promise<string[]> {
  const log: string[] = [];
  assertEquals((await perform(controller, steps, { world: () => log, ...options })).failure, undefined);
  return log.filter((line) => !line.endsWith("AbortError")); // requests of crashed processes end with the run
}

/** Creates a config map a second after its start, so that faults can be armed before. */
const creates = once(async (client) => {
  await sleep(1_000);
  await client.resource(ConfigMap).namespace("default").create(MAP);
  return "created";
});

const crash = (when: "before" | "during" | "after"): ChaosStep => {
  return { do: "crashAtWrite", when, skip: 0, downMs: 500 };
};
const WAIT: ChaosStep = { do: "wait", ms: 5_000 };
const CREATE: ChaosStep = { do: "change", name: "create", seed: 1 };
const UNOBSERVED: ChaosStep = {
  do: "unobserved",
  changes: [{ name: "create", seed: 1 }, { name: "remove", seed: 1 }],
};

/** Changes that create and remove a config map. */
const CHANGES = {
  create: (server: FakeApiServer): void => void server.create(ConfigMap, MAP),
  remove: (server: FakeApiServer): void => server.delete(ConfigMap, "x"),
};

Deno.test("a crash before a write: the write has no effect, and the process starts again", async () => {
  assertEquals(await logOf(creates, [crash("before"), WAIT]), ["a-1 starts", "a-2 starts", "a-2 created"]);
});

Deno.test("a crash during a write: the write has an effect, and the process does not see the answer", async () => {
  assertEquals(await logOf(creates, [crash("during"), WAIT]), ["a-1 starts", "a-2 starts", "a-2 409"]);
});

Deno.test("a crash after a write: the process sees the answer, and sends nothing more", async () => {
  const log = await logOf(
    once(async (client, identity, log) => {
      const maps = client.resource(ConfigMap).namespace("default");
      await sleep(1_000);
      await maps.create({ metadata: { name: identity } });
      log.push(`${identity} has an answer`);
      await maps.create({ metadata: { name: `${identity}-second` } });
      return "created";
    }),
    [crash("after"), WAIT],
    {
      converges: (server) =>
        server.keys(ConfigMap).join() === "default/a-1,default/a-2,default/a-2-second" || server.keys(ConfigMap).join(),
    },
  );
  assertEquals(log, ["a-1 starts", "a-1 has an answer", "a-2 starts", "a-2 has an answer", "a-2 created"]);
});

Deno.test("a crash aborts the signal, and a restart does too", async () => {
  const identities: string[] = [];
  const controller: ControllerFunction<undefined> = async ({ signal, identity }) => {
    await aborted(signal);
    identities.push(`${identity}: ${signal.reason.message}`);
  };
  await perform(controller, [{ do: "crash", downMs: 10 }, WAIT, { do: "restartProcess", downMs: 10 }, WAIT]);
  assertEquals(
    identities,
    ["a-1: The process a-1 has crashed", "a-2: The process a-2 was stopped", "a-3: The process a-3 was stopped"],
  );
});

Deno.test("lost answers, lost requests and refusals", async () => {
  assertEquals(
    await logOf(creates, [{ do: "loseAnswer", times: 1, skip: 0 }, WAIT, { do: "restartProcess", downMs: 0 }, WAIT]),
    [
      "a-1 starts",
      "a-1 UnreachableError",
      "a-2 starts",
      "a-2 409",
    ],
  );
  assertEquals(
    await logOf(creates, [{ do: "break", times: 1 }, WAIT, { do: "restartProcess", downMs: 0 }, WAIT]),
    ["a-1 starts", "a-1 UnreachableError", "a-2 starts", "a-2 created"],
  );
  const refuse: ChaosStep = { do: "refuse", code: 429, times: 1, verb: "write" };
  assertEquals(await logOf(creates, [refuse, WAIT]), ["a-1 starts", "a-1 429"]);
  assertEquals(await logOf(creates, [{ ...refuse, retryAfterSeconds: 2 }, WAIT]), ["a-1 starts", "a-1 created"]);
});

Deno.test("a conflict, a race and a late write", async () => {
  const updates = once(async (client) => {
    const maps = client.resource(ConfigMap).namespace("default");
    const map = await maps.get("x");
    await sleep(1_000);
    await maps.update({ ...copyOf(map), data: { a: "1" } });
    return `updated at ${Date.now() % 100_000}`;
  });
  const options: Partial<ChaosOptions<string[]>> = {
    setup: (server) => void server.create(ConfigMap, MAP),
    changes: CHANGES,
  };
  assertEquals(await logOf(updates, [{ do: "conflict", times: 1 }, WAIT], options), ["a-1 starts", "a-1 409"]);
  assertEquals(
    await logOf(updates, [{ do: "race", name: "remove", seed: 1, skip: 0 }, WAIT], options),
    ["a-1 starts", "a-1 StatusError"],
  );
  assertEquals(await logOf(updates, [{ do: "delayWrite", ms: 700 }, WAIT], options), [
    "a-1 starts",
    "a-1 updated at 1700",
  ]);
});

Deno.test("a restart on a stale API server: the first list is old, and the watch lags", async () => {
  const lists = once(async (client, identity, log, signal) => {
    const maps = client.resource(ConfigMap).namespace("default");
    const { items, resourceVersion } = await maps.list({ resourceVersion: "0" });
    log.push(`${identity} lists ${items.length}`);
    for await (const { type } of maps.watch({ resourceVersion, signal })) {
      log.push(`${identity} ${type} at ${Date.now() % 100_000}`);
    }
    return "stops";
  });
  const steps: ChaosStep[] = [CREATE, WAIT, { do: "staleRestart", writes: 1, ms: 2_000 }, WAIT];
  const log = await logOf(lists, steps, { changes: CHANGES });
  assertEquals(
    log.slice(0, 6),
    ["a-1 starts", "a-1 lists 1", "a-1 stops", "a-2 starts", "a-2 lists 0", "a-2 ADDED at 7000"],
  );
});

Deno.test("a restart on a stale API server: an informer syncs with an old state, also where the server streams lists", async () => {
  const log: string[] = [];
  const controller: ControllerFunction<undefined> = async ({ client, signal, identity }) => {
    await using informer = new SharedIndexInformer(client.resource(ConfigMap));
    informer.addEventHandler({ onSynced: ({ objects }) => void log.push(`${identity} syncs with ${objects}`) });
    await informer.run({ signal });
  };
  const steps: ChaosStep[] = [WAIT, CREATE, WAIT, { do: "staleRestart", writes: 1, ms: 2_000 }, WAIT];
  const options = { controller, changes: CHANGES, converges: () => {} };
  const plan = { seed: 1, streamingList: true, latencyMs: 0, watchMs: 0, steps };
  assertEquals((await tryPlan(options, plan)).failure, undefined);
  assertEquals(log, ["a-1 syncs with 0", "a-2 syncs with 0"]);
});

Deno.test("a fault passes over the writes that it skips, and none occurs after the end of faults", async () => {
  const twice = once(async (client) => {
    const maps = client.resource(ConfigMap).namespace("default");
    await sleep(1_000);
    await maps.create(MAP);
    await maps.delete("x");
    return "created and deleted";
  });
  const lose: ChaosStep = { do: "loseAnswer", times: 1, skip: 1 };
  const options: Partial<ChaosOptions<string[]>> = { converges: (server) => server.keys(ConfigMap).length === 0 };
  assertEquals(await logOf(twice, [lose, WAIT], options), ["a-1 starts", "a-1 UnreachableError"]);
  assertEquals(await logOf(twice, [lose], options), ["a-1 starts", "a-1 created and deleted"]);
});

Deno.test("changes that no watch observes: the watch breaks before their events are read, and has expired then", async () => {
  const watches = once(async (client, _identity, log) => {
    const maps = client.resource(ConfigMap).namespace("default");
    let { resourceVersion } = await maps.list();
    for (let times = 0; times < 2; times++) {
      try {
        for await (const event of maps.watch({ resourceVersion })) log.push(`${event.type}`);
      } catch (error) {
        log.push((error as Error).name);
      }
    }
    resourceVersion = (await maps.list()).resourceVersion;
    return "has listed again";
  });
  const log = await logOf(watches, [WAIT, UNOBSERVED, WAIT], { changes: CHANGES });
  assertEquals(log[0], "a-1 starts");
  assertEquals(log.some((line) => line === "ADDED" || line === "DELETED"), false, log.join());
});

Deno.test("a second process, and one whose network is cut off", async () => {
  const log = await logOf(creates, [{ do: "second", ms: 2_000, end: "crash" }, WAIT]);
  assertEquals(log.toSorted(), ["a-1 created", "a-1 starts", "b-1 409", "b-1 starts"]);
  const cut = await logOf(creates, [{ do: "pause", ms: 3_000 }, { do: "wait", ms: 30_000 }]);
  assertEquals(cut, ["a-1 starts", "b-1 starts", "b-1 created", "a-1 409"]);
});

for (const lost of ["requests", "answers"] as const) {
  Deno.test(`lost ${lost} of renewals: those about leases alone, of the process that loses them, for a time`, async () => {
    const creates = once(async (client, identity, log) => {
      for (const ms of [1_000, 4_000]) {
        await sleep(ms);
        const lease = client.resource(Lease, { namespace: "default" })
          .create({ metadata: { name: identity } }, { timeoutMs: 1_000 });
        const failed = (error: unknown): string => isAlreadyExists(error) ? "exists" : "no answer";
        log.push(`${identity} ${await lease.then(() => "created", failed)}`);
      }
      return "ends";
    });
    const steps: ChaosStep[] = [{ do: "wait", ms: 500 }, { do: "loseRenewals", ms: 3_000, lost }, WAIT, WAIT];
    const log = await logOf(creates, steps);
    const of = (process: string): string[] => log.filter((line) => line.startsWith(process));
    const again = lost === "requests" ? "created" : "exists";
    assertEquals(of("a-1"), ["a-1 starts", "a-1 no answer", `a-1 ${again}`, "a-1 ends"]);
    assertEquals(of("b-1"), ["b-1 starts", "b-1 created", "b-1 exists", "b-1 ends"]);
  });
}

Deno.test("a request that a process aborts rejects at once, and does not arrive later", async () => {
  const gives = once(async (client) => {
    await sleep(1_000);
    const at = performance.now();
    await client.resource(ConfigMap).namespace("default").create(MAP, { timeoutMs: 500 }).catch(() => {});
    return `gives up after ${performance.now() - at}`;
  });
  for (const fault of [{ do: "pause", ms: 3_000 }, { do: "delayWrite", ms: 3_000 }] as const) {
    const log = await logOf(gives, [fault, { do: "wait", ms: 30_000 }], {
      converges: (server) => server.keys(ConfigMap).length === (fault.do === "pause" ? 1 : 0), // that of "b" arrives
    });
    assertEquals(log[0], "a-1 starts");
    assert(log.includes("a-1 gives up after 500"), log.join());
  }
});

Deno.test("clocks: the server's is ahead, and the controller's jumps", async () => {
  const log = await logOf(
    once(async (client) => {
      await sleep(1_000);
      const { metadata } = await client.resource(ConfigMap).namespace("default").create(MAP);
      return Date.parse(metadata.creationTimestamp!) - Date.now();
    }),
    [{ do: "clockJump", ms: 5_000 }, { do: "clockSkew", ms: 60_000 }, WAIT],
  );
  assertEquals(log, ["a-1 starts", "a-1 60000"]);
});

Deno.test("the same plan gives the same lines", async () => {
  const controller = once(async (client) => {
    await client.resource(ConfigMap).namespace("default").create({ metadata: { name: `x-${crypto.randomUUID()}` } });
    return Math.random();
  });
  const steps: ChaosStep[] = [{ do: "crash", downMs: 10 }, WAIT, { do: "second", ms: 10, end: "stop" }];
  const first = await perform(controller, steps, { world: () => [] });
  assertEquals(await perform(controller, steps, { world: () => [] }), first);
  assertEquals(first.writes, 2);
});

Deno.test("the lines have what processes print, which is not printed meanwhile", async () => {
  const { error } = console;
  const result = await perform(({ signal }) => {
    console.error("out of", 2, "names\nand more");
    return aborted(signal);
  });
  assertMatch(result.lines[1], /^ +0\.000 s {2}printed: out of 2 names$/);
  assertEquals(console.error, error);
});

/** Tests that a controller fails, although it reaches the desired state. */
function failing(
  name: string,
  message: RegExp,
  controller: ControllerFunction<undefined>,
  options: Partial<ChaosOptions> = {},
): void {
  Deno.test(`a controller fails that ${name}`, async () => {
    assertMatch((await perform(controller, [WAIT], options)).failure ?? "nothing failed", message);
  });
}

const maps = (client: Client): ReturnType<typeof client.resource<ConfigMap>> =>
  client.resource(ConfigMap).namespace("default");
const idle: ControllerFunction<undefined> = ({ signal }) => aborted(signal);

failing("does not converge", /^not converged 600 s after the last change: it is missing$/, idle, {
  converges: () => "it is missing",
});
failing("does not converge, by false", /: it does not hold$/, idle, { converges: () => false });
failing("does not converge, by an error", /: expected x$/, idle, {
  converges: () => {
    throw new Error("expected x");
  },
});
failing("violates an invariant", /^the invariant "no maps" is violated: there is one$/, async ({ client, signal }) => {
  await maps(client).create(MAP);
  await aborted(signal);
}, { invariants: { "no maps": (server) => server.keys(ConfigMap).length === 0 || "there is one" } });
failing(
  "asks without a wait",
  /^a hot loop: a-1 sends more than 2000 requests without a wait$/,
  async ({ client, signal }) => {
    while (!signal.aborted) await maps(client).list({ signal });
  },
);
failing(
  "writes although nothing changes",
  /^a hot loop: 3 writes in 120 s in which nothing changed, the last one: a-1 {2}patch configmaps "default\/x" /,
  async ({ client, signal }) => {
    await maps(client).create(MAP);
    while (!signal.aborted) {
      await sleep(40_000);
      await maps(client).patch("x", { type: "merge", body: { data: { at: String(Date.now()) } } });
    }
  },
);
failing(
  "writes too often",
  /^too many writes: \d+ for 1 changes, starts and faults; at most 20 are allowed$/,
  async ({ client, signal }) => {
    for (let at = 0; at < 30; at++) {
      await maps(client).create({ metadata: { name: `x-${at}` } });
      await sleep(1_000);
    }
    await aborted(signal);
  },
);
failing("leaves a timer", /^a leak: 1 timers are armed after the end$/, async ({ signal }) => {
  setInterval(() => {}, 1_000);
  await aborted(signal);
});
failing("leaves a watch", /^a leak: 1 watches are open after the end$/, async ({ client, signal }) => {
  const events = maps(client).follow({ resourceVersion: (await maps(client).list()).resourceVersion });
  void events.next().catch(() => {});
  await aborted(signal);
});
failing("does not end", /^a leak: a-1 has not ended 60 s after its signal had aborted$/, () => new Promise(() => {}));
failing(
  "exits",
  /^the controller exits again and again: out of order$/,
  () => Promise.reject(new Error("out of order")),
);
failing("returns", /the controller returned before its signal had aborted$/, () => Promise.resolve());
failing(
  "does not handle a rejection",
  /^a rejection was not handled, which ends a process: lost$/,
  async ({ signal }) => {
    void Promise.reject(new Error("lost"));
    await aborted(signal);
  },
);
failing(
  "leaves what it has created",
  /^not converged .*: ConfigMap "default\/x" is orphaned: the controller has created it/,
  async ({ client, signal }) => {
    await maps(client).create(MAP).catch(() => {});
    await aborted(signal);
  },
  { keeps: [] },
);
failing(
  "does not remove its finalizers",
  /ConfigMap "default\/x" is being deleted, and keeps the finalizers \["a.b\/c"\]$/,
  idle,
  {
    keeps: [],
    setup: (server) => void server.create(ConfigMap, { metadata: { name: "x", finalizers: ["a.b/c"] } }),
  },
);

Deno.test("dependents, pods and the contents of namespaces go with those that they belong to", async () => {
  const result = await perform(
    async ({ client, signal }) => {
      const [root] = (await maps(client).list()).items;
      const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "x", uid: root.metadata.uid! }];
      await maps(client).create({ metadata: { name: "dependent", ownerReferences } }).catch(() => {});
      await aborted(signal);
    },
    [WAIT],
    { keeps: [], setup: (server) => void server.create(ConfigMap, MAP) },
  );
  assertEquals(result.failure, undefined);
  assert(
    result.lines.some((line) => /a-1 {2}create configmaps "default\/dependent" → 201$/.test(line)),
    result.lines.join("\n"),
  );
});
