import { FakeTime } from "../../src/testing/mod.ts";
import { compareUsers } from "./_users.ts";

for (let seed = 1; seed <= 8; seed++) {
  Deno.test(`25 users see of a shared relay what they see of one of their objects, seed ${seed}`, async () => {
    using time = new FakeTime();
    await compareUsers(time, seed, 25, 12);
  });
}
