/**
 * A server of one collection, a process of its own: it prints its address, and ends when its standard input does. MODE
 * is
 *
 * - `relay`, `readers`: a relay of an informer on a fake server in this process;
 * - `rights`, `right`: the same of 100 objects that change in turn, with 50 rights for its clients, each to another
 *   half of the objects, and with one of these rights for all;
 * - `bare`: the same texts, made once and written to each client that has read what came before;
 * - `watches`: the fake server itself, so that each client has a watch of its own.
 *
 * `/change` makes one change, `/changes?rate=N` N changes a second from now on; `/use` answers `{ rssMb, cpuMs }`.
 */
import process from "node:process";
import { Client, type KubernetesObject, SharedInformerFactory } from "../../mod.ts";
import { ConfigMap } from "../../src/engine/kinds/core/v1.ts";
import { InformerRelay } from "../../src/relay/server/mod.ts";
import { Random } from "../../src/testing/fake/random.ts";
import { configMap, FakeApiServer } from "../../src/testing/mod.ts";
import { serveProcess } from "./_serve_process.ts";

const encoder = new TextEncoder();
const pad = "x".repeat(900);

/** The time of day, in milliseconds with fractions. */
const now = (): string => (performance.timeOrigin + performance.now()).toFixed(3);

interface Source {
  readonly fetch: Deno.ServeHandler<Deno.NetAddr>;
  readonly change: () => void;
}

function fake(): Source & { readonly api: FakeApiServer } {
  const api = new FakeApiServer();
  api.create(ConfigMap, configMap({ name: "settings", namespace: "shop" }));
  const change = (): void => void api.patch(ConfigMap, "shop/settings", { data: { t: now(), pad } });
  return { api, change, fetch: (request, info) => api.fetch(request, info) };
}

/** The number of objects where clients have rights. */
const OBJECTS = 100;

/** A relay whose clients have so many rights, each to another half of the objects. */
function limited(rights: number): Source {
  const { api } = fake();
  for (let i = 0; i < OBJECTS; i++) api.create(ConfigMap, configMap({ name: `map-${i}`, namespace: "shop" }));
  const halves = Array.from({ length: rights }, (_, index) => {
    const random = new Random(index + 1);
    const names = Array.from({ length: OBJECTS }, (_, i) => `map-${i}`);
    const half = new Set(Array.from({ length: OBJECTS / 2 }, () => names.splice(random.below(names.length), 1)[0]));
    return half;
  });
  const informers = new SharedInformerFactory(new Client({ server: "http://fake", transport: api }));
  const relay = new InformerRelay(informers, {
    ...{ collections: { maps: ConfigMap }, maxConnections: 20_000 },
    predicates: { half: ({ metadata }: KubernetesObject, index) => halves[Number(index)].has(metadata.name!) },
    authorize: ({ headers }) => {
      return { rights: { maps: { where: { half: String(Number(headers.get("x-user")) % rights) } } } };
    },
  });
  let next = 0;
  const change = (): void => {
    api.patch(ConfigMap, `shop/map-${next++ % OBJECTS}`, { data: { t: now(), pad } });
  };
  return { fetch: relay.fetch, change };
}

function relayed(): Source {
  const { api, change } = fake();
  const informers = new SharedInformerFactory(new Client({ server: "http://fake", transport: api }));
  const relay = new InformerRelay(informers, { collections: { maps: ConfigMap }, maxConnections: 20_000 });
  return { fetch: relay.fetch, change };
}

const SOURCES: Readonly<Record<string, () => Source>> = {
  watches: fake,
  rights: () => limited(50),
  right: () => limited(1),
  relay: relayed,
  readers: relayed,
  bare: () => {
    const clients = new Set<ReadableStreamDefaultController<Uint8Array>>();
    let position = 0;
    const change = (): void => {
      const metadata = {
        ...{ name: "settings", namespace: "shop", uid: "00000000-0000-4000-8000-000000000001" },
        ...{ resourceVersion: String(++position), creationTimestamp: "2026-01-01T00:00:00Z" },
      };
      const json = JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata, data: { t: now(), pad } });
      const bytes = encoder.encode(`event:updated\ndata:${json}\nid:00000000-0000.0000000000000000.${position}.\n\n`);
      for (const client of clients) if ((client.desiredSize ?? 0) > 0) client.enqueue(bytes);
    };
    const fetch = (): Response => {
      let own: ReadableStreamDefaultController<Uint8Array>;
      const body = new ReadableStream<Uint8Array>({
        start: (controller): void => {
          clients.add(own = controller);
          own.enqueue(encoder.encode(":\n\n"));
        },
        cancel: (): void => void clients.delete(own),
      }, { highWaterMark: 64 });
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    };
    return { fetch, change };
  },
};

const source = SOURCES[Deno.args[0]]();
let timer: ReturnType<typeof setInterval> | undefined;
let made = 0;

/** Makes as many changes as are due, even if timers are late. */
function begin(rate: number): void {
  clearInterval(timer);
  made = 0;
  const began = performance.now();
  timer = setInterval(() => {
    for (const due = Math.floor((performance.now() - began) * rate / 1_000); made < due; made++) source.change();
  }, Math.max(1, 1_000 / rate / 2));
}

await serveProcess((request, info) => {
  const { pathname, searchParams } = new URL(request.url);
  if (pathname === "/change") source.change();
  else if (pathname === "/changes") begin(Number(searchParams.get("rate")));
  else if (pathname !== "/use") return source.fetch(request, info);
  const { user, system } = process.cpuUsage();
  return Response.json({ rssMb: Deno.memoryUsage().rss / 1e6, cpuMs: (user + system) / 1e3 });
});
