// Requests that servers refuse, over real sockets: each with bodies of all kinds. The servers run in a process of their
// own, whose end would be seen, on the runtime of the tests.
import { assert, assertEquals } from "@std/assert";
import net from "node:net";
import { versions } from "node:process";
import tls from "node:tls";
import { isDeno } from "../../../../src/host/connect/runtime/runtime.ts";
import { Program } from "../../../support/processes/program.ts";

/** How a body comes. */
type Way = "absent" | "in one piece" | "in many pieces" | "endless" | "stalled" | "broken" | "cut off";

const WAYS: readonly Way[] = ["absent", "in one piece", "in many pieces", "endless", "stalled", "broken", "cut off"];

/** A request, and the status of its response for each way of its body; `0` is a connection that may just close. */
interface Row {
  readonly server: string;
  readonly request: string;
  readonly headers: readonly string[];
  readonly body: string;
  readonly statuses: Partial<Record<Way, number>>;
  /** `true` if the body is read before the response. */
  readonly isRead: boolean;
  /** What is reported of each response. */
  readonly told?: string;
}

const CUT: Partial<Record<Way, number>> = { "broken": 0, "cut off": 0 };

/** A request that is refused unread. */
function unread(server: string, status: number, request: string, ...headers: string[]): Row {
  const every = Object.fromEntries(WAYS.map((way) => [way, status]));
  return { server, request, headers, body: "hello", statuses: { ...every, ...CUT }, isRead: false };
}

/** A request whose body is read. */
function read(
  server: string,
  [absent, one, endless, stalled]: readonly number[],
  request: string,
  ...headers: string[]
): Row {
  const statuses = { absent, "in one piece": one, "in many pieces": one, endless, ...CUT };
  const all: Partial<Record<Way, number>> = stalled === undefined ? statuses : { ...statuses, stalled };
  return { server, request, headers, body: "no JSON, as it is", statuses: all, isRead: true };
}

const JSON_TYPE = "content-type: application/json";

/** A request at which a handler fails, for ways in which it surely arrives. */
function failing(told: string, row: Row): Row {
  return { ...row, told, statuses: { ...row.statuses, broken: undefined, "cut off": undefined } };
}

/** A review that reaches a handler. */
function reviewed(name: string, status: number, told?: string): Row {
  const request = {
    uid: "u",
    operation: "CREATE",
    resource: { group: "", version: "v1", resource: "pods" },
    kind: { kind: "Pod" },
  };
  const review = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request };
  const object = { apiVersion: "v1", kind: "Pod", metadata: { name: "a", namespace: "shop" } };
  return {
    ...read("webhooks", [400, status], `POST /validate/${name}.pods.test`, JSON_TYPE),
    body: JSON.stringify({ ...review, request: { ...request, object, userInfo: { username: "ada" } } }),
    told,
  };
}

/** A request that its server answers by 200. */
const GOOD: Readonly<Record<string, readonly [request: string, ...headers: string[]]>> = {
  webhooks: ["POST /validate/good.pods.test", JSON_TYPE],
  relay: ["GET /api"],
  local: ["GET /api"],
  manager: ["GET /healthz"],
  fake: ["GET /version", "authorization: Bearer good"],
  own: ["GET /"],
};

const LONG = "y".repeat(2_000);
const GOOD_TOKEN = "authorization: Bearer good";
const PODS = "/api/v1/namespaces/shop/pods";

/** `id` is the stream of views. */
function table(id: string): Row[] {
  return [
    unread("webhooks", 404, "POST /none"),
    unread("webhooks", 404, "GET /"),
    unread("webhooks", 405, "PUT /validate/good.pods.test", JSON_TYPE),
    unread("webhooks", 405, "GET /validate/good.pods.test"),
    unread("webhooks", 415, "POST /validate/good.pods.test"),
    unread("webhooks", 415, "POST /validate/good.pods.test", "content-type: text/plain"),
    unread("relay", 400, "POST /api/pods", "host: a b"),
    read("webhooks", [400, 400, 413], "POST /validate/good.pods.test?timeout=30s", JSON_TYPE),
    {
      ...read("webhooks", [], "POST /validate/good.pods.test?timeout=1s", JSON_TYPE),
      statuses: { stalled: 408 },
    },
    reviewed("refuses", 200),
    reviewed("throws", 500, 'webhooks: Cannot validate CREATE of Pod "a" / a mistake'),
    reviewed("late", 504, "webhooks: Cannot review the request in 1 s, in which the API server needs the response"),
    unread("relay", 403, "GET /api/pods", "authorization: none"),
    unread("relay", 403, "POST /views/unknown", "authorization: none"),
    unread("relay", 401, "GET /events/pods", "authorization: expired"),
    unread("relay", 405, "POST /api/pods"),
    unread("relay", 405, "DELETE /events/pods"),
    unread("relay", 405, "POST /readyz"),
    unread("relay", 404, "POST /nothing"),
    unread("relay", 404, "POST /views/unknown"),
    unread("relay", 400, "GET /api/pods?labelSelector=!!"),
    unread("relay", 414, `POST /${LONG}`),
    unread("relay", 414, `POST /api/pods?${LONG.repeat(3)}`),
    unread("relay", 431, "POST /api/pods", `accept: ${LONG}`),
    unread("relay", 421, "POST /api/pods", "host: else.example"),
    unread("relay", 403, "POST /api/pods", "origin: https://else.example"),
    failing(
      "relay: Cannot respond to a request / a mistake",
      unread("relay", 500, "GET /api/pods", "authorization: mistake"),
    ),
    read("relay", [400, 400, 413, 408], `POST /views/${id}`, JSON_TYPE),
    unread("relay", 405, "POST /kubernetes/api/v1/pods"),
    unread("relay", 405, "PATCH /kubernetes/api/v1"),
    unread("relay", 404, "POST /kubernetes/apis/none/v1/some"),
    unread("relay", 403, "GET /kubernetes/api/v1/pods", "authorization: none"),
    unread("relay", 400, "GET /kubernetes/api/v1/pods?labelSelector=!!"),
    unread("local", 403, "POST /api/pods", "x-forwarded-for: 192.0.2.1"),
    unread("local", 421, "POST /api/pods", "host: else.example"),
    unread("manager", 404, "POST /none"),
    unread("manager", 405, "POST /metrics"),
    unread("manager", 503, "GET /readyz"),
    unread("fake", 401, `POST ${PODS}`, "authorization: Bearer bad", JSON_TYPE),
    unread("fake", 403, `POST ${PODS}`, JSON_TYPE),
    read("fake", [404, 404, 413], "POST /none", GOOD_TOKEN, JSON_TYPE),
    read("fake", [405, 405, 413], "POST /api/v1/namespaces/shop/pods/a", GOOD_TOKEN, JSON_TYPE),
    read("fake", [400, 400, 413], `POST ${PODS}`, GOOD_TOKEN, JSON_TYPE),
    read("fake", [415, 415, 413], `PATCH ${PODS}/a`, GOOD_TOKEN, "content-type: text/plain"),
    unread("own", 403, "POST /no"),
    unread("own", 403, "GET /no"),
    { ...unread("own", 200, "POST /first"), isRead: true },
    failing("server of own: Cannot answer POST /throws / a mistake", unread("own", 500, "POST /throws")),
  ];
}

/** A connection of a client. */
class Connection {
  readonly closed: Promise<void>;
  readonly #socket: net.Socket;
  #text = "";
  #looks: (() => void)[] = [];
  #isClosed = false;

  constructor(port: number, ca: string | undefined) {
    const at = { host: "127.0.0.1", port };
    this.#socket = ca === undefined ? net.connect(at) : tls.connect({ ...at, ca });
    const look = (): void => {
      for (const it of this.#looks.splice(0)) it();
    };
    this.#socket.setEncoding("latin1").on("data", (text) => (this.#text += text, look())).on("error", () => {});
    this.closed = new Promise((resolve) => this.#socket.on("close", () => (this.#isClosed = true, look(), resolve())));
  }
  get isClosed(): boolean {
    return this.#isClosed;
  }
  /** Sends a part, and resolves when there is room for more, or the connection has closed. */
  async send(text: string): Promise<void> {
    const sent = new Promise((resolve) => this.#socket.write(text, "latin1", resolve));
    const error = await Promise.race([sent, this.closed]);
    if (error) await this.closed;
  }
  /** The status of the next response, which is read to its end; `0` if the connection closes before. */
  async status(): Promise<number> {
    for (;;) {
      const found = /^HTTP\/1\.1 (\d+)[^]*?\r\n\r\n/.exec(this.#text);
      if (found !== null) {
        const length = Number(/content-length: (\d+)/i.exec(found[0])?.[1] ?? NaN);
        const rest = this.#text.slice(found[0].length);
        const end = Number.isNaN(length) ? rest.indexOf("0\r\n\r\n") + 5 : length;
        if (found[1] === "204" || (end > 4 || !Number.isNaN(length)) && rest.length >= end) {
          this.#text = rest.slice(found[1] === "204" ? 0 : end);
          return Number(found[1]);
        }
      }
      if (this.#isClosed) return 0;
      await new Promise<void>((resolve) => this.#looks.push(resolve));
    }
  }
  destroy(): void {
    this.#socket.destroy();
  }
}

const PIECES = 5;
/** The most that is taken of an endless body: the longest body, the rest that is read, and the buffers of sockets. */
const MOST_SENT = 48 * 1_024 * 1_024;
/** `false` for Deno and Bun, which read from TLS sockets until they close them. */
const isBounded = !isDeno() && versions.bun === undefined;
const MANY = "z".repeat(262_144);

const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;
const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

function headOf({ request, headers }: Pick<Row, "request" | "headers">, ...more: string[]): string {
  const all = headers.some((it) => it.startsWith("host:")) ? headers : ["host: 127.0.0.1", ...headers];
  return [`${request} HTTP/1.1`, ...all, ...more, "", ""].join("\r\n");
}

/** Sends the request of a row, and returns the status of its response. */
async function ask(connection: Connection, row: Row, way: Way, keepsReading: boolean): Promise<number> {
  const { body, isRead } = row;
  if (way === "absent") await connection.send(headOf(row));
  else if (way === "in one piece") await connection.send(headOf(row, `content-length: ${body.length}`) + body);
  else if (way === "cut off") await connection.send(headOf(row, `content-length: ${body.length + 1}`) + body);
  else await connection.send(headOf(row, "transfer-encoding: chunked") + chunk(body.slice(0, 1)));
  if (way === "cut off") {
    await turn();
    connection.destroy();
  } else if (way === "broken") await connection.send("zz\r\n\r\n");
  else if (way === "in many pieces") {
    const response = isRead ? undefined : connection.status(); // then the rest comes after it
    await response;
    const size = Math.ceil(body.length / PIECES);
    for (let at = 1; at < body.length; at += size) {
      await turn();
      await connection.send(chunk(body.slice(at, at + size)));
    }
    await connection.send("0\r\n\r\n");
    if (response !== undefined) return await response;
  } else if (way === "endless") {
    const response = connection.status();
    let isAnswered = false;
    void response.then(() => isAnswered = true);
    let sent = 0;
    while (!connection.isClosed && !(isAnswered && keepsReading)) {
      await connection.send(chunk(MANY));
      sent += MANY.length;
    }
    return isBounded && sent > MOST_SENT ? sent : await response;
  }
  return await connection.status();
}

/** What the servers print. */
interface Servers {
  readonly ports: Readonly<Record<string, number>>;
  readonly ca: string;
}

/** A row, and how it is sent. */
interface Run {
  readonly row: Row;
  readonly way: Way;
  readonly scheme: string;
}

/** Sends a row in a way, then a good request on the same connection and on another one. Returns what differs. */
async function differences({ row, way, scheme }: Run, { ports, ca }: Servers, opened: Connection[]): Promise<string[]> {
  const wanted = row.statuses[way]!;
  const found: string[] = [];
  const open = (): Connection => {
    opened.push(new Connection(ports[`${scheme} ${row.server}`], scheme === "https" ? ca : undefined));
    return opened.at(-1)!;
  };
  const [request, ...headers] = GOOD[row.server];
  const good = async (connection: Connection): Promise<number> => {
    const { body } = reviewed("good", 200);
    if (request.startsWith("GET")) await connection.send(headOf({ request, headers }));
    else await connection.send(headOf({ request, headers }, `content-length: ${body.length}`) + body);
    return await connection.status();
  };
  const first = open();
  const keepsReading = isDeno() && scheme === "http"; // Deno.serve reads what its client sends
  const status = await ask(first, row, way, keepsReading);
  if (status !== wanted && !(wanted === 0 && (status >= 400 && status <= 500 || status === row.statuses.absent))) {
    found.push(`${status} in place of ${wanted}`);
  }
  if (way === "absent" || way === "in one piece" || way === "in many pieces") {
    const again = await good(first);
    if (again !== 200 && again !== 0) found.push(`${again} to the next request on the connection`);
  } else if (!keepsReading) await first.closed; // by the server, unless the client has cut it
  const second = open();
  const alive = await good(second);
  if (alive !== 200) found.push(`${alive} to the next request`);
  return found;
}

/** How many clients there are at a time, and how long a request of them may take, in milliseconds. */
const AT_ONCE = 60;
const LIMIT_MS = 30_000;
/** How many responses a busy machine may lose where a connection is closed while its client sends. */
const MOST_LOST = 3;

const options = { timeout: 120_000 };

Deno.test("no request ends a server, and nothing is reported of one that is refused", options, async () => {
  await using program = new Program("tests/host/connect/runtime/_refusals_program.ts");
  const servers: Servers = JSON.parse(await program.until("the ports", (line) => line.startsWith("{")));
  const views = new AbortController();
  const response = await fetch(`http://127.0.0.1:${servers.ports["http relay"]}/views`, { signal: views.signal });
  const reader = response.body!.getReader();
  let first = "";
  while (!/"id":"[\w-]+"/.test(first)) first += new TextDecoder().decode((await reader.read()).value);
  const rows = table(/"id":"([\w-]+)"/.exec(first)![1]);

  const runs: Run[] = rows.flatMap((row) =>
    WAYS.filter((way) => row.statuses[way] !== undefined).flatMap((way) =>
      ["http", "https"].map((scheme) => ({ row, way, scheme }))
    )
  );
  const slow = ({ way }: Run): number => way === "stalled" ? 0 : 1;
  const next = runs.toSorted((a, b) => slow(a) - slow(b)).values();
  const found: string[] = [];
  const work = async (): Promise<void> => {
    for (const run of next) {
      const { row: { server, request, headers }, way, scheme } = run;
      const late = Promise.withResolvers<readonly string[]>();
      const timer = setTimeout(() => late.resolve(["no end"]), LIMIT_MS);
      const opened: Connection[] = [];
      const texts = await Promise.race([differences(run, servers, opened), late.promise]);
      clearTimeout(timer);
      for (const connection of opened) connection.destroy();
      await Promise.all(opened.map((connection) => connection.closed));
      const name = `${scheme} ${server}: ${request.slice(0, 60)} ${headers.join().slice(0, 40)}, body ${way}`;
      found.push(...texts.map((text) => `${name}: ${text}`));
    }
  };
  await Promise.race([Promise.all(Array.from({ length: AT_ONCE }, work)), program.code]);
  assertEquals(program.err.text, "");
  const lost = found.filter((text) => / endless: 0 in place/.test(text)); // by clients too slow to take the response
  assert(lost.length <= MOST_LOST, lost.join("\n"));
  assertEquals(found.filter((text) => !lost.includes(text)), []);
  assert(runs.length > 400, `${runs.length} requests`);

  views.abort();
  await reader.cancel().catch(() => {});
  const told: string[] = await (await fetch(`http://127.0.0.1:${servers.ports.told}`)).json();
  const due = runs.flatMap(({ row: { told, isRead }, way }) =>
    told === undefined || isRead && !way.startsWith("in ") ? [] : [told]
  );
  assertEquals(told.sort(), due.sort());
});
