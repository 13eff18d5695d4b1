import { assertEquals, assertInstanceOf, assertStrictEquals } from "@std/assert";
import { DerivedController } from "../../src/async/derived_controller.ts";
import { CountedController } from "../support/listeners.ts";

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
