import { Checkpoint, errorLine, MemoryCheckpoints, SharedIndexInformer } from "@kube/informer";
import { Pod } from "@kube/informer/kinds/core/v1";
import { followLogs } from "@kube/informer/logs";
import { FakeApiServer } from "@kube/informer/testing";
import type { LogLine, LogOptions } from "@kube/informer/types";
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { runSynced, withDeadline } from "../support/cluster/with_deadline.ts";
import { LogKubelet } from "./_kubelet.ts";
import { clusterTests, type PlaneSetting } from "./_cluster.ts";

// Logs on their real way: from a kubelet of these tests through kube-apiserver.

const cluster = clusterTests();

/** A log that is followed in the background. */
class Followed implements AsyncDisposable {
  readonly lines: LogLine[] = [];
  readonly interruptions: string[] = [];
  readonly #controller = new AbortController();
  readonly #ended: Promise<void>;
  #wake: () => void = () => {};

  constructor({ client, namespace }: PlaneSetting, name: string, options: LogOptions = {}) {
    const lines = client.resource(Pod, { namespace }).logs(name, {
      follow: true,
      signal: this.#controller.signal,
      onInterrupted: (error) => this.interruptions.push(errorLine(error)),
      ...options,
    });
    this.#ended = this.#run(lines);
  }

  get texts(): string[] {
    return this.lines.map(({ text, gap }) => `${gap ? "!" : ""}${text}`);
  }

  async #run(lines: AsyncIterable<LogLine>): Promise<void> {
    for await (const line of lines) {
      this.lines.push(line);
      this.#wake();
    }
    this.#wake();
  }

  /** Waits for so many lines. */
  async until(count: number): Promise<void> {
    await withDeadline(`${count} lines after ${this.texts} and ${this.interruptions}`, async (signal) => {
      while (this.lines.length < count) {
        await new Promise<void>((resolve, reject) => {
          this.#wake = resolve;
          signal.addEventListener("abort", () => reject(signal.reason), { once: true });
        });
      }
    });
  }

  /** Waits for the end. */
  async end(): Promise<void> {
    await withDeadline(`the end after ${this.texts}`, () => this.#ended);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#controller.abort();
    await this.#ended;
  }
}

cluster.withPlane(
  "logs are followed over a killed kubelet, a killed kube-apiserver, a rotation and a restart",
  async (setting) => {
    const { client, namespace, plane } = setting;
    await using kubelet = await LogKubelet.start(client, `node-${namespace}`);
    const key = await kubelet.add(namespace, "web-0");
    await using followed = new Followed(setting, "web-0");
    kubelet.fake.writeLog(key, "1");
    await kubelet.report(key);
    await followed.until(1);
    kubelet.fake.writeLog(key, "2");
    await followed.until(2);

    await kubelet.kill();
    kubelet.fake.writeLog(key, "3");
    await kubelet.serve();
    await followed.until(3);

    await plane.kill9("apiserver");
    kubelet.fake.writeLog(key, "4");
    await plane.ensureRunning();
    await followed.until(4);

    kubelet.fake.rotateLog(key);
    kubelet.fake.writeLog(key, "5");
    await followed.until(5);
    await kubelet.kill();
    kubelet.fake.rotateLog(key);
    kubelet.fake.writeLog(key, "6");
    await kubelet.serve();
    await followed.until(6);

    kubelet.fake.writeLog(key, "7");
    kubelet.fake.restartContainer(key);
    kubelet.fake.writeLog(key, "8");
    await kubelet.report(key);
    await followed.until(8);
    assertEquals(followed.texts, ["1", "2", "3", "4", "5", "!6", "7", "8"]);

    await client.resource(Pod, { namespace }).delete("web-0", { gracePeriodSeconds: 0 });
    kubelet.fake.delete(Pod, key);
    await followed.end();
    assertEquals(followed.texts.slice(8), []);
    const times = followed.lines.map(({ time }) => time);
    assertEquals(times, times.toSorted());
    assert(kubelet.asked.some((path) => path.includes("previous=true") && path.includes("sinceTime=")));
  },
);

cluster.withPlane(
  "logs of a container that has not started are refused, and waited for with follow",
  async (setting) => {
    const { client, namespace } = setting;
    await using kubelet = await LogKubelet.start(client, `node-${namespace}`);
    const key = await kubelet.add(namespace, "web-0");
    const pods = client.resource(Pod, { namespace });
    const all = async (options: LogOptions): Promise<string[]> =>
      (await Array.fromAsync(pods.logs("web-0", options))).map(({ text }) => text);
    const refused = async (options: LogOptions = {}): Promise<string> =>
      (await assertRejects(() => all(options), Error)).message;
    assertMatch(await refused(), /400 BadRequest: container "app" in pod "web-0" is not available$/);
    assertMatch(await refused({ container: "b" }), /: the pod has no container "b". It has app$/);
    await using followed = new Followed(setting, "web-0");
    kubelet.fake.writeLog(key, "1", { time: "2026-01-01T00:00:01Z" });
    await kubelet.report(key);
    await followed.until(1);
    kubelet.fake.writeLog(key, "2", { time: "2026-01-01T00:00:02.5Z" });
    assertEquals(await all({ tailLines: 1 }), ["2"]);
    assertEquals(await all({ since: "2026-01-01T00:00:02.4Z" }), ["2"]);
    assertEquals(await all({ sinceMs: 60_000 }), []);
    assertMatch(await refused({ previous: true }), /previous terminated container "app" in pod "web-0" not found$/);
    assertMatch(
      (await assertRejects(() => Array.fromAsync(pods.logs("none")), Error)).message,
      /pods "none" not found$/,
    );
  },
);

cluster.withPlane(
  "the fake server answers to wrong parameters of logs like kube-apiserver",
  async ({ client, namespace }) => {
    await using kubelet = await LogKubelet.start(client, `node-${namespace}`);
    const key = await kubelet.add(namespace, "web-0");
    await client.resource(Pod, { namespace }).create({
      metadata: { name: "nowhere" },
      spec: { containers: [{ name: "app", image: "i" }], schedulerName: "nobody" },
    });
    const fake = new FakeApiServer();
    for (const pod of (await client.resource(Pod, { namespace }).list()).items) fake.create(Pod, pod as never);
    kubelet.fake.writeLog(key, "a");
    await kubelet.report(key);
    const answer = async (server: { fetch(path: string): Promise<Response> }, path: string): Promise<unknown[]> => {
      const response = await server.fetch(`/api/v1/namespaces/${namespace}/pods/${path}`);
      const text = await response.text();
      return [response.status, response.ok ? text : JSON.parse(text).message];
    };
    const real = {
      fetch: (path: string): Promise<Response> =>
        client.fetch(path).catch((error) => new Response(JSON.stringify(error.status), { status: error.status.code })),
    };
    const faked = { fetch: (path: string): Promise<Response> => fake.fetch(new Request(`http://fake${path}`)) };
    for (
      const path of [
        ...["none/log", "nowhere/log", "web-0/log?container=b", "none/log?tailLines=-1", "web-0/log?limitBytes=0"],
        ...["web-0/log?tailLines=-1&sinceSeconds=0", "web-0/log?sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z"],
        "web-0/log?stream=Stdout",
      ]
    ) {
      assertEquals(await answer(faked, path), await answer(real, path), path);
    }
    for (const path of ["web-0/log?tailLines=x", "web-0/log?sinceTime=noon"]) {
      assertEquals((await answer(faked, path))[0], (await answer(real, path))[0], path);
    }
  },
);

cluster.withPlane(
  "followLogs merges the logs of pods on a real server, as they come and go",
  async ({ client, namespace }) => {
    await using kubelet = await LogKubelet.start(client, `node-${namespace}`);
    const write = async (name: string, text: string): Promise<void> => {
      kubelet.fake.writeLog(`${namespace}/${name}`, text);
      await kubelet.report(`${namespace}/${name}`);
    };
    for (const name of ["a", "b"]) await kubelet.add(namespace, name);
    await write("a", "1");
    await using pods = new SharedIndexInformer(client.resource(Pod, { namespace }));
    await runSynced(pods);
    const lines = followLogs(client, pods, { windowMs: 500 });
    const seen: string[] = [];
    const take = async (): Promise<void> => {
      const { value } = await withDeadline(`a line after ${seen}`, () => lines.next());
      seen.push(`${value!.pod.split("/")[1]} ${value!.text}`);
    };
    await take();
    await write("b", "2");
    await take();
    await kubelet.add(namespace, "c");
    await write("c", "3");
    await take();
    await write("a", "4");
    await take();
    assertEquals(seen, ["a 1", "b 2", "c 3", "a 4"]);
    await lines.return?.();
  },
);

cluster.withPlane(
  "logs with since, and followLogs with a checkpoint, read the log before a restart on a real server",
  async ({ client, namespace }) => {
    await using kubelet = await LogKubelet.start(client, `node-${namespace}`);
    const key = await kubelet.add(namespace, "web-0");
    const store = new MemoryCheckpoints();
    const take = async (count: number): Promise<string[]> => {
      await using checkpoint = await Checkpoint.open(store, { name: "lines" });
      await using pods = new SharedIndexInformer(client.resource(Pod, { namespace }));
      await runSynced(pods);
      const taken: string[] = [];
      await withDeadline(`${count} lines after ${taken}`, async (signal) => {
        for await (const { text, gap } of followLogs(client, pods, { checkpoint, windowMs: 0, signal })) {
          taken.push(`${gap ? "!" : ""}${text}`);
          if (taken.length === count) break;
        }
      });
      return taken;
    };
    const since = new Date(Date.now() - 1_000).toISOString();
    kubelet.fake.writeLog(key, "1");
    await kubelet.report(key);
    assertEquals(await take(1), ["1"]);
    kubelet.fake.writeLog(key, "2");
    kubelet.fake.restartContainer(key);
    kubelet.fake.writeLog(key, "3");
    await kubelet.report(key);
    assertEquals(await take(3), ["1", "2", "3"]); // nothing was asked for after the first line
    const pods = client.resource(Pod, { namespace });
    assertEquals((await Array.fromAsync(pods.logs("web-0", { since }))).map(({ text }) => text), ["1", "2", "3"]);
    kubelet.fake.restartContainer(key);
    kubelet.fake.writeLog(key, "4");
    kubelet.fake.restartContainer(key);
    kubelet.fake.writeLog(key, "5");
    await kubelet.report(key);
    assertEquals(await take(2), ["!4", "5"]);
    const uid = (await pods.get("web-0")).metadata.uid;
    assertEquals([...(await store.get("lines"))!.record.objects.keys()], [`${key}/app/${uid}`]);
  },
);
