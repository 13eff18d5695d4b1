/** A manager with probes, which prints its port and then the errors of its server, until its standard input ends. */
import { runManager } from "../../../src/host/connect/run_manager.ts";

const stop = new AbortController();
const running = runManager({
  run: ({ signal }) => new Promise((resolve) => signal!.addEventListener("abort", () => resolve())),
  fetch: () => new Response("ok"),
}, {
  port: 0,
  hostname: "127.0.0.1",
  signal: stop.signal,
  onListen: (port) => console.log(port),
  onError: (error) => console.log(`${error} / ${(error as Error).cause}`),
});
for await (const _ of Deno.stdin.readable);
stop.abort();
await running;
console.log("stopped");
