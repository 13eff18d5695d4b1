import { assert, assertEquals, assertFalse, assertInstanceOf, assertRejects, assertStrictEquals } from "@std/assert";
import { abortReason, DerivedController, isAbortOf, Latch } from "../../../src/engine/async/signals.ts";
import { WaitError } from "../../../src/engine/informer/status.ts";
import { collectHeap } from "../../support/times/heap.ts";
import { CountedController } from "../../support/times/listeners.ts";

Deno.test("DerivedController aborts with its parent, for the same reason", () => {
  const parent = new AbortController();
  using derived = new DerivedController(parent.signal);
  assertEquals(derived.signal.aborted, false);
  const reason = new Error("over");
  parent.abort(reason);
  assertStrictEquals(derived.signal.reason, reason);
});

Deno.test("DerivedController is aborted from the start when its parent is, and adds no listener to it", () => {
  const parent = new CountedController();
  const reason = new Error("over before");
  parent.abort(reason);
  using derived = new DerivedController(parent.signal);
  assertStrictEquals(derived.signal.reason, reason);
  assertEquals(parent.listeners, 0);
});

Deno.test("DerivedController does not abort its parent, and keeps the first of several reasons", () => {
  const parent = new AbortController();
  using derived = new DerivedController(parent.signal);
  const reason = new Error("mine");
  derived.abort(reason);
  assertEquals(parent.signal.aborted, false);
  parent.abort(new Error("too late"));
  assertStrictEquals(derived.signal.reason, reason);
});

Deno.test("DerivedController leaves no listener on its parent once aborted or disposed", () => {
  const parent = new CountedController();
  const aborted = new DerivedController(parent.signal);
  assertEquals(parent.listeners, 1);
  aborted.abort();
  assertEquals(parent.listeners, 0);
  {
    using _derived = new DerivedController(parent.signal);
    assertEquals(parent.listeners, 1);
  }
  assertEquals(parent.listeners, 0);
  aborted[Symbol.dispose]();
  assertEquals([parent.listeners, parent.signal.aborted], [0, false]);
});

Deno.test("DerivedController aborts its signal on disposal, with or without a parent", () => {
  for (const parent of [undefined, new AbortController()]) {
    const derived = new DerivedController(parent?.signal);
    let aborts = 0;
    derived.signal.addEventListener("abort", () => aborts++);
    derived[Symbol.dispose]();
    derived[Symbol.dispose]();
    assertEquals(aborts, 1);
    assertInstanceOf(derived.signal.reason, DOMException);
    assertEquals(derived.signal.reason.name, "AbortError");
  }
});

Deno.test("DerivedController aborts with the first of several parents, and leaves no listener on any of them", () => {
  for (const when of ["before", "after"]) {
    const parents = [new CountedController(), new CountedController()];
    if (when === "before") parents[1].abort(new Error("second"));
    using derived = new DerivedController(undefined, ...parents.map(({ signal }) => signal));
    parents[1].abort(new Error("second"));
    parents[0].abort(new Error("too late"));
    assertEquals(derived.signal.reason.message, "second");
    assertEquals(parents.map(({ listeners }) => listeners), [0, 0]);
  }
});

Deno.test("DerivedController that is released lets go of its parent, and does not abort", () => {
  const parent = new CountedController();
  const controller = new DerivedController(parent.signal);
  controller.release();
  parent.abort();
  assertEquals([parent.listeners, controller.signal.aborted], [0, false]);
});

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

Deno.test("Latch notify settles pending waits only; the latch may still open", async () => {
  const latch = new Latch();
  const wait = latch.wait();
  latch.notify(new Error("for a reason"));
  await assertRejects(() => wait, Error, "for a reason");
  const resolved = latch.wait();
  latch.notify();
  await resolved;
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
  for (const end of ["open", "fail", "notify"] as const) {
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
          notify: "notify",
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
  for (const end of ["open", "fail", "notify", "abort"] as const) {
    await t.step(end, async () => {
      const latch = new Latch();
      const stop = new AbortController();
      const wait = (): WeakRef<Promise<unknown>> => {
        const waited = latch.wait(stop);
        waited.catch(() => {});
        return new WeakRef(waited);
      };
      const waited = wait();
      await collectHeap();
      assert(waited.deref() !== undefined, "while it waits");
      if (end === "abort") stop.abort();
      else latch[end](new Error(end));
      await collectHeap();
      assertEquals([waited.deref(), latch.isOpen], [undefined, end === "open"]);
    });
  }
});

Deno.test("abortReason creates one AbortError, which a signal that aborted with it has", () => {
  const paused = abortReason("The reflector was paused");
  assertEquals([paused().name, paused().message], ["AbortError", "The reflector was paused"]);
  assertStrictEquals(AbortSignal.abort(paused()).reason, paused());
});
