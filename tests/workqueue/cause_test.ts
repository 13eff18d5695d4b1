import { assertEquals } from "@std/assert";
import { type Cause, type Causes, listOfCauses, MAX_CAUSES, withCause, withCauses } from "../../src/workqueue/cause.ts";

/** So many causes, each of another source, as a key has them. */
function causes(name: string, count: number): Causes {
  const each = Array.from({ length: count }, (_, i): Cause => ({ type: "event", source: `${name} ${i}` }));
  return each.reduce<Causes>(withCause, undefined);
}

Deno.test("withCauses counts the causes that either side left out", () => {
  const all = listOfCauses(withCauses(causes("a", MAX_CAUSES + 3), causes("b", MAX_CAUSES + 5)));
  assertEquals(all.length, MAX_CAUSES);
  assertEquals(all.at(-1), { type: "more", count: 2 * MAX_CAUSES + 8 - (MAX_CAUSES - 1) });
});
