import type { Deployment } from "@kube/informer/kinds/apps/v1";
import type { Job } from "@kube/informer/kinds/batch/v1";
import type { Node, Pod } from "@kube/informer/kinds/core/v1";
import { type Condition, conditionsSchema, findCondition, setCondition } from "@kube/informer/reconcile";
import { defineKind, type KindOf, type ValueOf } from "@kube/informer/schema";
import { assertEquals, assertStrictEquals, assertStringIncludes, assertThrows } from "@std/assert";
import * as v from "npm:valibot@1.5.0";
import { toStandardJsonSchema } from "npm:@valibot/to-json-schema@1.8.0";
import { z } from "npm:zod@4.6.7";
import { FakeTime } from "../../../support/times/fake_time.ts";

const START = "2026-01-01T00:00:00Z";

Deno.test("setCondition adds a condition with the present time, without fractions of seconds", () => {
  using time = new FakeTime();
  time.tick(999);
  const conditions = setCondition(undefined, { type: "Ready", status: "True", reason: "Done" });
  assertEquals(conditions, [
    { type: "Ready", status: "True", reason: "Done", message: "", lastTransitionTime: START },
  ]);
});

Deno.test("setCondition moves the transition time with the status alone", () => {
  using time = new FakeTime();
  const first = setCondition([], { type: "Ready", status: "False", reason: "Waiting", message: "for pods" });
  time.tick(60_000);
  const second = setCondition(first, { type: "Ready", status: "False", reason: "Stuck", observedGeneration: 2 });
  assertEquals(second, [{
    type: "Ready",
    status: "False",
    reason: "Stuck",
    message: "",
    observedGeneration: 2,
    lastTransitionTime: START,
  }]);
  const third = setCondition(second, { type: "Ready", status: "True", reason: "Done", observedGeneration: 2 });
  assertEquals(third[0].lastTransitionTime, "2026-01-01T00:01:00Z");
  const again = setCondition(third, { type: "Ready", status: "True", reason: "Done" });
  assertEquals("observedGeneration" in again[0], false);
  const given = setCondition(third, { ...third[0], status: "Unknown", lastTransitionTime: START });
  assertEquals(given[0].lastTransitionTime, START);
});

Deno.test("setCondition keeps the place of a condition, and does not change the given list", () => {
  const lastTransitionTime = START;
  const before: readonly Condition[] = Object.freeze([
    Object.freeze({ type: "A", status: "True", reason: "R", message: "", lastTransitionTime }),
    Object.freeze({ type: "B", status: "True", reason: "R", message: "", lastTransitionTime }),
  ]);
  const after = setCondition(before, { type: "A", status: "False", reason: "R" });
  assertEquals(after.map(({ type, status }) => `${type}=${status}`), ["A=False", "B=True"]);
  assertEquals(findCondition(after, "B"), before[1]);
  assertEquals(findCondition(after, "C"), undefined);
});

Deno.test("setCondition returns the same list when nothing changes", () => {
  const draft = { type: "Ready", status: "True", reason: "Done", message: "all", observedGeneration: 1 } as const;
  const conditions = setCondition([], draft);
  assertStrictEquals(setCondition(conditions, draft), conditions);
  assertStrictEquals(setCondition(conditions, { ...draft, lastTransitionTime: START }), conditions);
});

Deno.test("setCondition refuses a condition that the server would refuse", () => {
  const draft = { type: "Ready", status: "True", reason: "Done" } as const;
  assertThrows(() => setCondition([], { ...draft, type: "" }), TypeError, "its type is empty");
  assertThrows(() => setCondition([], { ...draft, status: "yes" as "True" }), TypeError, 'it is "yes"');
  for (const reason of ["", "two words", "ends:"]) {
    assertThrows(() => setCondition([], { ...draft, reason }), TypeError, `it is ${JSON.stringify(reason)}`);
  }
});

/** `true` if two types are the same. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false;

/** Fails to compile for other types than `true`. */
function holds<_ extends true>(): void {}

const NAMES = { group: "example.com", version: "v1", kind: "Database", plural: "databases" } as const;
const spec = { type: "object", properties: {} } as const;
const Literal = defineKind({
  ...NAMES,
  spec,
  status: { type: "object", properties: { conditions: conditionsSchema } },
});
const zodCondition = z.object({
  type: z.string(),
  status: z.enum(["True", "False", "Unknown"]),
  reason: z.string(),
  message: z.string(),
  lastTransitionTime: z.iso.datetime(),
  observedGeneration: z.int().optional(),
});
const Zod = defineKind({
  ...NAMES,
  spec,
  status: z.object({ conditions: z.array(zodCondition).meta(conditionsSchema).optional() }),
});
const valibotCondition = v.object({
  type: v.picklist(["Ready", "Synced"]),
  status: v.picklist(["True", "False", "Unknown"]),
  reason: v.string(),
  message: v.string(),
  lastTransitionTime: v.string(),
  observedGeneration: v.optional(v.number()),
});
const Valibot = defineKind({
  ...NAMES,
  spec,
  status: toStandardJsonSchema(
    v.object({ conditions: v.optional(v.pipe(v.array(valibotCondition), v.metadata(conditionsSchema))) }),
  ),
});
const ready = { type: "Ready", status: "True", reason: "Done" } as const;

Deno.test("setCondition and findCondition take and return conditions of each way of writing a kind", () => {
  type Element<T> = T extends { readonly status?: { readonly conditions?: readonly (infer C)[] } } ? C : never;
  const fresh = setCondition(undefined, ready);
  const kinds: { literal: KindOf<typeof Literal>["status"]; zod: KindOf<typeof Zod>["status"] } = {
    literal: { conditions: fresh },
    zod: { conditions: setCondition([], ready) },
  };
  const zodStatus: KindOf<typeof Zod>["status"] = { conditions: setCondition(kinds.zod?.conditions, ready) };
  const inLiteral: KindOf<typeof Literal>["status"] = { conditions: setCondition(kinds.literal?.conditions, ready) };
  const none: KindOf<typeof Valibot>["status"] = {};
  const valibotStatus: KindOf<typeof Valibot>["status"] = { conditions: setCondition(none?.conditions, ready) };
  const found = [zodStatus, inLiteral, valibotStatus].map((it) =>
    findCondition<Pick<Condition, "type">>(it?.conditions, "Ready")
  );
  assertEquals(found.map((it) => it?.type), ["Ready", "Ready", "Ready"]);
  const ofZod = (it: KindOf<typeof Zod>) => findCondition(it.status?.conditions, "Ready");
  holds<Same<ReturnType<typeof ofZod>, Element<KindOf<typeof Zod>> | undefined>>();
  // @ts-expect-error: the element of the schema has no such type
  setCondition(none?.conditions, { ...ready, type: "Other" });
  // @ts-expect-error: a status is a text
  assertThrows(() => setCondition(kinds.zod?.conditions, { ...ready, status: true }), TypeError, "it is true");
});

Deno.test("findCondition and setCondition take the conditions of built-in and generated kinds", () => {
  const ofJob = (it: Job) => findCondition(it.status?.conditions, "Complete");
  const ofPod = (it: Pod) => findCondition(it.status?.conditions, "Ready")?.lastProbeTime;
  const ofNode = (it: Node) => findCondition(it.status?.conditions, "Ready")?.lastHeartbeatTime;
  const ofDeployment = (it: Deployment) => findCondition(it.status?.conditions, "Available")?.lastUpdateTime;
  const job: Pick<Job, "status"> = { status: { conditions: [{ type: "Complete", status: "True" }] } };
  assertEquals(ofJob(job as Job), { type: "Complete", status: "True" });
  assertEquals([ofPod, ofNode, ofDeployment].map((of) => of({} as never)), [undefined, undefined, undefined]);
  const gate = { type: "example.com/warm", status: "False", reason: "Cold", lastProbeTime: START } as const;
  const pod: Pod["status"] = { conditions: [gate] };
  const [kept] = setCondition(pod.conditions, { ...ready, type: gate.type, lastTransitionTime: START });
  assertEquals(kept, { ...gate, ...ready, type: gate.type, message: "", lastTransitionTime: START });
  // Generated kinds have an interface of their own for conditions, with more members.
  interface Severe extends Omit<Condition, "status"> {
    readonly status: string;
    readonly severity: "Warning" | "Error";
  }
  const severe = setCondition<Severe>([], { ...ready, severity: "Error" });
  assertEquals(findCondition(severe, "Ready")?.severity, "Error");
  // @ts-expect-error: the list wants a severity
  assertEquals(setCondition<Severe>([], ready).length, 1);
});

Deno.test("conditionsSchema has the bounds of metav1.Condition in every way of writing schemas", async () => {
  holds<Same<ValueOf<typeof conditionsSchema>[number]["reason"], string>>();
  const conditions = [{ ...ready, message: "", lastTransitionTime: START }];
  const wrong = [
    [{ type: "a b" }, "status.conditions[0].type"],
    [{ type: "a".repeat(317) }, "status.conditions[0].type"],
    [{ status: "yes" }, "status.conditions[0].status"],
    [{ reason: "two words" }, "status.conditions[0].reason"],
    [{ reason: "" }, "status.conditions[0].reason"],
    [{ reason: "R".repeat(1025) }, "status.conditions[0].reason"],
    [{ message: "m".repeat(32_769) }, "status.conditions[0].message"],
    [{ observedGeneration: -1 }, "status.conditions[0].observedGeneration"],
    [{ lastTransitionTime: "now" }, "status.conditions[0].lastTransitionTime"],
  ] as const;
  const metadata = { name: "a" };
  for (const [name, kind] of Object.entries({ Literal, Zod, Valibot })) {
    const causes = async (list: readonly object[]): Promise<string[]> =>
      (await kind.validate({ metadata, spec: {}, status: { conditions: list } }))
        .map(({ field }) => field ?? "");
    assertEquals(await causes(conditions), [], name);
    for (const [part, field] of wrong) {
      assertEquals([...new Set(await causes([{ ...conditions[0], ...part }]))], [field], `${name} ${field}`);
    }
    const [condition] = conditions;
    assertEquals(await causes([condition, { ...condition, reason: "Other" }]), ["status.conditions[1]"], name);
    const [short] = await kind.validate({ metadata, spec: {}, status: { conditions: [{ ...condition, reason: "" }] } });
    assertStringIncludes(short.message ?? "", "at least 1 chars long", name);
    assertEquals((await causes([{}])).length, 5, name);
  }
});
