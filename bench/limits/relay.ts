/**
 * E1: clients of a relay, in this process, on sockets of their own; one in ten reads nothing. MODE CLIENTS RATE
 * SECONDS; the modes are those of `_relay_server.ts`.
 */
import { Child } from "../peers/child.ts";
import { median, quantile } from "../statistics.ts";
import { caseCommand, measureCase, type Measurement, type Numbers, ratio } from "./measurement.ts";

const CLIENTS = 1_000;
/** Changes a second: 18,000 messages to the clients that read. */
const RATE = 20;
/** More changes a second than any of the servers can distribute. */
const FLOOD = 400;
/** Clients with a watch each, for comparison. */
const WATCHES = 100;
const SECONDS = 5;

/** E1: messages to 1,000 clients of one informer, beside a server that does nothing but write the same bytes. */
export const RELAY: Measurement = {
  ids: ["E1a", "E1b", "E1c", "E1d", "E1e", "E1f"],
  name: "relay",
  measure: async ({ repetitions }) => {
    const runs: Record<string, Numbers[]> = {
      relay: [],
      bare: [],
      relayFlood: [],
      bareFlood: [],
      watches: [],
      few: [],
      rights: [],
      right: [],
    };
    for (let repetition = 0; repetition < repetitions; repetition++) {
      for (const mode of ["relay", "bare"]) {
        runs[mode].push(await measureClients(mode, CLIENTS, RATE));
        runs[`${mode}Flood`].push(await measureClients(mode, CLIENTS, FLOOD));
      }
      runs.watches.push(await measureClients("watches", WATCHES, RATE));
      runs.few.push(await measureClients("relay", WATCHES, RATE));
      for (const mode of ["rights", "right"]) runs[mode].push(await measureClients(mode, CLIENTS, RATE));
    }
    const of = (run: string, name: string): number => median(runs[run].map((numbers) => numbers[name]));
    return [
      ratio(
        "E1a",
        `event to one of ${CLIENTS} clients at ${RATE} changes/s, p99, relay / bare`,
        of("relay", "p99Ms") / of("bare", "p99Ms"),
        2,
      ),
      ratio(
        "E1b",
        `messages/s to ${CLIENTS} clients at saturation, relay / bare`,
        of("relayFlood", "perSecond") / of("bareFlood", "perSecond"),
        { least: 0.7 },
      ),
      ratio(
        "E1c",
        "resident memory of a client's stream, relay / bare",
        of("relay", "clientKb") / of("bare", "clientKb"),
        1.5,
      ),
      { id: "E1d", what: "messages/s of the relay at saturation", value: of("relayFlood", "perSecond"), unit: "/s" },
      {
        id: "E1e",
        what: `CPU of a message to one of ${WATCHES} clients, relay / a watch each`,
        value: of("few", "cpuUs") / of("watches", "cpuUs"),
      },
      ratio(
        "E1f",
        `CPU of a message to one of ${CLIENTS} clients, with 50 rights to other halves of the objects / with one`,
        of("rights", "cpuUs") / of("right", "cpuUs"),
        1.5,
      ),
    ];
  },
};

/** Plays clients of a server of `_relay_server.ts`, and returns their figures. */
export function measureClients(mode: string, clients: number, rate: number): Promise<Numbers> {
  return measureCase(import.meta.url, { args: [mode, clients, rate, SECONDS], v8Flags: [] });
}

async function main(): Promise<void> {
  const [mode, ...numbers] = Deno.args;
  const [clients, rate, seconds] = numbers.map(Number);
  const watch = "/api/v1/namespaces/shop/configmaps?watch=true";
  const path = mode === "watches" ? watch : mode === "readers" ? `/kubernetes${watch}` : "/events/maps";
  await using server = new Child(caseCommand(new URL("_relay_server.ts", import.meta.url).href, { args: [mode] }));
  const url = await server.line(60_000);
  const use = async (query = "use"): Promise<{ rssMb: number; cpuMs: number }> =>
    await (await fetch(`${url}/${query}`)).json();
  const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

  let open = 0;
  let isMeasuring = false;
  let messages = 0;
  let latencies: number[] = [];
  const decoder = new TextDecoder("latin1");
  const connect = async (index: number): Promise<void> => {
    const reads = index % 10 !== 9;
    const { port } = new URL(url);
    const connection = await Deno.connect({ hostname: "127.0.0.1", port: Number(port) });
    await connection.write(
      new TextEncoder().encode(`GET ${path} HTTP/1.1\r\nhost: localhost\r\nx-user: ${index}\r\n\r\n`),
    );
    const buffer = new Uint8Array(64 * 1024);
    for (let isFirst = true; reads || isFirst; isFirst = false) {
      const count = await connection.read(buffer);
      if (count === null) return;
      if (isFirst) open++;
      if (!isMeasuring) continue;
      const now = performance.timeOrigin + performance.now();
      const text = decoder.decode(buffer.subarray(0, count));
      for (let at = text.indexOf('"t":"'); at >= 0; at = text.indexOf('"t":"', at + 5)) {
        messages++;
        const then = parseFloat(text.slice(at + 5, at + 25));
        if (now - then < 60_000) latencies.push(now - then); // else the number was cut off
      }
    }
  };

  await use(`changes?rate=1`);
  await wait(1_000);
  const before = await use();
  for (let index = 0; index < clients; index++) {
    void connect(index);
    if (index % 50 === 49) await wait(20);
  }
  while (open < clients) await wait(50);
  await wait(2_000);
  const after = await use(`changes?rate=${rate}`);
  await wait(2_000); // those that do not read have been left behind
  const [began, start] = [performance.now(), await use()];
  isMeasuring = true;
  await wait(seconds * 1_000);
  isMeasuring = false;
  const [elapsed, end] = [performance.now() - began, await use()];
  latencies = latencies.sort((a, b) => a - b);
  console.log(JSON.stringify({
    open,
    perSecond: messages / elapsed * 1_000,
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
    clientKb: (after.rssMb - before.rssMb) * 1_000 / clients,
    rssMb: end.rssMb,
    cpuUs: (end.cpuMs - start.cpuMs) * 1_000 / messages,
  }));
  Deno.exit(0); // sockets are still open
}

if (import.meta.main) await main();
