/**
 * Records `informer watch` while the API server is killed and comes back.
 *
 * The server is a fake one, whose objects stay, as objects in a cluster do. Its clients come by a process that forwards
 * connections; this process is killed and started again.
 *
 * @module
 */
import { sleep } from "../../src/engine/async/time.ts";
import { Pod } from "../../src/engine/kinds/core/v1.ts";
import { FakeApiServer, pod, type PodBuildOptions } from "../../src/testing/mod.ts";
import { kubeconfigText } from "../../tests/support/servers/kubeconfig.ts";
import { Folder, serve } from "../../tests/support/servers/serve.ts";
import { type Chapter, drawScreens, type Film, record, shotsOf } from "./terminal.ts";
import { type Theme, THEMES, type Words } from "./theme.ts";

const SIZE = { columns: 92, rows: 12 };

/** The times of the film, in milliseconds. */
const [KILLED, BACK, END] = [4_000, 8_500, 14_000];

const HOUR = 3_600_000;

/** The state of a pod, as the table shows it. */
type State = "Pending" | "ContainerCreating" | "Running" | "CrashLoopBackOff";

function statusOf(state: State, restartCount = 0): PodBuildOptions["status"] {
  const ready = state === "Running";
  const running = { startedAt: new Date().toISOString() };
  return {
    phase: ready || state === "CrashLoopBackOff" ? "Running" : "Pending",
    conditions: [{ type: "Ready", status: ready ? "True" : "False" }],
    containerStatuses: state === "Pending" ? [] : [{
      name: "app",
      image: "app:1",
      imageID: "",
      ready,
      restartCount,
      state: ready ? { running } : { waiting: { reason: state } },
    }],
  };
}

/** Creates a pod of that age. */
function create(server: FakeApiServer, name: string, state: State, { hours = 0, restarts = 0 } = {}): void {
  const { metadata, ...rest } = pod({ name, namespace: "shop", node: "node-1", status: statusOf(state, restarts) });
  const creationTimestamp = new Date(Date.now() - hours * HOUR).toISOString();
  server.create(Pod, { ...rest, metadata: { ...metadata, creationTimestamp } });
}

/** The pods at the beginning: their names, ages in hours, states and restarts. */
const PODS: readonly (readonly [name: string, hours: number, state: State, restarts: number])[] = [
  ["cart-6d8f9c7b5-4xkzn", 75, "Running", 0],
  ["cart-6d8f9c7b5-m2v8q", 75, "Running", 0],
  ["checkout-7c5b8d9f4-9hjwt", 28, "Running", 1],
  ["mail-56b7f8c9d-zt5lr", 3.2, "CrashLoopBackOff", 37],
  ["search-84d6c7b9f-c8n4x", 75, "Running", 0],
  ["web-5f9d7c8b6-2qrsk", 51, "Running", 0],
  ["web-5f9d7c8b6-hx7vd", 51, "Running", 0],
];

/** The changes in the cluster, with their times: a rollout before the server is killed, and others while it is down. */
function storyOf(server: FakeApiServer): readonly (readonly [at: number, act: () => void])[] {
  const set = (name: string, state: State, restarts = 0): void =>
    void server.patch(Pod, `shop/${name}`, { status: statusOf(state, restarts) });
  const remove = (name: string): void => server.delete(Pod, `shop/${name}`);
  return [
    [700, () => create(server, "web-7b6c9d5f8-k4w2p", "Pending")],
    [1_300, () => set("web-7b6c9d5f8-k4w2p", "ContainerCreating")],
    [2_300, () => set("web-7b6c9d5f8-k4w2p", "Running")],
    [3_100, () => remove("web-5f9d7c8b6-2qrsk")],
    [5_200, () => set("mail-56b7f8c9d-zt5lr", "Running", 38)],
    [5_600, () => create(server, "web-7b6c9d5f8-t9s6m", "Pending")],
    [6_600, () => set("web-7b6c9d5f8-t9s6m", "Running")],
    [7_400, () => remove("web-5f9d7c8b6-hx7vd")],
    [12_200, () => set("checkout-7c5b8d9f4-9hjwt", "CrashLoopBackOff", 2)],
  ];
}

/** A process that clients reach the server by, until it is killed. */
async function front(port: number, url: string): Promise<Deno.ChildProcess> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--allow-net",
      "--no-lock",
      new URL("forward.ts", import.meta.url).pathname,
      `${port}`,
      new URL(url).port,
    ],
    stdout: "piped",
  }).spawn();
  const reader = child.stdout.getReader();
  await reader.read();
  reader.releaseLock();
  return child;
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

/** Records the film, light and dark. */
export async function watchFilm(words: Words): Promise<Record<Theme, string>> {
  const server = new FakeApiServer();
  for (const [name, hours, state, restarts] of PODS) create(server, name, state, { hours, restarts });
  await using served = await serve(server);
  await using folder = new Folder();
  const port = freePort();
  let child = await front(port, served.url);
  const config = folder.write("config", kubeconfigText({ cluster: { server: `http://127.0.0.1:${port}` } }));
  const recording = record({
    ...SIZE,
    command: [Deno.execPath(), "run", "-A", "--no-check", "src/cli/main.ts", "watch", "pods", "-n", "shop"],
    cwd: new URL("../..", import.meta.url).pathname,
    env: { KUBECONFIG: config },
  });
  while (server.watches === 0) await sleep(20);
  await sleep(1_000); // for the first rate
  const start = recording.now();
  const acts = [
    ...storyOf(server),
    [KILLED, () => child.kill("SIGKILL")],
    [BACK, async () => {
      child = await front(port, served.url);
    }],
  ] as [number, () => void | Promise<void>][];
  for (const [at, act] of acts.sort(([a], [b]) => a - b)) {
    await sleep(Math.max(0, start + at - recording.now()));
    await act();
  }
  await sleep(Math.max(0, start + END - recording.now()));
  await recording.press("q");
  await recording.ended;
  child.kill("SIGKILL");

  const chapters: Chapter[] = [
    { at: 0, text: "API server: running. The table changes in place.", tone: "client" },
    {
      at: KILLED,
      text: "API server: killed. The table stays, and its first line says since when it is stale.",
      tone: "bad",
    },
    {
      at: BACK,
      text: "API server: back. informer resumes by itself, and the table has what changed meanwhile.",
      tone: "client",
    },
  ];
  const film: Film = {
    ...SIZE,
    title: "informer watch pods -n shop",
    shots: await shotsOf(SIZE, recording.chunks, [start, start + END]),
    chapters,
    lengthMs: END,
    stillMs: (KILLED + BACK) / 2,
  };
  return Object.fromEntries(THEMES.map((theme) => [theme, drawScreens(theme, words, film)])) as Record<Theme, string>;
}
