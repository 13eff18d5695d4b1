import { assertEquals } from "@std/assert";
import { shutdownSignalOf, type SignalHost } from "../../src/deno/shutdown_signal.ts";

/** Signals that a test sends by hand. */
class Signals implements SignalHost {
  readonly listeners = new Map<string, Set<() => void>>();
  readonly exits: number[] = [];
  readonly os: string;

  constructor(os: string) {
    this.os = os;
  }

  readonly addSignalListener = (name: string, handler: () => void): void => {
    this.listeners.set(name, (this.listeners.get(name) ?? new Set()).add(handler));
  };
  readonly removeSignalListener = (name: string, handler: () => void): void => {
    this.listeners.get(name)?.delete(handler);
  };
  readonly exit = (code: number): void => void this.exits.push(code);

  send(name: string): void {
    for (const handler of [...this.listeners.get(name) ?? []]) handler();
  }
}

Deno.test("shutdownSignal aborts at the first SIGINT or SIGTERM, and the second ends the process", () => {
  for (const [second, code] of [["SIGINT", 130], ["SIGTERM", 143]] as const) {
    const signals = new Signals("linux");
    using signal = shutdownSignalOf(signals);
    assertEquals(signal.aborted, false);
    signals.send("SIGTERM");
    assertEquals([signal.aborted, (signal.reason as Error).message, (signal.reason as Error).name, signals.exits], [
      true,
      "The process received SIGTERM",
      "AbortError",
      [],
    ]);
    signals.send(second);
    assertEquals(signals.exits, [code]);
  }
});

Deno.test("shutdownSignal removes its listeners when it is disposed", () => {
  const signals = new Signals("linux");
  {
    using _signal = shutdownSignalOf(signals);
    assertEquals([...signals.listeners.values()].map(({ size }) => size), [1, 1]);
  }
  assertEquals([...signals.listeners.values()].map(({ size }) => size), [0, 0]);
});

Deno.test("shutdownSignal listens on Windows only to signals that Windows has", () => {
  const signals = new Signals("windows");
  using signal = shutdownSignalOf(signals);
  assertEquals([...signals.listeners.keys()], ["SIGINT", "SIGBREAK"]);
  signals.send("SIGBREAK");
  assertEquals(signal.aborted, true);
});
