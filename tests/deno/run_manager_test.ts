import { assertEquals, assertRejects } from "@std/assert";
import { runManager, type RunnableManager } from "../../src/deno/run_manager.ts";

const until = (signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal?.addEventListener("abort", () => resolve(), { once: true }));

/** A manager that runs until its signal aborts, and answers each request with its path. */
const manager: RunnableManager = {
  run: ({ signal }) => until(signal),
  fetch: (request) => new Response(new URL(request.url).pathname),
};

Deno.test("runManager serves probes while the manager runs, and closes the port when it has stopped", async () => {
  const stop = new AbortController();
  const port = Promise.withResolvers<number>();
  const running = runManager(manager, { port: 0, hostname: "127.0.0.1", signal: stop.signal, onListen: port.resolve });
  const url = `http://127.0.0.1:${await port.promise}/healthz`;
  assertEquals(await (await fetch(url)).text(), "/healthz");
  stop.abort();
  await running;
  await assertRejects(() => fetch(url), TypeError);
});

Deno.test("runManager closes the port and rejects when the manager fails", async () => {
  const failing = { ...manager, run: () => Promise.reject(new Error("lost")) };
  await assertRejects(() => runManager(failing, { port: 0, hostname: "127.0.0.1" }), Error, "lost");
});

Deno.test("runManager does not run the manager when the port is in use", async () => {
  await using other = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, () => new Response());
  let ran = false;
  const recorded = { ...manager, run: (): Promise<void> => Promise.resolve(void (ran = true)) };
  const { port } = other.addr;
  await assertRejects(() => runManager(recorded, { port, hostname: "127.0.0.1" }), Deno.errors.AddrInUse);
  assertEquals(ran, false);
});

Deno.test(
  "runManager stops the manager when the process receives SIGTERM",
  { ignore: Deno.build.os === "windows" },
  async () => {
    const listening = Promise.withResolvers<number>();
    const running = runManager(manager, { port: 0, hostname: "127.0.0.1", onListen: listening.resolve });
    await listening.promise;
    Deno.kill(Deno.pid, "SIGTERM");
    await running;
  },
);

Deno.test("runManager answers by IPv4 and IPv6 unless it is given an address", async () => {
  const stop = new AbortController();
  const listening = Promise.withResolvers<number>();
  const running = runManager(manager, { port: 0, signal: stop.signal, onListen: listening.resolve });
  const port = await listening.promise;
  const hosts = hasIPv6() ? ["127.0.0.1", "[::1]"] : ["127.0.0.1"];
  for (const host of hosts) assertEquals(await (await fetch(`http://${host}:${port}/readyz`)).text(), "/readyz");
  stop.abort();
  await running;
});

function hasIPv6(): boolean {
  try {
    Deno.listen({ hostname: "::1", port: 0 }).close();
    return true;
  } catch {
    return false;
  }
}
