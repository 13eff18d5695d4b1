import { assertEquals, assertRejects } from "@std/assert";
import { inTurn } from "../../src/async/in_turn.ts";
import { Latch } from "../../src/async/latch.ts";

Deno.test("inTurn runs jobs of one object one at a time, in their order, and those of others at once", async () => {
  const [shared, other] = [{}, {}];
  const log: string[] = [];
  const gate = new Latch();
  const job = (name: string) => async (): Promise<string> => {
    log.push(`begin ${name}`);
    await gate.wait();
    log.push(`end ${name}`);
    return name;
  };
  const all = [inTurn(shared, job("a")), inTurn(shared, job("b")), inTurn(other, job("c"))];
  await Promise.resolve();
  assertEquals(log, ["begin a", "begin c"]);
  gate.open();
  assertEquals(await Promise.all(all), ["a", "b", "c"]);
  assertEquals(log.indexOf("begin b") > log.indexOf("end a"), true);
});

Deno.test("inTurn continues after a job that fails", async () => {
  const shared = {};
  const failed = assertRejects(() => inTurn(shared, () => Promise.reject(new Error("no"))), Error, "no");
  assertEquals(await inTurn(shared, () => Promise.resolve(1)), 1);
  await failed;
});

Deno.test("inTurn leaves out a job whose signal aborts while it waits, and keeps later ones behind earlier ones", async () => {
  const shared = {};
  const gate = new Latch();
  const stop = new AbortController();
  let isOver = false;
  const first = inTurn(shared, async () => {
    await gate.wait();
    isOver = true;
  });
  const second = assertRejects(
    () => inTurn(shared, () => Promise.reject(new Error("it was called")), { signal: stop.signal }),
    Error,
    "enough",
  );
  const third = inTurn(shared, () => Promise.resolve(isOver));
  stop.abort(new Error("enough"));
  await second;
  gate.open();
  await first;
  assertEquals(await third, true);
});
