import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { nextTurn } from "../../../../src/engine/async/turns.ts";
import { Pod } from "../../../../src/engine/kinds/core/v1.ts";
import { Backend } from "../../../../src/testing/fake/backend.ts";
import { FakeApiServer, pod } from "../../../../src/testing/mod.ts";
import { onBoth } from "../_both_transports.ts";
import { ask } from "../../../support/servers/fake_server.ts";

const LOG = "/api/v1/namespaces/shop/pods/web-0/log";
const KEY = "shop/web-0";
const at = (seconds: number): string => `2026-01-01T00:00:${String(seconds).padStart(2, "0")}Z`;

function withPod(server: FakeApiServer, spec: object = {}): void {
  server.create(Pod, pod({ name: "web-0", namespace: "shop", node: "worker-1", spec }));
}

/** The chunks of a log, as texts. */
class Followed {
  readonly #reader: ReadableStreamDefaultReader<string>;

  private constructor(body: ReadableStream<Uint8Array<ArrayBuffer>>) {
    this.#reader = body.pipeThrough(new TextDecoderStream()).getReader();
  }

  static async open(server: Pick<FakeApiServer, "fetch">, query: string): Promise<Followed> {
    return new Followed((await server.fetch(new Request(`http://fake${LOG}?follow=true${query}`))).body!);
  }

  /** Reads this much; `undefined` at the end. */
  async next(): Promise<string | undefined> {
    return (await this.#reader.read()).value;
  }

  async cancel(): Promise<void> {
    await this.#reader.cancel();
  }
}

Deno.test("a log has the lines that a test writes, and the parameters of kube-apiserver", async () => {
  const server = new FakeApiServer({ now: () => Date.parse(at(5)) });
  withPod(server);
  for (let second = 1; second <= 3; second++) server.writeLog(KEY, `line ${second}`, { time: at(second) });
  server.writeLog(KEY, "now");
  const log = async (query: string): Promise<string[]> => (await ask(server, `${LOG}?${query}`)).text.split("\n");
  assertEquals(await log(""), ["line 1", "line 2", "line 3", "now", ""]);
  assertEquals(await log("timestamps=true&tailLines=2"), [
    "2026-01-01T00:00:03.000000000Z line 3",
    "2026-01-01T00:00:05.000000000Z now",
    "",
  ]);
  assertEquals(await log("sinceTime=2026-01-01T01:00:02.9%2B01:00"), ["line 2", "line 3", "now", ""]);
  assertEquals(await log("sinceSeconds=2"), ["line 3", "now", ""]);
  assertEquals(await log("limitBytes=8"), ["line 1", "l"]);
  assertEquals(await log("tailLines=0"), [""]);
  const { headers } = await ask(server, LOG);
  assertEquals(headers.get("content-type"), "text/plain");
});

Deno.test("a log refuses parameters and containers like kube-apiserver and a kubelet", async () => {
  const server = new FakeApiServer();
  const refused = async (query = ""): Promise<[number, string | undefined]> => {
    const { status, json } = await ask(server, `${LOG}?${query}`);
    return [status, json?.message];
  };
  assertEquals(await refused(), [404, 'pods "web-0" not found']);
  withPod(server, { containers: [{ name: "app", image: "i" }, { name: "side", image: "i" }], nodeName: undefined });
  assertEquals(await refused(), [400, "a container name must be specified for pod web-0, choose one of: [app side]"]);
  assertEquals(await refused("container=b"), [400, "container b is not valid for pod web-0"]);
  assertEquals(await refused("container=app"), [204, undefined]);
  server.patch(Pod, KEY, { spec: { nodeName: "worker-1" } });
  assertEquals(await refused("container=app"), [400, 'container "app" in pod "web-0" is not available']);
  const waits = async (state: object, lastState: object = {}): Promise<string> => {
    server.patch(Pod, KEY, { status: { containerStatuses: [{ name: "app", state, lastState }] } });
    return (await refused("container=app"))[1]!.replace('container "app" in pod "web-0" is ', "");
  };
  assertEquals(await waits({ waiting: { reason: "ContainerCreating" } }), "waiting to start: ContainerCreating");
  assertEquals(await waits({}), "waiting to start - no logs yet");
  assertEquals(await waits({ terminated: { exitCode: 1 } }), "terminated");
  assertEquals(
    (await refused("container=app&previous=true"))[1],
    'previous terminated container "app" in pod "web-0" not found',
  );
  assertEquals(await refused("tailLines=-1&limitBytes=0&sinceSeconds=0"), [
    422,
    'PodLogOptions "web-0" is invalid: [tailLines: Invalid value: -1: must be greater than or equal to 0, limitBytes: ' +
    "Invalid value: 0: must be greater than 0, sinceSeconds: Invalid value: 0: must be greater than 0]",
  ]);
  assertMatch((await refused(`sinceSeconds=1&sinceTime=${at(1)}`))[1]!, /at most one of `sinceTime` or `sinceSeconds`/);
  assertEquals([(await refused("tailLines=x"))[0], (await refused("sinceTime=x"))[0]], [400, 400]);
  // A kubelet says this after it has begun to answer.
  server.patch(Pod, KEY, {
    status: { containerStatuses: [{ name: "app", containerID: "containerd://a", state: { running: {} } }] },
  });
  assertEquals(
    (await ask(server, `${LOG}?container=app`)).text,
    "unable to retrieve container logs for containerd://a",
  );
});

onBoth("a log that is followed continues over a rotation, and ends with its container", async (server, wire) => {
  withPod(server);
  server.writeLog(KEY, "a");
  const followed = await Followed.open(wire, "");
  assertEquals(await followed.next(), "a\n");
  server.rotateLog(KEY);
  server.writeLog(KEY, "b");
  assertEquals(await followed.next(), "b\n");
  assertEquals((await ask(wire, LOG)).text, "b\n");
  server.restartContainer(KEY);
  assertEquals(await followed.next(), undefined);
  server.writeLog(KEY, "c");
  assertEquals([(await ask(wire, LOG)).text, (await ask(wire, `${LOG}?previous=true`)).text], ["c\n", "b\n"]);
  const [{ restartCount, lastState, ready }] = server.get(Pod, KEY)!.status!.containerStatuses!;
  assertEquals([restartCount, lastState?.terminated?.exitCode, ready], [1, 0, true]);
  const again = await Followed.open(wire, "&tailLines=0");
  server.patch(Pod, KEY, {
    status: { containerStatuses: [{ ...server.get(Pod, KEY)!.status!.containerStatuses![0], state: { waiting: {} } }] },
  });
  assertEquals(await again.next(), undefined);
});

onBoth(
  "dropWatches breaks logs that are followed, and endWatches ends them after their lines",
  async (server, wire) => {
    withPod(server);
    server.writeLog(KEY, "a");
    const broken = await Followed.open(wire, "");
    assertEquals(await broken.next(), "a\n");
    server.dropWatches(Pod); // only watches
    server.writeLog(KEY, "b");
    assertEquals(await broken.next(), "b\n");
    server.dropWatches();
    assertEquals(await broken.next().then(() => "no error", () => "error"), "error");
    const ended = await Followed.open(wire, "");
    server.endWatches();
    server.writeLog(KEY, "c");
    assertEquals([await ended.next(), await ended.next()], ["a\nb\n", undefined]);
  },
);

Deno.test("a log ends with its pod, and a server's restart breaks it", async () => {
  const server = new FakeApiServer();
  withPod(server);
  server.writeLog(KEY, "a");
  const broken = await Followed.open(server, "");
  assertEquals(await broken.next(), "a\n");
  server.restart();
  assertEquals(await broken.next().catch((error) => error.name), "BrokenConnection");
  const followed = await Followed.open(server, "");
  server.writeLog(KEY, "b");
  server.delete(Pod, KEY);
  assertEquals([await followed.next(), await followed.next(), await followed.next()], ["a\n", "b\n", undefined]);
  withPod(server);
  assertEquals((await ask(server, LOG)).status, 400);
});

Deno.test("writeLog starts a container, also an init container, and a pod that is on no node", () => {
  const server = new FakeApiServer();
  const initContainers = [{ name: "init", image: "i" }];
  server.create(Pod, pod({ name: "web-0", spec: { initContainers } }));
  server.writeLog("web-0", "a");
  server.writeLog("default/web-0", "a", { container: "init" });
  const { spec, status } = server.get(Pod, "default/web-0")!;
  assertEquals([spec.nodeName, status?.phase], ["fake-node", "Running"]);
  assertEquals(status?.containerStatuses?.map(({ name, restartCount }) => [name, restartCount]), [["app", 0]]);
  assertEquals(status?.initContainerStatuses?.map(({ name }) => name), ["init"]);
  assertThrows(
    () => server.writeLog("web-0", "a", { container: "b" }),
    Error,
    "container b is not valid for pod web-0",
  );
  assertThrows(() => server.writeLog("web-1", "a"), Error, 'Cannot use the log of pod "web-1": pods "web-1" not found');
  assertThrows(() => server.writeLog("web-0", "a", { time: "noon" }), RangeError, 'but it is "noon"');
});

Deno.test("a log is made only as fast as it is read", async () => {
  const { logs, writer, store } = new Backend({});
  const mode = { manager: "test", subresource: "", dryRun: false, direct: true };
  writer.create(store.collection(Pod)!, "", pod({ name: "web-0", namespace: "shop" }) as never, mode);
  const write = (): void => logs.running(KEY).write("2026-01-01T00:00:00.000000000Z", "x".repeat(49));
  for (let i = 0; i < 100; i++) write();
  const body = logs.read(KEY, new URLSearchParams("follow=true"), 100)!;
  assertEquals(body.queued, 100);
  for (let i = 0; i < 100; i++) write();
  assertEquals(body.queued, 100);
  const reader = body.stream.getReader();
  for (let chunk = 0; chunk < 100; chunk++) assertEquals((await reader.read()).value?.length, 100);
  assertEquals(body.queued, 0);
  await reader.cancel();
});

Deno.test("endDeletedLogs keeps the logs of deleted pods open, until something else ends them", async () => {
  const server = new FakeApiServer();
  const ends: Readonly<Record<string, () => void>> = {
    dropped: () => server.dropWatches(),
    ended: () => server.endWatches(),
  };
  for (const [expected, end] of Object.entries(ends)) {
    server.endDeletedLogs(false);
    withPod(server);
    server.writeLog(KEY, "a");
    const followed = await Followed.open(server, "");
    assertEquals(await followed.next(), "a\n");
    let last = "open";
    const ended = followed.next().then((text) => last = text ?? "ended", () => last = "dropped");
    server.delete(Pod, KEY);
    withPod(server);
    server.writeLog(KEY, "b");
    server.delete(Pod, KEY);
    await nextTurn();
    assertEquals(last, "open");
    end();
    await ended;
    assertEquals(last, expected);
  }
  server.endDeletedLogs(true);
  withPod(server);
  server.writeLog(KEY, "c");
  const followed = await Followed.open(server, "");
  server.delete(Pod, KEY);
  assertEquals([await followed.next(), await followed.next()], ["c\n", undefined]);
});
