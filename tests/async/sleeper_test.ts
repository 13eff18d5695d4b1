import { assertEquals } from "@std/assert";
import { Sleeper } from "../../src/async/sleeper.ts";

/** What can be asked for, once for each who waits. */
class Bell {
  readonly asked = new Set<() => void>();

  readonly ask = (wake: () => void): () => void => {
    this.asked.add(wake);
    return () => this.asked.delete(wake);
  };
}

Deno.test("Sleeper wait resolves when what was asked for happens", async () => {
  const bell = new Bell();
  const waiting = new Sleeper().wait(bell.ask);
  assertEquals(bell.asked.size, 1);
  for (const ring of bell.asked) ring();
  await waiting;
});

Deno.test("Sleeper wake resolves the wait and takes back what was asked for", async () => {
  const bell = new Bell();
  const sleeper = new Sleeper();
  sleeper.wake(); // nobody waits
  for (let i = 0; i < 2; i++) {
    const waiting = sleeper.wait(bell.ask);
    assertEquals(bell.asked.size, 1);
    sleeper.wake();
    await waiting;
    assertEquals(bell.asked.size, 0);
  }
});
