import { assert, assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import type { Transport } from "../../../src/engine/api/lister_watcher.ts";
import { nextTurn } from "../../../src/engine/async/turns.ts";
import { Client } from "../../../src/engine/client/client.ts";
import type { ControlledLogOptions, LogControl, LogLine, LogOptions } from "../../../src/engine/client/logs.ts";
import type { ResourceClient } from "../../../src/engine/client/resource_client.ts";
import { InformerError } from "../../../src/engine/errors/informer_error.ts";
import { internals } from "../../../src/engine/errors/internals.ts";
import { Deployment } from "../../../src/engine/kinds/apps/v1.ts";
import { Pod } from "../../../src/engine/kinds/core/v1.ts";
import { FakeApiServer, pod } from "../../../src/testing/mod.ts";
import { Warnings } from "../../support/texts/console.ts";
import { FakeTime } from "../../support/times/fake_time.ts";
import { CountedController } from "../../support/times/listeners.ts";
import { type Answer, collect, json, LiveBody, type Sent, text } from "../../support/servers/transport.ts";

/** A time in a log: seconds with up to nine digits after the point. */
const at = (seconds: number): string => {
  const [whole, digits = ""] = String(seconds).split(".");
  return `2026-01-01T00:00:${whole.padStart(2, "0")}.${digits.padEnd(9, "0")}Z`;
};

/** Lines as a kubelet sends them; the text is the time unless it is given. */
const log = (...lines: (number | [number, string])[]): string =>
  lines.map((line) => Array.isArray(line) ? `${at(line[0])} ${line[1]}\n` : `${at(line)} ${line}\n`).join("");

type State = Readonly<Record<string, unknown>>;

/** The pod web-0 with the container app, whose ID is `id`. */
function podWith(id: string | undefined, more: State = {}, spec: State = {}, uid = "u"): Record<string, unknown> {
  const status = { name: "app", containerID: id, state: id === undefined ? {} : { running: {} }, ...more };
  return {
    kind: "Pod",
    apiVersion: "v1",
    metadata: { name: "web-0", namespace: "shop", uid, resourceVersion: "1" },
    spec: { nodeName: "n", containers: [{ name: "app" }], restartPolicy: "Always", ...spec },
    status: { phase: "Running", containerStatuses: [status] },
  };
}

const ENDED = { state: { terminated: { exitCode: 0, containerID: "a" } } };

/** Answers for the pod, the last of which stays, and for its log, one after the other. */
class Scripted implements Transport {
  readonly pods: (Record<string, unknown> | Response)[];
  readonly logs: Answer[];
  /** The parameters of the requests for the log. */
  readonly asked: string[] = [];

  constructor(pods: (Record<string, unknown> | Response)[], ...logs: Answer[]) {
    this.pods = pods;
    this.logs = logs;
  }

  async fetch(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const query = url.searchParams;
    request.signal.throwIfAborted();
    if (!url.pathname.endsWith("/log")) {
      const found = this.pods.length > 1 ? this.pods.shift()! : this.pods[0];
      return found instanceof Response ? found.clone() : json(found);
    }
    for (const name of ["pretty", "container", "timestamps"]) query.delete(name);
    this.asked.push(String(query).replaceAll("%3A", ":"));
    const answer = this.logs.shift();
    if (answer === undefined) return text(404, "the script is over");
    if (answer instanceof Error) throw answer;
    if (answer instanceof Response) return answer;
    return await answer({ signal: request.signal } as Sent);
  }
}

/** A response that breaks after this text. */
const broken = (body: string): Answer => () => {
  const chunks = [new TextEncoder().encode(body)];
  return new Response(
    new ReadableStream<Uint8Array>({
      pull: (controller): void => {
        const chunk = chunks.shift();
        if (chunk === undefined) controller.error(new TypeError("connection lost"));
        else controller.enqueue(chunk);
      },
    }, { highWaterMark: 0 }),
  );
};

/** The same answer once more. */
const clone = (answer: Answer): Answer => answer instanceof Response ? answer.clone() : answer;

/** A response that stays open. */
const open = (body = new LiveBody()): Answer => (sent) => new Response(body.answer(sent).body);

/** `logs()` in the background, with the texts of its lines so far. A gap is `!`, and the end of a cut line is `…`. */
class Read implements AsyncDisposable {
  readonly lines: LogLine[] = [];
  readonly interruptions: [string, number][] = [];
  readonly sent: Transport;
  readonly #controller = new AbortController();
  readonly ended: Promise<unknown>;
  /** Resolves with the first line. */
  readonly first: Promise<void>;
  #begin!: () => void;

  constructor(sent: Transport, options: LogOptions = {}) {
    this.sent = sent;
    const client = new Client({ server: "http://kube.test", transport: sent, retries: 0 });
    const lines = client.resource(Pod, { namespace: "shop" }).logs("web-0", {
      follow: true,
      backoff: { initialMs: 1_000, jitter: 0 },
      onInterrupted: (error, delayMs) => this.interruptions.push([(error as Error).message, delayMs]),
      signal: this.#controller.signal,
      ...options,
    });
    this.first = new Promise((resolve) => this.#begin = resolve);
    this.ended = this.#run(lines);
  }

  get texts(): string[] {
    return this.lines.map(({ text, gap, truncated }) => `${gap ? "!" : ""}${text}${truncated ? "…" : ""}`);
  }

  async #run(lines: AsyncIterable<LogLine>): Promise<unknown> {
    try {
      for await (const line of lines) {
        this.lines.push(line);
        this.#begin();
      }
      return "end";
    } catch (error) {
      return error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#controller.abort();
    await this.ended;
  }
}

/** Reads these responses, until the last one stays open. */
async function followed(
  logs: Answer[],
  options: LogOptions = {},
  pods = [podWith("a")],
): Promise<Scripted & { texts: string[] }> {
  using time = new FakeTime();
  const sent = new Scripted(pods, ...logs, open());
  await using read = new Read(sent, options);
  await time.tickAsync(60_000);
  return Object.assign(sent, { texts: read.texts });
}

// ── one reading ──────────────────────────────────────────────────────────

Deno.test("logs yields the lines of a log with their times, and asks for what its options say", async () => {
  const server = new FakeApiServer();
  server.create(Pod, pod({ name: "web-0", namespace: "shop", node: "n" }));
  for (const second of [1, 2, 3]) server.writeLog("shop/web-0", `line ${second}`, { time: at(second) });
  using client = new Client({ server: server.url, transport: server });
  const pods = client.resource(Pod, { namespace: "shop" });
  assertEquals((await collect(pods.logs("web-0")))[0], { time: at(1), text: "line 1", container: "app" });
  const texts = async (options: LogOptions): Promise<string[]> =>
    (await collect(pods.logs("web-0", options))).map(({ text }) => text);
  assertEquals(await texts({ tailLines: 1 }), ["line 3"]);
  assertEquals(await texts({ since: at(2) }), ["line 2", "line 3"]);
  // The server only knows whole seconds.
  assertEquals(await texts({ since: "2026-01-01T00:00:01.000000001Z" }), ["line 2", "line 3"]);
  assertEquals(await texts({ since: "2026-01-01T01:00:03+01:00", container: "app" }), ["line 3"]);
  assertEquals(await texts({ sinceMs: 1 }), []);
  server.restartContainer("shop/web-0");
  assertEquals(await texts({}), []);
  assertEquals(await texts({ previous: true, tailLines: 1 }), ["line 3"]);
});

Deno.test("logs refuses options that are wrong, and kinds without logs", () => {
  const client = new Client({ server: "http://kube.test", transport: new Scripted([]) });
  const pods = client.resource(Pod, { namespace: "shop" });
  const refused = (options: LogOptions, message: string): void => {
    const error = assertThrows(() => pods.logs("web-0", options), Error);
    assert(error.message.startsWith('Cannot get "pods/web-0/log" in namespace "shop": '), error.message);
    assert(error.message.includes(message), error.message);
  };
  refused({ since: "noon" }, 'since must be a time such as "2026-01-31T12:00:00Z", but it is "noon"');
  refused({ since: at(1), sinceMs: 1 }, "since and sinceMs cannot be combined");
  refused({ follow: true, previous: true }, "the previous container is over");
  refused({ tailLines: -1 }, "tailLines must be a whole number");
  refused({ maxLineBytes: 0 }, "maxLineBytes must be a whole number of at least 1");
  refused({ sinceMs: Infinity }, "sinceMs must be at least 0 milliseconds and finite");
  refused({ tail: 5 } as LogOptions, 'there is no option "tail"');
  const deployments = client.resource(Deployment) as unknown as ResourceClient<Pod>;
  assertThrows(() => deployments.logs("web"), TypeError, 'Cannot read logs of "deployments.apps": only pods have logs');
  // @ts-expect-error -- the compiler says so, too
  assertThrows(() => client.resource(Deployment).logs("web"), TypeError);
});

Deno.test("logs says why there is no log, without follow", async () => {
  const server = new FakeApiServer();
  using client = new Client({ server: server.url, transport: server });
  const pods = client.resource(Pod, { namespace: "shop" });
  const refused = async (options: LogOptions = {}): Promise<string> =>
    (await assertRejects(() => collect(pods.logs("web-0", options)), Error)).message;
  assertMatch(await refused(), /404 NotFound: pods "web-0" not found/);
  server.create(Pod, pod({ name: "web-0", namespace: "shop" }));
  assertEquals(await refused(), 'Cannot get "pods/web-0/log" in namespace "shop": the pod is not on a node yet');
  const waiting = { name: "app", state: { waiting: { reason: "ContainerCreating" } } };
  server.patch(Pod, "shop/web-0", { spec: { nodeName: "n" }, status: { containerStatuses: [waiting] } });
  assertMatch(
    await refused(),
    /400 BadRequest: container "app" in pod "web-0" is waiting to start: ContainerCreating$/,
  );
  const none = 'Cannot get "pods/web-0/log" in namespace "shop": the pod has no container "b". It has app';
  assertEquals(await refused({ container: "b" }), none);
  assertMatch(await refused({ previous: true }), /previous terminated container "app" in pod "web-0" not found/);
  server.patch(Pod, "shop/web-0", { spec: { containers: [{ name: "app" }, { name: "side" }] } });
  assertMatch(await refused(), /a container name must be specified for pod web-0, choose one of: \[app side\]/);
  const annotations = { "kubectl.kubernetes.io/default-container": "side" };
  server.patch(Pod, "shop/web-0", { metadata: { annotations } });
  server.writeLog("shop/web-0", "a", { container: "side" });
  assertEquals((await collect(pods.logs("web-0")))[0].container, "side");
});

Deno.test("logs reads lines as they are: white space, CRLF, empty ones, broken bytes, other zones, and the last one", async () => {
  const bytes = new TextEncoder().encode(
    `${at(1)}  two spaces \n${at(2)} CRLF\r\n${at(3)} \n2026-01-01T01:00:04+01:00 zone\n${at(5)} \x00 end`,
  );
  bytes[bytes.indexOf(0)] = 0xff;
  const answer = (): Response => new Response(bytes, { headers: { "content-type": "text/plain" } });
  await using read = new Read(new Scripted([podWith("a")], answer), { follow: false });
  assertEquals(await read.ended, "end");
  assertEquals(read.lines.map(({ time, text }) => [time, text]), [
    [at(1), " two spaces "],
    [at(2), "CRLF"],
    [at(3), ""],
    [at(4), "zone"],
    [at(5), "\ufffd end"],
  ]);
});

Deno.test("logs throws what a kubelet writes into its response instead of lines", async () => {
  const says = 'failed to try resolving symlinks in path "/var/log/pods/a": no such file or directory';
  await using read = new Read(new Scripted([podWith("a")], text(200, `${log(1)}${says}`)), { follow: false });
  assertEquals(
    String(await read.ended),
    `InformerError: Cannot get "pods/web-0/log" in namespace "shop": the kubelet says ${JSON.stringify(says)}`,
  );
  assertEquals(read.texts, ["1"]);
});

Deno.test("logs that is aborted rejects without follow, as a log that ends is complete", async () => {
  const reason = new InformerError("enough");
  for (const [follow, end] of [[false, reason], [true, "end"]] as const) {
    const controller = new CountedController();
    const body = new LiveBody();
    await using read = new Read(new Scripted([podWith("a")], open(body)), { follow, signal: controller.signal });
    body.push(log(1));
    await read.first;
    controller.abort(reason);
    assertEquals([await read.ended, read.texts, body.ended], [end, ["1"], "aborted"]);
    assertEquals(controller.listeners, 0);
    await nextTurn();
    assertEquals(read.interruptions, []);
  }
});

Deno.test("logs yields one line of 100 MB cut, without holding it, and the lines after it", async () => {
  const chunk = new Uint8Array(1_048_576).fill(0x61);
  chunk.set(new TextEncoder().encode("ä"), 1_000_000 - 31 - 5 - 1); // a character across the end
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller): void => {
      if (sent === 0) controller.enqueue(new TextEncoder().encode(`${at(1)} `));
      if (sent++ < 100) return controller.enqueue(chunk);
      controller.enqueue(new TextEncoder().encode(`\n${log(2)}`));
      controller.close();
    },
  }, { highWaterMark: 0 });
  const before = Deno.memoryUsage();
  await using read = new Read(new Scripted([podWith("a")], () => new Response(body)), {
    follow: false,
    maxLineBytes: 1_000_000,
  });
  assertEquals(await read.ended, "end");
  const grown = Deno.memoryUsage();
  assert(grown.external + grown.heapUsed - before.external - before.heapUsed < 30e6);
  const [long, short] = read.lines;
  assertEquals([long.truncated, short], [true, { time: at(2), text: "2", container: "app" }]);
  assert(long.text.length <= 1_000_010 && !long.text.includes("\ufffd"), `${long.text.length}`);
});

Deno.test("logs reads only as fast as its lines are taken", async () => {
  let chunks = 0;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller): void => controller.enqueue(new TextEncoder().encode(log(++chunks % 60))),
  }, { highWaterMark: 0 });
  const transport = new Scripted([podWith("a")], () => new Response(body));
  using client = new Client({ server: "http://kube.test", transport });
  let taken = 0;
  for await (const _line of client.resource(Pod, { namespace: "shop" }).logs("web-0", { follow: true })) {
    await nextTurn();
    assert(chunks <= taken + 2, `${chunks} chunks for ${taken} lines`);
    if (++taken === 20) break;
  }
});

// ── cuts ─────────────────────────────────────────────────────────────────

Deno.test("logs continues after a cut with the lines that are new, from a second before the last one", async () => {
  const { texts, asked } = await followed([
    broken(log(1, 2, 5.5)),
    text(200, log(4.7, 5.5, 6)),
    text(200, log(5.5, 6, 7)),
  ]);
  assertEquals(texts, ["1", "2", "5.5", "6", "7"]);
  assertEquals(asked, [
    "follow=true",
    "follow=true&sinceTime=2026-01-01T00:00:04Z",
    "follow=true&sinceTime=2026-01-01T00:00:05Z",
    "follow=true&sinceTime=2026-01-01T00:00:06Z",
  ]);
});

Deno.test("logs tells lines by time and number, not by their texts", async () => {
  const same = (text: string, lines: number): (number | [number, string])[] => Array(lines).fill([1, text]);
  const { texts } = await followed([broken(log(...same("x", 3))), text(200, log(...same("x", 5), [2, "x"]))]);
  assertEquals(texts, ["x", "x", "x", "x", "x", "x"]);
});

Deno.test("logs yields a line that is older than the last one, and not delivered yet", async () => {
  // Two processes write the log: they are microseconds out of order.
  const { texts } = await followed([broken(log(1, 5.000_002)), text(200, log(5.000_002, 4.999_999, 5.000_001, 6))]);
  assertEquals(texts, ["1", "5.000002", "4.999999", "5.000001", "6"]);
});

Deno.test("logs finds its place in a log whose clock has gone back, even if times come twice", async () => {
  const before = [50, 51, 52, 53];
  const after = [20, 51, 52];
  const whole = log(...before, ...after);
  const { texts, asked } = await followed([
    broken(whole),
    text(200, log(...before.slice(1), 51, 52, [53, "new"], [30, "newer"])),
  ]);
  assertEquals(texts, ["50", "51", "52", "53", "20", "51", "52", "new", "newer"]);
  assertEquals(asked[1], "follow=true&sinceTime=2026-01-01T00:00:51Z");
});

Deno.test("logs skips the half line of a response that ended early, and yields the whole one later", async () => {
  const whole = log(1, [2, "half"]);
  for (const half of [`${at(2)} ha`, `${at(2)} `, at(2).slice(0, 15), at(2).slice(0, 1)]) {
    const { texts } = await followed([text(200, log(1) + half), text(200, whole)]);
    assertEquals(texts, ["1", "half"], half);
  }
  const over = podWith("a", ENDED, { restartPolicy: "Never" });
  const sent = new Scripted([over], text(200, log(1) + at(2).slice(0, 15)), text(200, whole), text(200, whole));
  await using read = new Read(sent);
  assertEquals([await read.ended, read.texts], ["end", ["1", "half"]]);
});

Deno.test("logs waits longer after each failure, as long as the server says, and tells about it", async () => {
  using time = new FakeTime();
  const refused = text(429, "later", { "retry-after": "9" });
  const sent = new Scripted(
    [podWith("a")],
    new TypeError("connection refused"),
    text(500, "no"),
    refused,
    text(200, "rpc error: code = Unavailable"),
    text(200, log(1)),
    open(),
  );
  await using read = new Read(sent);
  await time.tickAsync(60_000);
  assertEquals(read.texts, ["1"]);
  assertEquals(read.interruptions.map(([, delayMs]) => delayMs), [1_000, 2_000, 9_000, 8_000]);
  assertMatch(read.interruptions[3][0], /the kubelet says "rpc error: code = Unavailable"$/);
});

Deno.test("logs writes interruptions to the console, unless it is told otherwise", async () => {
  using time = new FakeTime();
  using warnings = new Warnings();
  const sent = new Scripted([podWith("a")], text(500, "no"), open());
  await using _read = new Read(sent, { onInterrupted: undefined });
  await time.tickAsync(2_000);
  assertEquals(warnings.lines, [
    'get "pods/web-0/log" in namespace "shop": Cannot get "pods/web-0/log" in namespace "shop": 500 InternalError: no',
  ]);
});

Deno.test("logs ends at once when its rights are refused, or the container does not exist", async () => {
  for (const code of [401, 403]) {
    await using read = new Read(new Scripted([podWith("a")], text(code, "no")));
    assertMatch(String(await read.ended), new RegExp(`^StatusError: .*${code} `));
  }
  const containers = [{ name: "app" }, { name: "side" }];
  const spec = { containers, initContainers: [{ name: "init" }], ephemeralContainers: [{ name: "debug" }] };
  await using typo = new Read(new Scripted([podWith("a", {}, spec)]), { container: "ap" });
  assertMatch(String(await typo.ended), /: the pod has no container "ap"\. It has app, side, init, debug$/);
  await using read = new Read(new Scripted([text(404, "no")]));
  assertMatch(String(await read.ended), /404 NotFound: no/);
});

Deno.test("logs begins a stream again when its connection is dead", async () => {
  using time = new FakeTime();
  const dead = new LiveBody();
  const sent = new Scripted([podWith("a")], open(dead), text(200, log(1, 2)), open());
  let probes = 0;
  const probe = (): Promise<void> => probes++ === 0 ? Promise.reject(new Error("no response")) : Promise.resolve();
  const probed = Object.assign(sent, { probe });
  await using read = new Read(probed);
  await time.tickAsync(0);
  dead.push(log(1));
  await time.tickAsync(60_000);
  assertEquals([read.texts, dead.ended, read.interruptions], [["1", "2"], "aborted", []]);
});

// ── gaps ─────────────────────────────────────────────────────────────────

Deno.test("logs marks a gap when the log was rotated while the connection was lost", async () => {
  const { texts } = await followed([broken(log(1, 2)), text(200, log(3, 4))]);
  assertEquals(texts, ["1", "2", "!3", "4"]);
});

Deno.test("logs marks no gap while the last line is still in the rotated log", async () => {
  const { texts } = await followed([broken(log(1, 2.1, 2.2)), text(200, log(2.2, 3))]);
  assertEquals(texts, ["1", "2.1", "2.2", "3"]);
});

Deno.test("logs marks a gap when the clock has gone back and the log was rotated", async () => {
  const { texts } = await followed([broken(log(50, 51, 20)), text(200, log(21, 22, 23, 24, 25))]);
  assertEquals(texts, ["50", "51", "20", "!24", "25"]);
});

Deno.test("logs marks a gap when it cannot know which of the last lines are new", async () => {
  const none = await followed([broken(""), text(200, log(5))], { tailLines: 1 });
  assertEquals([none.texts, none.asked.slice(0, 2)], [["!5"], ["follow=true&tailLines=1", "follow=true&tailLines=1"]]);
  // Three lines have one time, and the last one was delivered.
  const same = await followed([broken(log([5, "c"])), text(200, log([5, "a"], [5, "b"], [5, "c"], 6))], {
    tailLines: 1,
  });
  assertEquals(same.texts, ["c", "!6"]);
  const found = await followed([broken(log(5, 6)), text(200, log(4, 5, 6, 7))], { tailLines: 2 });
  assertEquals([found.texts, found.asked[1]], [["5", "6", "7"], "follow=true&sinceTime=2026-01-01T00:00:05Z"]);
});

Deno.test("logs counts the time since it began, when it asks again for the last seconds", async () => {
  const { texts, asked } = await followed([broken(""), broken(""), text(200, log(5))], { sinceMs: 2_500 });
  assertEquals(texts, ["5"]);
  assertEquals(asked.slice(0, 3), [
    "follow=true&sinceSeconds=3",
    "follow=true&sinceSeconds=4",
    "follow=true&sinceSeconds=5",
  ]);
});

Deno.test("logs yields lines without times, and marks a gap after each cut", async () => {
  const { texts, asked } = await followed([broken("a\nb\n"), text(200, "c\nd")]);
  assertEquals(texts, ["a", "b", "!c", "d"]);
  assertEquals(asked[1], "follow=true&tailLines=0");
});

// ── since ────────────────────────────────────────────────────────────────

Deno.test("logs with since reads the log before a restart that was later than since", async () => {
  const server = new FakeApiServer();
  server.create(Pod, pod({ name: "web-0", namespace: "shop", node: "n" }));
  for (const second of [1, 2, 3]) server.writeLog("shop/web-0", String(second), { time: at(second) });
  server.restartContainer("shop/web-0");
  server.writeLog("shop/web-0", "4", { time: at(4) });
  for (const follow of [false, true]) {
    await using read = new Read(server, { follow, since: at(2) });
    await read.first;
    while (read.lines.length < 3) await nextTurn();
    assertEquals(read.texts, ["2", "3", "4"]);
  }
  await using last = new Read(server, { follow: false, since: at(1), tailLines: 1 });
  assertEquals([await last.ended, last.texts], ["end", ["4"]]);
});

Deno.test("logs with since marks a gap where lines since then may be missing", async () => {
  const run = (start: number): State => ({ startedAt: at(start).replace(/\.0+/, "") });
  const once = (restartCount: number, start: number, previous?: number): Record<string, unknown> =>
    podWith("b", {
      restartCount,
      state: { running: run(start) },
      ...(previous === undefined ? {} : { lastState: { terminated: { containerID: "a", ...run(previous) } } }),
    });
  const before = [text(200, log(11)), text(200, log(11))];
  const cases: [Record<string, unknown>, Answer[], string[]][] = [
    [once(1, 20, 5), [...before, text(200, log(21))], ["11", "21"]],
    [once(7, 20, 5), [...before, text(200, log(21))], ["11", "21"]], // the other restarts were earlier
    [once(2, 20, 11), [...before, text(200, log(21))], ["!11", "21"]],
    [once(1, 20, 10), [...before, text(200, log(21))], ["11", "21"]], // starts have whole seconds
    [once(1, 20), [text(200, log(21))], ["!21"]], // the kubelet has removed it
    [once(1, 20, 5), [text(400, "not found"), text(200, log(21))], ["!21"]],
    [once(7, 9, 5), [text(200, log(21))], ["21"]], // it runs since before
    [once(0, 20), [text(200, log(21))], ["21"]],
    [once(0, 20), [text(200, log(35))], ["!35"]], // its first lines may have been rotated away
    [once(1, 20, 5), [...before, text(200, log(35))], ["11", "!35"]],
    [once(1, 45, 11), [text(200, log(30)), text(200, log(30)), text(200, log(46))], ["!30", "46"]],
    [once(1, 45, 11), [text(200, ""), text(200, log(46))], ["!46"]],
    [podWith("b"), [text(200, log(11))], ["!11"]], // its start is not known
  ];
  for (const [pod, answers, expected] of cases) {
    for (const follow of [true, false]) {
      using time = new FakeTime(Date.parse(at(59)));
      await using read = new Read(new Scripted([pod], ...answers.map((it) => clone(it)), open()), {
        since: at(10),
        follow,
      });
      await time.tickAsync(2_000);
      assertEquals(read.texts, expected, JSON.stringify(pod));
    }
  }
});

Deno.test("logs with since knows a container that has just started as complete, whenever its first line comes", async () => {
  using time = new FakeTime(Date.parse(at(25)));
  const body = new LiveBody();
  const started = podWith("a", { restartCount: 0, state: { running: { startedAt: at(20) } } });
  await using read = new Read(new Scripted([started], open(body)), { since: at(10) });
  await time.tickAsync(20_000);
  body.push(log(45));
  await time.tickAsync(0);
  assertEquals(read.texts, ["45"]);
});

Deno.test("logs with since marks a gap at the end of a log that was not read, or that may have been rotated", async () => {
  using time = new FakeTime();
  const gone = [restarted("b", "a"), restarted("b", "a"), text(404, "no")];
  const previous = [5, 5].map((second) => text(200, log(second)));
  await using read = new Read(new Scripted(gone, ...previous, text(200, log(9))), { since: at(1) });
  await time.tickAsync(5_000);
  assertEquals([await read.ended, read.texts.at(-1)], ["end", "!"]);
  for (const [finish, expected] of [[20, []], [50, ["!"]]] as const) {
    const terminated = { exitCode: 0, containerID: "a", startedAt: at(15), finishedAt: at(finish) };
    const over = podWith("a", { state: { terminated }, restartCount: 0 }, { restartPolicy: "Never" });
    await using silent = new Read(new Scripted([over], text(200, ""), text(200, "")), { since: at(10) });
    await time.tickAsync(5_000);
    assertEquals([await silent.ended, silent.texts], ["end", [...expected]]);
  }
});

Deno.test("logs whose place is stored leaves a last line without a line break to the next reading", async () => {
  const cases = [[podWith("a"), ["1"]], [podWith("a", ENDED), ["1", "half"]]] as const;
  for (const [pod, expected] of cases) {
    const control: LogControl = { isStored: true, renewal: new AbortController() };
    const options: ControlledLogOptions = { follow: false, [internals]: control };
    await using read = new Read(new Scripted([pod], text(200, `${log(1)}${at(2)} half`)), options);
    assertEquals([await read.ended, read.texts], ["end", [...expected]]);
  }
});

Deno.test("logs with since finds out that the container restarts while the log before is read", async () => {
  const twice = [restarted("b", "a"), restarted("c", "b")];
  for (const follow of [true, false]) {
    using time = new FakeTime();
    const sent = new Scripted([...twice], ...[5, 5, 5].map((second) => text(200, log(second))), text(200, log(9)));
    await using read = new Read(sent, { since: at(1), follow });
    await time.tickAsync(2_000);
    assertEquals(read.texts.map((text) => text.replace("!", "")), ["5", "9"]);
    assertEquals(sent.asked.slice(0, 3).every((query) => query.startsWith("previous=true")), true);
  }
});

// ── restarts ─────────────────────────────────────────────────────────────

const restarted = (id: string, previousId: string): Record<string, unknown> =>
  podWith(id, { lastState: { terminated: { containerID: previousId } } });

Deno.test("logs yields the rest of the container before the restart, then the new container's log", async () => {
  const { texts, asked } = await followed(
    [broken(log(1, 2)), text(200, log(2, 3)), text(200, log(3)), broken(log(4))],
    {},
    [podWith("a"), podWith("a"), restarted("b", "a")],
  );
  assertEquals(texts, ["1", "2", "3", "4"]);
  assertEquals(asked.slice(1, 4), [
    "previous=true&sinceTime=2026-01-01T00:00:01Z",
    "previous=true&sinceTime=2026-01-01T00:00:02Z",
    "follow=true",
  ]);
});

Deno.test("logs marks a gap when the container before cannot be read, or is another one", async () => {
  const cannot = "unable to retrieve container logs for containerd://a";
  const refused = text(400, 'previous terminated container "app" in pod "web-0" not found');
  const cases: [string, Answer[]][] = [
    ["!10", [text(200, cannot)]],
    ["!10", [refused]],
    ["!10", [text(200, "")]],
    ["!9", [text(200, log(9)), text(200, log(9))]],
  ];
  for (const [second, previous] of cases) {
    const answers = [broken(log(1)), ...previous, broken(log(10)), text(200, log(10, 11))];
    const { texts } = await followed(answers, {}, [podWith("a"), podWith("a"), restarted("b", "a")]);
    assertEquals(texts, ["1", second, ...(second === "!9" ? ["10"] : []), "11"]);
  }
  const two = await followed([broken(log(1)), text(200, log(1)), text(200, log(10))], {}, [
    podWith("a"),
    podWith("a"),
    restarted("c", "b"),
  ]);
  assertEquals(two.texts, ["1", "!10"]);
});

Deno.test("logs finds out that a restart happened while it opened the stream", async () => {
  // The new container has written by the time of the request; the pod said so after it.
  const { texts } = await followed(
    [broken(log(1, 2)), broken(log(4, 5)), text(200, log(2, 3)), text(200, log(3)), text(200, log(4, 5, 6))],
    {},
    [podWith("a"), podWith("a"), podWith("a"), restarted("b", "a")],
  );
  assertEquals(texts, ["1", "2", "3", "4", "5", "6"]);
});

Deno.test("logs reads an ended container until nothing follows, also its last line without a line break", async () => {
  const over = podWith("a", ENDED, { restartPolicy: "Never" });
  using time = new FakeTime();
  // The first response ends early, as a kubelet that restarts makes it.
  const sent = new Scripted(
    [over],
    text(200, `${log(1)}${at(2)} ha`),
    text(200, `${log(1)}${at(2)} half`),
    text(200, `${log(1)}${at(2)} half`),
    text(200, `${log(1)}${at(2)} half`),
  );
  await using read = new Read(sent);
  await time.tickAsync(0);
  assertEquals([await read.ended, read.texts], ["end", ["1", "half"]]);
});

Deno.test("logs of a container that crashes asks for the pod, and for the log once it has restarted", async () => {
  using time = new FakeTime();
  const waits = { state: { waiting: { reason: "CrashLoopBackOff" } }, lastState: { terminated: { containerID: "a" } } };
  const sent = new Scripted([podWith("a", waits)], text(200, log(1)), text(200, log(1)));
  await using read = new Read(sent);
  await time.tickAsync(60_000);
  assertEquals([read.texts, sent.asked.length], [["1"], 2]);
  sent.pods.push(restarted("b", "a"));
  sent.logs.push(text(200, log(2)), open());
  await time.tickAsync(60_000);
  assertEquals([read.texts, sent.asked[2]], [["1", "2"], "follow=true"]);
});

Deno.test("logs waits for a container that has not started", async () => {
  using time = new FakeTime();
  const creating = podWith(undefined, { state: { waiting: { reason: "ContainerCreating" } } });
  const sent = new Scripted([creating]);
  await using read = new Read(sent);
  await time.tickAsync(60_000);
  assertEquals([sent.asked, read.interruptions], [[], []]);
  sent.pods.push(podWith("a"));
  sent.logs.push(text(400, "is waiting to start"), text(200, log(1)), open());
  await time.tickAsync(60_000);
  assertEquals([read.texts, read.interruptions.length], [["1"], 1]);
});

Deno.test("logs follows a container without an ID, as programs other than a kubelet report it", async () => {
  const { texts } = await followed([broken(log(1)), text(200, log(1, 2))], {}, [podWith("", {})]);
  assertEquals(texts, ["1", "2"]);
});

Deno.test("logs ends with an empty item that marks a gap, if the last lines may be missing", async () => {
  using time = new FakeTime();
  const over = podWith("a", ENDED, { restartPolicy: "Never" });
  const cases: [Answer[], (Record<string, unknown> | Response)[]][] = [
    [[broken(log(1))], [podWith("a"), podWith("a"), text(404, "no")]], // the pod is gone
    [[broken(log(1)), text(200, "")], [podWith("a"), podWith("a"), over]], // the log is
  ];
  for (const [logs, pods] of cases) {
    await using read = new Read(new Scripted(pods, ...logs));
    await time.tickAsync(10_000);
    assertEquals([await read.ended, read.lines.at(-1)], ["end", {
      time: at(1),
      text: "",
      container: "app",
      gap: true,
    }]);
  }
});

Deno.test("logs marks a gap when the new container had time to rotate its log before it was read", async () => {
  for (const [waitS, expected] of [[5, "2"], [30, "!2"]] as const) {
    const refused = text(429, "later", { "retry-after": String(waitS) });
    const { texts } = await followed([text(200, log(1)), text(200, log(1)), refused, text(200, log(2))], {}, [
      podWith("a"),
      podWith("a"),
      restarted("b", "a"),
    ]);
    assertEquals(texts, ["1", expected]);
  }
});

Deno.test("logs ends with its pod, also when another one has its name", async () => {
  for (const gone of [text(404, "no"), podWith("a", {}, {}, "other")]) {
    using time = new FakeTime();
    await using read = new Read(new Scripted([podWith("a"), podWith("a"), gone], text(200, log(1))));
    await time.tickAsync(5_000);
    assertEquals([await read.ended, read.texts], ["end", ["1"]]);
  }
});

Deno.test("logs with a uid has no lines of another pod with that name, nor of a pod that is gone", async () => {
  for (const follow of [true, false]) {
    for (const pod of [podWith("a", {}, {}, "other"), text(404, "no")]) {
      await using read = new Read(new Scripted([pod]), { uid: "u", follow });
      assertEquals([await read.ended, read.texts], ["end", []]);
    }
    const sent = new Scripted([podWith("a", ENDED, { restartPolicy: "Never" })], text(200, log(1)), text(200, log(1)));
    await using read = new Read(sent, { uid: "u", follow });
    assertEquals([await read.ended, read.texts], ["end", ["1"]]);
  }
});

Deno.test("logs ends only when the rules of the pod never restart the container", async () => {
  const ended = (exitCode: number): State => ({ state: { terminated: { exitCode, containerID: "a" } } });
  const ends = async (pod: Record<string, unknown>): Promise<boolean> => {
    using time = new FakeTime();
    const sent = new Scripted([pod], text(200, log(1)), text(200, log(1)));
    await using read = new Read(sent, { container: "app" });
    let isOver = false;
    void read.ended.then(() => isOver = true);
    await time.tickAsync(60_000);
    return isOver;
  };
  const init = (restartPolicy?: string): State => ({
    containers: [],
    initContainers: [{ name: "app", restartPolicy }],
  });
  const cases: [boolean, Record<string, unknown>][] = [
    [false, podWith("a")],
    [false, podWith("a", ended(0))],
    [true, podWith("a", ended(1), { restartPolicy: "Never" })],
    [true, podWith("a", ended(0), { restartPolicy: "OnFailure" })],
    [false, podWith("a", ended(1), { restartPolicy: "OnFailure" })],
    [true, podWith("a", ended(0), init())],
    [false, podWith("a", ended(1), init())],
    [true, podWith("a", ended(1), { ...init(), restartPolicy: "Never" })],
    [false, podWith("a", ended(0), init("Always"))],
    [true, podWith("a", ended(1), { containers: [], ephemeralContainers: [{ name: "app" }] })],
    [true, podWith("a", ended(1), { containers: [{ name: "app", restartPolicy: "Never" }] })],
    [
      false,
      podWith("a", ended(1), {
        restartPolicy: "Never",
        containers: [{ name: "app", restartPolicyRules: [{ action: "Restart" }] }],
      }),
    ],
    [true, { ...podWith("a", ended(1)), status: { ...podWith("a", ended(1)).status as State, phase: "Failed" } }],
    [true, { ...podWith(undefined), status: { phase: "Failed" } }],
    [true, { ...podWith("a", ended(1)), metadata: { ...podWith("a").metadata as State, deletionTimestamp: at(1) } }],
  ];
  for (const [expected, pod] of cases) assertEquals(await ends(pod), expected, JSON.stringify(pod));
});

Deno.test("logs throws when the log of an ended container cannot be read", async () => {
  for (const answer of [text(200, "failed to open log file"), text(400, "is terminated")]) {
    await using read = new Read(new Scripted([podWith("a", ENDED, { restartPolicy: "Never" })], answer));
    assertMatch(String(await read.ended), /the kubelet says "failed to open log file"|is terminated/);
  }
});

// ── details of the place ─────────────────────────────────────────────────

Deno.test("logs finds its place among lines with one time, also if only some of them are there", async () => {
  const x = (lines: number): [number, string][] => Array(lines).fill([5, "x"]);
  // The first of two equal times was before the last lines that were requested.
  const tail = await followed([broken(log(...x(1), 6)), text(200, log(4, ...x(2), 6, 7))], { tailLines: 2 });
  assertEquals(tail.texts, ["x", "6", "7"]);
  // The log was rotated between equal times.
  const first = await followed([broken(log(...x(3), 6)), text(200, log(...x(1), 6, 7))]);
  assertEquals(first.texts, ["x", "x", "x", "6", "7"]);
  // Here the second line may be a new one.
  const last = await followed([broken(log(4, ...x(3))), text(200, log(...x(2), 6))]);
  assertEquals(last.texts, ["4", "x", "x", "x", "!6"]);
});

Deno.test("logs begins its waits again after lines, and after a stream that was open for long", async () => {
  using time = new FakeTime();
  const silent = new LiveBody();
  const [one, two] = [text(500, "a"), text(500, "b")];
  const sent = new Scripted(
    [podWith("a")],
    one,
    two,
    text(200, log(1)),
    text(500, "c"),
    open(silent),
    text(500, "d"),
    open(),
  );
  await using read = new Read(sent);
  await time.tickAsync(30_000);
  silent.fail(new TypeError("connection lost"));
  await time.tickAsync(30_000);
  assertEquals(read.interruptions.map(([, delayMs]) => delayMs), [1_000, 2_000, 1_000, 1_000, 1_000]);
});

Deno.test("logs ends without a gap after a clean end, whatever came before", async () => {
  using time = new FakeTime();
  const pods = [podWith("a"), podWith("a"), podWith("a"), text(404, "no")];
  await using read = new Read(new Scripted(pods, broken(log(1)), text(200, log(1, 2))));
  await time.tickAsync(10_000);
  assertEquals([await read.ended, read.texts], ["end", ["1", "2"]]);
});

Deno.test("logs gives up a response that comes from another container than the pod said", async () => {
  // The container had ended when the pod was read, and another one runs when the log is.
  const { texts, asked } = await followed(
    [broken(log(5)), text(200, log(1, 2)), text(200, log(1, 2)), text(200, log(5, 6))],
    {},
    [podWith("a", ENDED), restarted("b", "a")],
  );
  assertEquals(texts, ["1", "2", "5", "6"]);
  assertEquals(asked.slice(0, 4), [
    "follow=true",
    "previous=true",
    "previous=true&sinceTime=2026-01-01T00:00:01Z",
    "follow=true",
  ]);
});

Deno.test("logs tells two restarts from one, while it reads the log before them", async () => {
  const { texts, asked } = await followed(
    [broken(log(1)), text(200, log(5, 6)), text(200, log(5, 6)), text(200, log(5, 6)), text(200, log(9))],
    {},
    [podWith("a"), podWith("a"), restarted("b", "a"), restarted("c", "b")],
  );
  assertEquals(texts, ["1", "!5", "6", "9"]);
  assertEquals(asked.slice(1, 5), [
    "previous=true&sinceTime=2026-01-01T00:00:00Z",
    ...Array(2).fill("previous=true&sinceTime=2026-01-01T00:00:05Z"),
    "follow=true",
  ]);
  // The first container had written nothing yet, so that any line could be its own.
  for (const isOwn of [true, false]) {
    const previous = [text(200, log(5, 6)), text(200, log(5, 6))];
    const own = isOwn ? [text(200, log(5, 6))] : [text(200, log(7)), text(200, log(7))];
    const empty = await followed([broken(""), ...previous, ...own, text(200, log(9))], {}, [
      podWith("a"),
      podWith("a"),
      restarted("b", "a"),
      restarted("c", "b"),
    ]);
    assertEquals(empty.texts, ["5", "6", ...isOwn ? [] : ["!7"], "9"]);
  }
});

Deno.test("logs asks for the last lines of the first container only", async () => {
  const pods = [podWith("a"), podWith("a"), restarted("b", "a")];
  const lines = await followed([broken(log(0, 1)), text(200, log(0, 1)), text(200, log(5))], { tailLines: 2 }, [
    ...pods,
  ]);
  assertEquals([lines.texts, lines.asked.slice(0, 3)], [["0", "1", "5"], [
    "follow=true&tailLines=2",
    "previous=true&sinceTime=2026-01-01T00:00:00Z",
    "follow=true",
  ]]);
  // Which lines of the first container came after the request is not known.
  const none = await followed([broken(""), text(200, log(5))], { tailLines: 0 }, [...pods]);
  assertEquals([none.texts, none.asked.slice(0, 2)], [["!5"], ["follow=true&tailLines=0", "follow=true"]]);
});

Deno.test("logs reads the log before a restart again after a failure, but not if the kubelet does not have it", async () => {
  const pods = [podWith("a"), podWith("a"), restarted("b", "a")];
  const again = await followed(
    [broken(log(1)), text(503, "no"), text(200, log(1, 2)), text(200, log(2)), text(200, log(5))],
    {},
    pods,
  );
  assertEquals(again.texts, ["1", "2", "5"]);
  const never = await followed([broken(log(1)), text(404, "no"), text(200, log(5))], {}, [
    podWith("a"),
    podWith("a"),
    restarted("b", "a"),
  ]);
  assertEquals([never.texts, never.asked[2]], [["1", "!5"], "follow=true"]);
});

Deno.test("logs marks no gap at a restart if the container was heard of shortly before", async () => {
  for (const isClean of [true, false]) {
    using time = new FakeTime();
    const body = new LiveBody();
    const rest = isClean ? [text(200, log(1, 2)), text(200, log(2))] : [text(200, log(1, 2))];
    const sent = new Scripted([podWith("a")], open(body), ...rest, text(200, log(5)), open());
    await using read = new Read(sent);
    await time.tickAsync(0);
    body.push(log(1));
    await time.tickAsync(60_000);
    sent.pods[0] = restarted("b", "a");
    if (isClean) body.end();
    else {
      body.push(log(2));
      await time.tickAsync(0);
      body.fail(new TypeError("connection lost"));
    }
    await time.tickAsync(10_000);
    assertEquals(read.texts, ["1", "2", "5"]);
  }
});

Deno.test("logs marks a gap in a log that was empty, and that nobody heard of for long", async () => {
  using time = new FakeTime();
  const silent = new LiveBody();
  await using read = new Read(new Scripted([podWith("a")], open(silent), text(200, log(1)), open()));
  await time.tickAsync(30_000);
  silent.fail(new TypeError("connection lost"));
  await time.tickAsync(5_000);
  assertEquals(read.texts, ["!1"]);
});
