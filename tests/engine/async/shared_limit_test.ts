import { assertEquals } from "@std/assert";
import { SharedLimit } from "../../../src/engine/async/shared_limit.ts";
import { FakeTime } from "../../support/times/fake_time.ts";

Deno.test("jobs under a shared limit have one timer, and expire in order unless they have ended", async () => {
  using time = new FakeTime();
  const limit = new SharedLimit(100);
  const expired: string[] = [];
  const begin = (name: string): Disposable => limit.begin(() => expired.push(name));
  const first = begin("first");
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  assertEquals(time.timers, 0);
  begin("second");
  const third = begin("third");
  await time.tickAsync(60);
  begin("fourth");
  third[Symbol.dispose]();
  assertEquals(time.timers, 1);
  await time.tickAsync(40);
  assertEquals([expired, time.timers], [["second"], 1]);
  await time.tickAsync(59);
  assertEquals(expired, ["second"]);
  await time.tickAsync(1);
  assertEquals([expired, time.timers], [["second", "fourth"], 0]);
  new SharedLimit(Infinity).begin(() => expired.push("never"));
  assertEquals(time.timers, 0);
});
