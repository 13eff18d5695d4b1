/**
 * E5: the CPU time of what a relay reads before `authorize` is asked. Requests have the longest inputs that their
 * bounds allow. The readers are called with longer texts, too, which the bounds would hide.
 */
import { accepts } from "@std/http/negotiation";
import process from "node:process";
import { FieldSelector, LabelSelector, SharedInformerFactory } from "../../mod.ts";
import { Client } from "../../src/engine/client/client.ts";
import {
  ContinueToken,
  negotiateRepresentation,
  parseListOptions,
  parseRoute,
} from "../../src/engine/protocol/requests.ts";
import { Pod } from "../../src/engine/kinds/core/v1.ts";
import { parseToken } from "../../src/relay/server/resume_token.ts";
import { InformerRelay } from "../../src/relay/server/informer_relay.ts";
import { ObjectSelection } from "../../src/relay/server/objects.ts";
import { ViewSelection } from "../../src/relay/server/views.ts";
import { FakeApiServer } from "../../src/testing/mod.ts";
import { measureCase, type Measurement, ratio } from "./measurement.ts";

/**
 * The lengths between which costs are compared, in characters: four doublings, as the garbage collector has a step
 * somewhere between them.
 */
const [SHORT, LONG] = [64 * 1_024, 1_024 * 1_024];

/** The greatest accepted cost of twice a text, beside the cost of the text; 4 is the square. */
const MOST = 2.5;

/** Texts that begin, repeat and end so. */
const TEXTS: readonly (readonly [begin: string, repeated: string, end: string])[] = [
  ["", "a", ""],
  ["", "a", '"'],
  ['a["', "a", ""],
  ['a["', "\\", ""],
  ["", '["', ""],
  ["", '["a"]', ""],
  ["", "a.", ""],
  ["", "a.", "/a!"],
  ["", "a,", ""],
  ["", "a=a,", ""],
  ["", ",", ""],
  ["", "-", "/a"],
  ["", " ", ""],
  ["", "a ", ""],
  ["", "!", ""],
  ["", "=", ""],
  ["a=", "\\,", ""],
  ["a in (", "a,", ")"],
  ["", "/", ""],
  ["", "%2e", ""],
  ["", "%", ""],
  ["", ";q=", ""],
  ["", "*/*,", ""],
];

/** E5: strangers at a relay. */
export const STRANGERS: Measurement = {
  ids: ["E5a", "E5b"],
  name: "strangers",
  measure: async () => {
    const { growth, requestMs } = await measureCase(import.meta.url);
    const length = `${SHORT / 1_024} to ${LONG / 1_024} kB`;
    return [
      ratio(
        "E5a",
        `CPU of a reader of what strangers send, twice the text / the text, from ${length}, worst`,
        growth,
        2.5,
      ),
      {
        id: "E5b",
        what: "CPU of the worst request before authorize",
        value: requestMs,
        accept: { most: 10 },
        unit: "ms",
      },
    ];
  },
};

/** Returns the CPU time of a call, in milliseconds: the least of three measurements. */
async function cpuMs(job: () => unknown): Promise<number> {
  let least = Infinity;
  for (let repetition = 0; repetition < 3; repetition++) {
    const began = process.cpuUsage();
    let [calls, ms] = [0, 0];
    while (ms < 5) {
      try {
        await job();
      } catch { /* a refusal costs, too */ }
      calls++;
      const { user, system } = process.cpuUsage(began);
      ms = (user + system) / 1_000;
    }
    least = Math.min(least, ms / calls);
  }
  return least;
}

/** Returns the greatest result of `measure`, for each job with each text. */
async function worst(
  jobs: Readonly<Record<string, (text: string) => unknown>>,
  measure: (job: (length: number) => Promise<number>) => Promise<number>,
): Promise<number> {
  let most = 0;
  for (const [name, job] of Object.entries(jobs)) {
    for (const [begin, repeated, end] of TEXTS) {
      const found = await measure((length) => {
        const count = Math.floor((length - begin.length - end.length) / repeated.length);
        const text = `${begin}${repeated.repeat(count)}${end}`;
        return cpuMs(() => job(text));
      });
      if (found > most) console.error(`${name} of ${begin}${repeated}…${end}: ${found.toFixed(2)}`);
      most = Math.max(most, found);
    }
  }
  return most;
}

async function main(): Promise<void> {
  const view = (members: object): unknown => ViewSelection.parse(JSON.stringify({ a: { of: "pods", ...members } }));
  const growth = await worst({
    labels: (text) => LabelSelector.parse(text),
    fieldSelector: (text) => FieldSelector.parse(text),
    fields: (text) => ObjectSelection.parse(new URLSearchParams({ fields: text })),
    viewFields: (text) => view({ fields: [text] }),
    search: (text) => view({ search: text }),
    sortBy: (text) => view({ sortBy: [text] }),
    json: (text) => ViewSelection.parse(text),
    route: (text) => parseRoute(`/api/v1/${text}`),
    options: (text) => parseListOptions(new URLSearchParams(text), true),
    representation: (text) => negotiateRepresentation(text, ["PartialObjectMetadata"]),
    continue: (text) => ContinueToken.parse(text),
    token: (text) => parseToken(text),
  }, async (cost) => {
    let least = Infinity;
    // Others use the machine, too: what is above the limit is measured again.
    for (let tries = 0; tries < 3 && least > MOST; tries++) {
      const long = await cost(LONG);
      // Below 1 ns for a character, the memory of the machine is measured.
      if (long < LONG / 1e6) return 0;
      least = Math.min(least, (long / await cost(SHORT)) ** (1 / Math.log2(LONG / SHORT)));
    }
    return least;
  });

  using client = new Client({ server: "http://fake", transport: new FakeApiServer() });
  await using informers = new SharedInformerFactory(client);
  await using relay = new InformerRelay(informers, { collections: { pods: Pod }, authorize: () => false });
  await using open = new InformerRelay(informers, { collections: { pods: Pod }, authorize: () => true });
  const stream = (await open.fetch(new Request("http://localhost/views"))).body!.getReader();
  const [, id] = /"id":"([^"]+)"/.exec(new TextDecoder().decode((await stream.read()).value))!;
  const ask = async (path: string, init?: RequestInit, asked = relay): Promise<void> => {
    await (await asked.fetch(new Request(`http://localhost${path}`, init))).body?.cancel();
  };
  /** A query of a parameter, within the bound. */
  const query = (name: string, text: string): string => `?${name}=${encodeURIComponent(text)}`.slice(0, 4_090);
  const header = (text: string): string => text.slice(0, 1_000);
  const requestMs = await worst({
    path: (text) => ask(`/kubernetes/api/v1/${text.slice(0, 1_000)}`),
    fields: (text) => ask(`/api/pods${query("fields", text)}`),
    labelSelector: (text) => ask(`/events/pods${query("labelSelector", text)}`),
    fieldSelector: (text) => ask(`/kubernetes/api/v1/pods${query("fieldSelector", text)}`),
    views: (text) =>
      ask(`/views${query("views", JSON.stringify({ a: { of: "pods", fields: [text.slice(0, 900)] } }))}`),
    parameters: (text) => ask(`/kubernetes/api/v1/pods?${text.replaceAll(",", "&").slice(0, 4_000)}`),
    accept: (text) => ask("/api/pods", { headers: { accept: header(text) } }),
    acceptOpen: (text) => ask("/api/pods", { headers: { accept: header(`"${text}`) } }),
    tags: (text) => ask("/events/pods", { headers: { "last-event-id": text, "if-none-match": header(text) } }),
    origin: (text) => ask("/api/pods", { headers: { origin: header(text) } }),
    accepts: (text) => accepts(new Request("http://a", { headers: { accept: header(text) } }), "application/json"),
    body: (text) => {
      const body = JSON.stringify({
        a: { of: "pods", fields: [text.slice(0, 8_000)], labelSelector: text.slice(0, 8_000) },
      });
      return ask(`/views/${id}`, { method: "POST", body: body.slice(0, 16_000) }, open);
    },
  }, (cost) => cost(16_000));
  await stream.cancel();
  console.log(JSON.stringify({ growth, requestMs }));
}

if (import.meta.main) await main();
