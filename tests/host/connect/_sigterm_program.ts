/** Runs a manager until the process receives a signal. Prints a line when it listens, and one when it has stopped. */
import { runManager, type RunnableManager } from "../../../src/host/connect/run_manager.ts";

const manager: RunnableManager = {
  run: ({ signal }) => new Promise((resolve) => signal?.addEventListener("abort", () => resolve())),
  fetch: () => new Response("ok"),
};
await runManager(manager, { port: 0, hostname: "127.0.0.1", onListen: () => console.log("listening") });
console.log("stopped");
