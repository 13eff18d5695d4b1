import type { Transport } from "../../../src/engine/api/lister_watcher.ts";
import { Client } from "../../../src/engine/client/client.ts";
import { Pod } from "../../../src/engine/kinds/core/v1.ts";
import { Random, seedGlobals } from "../../../src/testing/fake/random.ts";
import { FakeApiServer, pod } from "../../../src/testing/mod.ts";
import { FakeTime } from "../times/fake_time.ts";

/** A line as a test has received it. */
export interface Received {
  readonly text: string;
  readonly gap?: true;
}

/** Passes requests on, and cuts some responses to requests for logs: after some bytes they break, or end early. */
export class CuttingTransport implements Transport {
  readonly #server: FakeApiServer;
  readonly #random: Random;
  /** The share of responses that are cut. */
  share: number;
  /** The number of responses that were cut so far. */
  cuts = 0;

  constructor(server: FakeApiServer, random: Random, share: number) {
    this.#server = server;
    this.#random = random;
    this.share = share;
  }

  async fetch(request: Request): Promise<Response> {
    const response = await this.#server.fetch(request);
    const isLog = new URL(request.url).pathname.endsWith("/log") && response.status === 200;
    if (!isLog || this.#random.next() >= this.share) return response;
    let left = 1 + this.#random.below(500);
    // As when a kubelet restarts. A short response that ends within known lines would pass for a complete one.
    const isClean = request.url.includes("follow") && this.#random.next() < 0.5;
    const reader = response.body!.getReader();
    const body = new ReadableStream<Uint8Array>({
      pull: async (controller): Promise<void> => {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        controller.enqueue(value.subarray(0, left));
        left -= value.length;
        if (left > 0) return;
        this.cuts++;
        await reader.cancel();
        if (isClean) controller.close();
        else controller.error(new TypeError("connection lost"));
      },
      cancel: (reason): Promise<void> => reader.cancel(reason),
    }, { highWaterMark: 0 });
    return new Response(body, response);
  }
}

/** Containers that write numbered lines, and are rotated, restarted and ended, all by seed. */
export class Writers {
  readonly server: FakeApiServer;
  readonly random: Random;
  /** The number of lines that each pod has written, by key. */
  readonly written: Map<string, number> = new Map();
  /** The number of lines that each pod had written when its present log began, by key. */
  readonly before: Map<string, number> = new Map();
  /** The number of lines so far. */
  lines = 0;
  /** When each pod's container started: a kubelet rotates no log that is younger than 10 s. */
  readonly #startedMs = new Map<string, number>();
  #clockMs = Date.UTC(2026, 0, 1);

  constructor(server: FakeApiServer, random: Random) {
    this.server = server;
    this.random = random;
  }

  /** Creates a pod whose container has written a line. */
  add(name: string): string {
    this.server.create(Pod, pod({ name, namespace: "shop", node: "n", spec: { restartPolicy: "Always" } }));
    const key = `shop/${name}`;
    this.written.set(key, 0);
    this.#startedMs.set(key, Date.now());
    this.write(key);
    return key;
  }

  /** Writes a line: some milliseconds after the last one, at the same time, or up to a second before. */
  write(key: string): void {
    const { random } = this;
    const kind = random.below(20);
    this.#clockMs += kind < 5 ? 0 : random.below(kind === 6 ? 3_000 : 30);
    const lateMs = kind === 0 ? random.below(1_000) : 0;
    const number = this.written.get(key)! + 1;
    this.written.set(key, number);
    this.lines++;
    this.server.writeLog(key, String(number), { time: new Date(this.#clockMs - lateMs).toISOString() });
  }

  /** Does something to a random pod. */
  step(): void {
    const { random, server } = this;
    const key = random.pick([...this.written.keys()]);
    const kind = random.below(100);
    if (kind < 3) {
      server.restartContainer(key);
      this.#startedMs.set(key, Date.now());
      this.before.set(key, this.written.get(key)!);
    } else if (kind < 6 && Date.now() - this.#startedMs.get(key)! > 10_000) {
      server.rotateLog(key);
      this.before.set(key, this.written.get(key)!);
    } else if (kind === 6) server.failNext(random.pick([429, 500, 503]), 1, ({ path }) => path.endsWith("/log"));
    else if (kind === 7 && random.below(20) === 0) server.restart();
    else for (let lines = random.below(4); lines > 0; lines--) this.write(key);
  }

  /** Ends a pod for good. */
  end(key: string): void {
    const [status] = this.server.get(Pod, key)!.status!.containerStatuses!;
    const terminated = { exitCode: 0, containerID: status.containerID };
    const containerStatuses = [{ ...status, state: { running: null, terminated } }];
    this.server.patch(Pod, key, { status: { phase: "Succeeded", containerStatuses } });
  }
}

/**
 * Follows 50 pods through cuts, rotations and restarts. Returns the number of cuts and of gaps.
 *
 * @throws {Error} that names the lines that came twice, or are missing without a gap.
 */
export async function playLogs(seed: number): Promise<{ readonly cuts: number; readonly gaps: number }> {
  using time = new FakeTime();
  using _random = seedGlobals(seed);
  const random = new Random(seed);
  using server = new FakeApiServer({ seed, chunkBytes: 200 });
  const transport = new CuttingTransport(server, random, 0.8);
  using client = new Client({ server: server.url, transport });
  const writers = new Writers(server, random);
  const follow = async (name: string): Promise<Received[]> => {
    const lines: Received[] = [];
    const options = { follow: true, onInterrupted: () => {}, backoff: { initialMs: 100, maxMs: 500 } };
    for await (const line of client.resource(Pod, { namespace: "shop" }).logs(name, options)) lines.push(line);
    return lines;
  };
  const keys = Array.from({ length: 50 }, (_, i) => writers.add(`web-${i}`));
  const reads = keys.map((key) => follow(key.slice(5)));
  for (let steps = 0; steps < 4_000; steps++) {
    writers.step();
    if (random.below(20) === 0) await time.tickAsync(random.below(300));
  }
  for (const key of keys) writers.end(key);
  transport.share = 0;
  await time.tickAsync(20_000);
  const found = await Promise.all(reads);
  const problems = keys.flatMap((key, i) =>
    problemsOf(found[i], writers.written.get(key)!, writers.before.get(key)).map((it) => `${key}: ${it}`)
  );
  if (time.timers > 0) problems.push(`${time.timers} timers are left`);
  if (problems.length > 0) throw new Error(problems.join("\n"));
  return { cuts: transport.cuts, gaps: found.flat().filter(({ gap }) => gap).length };
}

/**
 * Returns what is wrong with the lines from one pod. Each must come once and in order, and only a gap may miss some.
 * Lines before the first one were rotated away, or came before a restart, before anybody could read them.
 */
export function problemsOf(lines: readonly Received[], written: number, before = 0): string[] {
  const found: string[] = [];
  let last = 0;
  for (const { text, gap } of lines) {
    if (text === "") return gap ? found : [...found, "an empty line"];
    const number = Number(text);
    if (number <= last) found.push(`${number} after ${last}`);
    else if (last > 0 && number > last + 1 && !gap) found.push(`${number} after ${last}, without a gap`);
    last = number;
  }
  if (last !== written && !(last === 0 && before === written)) found.push(`${last} of ${written} at the end`);
  return found;
}
