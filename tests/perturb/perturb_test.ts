import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { perturb, PerturbError, type PerturbOptions } from "@kube/informer/testing/perturb";
import { defineResource } from "@kube/informer";
import { FakeTime } from "@kube/informer/testing";
import { planOf } from "../../src/perturb/plan.ts";
import { APP, type Outside } from "../support/perturb/app.ts";
import { appController } from "../support/perturb/app_controller.ts";

const OPTIONS: PerturbOptions<Outside> = { ...APP, controller: appController() };

Deno.test("perturb reports the seeds, steps and writes of a controller that passes", async () => {
  const report = await perturb({ ...OPTIONS, seeds: 2, from: 5 });
  assertEquals(report.seeds, 2);
  const planned = [5, 6].map((seed) => planOf(seed, { changes: Object.keys(APP.changes) }).steps.length);
  assertEquals(report.steps, planned[0] + planned[1]);
});

Deno.test("perturb rejects with the shortest steps of a failing seed, and the seed to run it again", async () => {
  const controller = appController("takes no replicas for one");
  const error = await assertRejects(() => perturb({ ...OPTIONS, controller, seeds: 100 }), PerturbError);
  const [{ seed, message, lines }] = error.failures;
  assertEquals(error.failures.length, 1);
  assertEquals(
    error.message,
    `seed ${seed}: ${message}\n${lines.join("\n")}\nto run it again: perturb({ …, from: ${seed}, seeds: 1 })`,
  );
  // Few steps are enough: an application without replicas.
  const steps = lines.filter((line) => /^ *\d+\. /.test(line));
  assertEquals(steps.length <= 4, true, lines.join("\n"));
  const again = await assertRejects(() => perturb({ ...OPTIONS, controller, from: seed, seeds: 1 }), PerturbError);
  assertEquals(again.failures, error.failures);
});

Deno.test("perturb restores time and random numbers when a change throws", async () => {
  const { random } = Math;
  const changes = {
    break: () => {
      throw new Error("no such object");
    },
  };
  const setup = changes.break;
  await assertRejects(() => perturb({ ...OPTIONS, setup }), Error, 'The change "setup" failed: no such object');
  using time = new FakeTime();
  assertEquals([Math.random === random, time.timers], [true, 0]);
});

Deno.test("perturb refuses a number of seeds that is none", async () => {
  await assertRejects(
    () => perturb({ ...OPTIONS, seeds: 0 }),
    RangeError,
    "seeds must be a whole number of at least 1, found 0",
  );
  await assertRejects(
    () => perturb({ ...OPTIONS, from: 1.5 }),
    RangeError,
    "from must be a whole number of at least 1, found 1.5",
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
  assertEquals([kinds.has("stall"), kinds.has("crash"), kinds.has("crashAtWrite"), kinds.size], [
    false,
    false,
    true,
    21,
  ]);
});

Deno.test("perturb names the resource that the server did not know, and the option for it", async () => {
  const CronTab = defineResource({ group: "stable.example.com", version: "v1", plural: "crontabs", kind: "CronTab" });
  const options: PerturbOptions = {
    seeds: 20,
    without: ["crash"],
    controller: async ({ client }) => void await client.resource(CronTab).list(),
    changes: { make: () => {} },
    converges: () => true,
  };
  const error = await assertRejects(() => perturb(options), PerturbError);
  assertStringIncludes(
    error.failures[0].message,
    "; the server did not know crontabs.stable.example.com when it was asked for: give the resource, as in " +
      "`resources: [CronTab]`, so that it is served before the first object is created",
  );
  const known = await assertRejects(() => perturb({ ...options, resources: [CronTab] }), PerturbError);
  assertEquals(known.failures[0].message.includes("did not know"), false);
});

Deno.test("renewals are lost in plans of programs that elect a leader, and in no others", () => {
  const has = (elects: boolean): boolean =>
    Array.from({ length: 100 }, (_, index) => planOf(index + 1, { elects, changes: ["a"] }))
      .some(({ steps }) => steps.some((step) => step.do === "loseRenewals"));
  assertEquals([has(true), has(false)], [true, false]);
});
