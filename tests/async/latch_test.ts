import { assert, assertEquals, assertFalse, assertRejects } from "@std/assert";
import { Latch } from "../../src/async/latch.ts";
import { collectGarbage } from "../support/garbage.ts";
import { CountedController } from "../support/listeners.ts";

Deno.test("Latch open resolves all waits, pending and later ones", async () => {
  const latch = new Latch();
  assertFalse(latch.isOpen);
  const waits = [latch.wait(), latch.wait()];
  latch.open();
  assert(latch.isOpen);
  await Promise.all([...waits, latch.wait()]);
});

Deno.test("Latch fail rejects all waits, pending and later ones, with one error", async () => {
  const latch = new Latch();
  const wait = latch.wait();
  const error = new Error("will not happen");
  latch.fail(error);
  assertFalse(latch.isOpen);
  assertEquals(await Promise.allSettled([wait, latch.wait()]), [
    { status: "rejected", reason: error },
    { status: "rejected", reason: error },
  ]);
});

Deno.test("Latch counts only the first of open and fail", async () => {
  const opened = new Latch();
  opened.open();
  opened.fail(new Error("too late"));
  await opened.wait();
  assert(opened.isOpen);
  const failed = new Latch();
  failed.fail(undefined);
  failed.open();
  assertFalse(failed.isOpen);
  assertEquals(await Promise.allSettled([failed.wait()]), [{ status: "rejected", reason: undefined }]);
});

Deno.test("Latch interrupt rejects pending waits only; the latch may still open", async () => {
  const latch = new Latch();
  const wait = latch.wait();
  latch.interrupt(new Error("for a reason"));
  await assertRejects(() => wait, Error, "for a reason");
  const next = latch.wait();
  latch.open();
  await next;
});

Deno.test("Latch wait rejects with the reason of its signal, and leaves no listener behind", async (t) => {
  await t.step("aborted before", async () => {
    const stop = new CountedController();
    stop.abort(new Error("before"));
    await assertRejects(() => new Latch().wait(stop), Error, "before");
    assertEquals(stop.listeners, 0);
  });
  await t.step("aborted while it waits; the others still wait", async () => {
    const latch = new Latch();
    const stop = new AbortController();
    const [stopped, other] = [latch.wait(stop), latch.wait()];
    stop.abort(new Error("meanwhile"));
    await assertRejects(() => stopped, Error, "meanwhile");
    latch.open();
    await other;
  });
  for (const end of ["open", "fail", "interrupt"] as const) {
    await t.step(`${end}, then aborted`, async () => {
      const latch = new Latch();
      const stop = new CountedController();
      const wait = latch.wait(stop);
      assertEquals(stop.listeners, 1);
      latch[end](new Error(end));
      assertEquals(stop.listeners, 0);
      stop.abort(new Error("too late"));
      const [outcome] = await Promise.allSettled([wait]);
      assertEquals(
        outcome.status === "rejected" ? outcome.reason.message : outcome.status,
        {
          open: "fulfilled",
          fail: "fail",
          interrupt: "interrupt",
        }[end],
      );
    });
  }
  await t.step("open before: an aborted signal changes nothing", async () => {
    const latch = new Latch();
    latch.open();
    await latch.wait({ signal: AbortSignal.abort() });
  });
});

Deno.test("Latch keeps no reference to a wait that has ended", async (t) => {
  for (const end of ["open", "fail", "interrupt", "abort"] as const) {
    await t.step(end, async () => {
      const latch = new Latch();
      const stop = new AbortController();
      const wait = (): WeakRef<Promise<unknown>> => {
        const waited = latch.wait(stop);
        waited.catch(() => {});
        return new WeakRef(waited);
      };
      const waited = wait();
      await collectGarbage();
      assert(waited.deref() !== undefined, "while it waits");
      if (end === "abort") stop.abort();
      else latch[end](new Error(end));
      await collectGarbage();
      assertEquals([waited.deref(), latch.isOpen], [undefined, end === "open"]);
    });
  }
});
