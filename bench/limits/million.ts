/**
 * A list of a million pods, in a process of its own: URL MODE PODS. Modes: `informer` (three fields of each pod, an
 * index of one of them, and a handler), `cut` (the same bytes, cut into the texts of pods, which are dropped).
 */
import { Client, field, onlyFields, SharedIndexInformer } from "../../mod.ts";
import { chunksOf } from "../../src/engine/client/decode/body_reader.ts";
import { Pod } from "../../src/engine/kinds/core/v1.ts";
import { Child, statOf } from "../peers/child.ts";
import { Delays } from "./_delays.ts";
import { caseCommand, expectObjects, measureCase, type Measurement, ms, ratio, TURN_MS } from "./measurement.ts";

const PODS = 1_000_000;
const SERVER = new URL("./_pods_server.ts", import.meta.url).href;

/** An informer of 1,000,000 pods of 9.1 kB, of which it keeps three fields; once, for that takes a minute. */
export const MILLION: Measurement = {
  ids: ["million-rss", "million-sync", "million-delay"],
  onlyNamed: true,
  measure: async () => {
    await using server = new Child(caseCommand(SERVER, { args: [PODS], v8Flags: [] }));
    const url = await server.line(30_000);
    const measure = (mode: string): ReturnType<typeof measureCase> =>
      measureCase(import.meta.url, { args: [url, mode], v8Flags: [] });
    const cut = await measure("cut");
    const ours = await measure("informer");
    expectObjects(PODS, cut, ours);
    return [
      {
        id: "million-rss",
        what: "1M pods, three fields: peak RSS",
        value: ours.peakRssMb,
        accept: { most: 1_050 },
        unit: "MB",
      },
      ratio(
        "million-sync",
        "1M pods, three fields: sync / reading and cutting the same bytes",
        ours.syncMs / cut.syncMs,
        3.1,
      ),
      ms("million-delay", "1M pods, three fields: delay of the event loop, p99", ours.listDelayP99Ms, TURN_MS),
    ];
  },
};

async function main(): Promise<void> {
  const [url, mode] = Deno.args;

  async function informer(): Promise<number> {
    const resource = onlyFields(Pod, ["spec.nodeName", "status.phase", "status.podIP"]);
    const pods = new SharedIndexInformer(new Client({ server: url }).resource(resource), {
      indexers: { node: field("spec.nodeName") },
    });
    let added = 0;
    const synced = Promise.withResolvers<void>();
    pods.addEventHandler({ onAdd: () => void added++, onSynced: () => synced.resolve() });
    void pods.run();
    await synced.promise;
    return added;
  }

  /** Cuts at a text that stands between two pods of this server alone. */
  async function cut(): Promise<number> {
    const BETWEEN = `,{"metadata":{"name":`;
    const decoder = new TextDecoder();
    const response = await fetch(`${url}/api/v1/pods?resourceVersion=0`);
    let pods = 1;
    let rest = "";
    for await (const chunk of chunksOf(response.body!)) {
      const parts = (rest + decoder.decode(chunk)).split(BETWEEN);
      rest = parts.pop()!;
      pods += parts.length;
    }
    return pods;
  }

  using delays = new Delays();
  const began = performance.now();
  const objects = await (mode === "informer" ? informer() : cut());
  const syncMs = performance.now() - began;
  await new Promise((resolve) => setTimeout(resolve, 10)); // a delay that is not over yet is not counted
  console.log(JSON.stringify({ objects, syncMs, ...delays.take("list"), ...await statOf("self") }));
  Deno.exit(0); // an informer runs until it is stopped
}

if (import.meta.main) await main();
