/**
 * The program that Node runs: the core with Node's own `fetch`, against the given address. It prints each event as a
 * line of JSON, and ends by itself once everything has stopped; nothing here ends the process.
 */
import { Client, errorLine, SharedInformerFactory } from "../../mod.ts";
import { ConfigMap, Pod } from "../../src/engine/kinds/core/v1.ts";

interface NodeProcess {
  readonly argv: readonly string[];
  readonly stdout: { write(text: string): void };
  on(event: "uncaughtException", listener: (error: Error) => void): void;
  getActiveResourcesInfo(): string[];
}

const { process } = globalThis as unknown as { readonly process: NodeProcess };

function say(what: string, more: unknown): void {
  process.stdout.write(`${JSON.stringify([what, more])}\n`);
}

process.on("uncaughtException", (error) => say("uncaught", errorLine(error)));

const client = new Client({ server: process.argv[2] });
const informers = new SharedInformerFactory(client, {
  reflector: { backoff: { initialMs: 10, jitter: 0 } },
  onError: (error) => {
    if (errorLine(error).includes("on purpose")) throw error; // an onError that fails itself
  },
});
const pods = informers.forResource(Pod, { indexers: { node: (pod) => pod.spec.nodeName ? [pod.spec.nodeName] : [] } });
const maps = informers.forResource(ConfigMap, { namespaces: ["shop", "bank"] });
const delivered: string[] = [];
pods.addEventHandler({
  onAdd: ({ key, initial }) => void delivered.push(`+ ${key}${initial ? " (initial)" : ""}`),
  onUpdate: ({ key, object }) => void delivered.push(`~ ${key} ${object.status?.phase}`),
  onDelete: ({ key }) => void delivered.push(`- ${key}`),
});
maps.addEventHandler({
  onAdd: ({ initial }) => {
    if (initial) throw new Error("thrown on purpose");
  },
});

informers.start();
await informers.waitForCacheSync();
say("synced", { pods: pods.indexer.size, onNode: pods.indexer.indexKeys("node", "worker-1"), maps: maps.indexer.size });

const pages: number[] = [];
for await (const { items } of client.resource(Pod).pages({ limit: 2 })) pages.push(items.length);
say("pages", pages);

const { metadata } = await client.resource(ConfigMap, { namespace: "bank" })
  .create({ metadata: { name: "written" }, data: { colour: "größer 大" } });
await maps.waitForVersion(metadata.resourceVersion, { namespace: "bank" });
say("written", maps.lister.get("bank/written")?.data?.colour);

await pods.until((pod) => pod.metadata.name === "late" && pod.status?.phase === "Running");
say("late", delivered.filter((line) => line.includes("late")));

await pods.untilDeleted("shop/late");
const { state, watches } = pods.status();
say("deleted", { state, again: watches > 1 });

await informers.shutdown();
client[Symbol.dispose]();
await new Promise((resolve) => setImmediate(resolve)); // what has ended is forgotten with the turn
say("stopped", process.getActiveResourcesInfo().filter((kind) => /^(Timeout|Immediate|MessagePort)$/.test(kind)));
