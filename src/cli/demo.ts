/**
 * The command `informer demo`: the main job on one screen.
 *
 * {@linkcode demo} runs a fake API server over real HTTP and an informer on it, and compares the two. It connects to no
 * cluster.
 *
 * @module
 */
import { sleep } from "../engine/async/time.ts";
import { Client } from "../engine/client/client.ts";
import { errorLine } from "../engine/errors/errors.ts";
import type { SharedIndexInformer } from "../engine/informer/shared_index_informer.ts";
import { SharedInformerFactory } from "../engine/informer/shared_informer_factory.ts";
import { Pod, type Pod as PodObject } from "../engine/kinds/core/v1.ts";
import { FakeApiServer } from "../testing/mod.ts";
import { withoutManagedFields } from "./get.ts";
import { listen } from "./loopback.ts";
import { EXIT_CODE } from "./shared/usage.ts";
import { samplePod, SteadyChurn } from "./shared/fake_server.ts";
import { checkNumbers, durationMs } from "./shared/flag_values.ts";
import { LiveView } from "./terminal/live_view.ts";
import type { CommandContext } from "./terminal/terminal.ts";

interface DemoFlags {
  /** Initial number of pods. */
  readonly pods: number;
  /** Changes per second. */
  readonly churn: number;
  /** Run time, as a duration. @default {until interrupted on a terminal, 10 s elsewhere} */
  readonly for?: string;
}

/**
 * Runs a fake API server over real HTTP and an informer on it, and compares the two at the end. Returns the exit code.
 */
export async function demo(flags: DemoFlags, _args: readonly string[], context: CommandContext): Promise<number> {
  const { terminal, signal } = context;
  const forMs = flags.for === undefined ? (terminal.interactive ? undefined : 10_000) : durationMs(flags.for, "for");
  checkNumbers({ pods: flags.pods, churn: flags.churn });
  terminal.say("An informer follows pods on a fake API server, over real HTTP. You need no cluster.");
  using server = new FakeApiServer({ bookmarkMs: 1_000 });
  for (let index = 0; index < flags.pods; index++) server.create(Pod, samplePod(index));
  const http = await listen(0, (request, info) => server.fetch(request, info), terminal);
  const address = `http://127.0.0.1:${http.port}`;
  using client = new Client({ server: address });
  const informers = new SharedInformerFactory(client, {
    onError: (error, resource) => terminal.say(`${resource.plural}: ${errorLine(error)}`),
  });
  const informer = informers.forResource(Pod, {
    indexers: { node: (pod: PodObject) => (pod.spec.nodeName === undefined ? [] : [pod.spec.nodeName]) },
  });
  const delivered = { added: 0, updated: 0, deleted: 0 };
  informer.addEventHandler({
    onAdd: () => void delivered.added++,
    onUpdate: () => void delivered.updated++,
    onDelete: () => void delivered.deleted++,
  }, { name: "demo" });
  const churn = new SteadyChurn(server, flags.churn, { mix: "all" });
  try {
    terminal.say(`fake API server on ${address} with ${flags.pods} pods and ${flags.churn} changes/s`);
    const startedAt = performance.now();
    informers.start();
    await informers.waitForCacheSync({ signal });
    terminal.say(`synced ${informer.indexer.size} pods in ${(performance.now() - startedAt).toFixed(0)} ms`);
    {
      using _view = new LiveView([{ resource: Pod, informer }], terminal);
      if (terminal.interactive && forMs === undefined) terminal.say("press Ctrl-C to end");
      churn.start();
      using _progress = terminal.interactive ? undefined : everyFewSeconds(() => {
        const { state, events } = informer.status();
        terminal.say(`${state}: ${informer.indexer.size} pods cached, ${events} changes received`);
      });
      await sleep(forMs ?? Infinity, { signal }).catch(() => {}); // an abort ends the demo as its time does
      churn.stop();
    }
    await informer.waitForVersion(server.resourceVersion, { signal: AbortSignal.timeout(5_000) });
    const equal = sameObjects(server, informer.indexer.list());
    for (const line of results(informer, server, delivered, equal)) terminal.result(line);
    return equal ? EXIT_CODE.done : EXIT_CODE.failed;
  } finally {
    churn.stop();
    await informers.shutdown();
    server[Symbol.dispose]();
    await http[Symbol.asyncDispose]();
  }
}

/** The time between two lines of progress where there is no live table, in milliseconds. */
const PROGRESS_MS = 2_000;

/** Calls `report` every {@linkcode PROGRESS_MS} until it is disposed. */
function everyFewSeconds(report: () => void): Disposable {
  const timer = setInterval(report, PROGRESS_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

function results(
  informer: SharedIndexInformer<PodObject, "node">,
  server: FakeApiServer,
  { added, updated, deleted }: Record<"added" | "updated" | "deleted", number>,
  equal: boolean,
): string[] {
  const { indexer } = informer;
  const { events, lists, watches, errors } = informer.status();
  const busiest = indexer.indexValues("node")
    .map((node) => ({ node, pods: indexer.byIndex("node", node).length }))
    .sort((a, b) => b.pods - a.pods)[0];
  return [
    `objects   ${indexer.size} cached, ${server.keys(Pod).length} on the server`,
    `events    ${events} changes; delivered ${added} added, ${updated} updated, ${deleted} deleted`,
    `requests  ${lists} lists, ${watches} watches, ${errors} errors`,
    ...(busiest === undefined ? [] : [`index     busiest node ${busiest.node} with ${busiest.pods} pods`]),
    equal ? "equal     yes: the cache equals the server" : "equal     NO: the cache differs from the server",
  ];
}

/** Returns `true` if the cache equals the server, apart from managedFields, which the informer drops. */
function sameObjects(server: FakeApiServer, cached: readonly PodObject[]): boolean {
  const podText = (pod: PodObject): string => canonical(withoutManagedFields(pod));
  const ours = cached.map(podText).sort();
  const theirs = server.list(Pod).map(podText).sort();
  return ours.length === theirs.length && ours.every((text, i) => text === theirs[i]);
}

/** JSON with sorted keys: equal for equal values. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, part) => {
    if (typeof part !== "object" || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
