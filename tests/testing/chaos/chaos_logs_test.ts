import { SharedIndexInformer } from "@kube/informer";
import { Pod } from "@kube/informer/kinds/core/v1";
import { followLogs } from "@kube/informer/logs";
import { type FakeApiServer, pod } from "@kube/informer/testing";
import { chaos, ChaosError, type ChaosOptions, type Random } from "@kube/informer/testing/chaos";
import { assertMatch, assertRejects } from "@std/assert";
import { sleep } from "../../../src/engine/async/time.ts";

/** The lines of one container, and the beginning of its present log. */
interface Written {
  lines: number;
  /** The number of lines that were rotated away. */
  rotated: number;
  /** The number of lines before the last restart. */
  before: number;
  /** The monotonic time of its start: a kubelet neither rotates nor restarts it within 10 s. */
  startedMs: number;
}

/** The lines that containers have written, and that processes have received. A line is the pod's uid and a number. */
class Logs {
  readonly written = new Map<string, Written>();
  /** The last number that a process has received from a pod, by both names. */
  readonly #received = new Map<string, number>();
  /** The first line that came twice, or too late, or after missing lines that nothing marks. */
  problem: string | undefined;
  /** The main process that started last. */
  #reader = "";
  #clockMs = Date.UTC(2026, 0, 1);

  write(server: FakeApiServer, name: string, random: Random): void {
    const { uid } = server.get(Pod, `shop/${name}`)!.metadata;
    const written = this.written.get(uid) ?? { lines: 0, rotated: 0, before: 0, startedMs: performance.now() };
    this.written.set(uid, written);
    for (let lines = 1 + random.below(3); lines > 0; lines--) {
      this.#clockMs += random.pick([0, 1, 400]);
      const time = new Date(this.#clockMs).toISOString();
      server.writeLog(`shop/${name}`, `${uid} ${++written.lines}`, { time });
    }
  }

  start(process: string): void {
    if (process.startsWith("a-")) this.#reader = process;
  }

  receive(process: string, text: string, gap = false): void {
    if (text === "") return; // a gap at the end
    const [uid, number] = text.split(" ");
    const last = this.#received.get(`${process} ${uid}`);
    this.#received.set(`${process} ${uid}`, Number(number));
    if (last === undefined || Number(number) === last + 1 || (Number(number) > last && gap)) return;
    this.problem ??= `${process}: line ${number} of ${uid} after line ${last}${gap ? ", with a gap" : ""}`;
  }

  /** Returns which lines the last process lacks, of the lines that can still be read. */
  missing(server: FakeApiServer): string | undefined {
    for (const { metadata: { uid, name } } of server.list(Pod)) {
      const { lines, rotated, before } = this.written.get(uid) ?? { lines: 0, rotated: 0, before: 0 };
      const last = this.#received.get(`${this.#reader} ${uid}`) ?? 0;
      if (last === lines || rotated === lines || (last === 0 && before === lines)) continue;
      return `${this.#reader} has ${last} of ${lines} lines of ${name}`;
    }
    return undefined;
  }
}

type Change = NonNullable<ChaosOptions<Logs>["changes"]>[string];

/** Changes a pod whose container has run for 10 s. */
function changesRunning(
  act: (server: FakeApiServer, key: string, written: Written, write: () => void) => void,
): Change {
  return (server, random, logs) => {
    const found = server.get(Pod, `shop/${random.pick(["a", "b", "c"])}`);
    const known = logs.written.get(found?.metadata.uid ?? "");
    if (found === undefined || known === undefined || performance.now() - known.startedMs < 10_000) return "nothing";
    const { name } = found.metadata;
    act(server, `shop/${name}`, known, () => logs.write(server, name, random));
    return name;
  };
}

const OPTIONS: Omit<ChaosOptions<Logs>, "controller"> = {
  world: () => new Logs(),
  changes: {
    write: (server, random, logs) => {
      const name = random.pick(["a", "b", "c"]);
      if (server.get(Pod, `shop/${name}`) === undefined) {
        server.create(Pod, pod({ name, namespace: "shop", node: "n", spec: { restartPolicy: "Always" } }));
      }
      logs.write(server, name, random);
      return name;
    },
    rotate: changesRunning((server, key, written) => {
      server.rotateLog(key);
      written.rotated = written.before = written.lines;
    }),
    "rotate while nobody reads": changesRunning((server, key, written, write) => {
      server.dropWatches();
      write();
      server.rotateLog(key);
      written.rotated = written.before = written.lines;
      write();
    }),
    restart: changesRunning((server, key, written) => {
      server.restartContainer(key);
      written.before = written.lines;
      written.startedMs = performance.now();
    }),
    delete: changesRunning((server, key) => void server.delete(Pod, key)),
  },
  invariants: { "each line comes once, or after a gap": (_server, { problem }) => problem },
  converges: (server, logs) => logs.missing(server),
  keeps: ["pods"], // a kubelet whose clock is wrong deletes them late
};

Deno.test(
  "a program that follows logs under chaos receives every line once, or a gap",
  { timeout: 600_000 },
  async () => {
    await chaos<Logs>({
      ...OPTIONS,
      seeds: 100,
      controller: async ({ client, signal, identity, world }) => {
        await using pods = new SharedIndexInformer(client.resource(Pod, { namespace: "shop" }));
        world.start(identity);
        const running = pods.run({ signal });
        for await (const { text, gap } of followLogs(client, pods, { signal, onStream: () => {} })) {
          world.receive(identity, text, gap);
        }
        await running;
      },
    });
  },
);

Deno.test("chaos finds that a program requests a log again from its last time", async () => {
  const error = await assertRejects(() =>
    chaos<Logs>({
      ...OPTIONS,
      controller: async ({ client, signal, identity, world }) => {
        const follow = async (name: string): Promise<void> => {
          for (let since = ""; !signal.aborted; await sleep(1_000, { signal }).catch(() => {})) {
            const query = `follow=true&timestamps=true&sinceTime=${since}`;
            try {
              const response = await client.fetch(`/api/v1/namespaces/shop/pods/${name}/log?${query}`, { signal });
              for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
                for (const line of chunk.split("\n").slice(0, -1)) {
                  const [time, uid, number] = line.split(" ");
                  world.receive(identity, `${uid} ${number}`);
                  since = time;
                }
              }
            } catch { /* again */ }
          }
        };
        world.start(identity);
        await Promise.all(["a", "b", "c"].map(follow));
      },
    }), ChaosError);
  assertMatch(error.message, /each line comes once, or after a gap/);
});
