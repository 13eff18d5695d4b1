import { assertMatch } from "@std/assert";
import { microTimestampNow, timestampNow } from "../../../src/reconcile/objects/timestamp.ts";

Deno.test("timestamps have the number of digits that the server demands", () => {
  assertMatch(timestampNow(), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  assertMatch(microTimestampNow(), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
});
