import { assertEquals } from "@std/assert";
import { ByteBudget } from "../../../src/relay/server/budget.ts";
import { ChangeLog, type LoggedChange } from "../../../src/relay/server/change_log.ts";

/** A log without an informer, and the numbers of its beginnings and of the bytes that it keeps. */
class Logged {
  begins = 0;
  readonly dropped: string[] = [];
  readonly budget: ByteBudget;
  readonly log: ChangeLog<LoggedChange>;

  constructor(maxBytes = Infinity) {
    this.budget = new ByteBudget(maxBytes);
    this.log = new ChangeLog(undefined as never, this.budget, {
      flush: () => {},
      onBegin: () => this.begins++,
      onDrop: ({ version }) => this.dropped.push(version),
    });
  }

  /** Adds changes of these versions, of 100 bytes each, and settles the log; `""` is a change that was not seen. */
  settle(versions: readonly string[], version: string, lists = 1, isComplete = true): void {
    for (const each of versions) this.log.add(each === "" ? undefined : { version: each, bytes: 100 });
    this.log.settle(version, lists, isComplete);
  }

  /** The versions of the changes behind a state; `undefined` where they are not known. */
  behind(first: string, last: string = first): string[] | undefined {
    const { log } = this;
    const from = log.after({ first, last });
    if (from === undefined) return undefined;
    return Array.from({ length: log.ring.end - from }, (_, index) => log.ring.at(from + index)!.version);
  }
}

Deno.test("a log begins at the first version that is known, and has the changes behind it", () => {
  const logged = new Logged();
  assertEquals(logged.log.range, { first: "", last: "" });
  logged.settle(["3"], "4", 1, false);
  assertEquals([logged.log.version, logged.behind("3")], ["", undefined]);
  assertEquals(logged.log.range, { first: "4", last: "" });
  logged.settle([], "5");
  logged.settle(["6", "8"], "9");
  assertEquals(logged.log.range, { first: "8", last: "9" });
  assertEquals([logged.behind("4"), logged.behind("5"), logged.behind("7"), logged.behind("8")], [
    undefined,
    ["6", "8"],
    ["8"],
    [],
  ]);
  assertEquals(logged.begins, 1);
});

Deno.test("a state that lasted to a later version is one of those that the log has", () => {
  const logged = new Logged();
  logged.settle([], "5");
  logged.settle(["8"], "9");
  assertEquals(logged.behind("2", "5"), ["8"]); // nothing has changed since version 2
  assertEquals(logged.behind("2", "4"), undefined);
  assertEquals(logged.behind("8", "30"), []); // nothing changes up to version 30
  assertEquals(logged.behind("10", "30"), undefined); // a change that has not come
});

Deno.test("a log forgets what is behind a list, a change that was not seen, and one that is not in order", () => {
  const unseen: [string, (logged: Logged) => void][] = [
    ["a list", (logged) => logged.settle([], "9", 2)],
    ["a change that was not seen", (logged) => logged.settle(["8", ""], "9")],
    ["an older version", (logged) => logged.settle(["8", "7"], "9")],
  ];
  for (const [what, happen] of unseen) {
    const logged = new Logged();
    logged.settle([], "5");
    logged.settle(["6"], "6");
    happen(logged);
    assertEquals([logged.behind("6"), logged.behind("9"), logged.begins], [undefined, [], 2], what);
    assertEquals(logged.budget.bytes, 0, what);
    logged.settle(["10"], "10", what === "a list" ? 2 : 1);
    assertEquals(logged.behind("9"), ["10"], what);
  }
});

Deno.test("a log that is broken knows no version until all changes have come", () => {
  const logged = new Logged();
  logged.settle([], "5");
  logged.settle([""], "6", 1, false);
  assertEquals([logged.log.has("5"), logged.log.version], [false, ""]);
  assertEquals([logged.log.range, logged.log.bound], [{ first: "6", last: "" }, { first: "6", last: "" }]);
  logged.settle(["7"], "7");
  assertEquals([logged.log.has("5"), logged.log.version], [true, "7"]);
});

Deno.test("a log of versions without an order never begins", () => {
  const logged = new Logged();
  logged.settle([], "opaque");
  assertEquals([logged.log.range, logged.begins], [{ first: "", last: "" }, 0]);
});

Deno.test("a log drops its oldest changes where the budget is used up, and what is behind the last of them is known", () => {
  const logged = new Logged(4 * 1_000);
  logged.settle([], "0");
  logged.settle(Array.from({ length: 15 }, (_, index) => `${index + 1}`), "15");
  assertEquals(logged.budget.bytes <= 1_000, true);
  const last = logged.dropped.at(-1)!;
  assertEquals([logged.behind(String(Number(last) - 1)), logged.behind(last)?.[0]], [
    undefined,
    String(Number(last) + 1),
  ]);
  assertEquals(logged.log.bytes, logged.budget.bytes);
});
