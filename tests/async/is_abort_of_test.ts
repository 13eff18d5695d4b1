import { assertEquals } from "@std/assert";
import { isAbortOf } from "../../src/async/is_abort_of.ts";
import { WaitError } from "../../src/informer/wait_error.ts";

Deno.test("isAbortOf recognizes the reason of a signal, and errors that carry it, once the signal has aborted", () => {
  const stop = new AbortController();
  const reason = new Error("stop");
  const failure = { resource: "pods", state: "live", stateMs: 0 } as const;
  const errors = [
    reason,
    new WaitError("given up", { ...failure, reason }),
    new WaitError("given up", { ...failure, reason: new Error("stop") }),
    new WaitError("stopped", failure),
    new Error("stop"),
    { reason },
    undefined,
  ];
  assertEquals(errors.map((error) => isAbortOf(stop.signal, error)), errors.map(() => false));
  stop.abort(reason);
  assertEquals(errors.map((error) => isAbortOf(stop.signal, error)), [true, true, false, false, false, false, false]);
});
