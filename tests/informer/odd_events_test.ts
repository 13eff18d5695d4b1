// One event that no kube-apiserver sends, such as an aggregated server or a proxy may, in an open watch: whatever it
// is, the informer is live again with the next watch, and its cache equals the server.
import { Client, SharedIndexInformer, type Transport } from "@kube/informer";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { ConfigMap } from "../../src/kinds/core/v1.ts";
import { FakeApiServer } from "../../src/testing/mod.ts";
import { FakeTime } from "../support/fake_time.ts";

const OTHERS = [null, 5, true, "", "x", [], {}] as const;
const WELL_FORMED = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "odd", namespace: "shop", uid: "u-9", resourceVersion: "1", labels: { a: "b" } },
  data: { n: "1" },
};
const STATUS = {
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Failure",
  message: "etcd is slow",
  reason: "InternalError",
  details: { causes: [{ message: "slow" }], retryAfterSeconds: 1 },
  code: 500,
};

type Json = Readonly<Record<string, unknown>>;

/** All values that differ from `value` in one member, at any depth: it is missing, or of another type. */
function* oddOnes(value: Json): Generator<Json> {
  for (const [key, member] of Object.entries(value)) {
    const { [key]: _missing, ...rest } = value;
    yield rest;
    for (const other of OTHERS) yield { ...value, [key]: other };
    if (typeof member !== "object" || member === null || Array.isArray(member)) continue;
    for (const odd of oddOnes(member as Json)) yield { ...value, [key]: odd };
  }
}

function* oddLines(): Generator<string> {
  const object = { ...WELL_FORMED, metadata: { ...WELL_FORMED.metadata, resourceVersion: "abc" } };
  for (const type of ["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR", "PING"]) {
    const event = { type, object: type === "ERROR" ? STATUS : WELL_FORMED };
    if (type === "PING" || type === "ERROR") yield JSON.stringify(event);
    else yield JSON.stringify({ type, object });
    for (const odd of oddOnes(event)) yield JSON.stringify(odd);
  }
  yield* ["{", "[]", "null", "5", '"x"', "<html>", "", "{}", '{"type":"ADDED","object":{', "\0", "\ufeff{}"];
}

/** Passes requests on, and writes `line` as the first one of watches that resume. */
class Injecting implements Transport {
  readonly #to: Transport;
  readonly line: string;
  /** So many watches get the line. */
  left: number;
  watches = 0;
  lists = 0;

  constructor(to: Transport, line: string, left: number) {
    this.#to = to;
    this.line = line;
    this.left = left;
  }

  async fetch(request: Request): Promise<Response> {
    const { searchParams } = new URL(request.url);
    const response = await this.#to.fetch(request);
    if (!searchParams.has("watch")) {
      if (searchParams.get("limit") !== "1") this.lists++;
      return response;
    }
    this.watches++;
    if (this.left === 0) return response;
    this.left--;
    const first = new TextEncoder().encode(`${this.line}\n`);
    const body = response.body!.pipeThrough(
      new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
        start: (controller) => controller.enqueue(first),
      }),
    );
    return new Response(body, { status: response.status, headers: response.headers });
  }
}

interface Played {
  readonly reports: readonly unknown[];
  readonly transport: Injecting;
  /** What is wrong in the end. */
  readonly problem: string | undefined;
}

/** An informer of ConfigMaps, whose first watches have an odd line. */
async function play(line: string, watches: number): Promise<Played> {
  using time = new FakeTime();
  using server = new FakeApiServer();
  server.create(ConfigMap, { metadata: { name: "a", namespace: "shop" } });
  const transport = new Injecting(server, line, watches);
  using client = new Client({ server: "http://fake", transport });
  const reports: unknown[] = [];
  await using informer = new SharedIndexInformer<ConfigMap>(client.resource(ConfigMap), {
    onError: (error) => void reports.push(error),
    reflector: { streamingList: "off", watchTimeoutMs: 10_000 },
  });
  void informer.run();
  await time.tickAsync(0);
  for (let seconds = 0; seconds < 60 && transport.watches <= watches; seconds++) await time.tickAsync(1_000);
  await time.tickAsync(2_000);
  server.create(ConfigMap, { metadata: { name: "b", namespace: "shop" } });
  await time.tickAsync(0);
  const told = `${line}: ${informer.status().state} ${reports.map(String)}`;
  const has = ["shop/a", "shop/b"].every((key) => informer.lister.get(key) !== undefined);
  const problem = informer.status().state === "live" && has ? undefined : told;
  await time.tickAsync(0);
  return { reports, transport, problem };
}

Deno.test("after any odd event the informer is live with the next watch, and knows what the server has", async () => {
  const problems: string[] = [];
  let played = 0;
  for (const line of new Set(oddLines())) {
    const { transport: { lists, watches }, problem } = await play(line, 1);
    if (problem !== undefined) problems.push(problem);
    if (lists > 2 || watches > 4) problems.push(`${line}: ${lists} lists, ${watches} watches`);
    played++;
  }
  assertEquals(problems, []);
  assert(played > 300, `${played}`);
});

Deno.test("bookmarks without a version in every watch are reported once, and cause no list", async () => {
  for (const metadata of [undefined, null, {}, { resourceVersion: "" }, { resourceVersion: 5 }]) {
    const line = JSON.stringify({ type: "BOOKMARK", object: { kind: "ConfigMap", apiVersion: "v1", metadata } });
    const { reports, transport, problem } = await play(line, 3);
    assertEquals(problem, undefined);
    assertEquals([transport.lists, transport.watches], [1, 4], line);
    assertEquals(reports.length, 1);
    assertStringIncludes(String(reports[0]), `DecodeError: Cannot use the bookmarks of "configmaps": "{`);
    assertStringIncludes(String(reports[0]), "has no resourceVersion. Such bookmarks are skipped");
  }
});

Deno.test("an event whose version is no number does not move the version from which a watch resumes", async () => {
  const line = JSON.stringify({
    type: "MODIFIED",
    object: { ...WELL_FORMED, metadata: { ...WELL_FORMED.metadata, resourceVersion: "x" } },
  });
  const { reports, transport, problem } = await play(line, 1);
  assertEquals([reports, transport.lists, transport.watches, problem], [[], 1, 2, undefined]);
});
