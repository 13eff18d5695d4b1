import { Checkpoint, MemoryCheckpoints } from "../../../src/engine/informer/events/checkpoint.ts";
import type {
  CheckpointChange,
  CheckpointRecord,
  CheckpointStore,
  StoredCheckpoint,
} from "../../../src/engine/api/stores.ts";
import type { Transport } from "../../../src/engine/api/lister_watcher.ts";
import { sleep } from "../../../src/engine/async/time.ts";
import { Client } from "../../../src/engine/client/client.ts";
import { SharedIndexInformer } from "../../../src/engine/informer/shared_index_informer.ts";
import { Pod } from "../../../src/engine/kinds/core/v1.ts";
import { followLogs, type PodLogLine } from "../../../src/operator/logs/mod.ts";
import { Random, seedGlobals } from "../../../src/testing/fake/random.ts";
import { FakeApiServer, pod } from "../../../src/testing/mod.ts";
import { FakeTime } from "../times/fake_time.ts";
import { CuttingTransport } from "./play.ts";

/** The lines of one pod, which have the numbers from 1 on. */
interface Written {
  readonly key: string;
  lines: number;
  /** The wall clock at its container's last start: a kubelet rotates no log that is younger than 10 s. */
  startedMs: number;
  /** Each line up to this number was received, or a gap was marked after it. */
  told: number;
  isDeleted: boolean;
}

/** A process: when it is killed, none of its requests and writes has an effect any more. */
class Process implements Transport, CheckpointStore {
  readonly #transport: Transport;
  readonly #store: CheckpointStore;
  readonly controller = new AbortController();
  isKilled = false;
  ended: Promise<void> = Promise.resolve();

  constructor(transport: Transport, store: CheckpointStore) {
    this.#transport = transport;
    this.#store = store;
  }

  fetch(request: Request): Promise<Response> {
    return this.isKilled ? Promise.reject(new TypeError("killed")) : this.#transport.fetch(request);
  }

  get(name: string): Promise<StoredCheckpoint | undefined> {
    return this.#store.get(name);
  }

  set(name: string, record: CheckpointRecord, change: CheckpointChange): Promise<unknown> {
    return this.isKilled ? Promise.resolve("nowhere") : this.#store.set(name, record, change);
  }

  kill(): void {
    this.isKilled = true;
    this.controller.abort();
  }
}

/** A program that takes lines with a checkpoint, and is stopped and killed at random, while containers write. */
class ResumedLogs {
  readonly random: Random;
  readonly server: FakeApiServer;
  readonly transport: CuttingTransport;
  readonly store = new MemoryCheckpoints();
  readonly time: FakeTime;
  /** By uid. */
  readonly written = new Map<string, Written>();
  readonly problems: string[] = [];
  /** The last steps, for the message of a failure. */
  readonly log: string[] = [];
  process: Process | undefined;
  kills = 0;
  gaps = 0;
  #micros = 0;

  constructor(seed: number, time: FakeTime) {
    this.time = time;
    this.random = new Random(seed);
    this.server = new FakeApiServer({ seed, chunkBytes: 200 });
    this.transport = new CuttingTransport(this.server, this.random, 0.3);
  }

  note(text: string): void {
    this.log.push(`${Date.now() % 1e7} ${text}`);
  }

  add(name: string): void {
    const { metadata: { uid } } = this.server.create(
      Pod,
      pod({ name, namespace: "shop", node: "n", spec: { restartPolicy: "Always" } }),
    );
    const key = `shop/${name}`;
    this.written.set(uid, { key, lines: 0, startedMs: Date.now(), told: 0, isDeleted: false });
    this.note(`create ${key} ${uid.slice(0, 4)}`);
    this.write(uid);
  }

  /** Writes a line: later, at the same time, or some microseconds too late, as two processes of a container do. */
  write(uid: string): void {
    const { random } = this;
    const written = this.written.get(uid)!;
    const kind = random.below(10);
    this.#micros += kind < 3 ? 0 : 10;
    const micros = Math.max(0, this.#micros - (kind === 9 ? random.below(60) : 0)) % 1_000;
    const time = new Date().toISOString().replace("Z", `${String(micros).padStart(3, "0")}Z`);
    this.server.writeLog(written.key, String(++written.lines), { time });
    this.note(`write ${written.key} ${written.lines} ${time}`);
  }

  receive({ uid, text, gap, pod, time }: PodLogLine): void {
    this.note(`  got ${pod} ${uid.slice(0, 4)} ${gap ? "!" : ""}${text} ${time}`);
    const written = this.written.get(uid)!;
    if (gap) this.gaps++;
    if (text === "") {
      if (gap) written.told = written.lines;
      else this.problems.push(`${pod}: an empty line`);
      return;
    }
    const number = Number(text);
    if (number > written.told + 1 && !gap) this.problems.push(`${pod}: ${number} after ${written.told}, without a gap`);
    written.told = Math.max(written.told, number);
  }

  start(): void {
    const process = new Process(this.transport, this.store);
    this.process = process;
    process.ended = this.#run(process, this.random.pick([0, 500]));
    this.note("start");
  }

  async #run(process: Process, intervalMs: number): Promise<void> {
    const { signal } = process.controller;
    const random = new Random(this.kills + 1);
    await using checkpoint = await Checkpoint.open(process, { name: "lines", intervalMs });
    using client = new Client({ server: this.server.url, transport: process, retries: 0 });
    await using pods = new SharedIndexInformer(client.resource(Pod, { namespace: "shop" }), {
      onError: () => {},
      reflector: { backoff: { initialMs: 50, maxMs: 200 } },
    });
    pods.run();
    const options = { checkpoint, signal, onStream: () => {}, backoff: { initialMs: 100, maxMs: 500 }, windowMs: 200 };
    for await (const line of followLogs(client, pods, options)) {
      if (process.isKilled) return;
      this.receive(line);
      if (random.below(10) === 0) await sleep(random.below(50), { signal }).catch(() => {});
    }
  }

  async end(how: "kill" | "stop"): Promise<void> {
    const { process } = this;
    if (process === undefined) return;
    this.process = undefined;
    this.kills++;
    this.note(how);
    if (how === "kill") process.kill();
    else process.controller.abort();
    await this.time.tickAsync(100);
    await process.ended;
    // Nothing is known any more about a pod that is gone without a place in the checkpoint.
    const stored = [...(await this.store.get("lines"))!.record.objects.keys()];
    for (const [uid, written] of this.written) {
      if (written.isDeleted && !stored.some((key) => key.endsWith(uid))) this.written.delete(uid);
    }
  }

  async step(): Promise<void> {
    const { random, server } = this;
    const present = [...this.written].filter(([, { isDeleted }]) => !isDeleted);
    const [uid, written] = random.pick(present);
    const { key } = written;
    const kind = random.below(120);
    if (kind < 3) {
      for (let times = 1 + random.below(2); times > 0; times--) {
        this.note(`restart ${key}`);
        server.restartContainer(key);
        written.startedMs = Date.now();
        await this.time.tickAsync(random.below(3) * 500 + 1);
        if (random.below(2) === 0) this.write(uid);
      }
    } else if (kind < 6 && Date.now() - written.startedMs > 11_000) {
      this.note(`rotate ${key}`);
      server.rotateLog(key);
      await this.time.tickAsync(2);
    } else if (kind === 6) {
      this.note(`delete ${key}`);
      written.isDeleted = true;
      server.delete(Pod, key);
      // Nobody who runs, and nobody who has run, knows anything of it.
      const stored = [...(await this.store.get("lines"))?.record.objects.keys() ?? []];
      if (this.process === undefined && !stored.some((it) => it.endsWith(uid))) this.written.delete(uid);
      this.add(random.below(2) === 0 ? key.slice(5) : `web-${this.written.size}-${random.below(1e6)}`);
    } else if (kind < 12) {
      if (this.process === undefined) this.start();
      else await this.end(kind < 10 ? "kill" : "stop");
    } else if (kind < 30) await this.time.tickAsync(random.pick([10, 300, 300, 4_000]));
    else for (let lines = random.below(4); lines > 0; lines--) this.write(uid);
  }

  /** Stops all faults, takes what is left, and checks that no line is missing. */
  async settle(): Promise<void> {
    this.transport.share = 0;
    if (this.process === undefined) this.start();
    await this.time.tickAsync(20_000);
    for (const [uid, { isDeleted }] of [...this.written]) if (!isDeleted) this.write(uid); // it has the last gap
    await this.time.tickAsync(20_000);
    for (const { key, lines, told, isDeleted } of this.written.values()) {
      if (told < lines) this.problems.push(`${key}: ${told} of ${lines} at the end${isDeleted ? ", deleted" : ""}`);
    }
    const present = [...this.written].filter(([, { isDeleted }]) => !isDeleted).map(([uid]) => uid);
    await this.end("stop");
    const kept = [...(await this.store.get("lines"))!.record.objects.keys()].map((key) => key.split("/")[3]);
    const gone = kept.filter((uid) => !present.includes(uid));
    if (gone.length > 0) this.problems.push(`${gone.length} places of pods that are gone`);
  }
}

/**
 * Takes lines with a checkpoint through kills, restarts, rotations and deletions. Returns how often the program ended,
 * and the number of gaps.
 *
 * @throws {Error} that names the lines that are missing without a gap.
 */
export async function playResumedLogs(seed: number): Promise<{ readonly kills: number; readonly gaps: number }> {
  using time = new FakeTime();
  using _random = seedGlobals(seed);
  const world = new ResumedLogs(seed, time);
  using _server = world.server;
  for (let i = 0; i < 6; i++) world.add(`web-${i}`);
  world.start();
  await time.tickAsync(1_000);
  for (let steps = 0; steps < 1_200; steps++) await world.step();
  await world.settle();
  const { problems, kills, gaps, log } = world;
  if (time.timers > 0) problems.push(`${time.timers} timers are left`);
  if (problems.length > 0) {
    const name = /shop\/[^:]+/.exec(problems[0])?.[0] ?? "";
    const about = log.filter((line) => line.includes(name) || /start|kill|stop/.test(line));
    const until = about.findIndex((line) => line.includes("!")) && about.length;
    throw new Error(`${problems.join("\n")}\n${about.slice(0, until).join("\n")}`);
  }
  return { kills, gaps };
}
