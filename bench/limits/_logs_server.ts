/**
 * A server of pods whose logs never end, a process of its own: `deno run -A _logs_server.ts PODS LINES`. It prints its
 * address, and ends when its standard input does. All pods together write LINES lines a second, from the moment at
 * which a log is requested. A fake server answers everything else.
 */
import { Pod } from "../../src/engine/kinds/core/v1.ts";
import { FakeApiServer, pod } from "../../src/testing/mod.ts";
import { serveProcess } from "./_serve_process.ts";

const encoder = new TextEncoder();
/** How often each pod writes, in milliseconds. */
const PERIOD_MS = 10;

const [pods, perSecond] = Deno.args.map(Number);
/** The number of lines that a pod writes at once: one, unless there are many. */
const burst = perSecond * PERIOD_MS / 1_000 / pods;

const server = new FakeApiServer();
for (let i = 0; i < pods; i++) {
  server.create(Pod, pod({ name: `web-${i}`, namespace: "shop", labels: { app: "web" }, node: "n" }));
  server.writeLog(`shop/web-${i}`, "ready"); // starts the container
}

const withTimes = new Set<ReadableStreamDefaultController<Uint8Array>>();
const withoutTimes = new Set<ReadableStreamDefaultController<Uint8Array>>();
const beganMs = performance.now();
let written = 0;
let due = 0;
setInterval(() => {
  // A timer that fires late catches up.
  for (; written < (performance.now() - beganMs) / PERIOD_MS; written++) {
    const time = new Date().toISOString().replace("Z", "000000Z");
    for (due += burst; due >= 1; due--) {
      const line = `GET /api/v1/carts/${written % 1_000} 200 ${
        written % 97
      } ms request=${written} agent="Mozilla/5.0"\n`;
      const bytes = encoder.encode(line);
      const timed = encoder.encode(`${time} ${line}`);
      for (const controller of withoutTimes) controller.enqueue(bytes);
      for (const controller of withTimes) controller.enqueue(timed);
    }
  }
}, PERIOD_MS / 2);

function log(searchParams: URLSearchParams): Response {
  const open = searchParams.get("timestamps") === "true" ? withTimes : withoutTimes;
  let own: ReadableStreamDefaultController<Uint8Array>;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => void open.add(own = controller),
    cancel: () => void open.delete(own),
  });
  return new Response(body, { headers: { "content-type": "text/plain" } });
}

await serveProcess((request) => {
  const { pathname, searchParams } = new URL(request.url);
  return pathname.endsWith("/log") ? log(searchParams) : server.fetch(request);
});
