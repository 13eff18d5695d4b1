import { assertEquals } from "@std/assert";
import {
  listOfTriggers,
  MAX_TRIGGERS,
  type Trigger,
  type TriggerList,
  withTrigger,
  withTriggers,
} from "../../../src/engine/workqueue/triggers.ts";
import { WorkQueue } from "../../../src/engine/workqueue/work_queue.ts";

/** So many triggers, each of another source, as a key has them. */
function triggers(name: string, count: number): TriggerList {
  const each = Array.from({ length: count }, (_, i): Trigger => ({ type: "event", source: `${name} ${i}` }));
  return each.reduce<TriggerList>(withTrigger, undefined);
}

Deno.test("withTriggers counts the triggers that either side left out", () => {
  const all = listOfTriggers(withTriggers(triggers("a", MAX_TRIGGERS + 3), triggers("b", MAX_TRIGGERS + 5)));
  assertEquals(all.length, MAX_TRIGGERS);
  assertEquals(all.at(-1), { type: "more", count: 2 * MAX_TRIGGERS + 8 - (MAX_TRIGGERS - 1) });
});

Deno.test("triggers of a key are bounded, and the last one counts those that were left out", () => {
  const queue = new WorkQueue();
  for (let i = 0; i < 20; i++) queue.add("a", { trigger: { type: "event", object: `pod-${i}` } });
  for (let i = 0; i < 20; i++) queue.add("a", { trigger: { type: "event", object: "pod-0", paths: [`spec.${i}`] } });
  using item = queue.tryGet()!;
  assertEquals(item.triggers.length, 8);
  assertEquals(item.triggers[0].paths?.length, 8);
  assertEquals(item.triggers[6], { type: "event", object: "pod-6" });
  assertEquals(item.triggers[7], { type: "more", count: 13 });
});
