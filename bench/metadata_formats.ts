/**
 * Metadata in protobuf beside metadata in JSON, as a kube-apiserver sends both: bytes, and events for each CPU second,
 * by the readers alone and by an informer. It lists pods and configmaps of a cluster, makes MODIFIED events of them,
 * and reads these in turns in one process.
 *
 *     KUBECONFIG=FILE deno run -A --v8-flags=--expose-gc bench/metadata_formats.ts [PAIRS]
 *
 * @module
 */
import process from "node:process";
import {
  Client,
  type KubernetesObject,
  metadataOf,
  type Resource,
  SharedIndexInformer,
  type Transport,
  WorkQueue,
} from "../mod.ts";
import { BodyReader } from "../src/client/decode/body_reader.ts";
import { WatchReader } from "../src/client/decode/watch_reader.ts";
import { MetadataWatchReader } from "../src/client/protobuf/metadata_readers.ts";
import { CancellableStream } from "../src/async/iterate.ts";
import { connect } from "../src/deno/mod.ts";
import { ConfigMap, Pod } from "../src/kinds/core/v1.ts";
import { joinBytes } from "../src/testing/wire/byte_body.ts";
import { goJson, type JsonObject } from "../src/testing/wire/json.ts";
import { writeProtobuf, writeProtobufEvent } from "../src/testing/wire/protobuf.ts";
import { streamOf } from "./_data.ts";
import { median, medianInterval } from "./statistics.ts";

type Format = "json" | "protobuf";

const TYPES = { json: "application/json", protobuf: "application/vnd.kubernetes.protobuf" } as const;
const FORM = "as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
const EVENTS = 20_000;
const encoder = new TextEncoder();

/** The list and the events of a kind, in one format. */
interface Bodies {
  readonly list: Uint8Array;
  readonly events: readonly Uint8Array[];
  readonly watch: Uint8Array;
}

async function answer(client: Client, path: string, format: Format, encoding: string): Promise<Response> {
  return await client.fetch(path, { headers: { accept: `${TYPES[format]};${FORM}`, "accept-encoding": encoding } });
}

/** The bodies in both formats; those in protobuf are compared with the server's. */
async function bodiesOf(client: Client, path: string): Promise<Readonly<Record<Format, Bodies>>> {
  const json = new Uint8Array(await (await answer(client, path, "json", "identity")).arrayBuffer());
  const protobuf = new Uint8Array(await (await answer(client, path, "protobuf", "identity")).arrayBuffer());
  const list = JSON.parse(new TextDecoder().decode(json)) as JsonObject & { readonly items: JsonObject[] };
  // The lists may be of different revisions.
  if (writeProtobuf(list).length !== protobuf.length) {
    throw new Error(`Cannot compare the formats: the server's protobuf of ${path} is not ours`);
  }
  const events: Record<Format, Uint8Array[]> = { json: [], protobuf: [] };
  for (let index = 0; index < EVENTS; index++) {
    const { metadata } = list.items[index % list.items.length] as { readonly metadata: JsonObject };
    const object = {
      kind: "PartialObjectMetadata",
      apiVersion: "meta.k8s.io/v1",
      metadata: { ...metadata, resourceVersion: String(10_000_000 + index) },
    };
    events.json.push(encoder.encode(`${goJson({ type: "MODIFIED", object })}\n`));
    events.protobuf.push(writeProtobufEvent("MODIFIED", writeProtobuf(object)));
  }
  return {
    json: { list: json, events: events.json, watch: joinBytes(...events.json) },
    protobuf: { list: protobuf, events: events.protobuf, watch: joinBytes(...events.protobuf) },
  };
}

/** A body with a chunk for each event, as a server that flushes each one sends them; it stays open. */
function flushed(events: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  let next = 0;
  return new ReadableStream({
    type: "bytes",
    pull(controller): void | Promise<void> {
      if (next === events.length) return new Promise(() => {});
      const event = events[next++];
      const view = controller.byobRequest?.view;
      if (view) {
        new Uint8Array(view.buffer, view.byteOffset, event.length).set(event);
        controller.byobRequest!.respond(event.length);
      } else controller.enqueue(event.slice());
    },
  }) as ReadableStream<Uint8Array>;
}

/** The CPU time of a job, in seconds, with that of the collector's threads. */
async function cpuOf(job: () => Promise<number>): Promise<number> {
  (globalThis as { gc?: () => void }).gc?.();
  const before = process.cpuUsage();
  const events = await job();
  if (events !== EVENTS) throw new Error(`Cannot measure: found ${events} events, expected ${EVENTS}`);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

async function readBody(resource: Resource, format: Format, { watch }: Bodies, read: boolean): Promise<number> {
  const options = { resource, managedFields: "drop" } as const;
  const decoder = format === "json" ? new WatchReader(options) : new MetadataWatchReader(options);
  let events = 0;
  for await (const batch of new CancellableStream(() => new BodyReader(streamOf(watch), decoder), undefined)) {
    for (const change of batch) {
      if (change.type !== "BOOKMARK" && (!read || change.entry.object.metadata !== undefined)) events++;
    }
  }
  return events;
}

/** Runs an informer over the bodies; measures from the end of its first list until the last event was delivered. */
async function runInformer(resource: Resource, format: Format, bodies: Bodies, read: boolean): Promise<number> {
  const { promise: synced, resolve: go } = Promise.withResolvers<void>();
  const transport: Transport = {
    fetch: async (request): Promise<Response> => {
      const query = new URL(request.url).searchParams;
      if (query.has("sendInitialEvents")) {
        const status = {
          kind: "Status",
          apiVersion: "v1",
          status: "Failure",
          reason: "Invalid",
          code: 422,
          message: "",
        };
        return Response.json(status, { status: 422 });
      }
      if (!query.has("watch")) {
        return new Response(streamOf(bodies.list), { headers: { "content-type": TYPES[format] } });
      }
      await synced;
      return new Response(flushed(bodies.events), { headers: { "content-type": TYPES[format] } });
    },
  };
  using client = new Client({ server: "http://recorded", transport });
  await using informer = new SharedIndexInformer(client.resource(resource as Resource<KubernetesObject>));
  const { promise: done, resolve: end } = Promise.withResolvers<void>();
  const queue = new WorkQueue();
  let updates = 0;
  informer.addEventHandler({
    onUpdate: (event) => {
      if (read && event.object.metadata === undefined) return;
      queue.add(event.key);
      if (++updates === EVENTS) end();
    },
  });
  void queue.run(() => {});
  void informer.run();
  await informer.waitForCacheSync();
  const seconds = await cpuOf(async () => {
    go();
    await done;
    return updates;
  });
  queue.shutDown();
  return seconds;
}

async function compare(name: string, pairs: number, cpu: (format: Format) => Promise<number>): Promise<void> {
  const seconds: Record<Format, number[]> = { json: [], protobuf: [] };
  for (let pair = -2; pair < pairs; pair++) {
    for (const format of pair % 2 === 0 ? ["json", "protobuf"] as const : ["protobuf", "json"] as const) {
      const taken = await cpu(format);
      if (pair >= 0) seconds[format].push(taken); // the first ones warm up
    }
  }
  const ratios = seconds.json.map((json, at) => json / seconds.protobuf[at]);
  const { from, to } = medianInterval(ratios, 0.9) ?? { from: NaN, to: NaN };
  const rate = (format: Format): string => Math.round(EVENTS / median(seconds[format])).toLocaleString("en");
  console.log(
    `${name}: ${rate("json")} events per CPU second in JSON, ${rate("protobuf")} in protobuf, ` +
      `${median(ratios).toFixed(2)} times (${from.toFixed(2)} to ${to.toFixed(2)})`,
  );
}

const pairs = Number(Deno.args[0] ?? 12);
const client = await connect();
for (const [kind, path] of [[Pod, "/api/v1/pods"], [ConfigMap, "/api/v1/configmaps"]] as const) {
  const bodies = await bodiesOf(client, path);
  const resource = metadataOf(kind as Resource<KubernetesObject>) as Resource;
  const { json, protobuf } = bodies;
  const share = (part: (of: Bodies) => number): string =>
    `${part(json)} and ${part(protobuf)} bytes, ${(part(protobuf) / part(json)).toFixed(2)}`;
  console.log(`${kind.plural}, list: ${share(({ list }) => list.length)}`);
  console.log(`${kind.plural}, ${EVENTS} events: ${share(({ watch }) => watch.length)}`);
  for (const read of [false, true]) {
    const how = read ? "read" : "unread";
    await compare(
      `${kind.plural}, reader, ${how}`,
      pairs,
      (format) => cpuOf(() => readBody(resource, format, bodies[format], read)),
    );
    await compare(
      `${kind.plural}, informer, ${how}`,
      pairs,
      (format) => runInformer(resource, format, bodies[format], read),
    );
  }
}
client[Symbol.dispose]();
Deno.exit(0);
