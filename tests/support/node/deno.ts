/**
 * The parts of `Deno` that tests use, on Node: so that the same test files run on both.
 *
 * The library never looks at it: it knows its runtime by `process.versions`. Sanitizers are those that Node permits: a
 * test fails when it leaves more timers, sockets, servers or processes than there were before.
 *
 * @module
 */
import * as childProcess from "node:child_process";
import * as fs from "node:fs";
import * as http from "node:http";
import * as net from "node:net";
import * as os from "node:os";
import * as path from "node:path";
import process from "node:process";
import { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import * as tls from "node:tls";
import * as url from "node:url";
import { inspect } from "node:util";
import { LEFT_OUT } from "./left_out.ts";

/** Stands for the path of Deno: programs that it would run are run by Node. */
const EXEC_PATH = "deno";

/** The time after which a test has failed, in milliseconds. */
const LIMIT_MS = process.versions.bun === undefined ? 120_000 : 20_000;

type Body = (t: TestContext) => unknown;
interface Definition {
  name: string;
  fn: Body;
  ignore?: boolean;
  permissions?: unknown;
  sanitizeResources?: boolean;
  /** The longest time, in milliseconds. */
  timeout?: number;
}
interface TestContext {
  readonly name: string;
  readonly origin: string;
  step(first: string | Definition | Body, second?: Body): Promise<boolean>;
}

/** The events of the global scope, which Node does not have. */
const globalEvents = new EventTarget();

const tests: (Definition & { readonly file: string })[] = [];
let file = "";

const REAL_TIME = [
  ...["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date"].map((name) => [globalThis, name] as const),
  [performance, "now"] as const,
].map(([owner, name]) => ({ owner, name, descriptor: Object.getOwnPropertyDescriptor(owner, name) }));

function restoreTime(): void {
  for (const { owner, name, descriptor } of REAL_TIME) {
    if (descriptor === undefined) Reflect.deleteProperty(owner, name);
    else Object.defineProperty(owner, name, descriptor);
  }
}

function definitionOf(given: readonly unknown[]): Definition {
  const definition = {} as Definition;
  for (const it of given) {
    if (typeof it === "string") definition.name = it;
    else if (typeof it === "function") definition.fn = it as Body;
    else Object.assign(definition, it);
  }
  definition.name ??= definition.fn.name;
  return definition;
}

function test(...given: readonly unknown[]): void {
  tests.push({ ...definitionOf(given), file });
}
test.ignore = (...given: readonly unknown[]): void => void tests.push({ ...definitionOf(given), ignore: true, file });
test.only = test;
const before: (() => unknown)[] = [];
const after: (() => unknown)[] = [];
test.beforeAll = (call: () => unknown): void => void before.push(call);
test.afterAll = (call: () => unknown): void => void after.push(call);

function contextOf(name: string): TestContext {
  return {
    name,
    origin: file,
    async step(...given: readonly unknown[]): Promise<boolean> {
      const { name: step, fn, ignore } = definitionOf(given);
      if (ignore) return true;
      await fn(contextOf(step));
      return true;
    },
  };
}

/** The resources that the process waits for, without those of Node itself. */
function resources(): Map<string, number> {
  const found = new Map<string, number>();
  for (const name of process.getActiveResourcesInfo()) {
    if (/^(TTYWrap|PipeWrap|FSReqPromise|CloseReq|MessagePort|Immediate|TickObject|FSReqCallback)$/.test(name)) {
      continue;
    }
    found.set(name, (found.get(name) ?? 0) + 1);
  }
  return found;
}

async function leftBehind(before: ReadonlyMap<string, number>): Promise<string[]> {
  let left: string[] = [];
  for (let look = 0; look < 20; look++) {
    left = [...resources()].filter(([name, count]) => count > (before.get(name) ?? 0)).map(([name]) => name);
    if (left.length === 0) break;
    await sleep(5 * (look + 1), undefined, { ref: true });
  }
  return left;
}

/** Runs all tests of the files that were imported; the result is a line of JSON on standard output. */
export async function runFiles(files: readonly string[]): Promise<void> {
  const { setTimeout, clearTimeout } = globalThis;
  const failures: { name: string; file: string; error: string }[] = [];
  const leftOut: string[] = [];
  let passed = 0;
  let current = "";
  const uncaught = (error: unknown): void => {
    const event = Object.assign(new Event("error", { cancelable: true }), { error, reason: error });
    if (!globalEvents.dispatchEvent(event)) return;
    const rejection = Object.assign(new Event("unhandledrejection", { cancelable: true }), { reason: error });
    if (!globalEvents.dispatchEvent(rejection)) return;
    failures.push({ name: current || "(import)", file, error: `uncaught: ${inspect(error)}` });
  };
  process.on("uncaughtException", uncaught);
  process.on("unhandledRejection", uncaught);
  const { log } = console;
  for (file of files) {
    tests.length = before.length = after.length = 0;
    current = "";
    try {
      await import(file);
    } catch (error) {
      failures.push({ name: "(import)", file, error: inspect(error) });
      continue;
    }
    for (const call of before) await call();
    for (const { name, fn, ignore, permissions, sanitizeResources = true, timeout = LIMIT_MS } of tests) {
      current = name;
      const tests = new URL("../../", import.meta.url).href;
      const reasons = LEFT_OUT[file.slice(tests.length)] ?? {};
      const reason = permissions === undefined
        ? Object.entries(reasons).find(([left]) => name.startsWith(left))?.[1]
        : "flags of Deno";
      if (reason !== undefined) leftOut.push(`${file.slice(tests.length)}: ${name}: ${reason}`);
      if (ignore || reason !== undefined) continue;
      const known = resources();
      const errors = failures.length;
      let timer: NodeJS.Timeout | undefined;
      try {
        await Promise.race([
          (async () => await fn(contextOf(name)))(),
          new Promise((_, reject) => {
            timer = setTimeout(() => reject(new Error(`it takes longer than ${timeout / 1_000} s`)), timeout);
          }),
        ]);
        clearTimeout(timer);
        const more = sanitizeResources ? await leftBehind(known) : [];
        if (more.length > 0) throw new Error(`it has left ${more.join(", ")}`);
        if (failures.length === errors) passed++;
      } catch (error) {
        failures.push({ name, file, error: inspect(error) });
      } finally {
        clearTimeout(timer);
        restoreTime(); // a test that has failed may leave a fake one
      }
    }
    for (const call of after.reverse()) await call();
  }
  log(`RESULT ${JSON.stringify({ passed, failures, leftOut })}`);
  process.exit(0);
}

class NotFound extends Error {
  override name = "NotFound";
}
class NotCapable extends Error {
  override name = "NotCapable";
}
class AddrInUse extends Error {
  override name = "AddrInUse";
}
class AlreadyExists extends Error {
  override name = "AlreadyExists";
}
class BadResource extends Error {
  override name = "BadResource";
}
class Interrupted extends Error {
  override name = "Interrupted";
}
class InvalidData extends Error {
  override name = "InvalidData";
}
class UnexpectedEof extends Error {
  override name = "UnexpectedEof";
}
class ConnectionReset extends Error {
  override name = "ConnectionReset";
}
class ConnectionRefused extends Error {
  override name = "ConnectionRefused";
}
class PermissionDenied extends Error {
  override name = "PermissionDenied";
}
class BrokenPipe extends Error {
  override name = "BrokenPipe";
}
const errors = {
  NotFound,
  NotCapable,
  AddrInUse,
  AlreadyExists,
  BadResource,
  Interrupted,
  InvalidData,
  UnexpectedEof,
  ConnectionReset,
  ConnectionRefused,
  PermissionDenied,
  BrokenPipe,
};
const BY_CODE: Readonly<Record<string, new (message?: string, options?: ErrorOptions) => Error>> = {
  ENOENT: NotFound,
  EADDRINUSE: AddrInUse,
  EEXIST: AlreadyExists,
  ECONNRESET: ConnectionReset,
  ECONNREFUSED: ConnectionRefused,
  EACCES: PermissionDenied,
  EPERM: PermissionDenied,
  EPIPE: BrokenPipe,
};

/** Runs a call of `node:fs`, whose errors become those of Deno. */
function asDeno<R>(call: () => R): R {
  try {
    return call();
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    throw code !== undefined && code in BY_CODE
      ? Object.assign(new BY_CODE[code](message, { cause }), { code })
      : cause;
  }
}
// deno-lint-ignore require-await
const later = <A extends readonly unknown[], R>(call: (...args: A) => R) => async (...args: A): Promise<R> =>
  asDeno(() => call(...args));

const infoOf = (stats: fs.Stats): object => ({
  isFile: stats.isFile(),
  isDirectory: stats.isDirectory(),
  isSymlink: stats.isSymbolicLink(),
  size: stats.size,
  mtime: stats.mtime,
  mode: stats.mode,
  ino: stats.ino,
});
function* entriesOf(folder: string | URL): Generator<object> {
  for (const it of asDeno(() => fs.readdirSync(folder, { withFileTypes: true }))) {
    yield { name: it.name, isFile: it.isFile(), isDirectory: it.isDirectory(), isSymlink: it.isSymbolicLink() };
  }
}
const temporary = ({ prefix = "", suffix = "", dir = os.tmpdir() } = {}): string =>
  path.join(dir, `${prefix}${crypto.randomUUID().slice(0, 8)}${suffix}`);
const makeTempDirSync = (options?: { prefix?: string; dir?: string }): string => {
  const folder = temporary(options);
  fs.mkdirSync(folder, { recursive: true });
  return folder;
};
const makeTempFileSync = (options?: { prefix?: string; suffix?: string; dir?: string }): string => {
  const name = temporary(options);
  fs.writeFileSync(name, "");
  return name;
};
const removeSync = (name: string | URL, options: { recursive?: boolean } = {}): void => {
  if (fs.lstatSync(name).isDirectory() && !options.recursive) fs.rmdirSync(name);
  else fs.rmSync(name, { recursive: options.recursive ?? false });
};
const writeOptions = (
  { append, mode, createNew }: { append?: boolean; mode?: number; createNew?: boolean } = {},
): fs.WriteFileOptions => ({
  flag: append ? "a" : createNew ? "wx" : "w",
  mode,
});

/** A connection, as Deno has it. */
class Conn {
  readonly #socket: net.Socket;
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Uint8Array>;
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  #rest: Uint8Array | undefined;
  constructor(socket: net.Socket) {
    this.#socket = socket;
    socket.on("error", () => {});
    this.readable = Readable.toWeb(socket) as ReadableStream<Uint8Array>;
    this.writable = Writable.toWeb(socket) as WritableStream<Uint8Array>;
  }
  get remoteAddr(): object {
    return { transport: "tcp", hostname: this.#socket.remoteAddress, port: this.#socket.remotePort };
  }
  get localAddr(): object {
    return { transport: "tcp", hostname: this.#socket.localAddress, port: this.#socket.localPort };
  }
  async read(into: Uint8Array): Promise<number | null> {
    this.#reader ??= this.readable.getReader();
    if (this.#rest === undefined) {
      const { done, value } = await this.#reader.read().catch((cause) => {
        throw new ConnectionReset("reset", { cause });
      });
      if (done) return null;
      this.#rest = value;
    }
    const part = this.#rest.subarray(0, into.length);
    into.set(part);
    this.#rest = part.length < this.#rest.length ? this.#rest.subarray(part.length) : undefined;
    return part.length;
  }
  write(bytes: Uint8Array): Promise<number> {
    return new Promise((resolve, reject) =>
      this.#socket.write(bytes, (error) => error ? reject(new BrokenPipe(error.message)) : resolve(bytes.length))
    );
  }
  closeWrite(): Promise<void> {
    return new Promise((resolve) => void this.#socket.end(() => resolve()));
  }
  setNoDelay(on = true): void {
    this.#socket.setNoDelay(on);
  }
  setKeepAlive(): void {}
  ref(): void {
    this.#socket.ref();
  }
  unref(): void {
    this.#socket.unref();
  }
  close(): void {
    this.#socket.destroy();
  }
  [Symbol.dispose](): void {
    this.close();
  }
}

/** A listener, as Deno has it. */
class Listener {
  readonly #server: net.Server;
  readonly #waiting: Conn[] = [];
  readonly #takers: PromiseWithResolvers<Conn>[] = [];
  #isClosed = false;
  readonly addr: { transport: "tcp"; hostname: string; port: number };
  constructor(
    server: net.Server,
    event: string,
    { hostname = "0.0.0.0", port = 0 }: { hostname?: string; port?: number },
  ) {
    this.#server = server;
    server.on(event, (socket: net.Socket) => {
      const conn = new Conn(socket);
      const taker = this.#takers.shift();
      if (taker) taker.resolve(conn);
      else this.#waiting.push(conn);
    });
    server.on("error", () => {});
    server.listen(port); // on all addresses: with a host name, Node would not know the port yet
    const at = server.address() as net.AddressInfo | null;
    if (at === null) throw new AddrInUse("the address is in use");
    this.addr = { transport: "tcp", hostname, port: at.port };
  }
  async accept(): Promise<Conn> {
    if (this.#isClosed) throw new BadResource("Listener has been closed");
    const conn = this.#waiting.shift();
    if (conn) return conn;
    const taker = Promise.withResolvers<Conn>();
    this.#takers.push(taker);
    return await taker.promise;
  }
  async *[Symbol.asyncIterator](): AsyncGenerator<Conn> {
    while (!this.#isClosed) {
      try {
        yield await this.accept();
      } catch {
        return;
      }
    }
  }
  ref(): void {
    this.#server.ref();
  }
  unref(): void {
    this.#server.unref();
  }
  close(): void {
    this.#isClosed = true;
    this.#server.close();
    for (const taker of this.#takers.splice(0)) taker.reject(new BadResource("Listener has been closed"));
  }
  [Symbol.dispose](): void {
    this.close();
  }
}

type Handler = (request: Request, info: object) => Response | Promise<Response>;
interface ServeOptions {
  port?: number;
  hostname?: string;
  cert?: string;
  key?: string;
  signal?: AbortSignal;
  onListen?: (at: object) => void;
  onError?: (error: unknown) => Response;
  handler?: Handler;
}

/** Serves requests, as `Deno.serve` does. */
function serve(first: ServeOptions | Handler, second?: Handler): object {
  const options = typeof first === "function" ? {} : first;
  const handler = (typeof first === "function" ? first : second ?? options.handler)!;
  const secure = options.cert !== undefined;
  const finished = Promise.withResolvers<void>();
  const answer = async (incoming: http.IncomingMessage, outgoing: http.ServerResponse): Promise<void> => {
    const gone = new AbortController();
    outgoing.on("close", () => {
      if (!outgoing.writableFinished) gone.abort();
    });
    incoming.on("error", () => {});
    outgoing.on("error", () => {});
    const headers = new Headers();
    for (let at = 0; at < incoming.rawHeaders.length; at += 2) {
      headers.append(incoming.rawHeaders[at], incoming.rawHeaders[at + 1]);
    }
    const url = /^https?:/.test(incoming.url!)
      ? incoming.url!
      : `http${secure ? "s" : ""}://${headers.get("host") ?? "localhost"}${incoming.url}`;
    let response: Response;
    try {
      const hasBody = incoming.method !== "GET" && incoming.method !== "HEAD";
      const init: RequestInit & { duplex?: "half" } = { method: incoming.method, headers, signal: gone.signal };
      if (hasBody) Object.assign(init, { body: Readable.toWeb(incoming), duplex: "half" });
      const { remoteAddress: hostname, remotePort: port } = incoming.socket;
      response = await handler(new Request(url, init), {
        remoteAddr: { transport: "tcp", hostname, port },
        completed: new Promise<void>((resolve) => outgoing.on("close", resolve)),
      });
    } catch (error) {
      response = options.onError?.(error) ?? new Response("Internal Server Error", { status: 500 });
    }
    const lines: string[] = [];
    for (const [name, value] of response.headers) lines.push(name, value);
    outgoing.writeHead(response.status, response.statusText || undefined, lines);
    outgoing.flushHeaders();
    if (response.body === null) return void outgoing.end();
    const reader = response.body.getReader();
    gone.signal.addEventListener("abort", () => void reader.cancel().catch(() => {}));
    if (gone.signal.aborted) void reader.cancel().catch(() => {});
    try {
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        if (!outgoing.write(part.value)) {
          await new Promise<void>((resolve) => {
            outgoing.once("drain", resolve);
            outgoing.once("close", resolve);
          });
        }
      }
      outgoing.end();
    } catch {
      outgoing.destroy();
    }
  };
  const answers: Promise<void>[] = [];
  const listener = (incoming: http.IncomingMessage, outgoing: http.ServerResponse): void =>
    void answers.push(answer(incoming, outgoing));
  const server = http.createServer({ keepAliveTimeout: 60_000 }, listener);
  const front = secure
    ? tls.createServer(
      { cert: options.cert, key: options.key, ALPNProtocols: ["http/1.1"] },
      (socket) => server.emit("connection", socket),
    )
    : server;
  front.on("tlsClientError", () => {});
  const sockets = new Set<net.Socket>();
  front.on("connection", (socket: net.Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  front.on("error", finished.reject);
  finished.promise.catch(() => {});
  (front as net.Server).listen(options.port ?? 8000);
  const at = front.address() as net.AddressInfo | null;
  if (at === null) throw new AddrInUse(`Address already in use (port ${options.port})`);
  const addr = { transport: "tcp", hostname: options.hostname ?? "0.0.0.0", port: at.port };
  front.on("close", () => finished.resolve());
  const shutdown = (): Promise<void> => {
    front.close();
    server.closeIdleConnections();
    const idle = setInterval(() => {
      server.closeIdleConnections();
      if (secure && sockets.size > 0) { for (const it of sockets) it.destroySoon(); }
    }, 10);
    return finished.promise.then(() => Promise.all(answers)).then(() => clearInterval(idle));
  };
  options.signal?.addEventListener("abort", () => {
    front.close();
    for (const it of sockets) it.destroy();
  });
  options.onListen?.(addr);
  return {
    addr,
    finished: finished.promise,
    shutdown,
    [Symbol.asyncDispose]: shutdown,
    ref: () => front.ref(),
    unref: () => front.unref(),
  };
}

interface CommandOptions {
  args?: string[];
  cwd?: string | URL;
  env?: Record<string, string>;
  clearEnv?: boolean;
  stdin?: string;
  stdout?: string;
  stderr?: string;
  signal?: AbortSignal;
}

/** Runs programs, as Deno does. */
class Command {
  #command: string;
  #options: CommandOptions;
  constructor(command: string, options: CommandOptions = {}) {
    this.#command = command;
    this.#options = options;
    if (command !== EXEC_PATH || options.args?.[0] !== "run") return;
    // A program of the tests runs on Node too, with none of Deno's flags.
    const [script, ...args] = options.args.slice(1).filter((arg, at, all) =>
      !arg.startsWith("-") && !["--config", "--preload"].includes(all[at - 1])
    );
    let name = script.startsWith("file:") ? url.fileURLToPath(script) : script;
    if (script.startsWith("data:")) {
      name = path.join(import.meta.dirname!, `_program_${crypto.randomUUID()}.ts`);
      fs.writeFileSync(name, decodeURIComponent(script.slice(script.indexOf(",") + 1)));
    }
    // Programs for readers have no Deno; those of tests have the parts in this file.
    const preload = (script.startsWith("examples/") ? ["resolve.ts"] : ["resolve.ts", "deno.ts"])
      .map((file) => `--import=${new URL(file, import.meta.url).href}`);
    this.#command = process.execPath;
    this.#options = { ...options, args: ["--disable-warning=ExperimentalWarning", ...preload, name, ...args] };
  }
  #start(defaults: string): childProcess.ChildProcess {
    const { args = [], cwd, env, clearEnv, stdin = defaults === "pipe" ? "null" : "inherit", stdout, stderr, signal } =
      this.#options;
    const kind = (it: string | undefined): childProcess.IOType =>
      it === "piped"
        ? "pipe"
        : it === "null"
        ? "ignore"
        : it === "inherit"
        ? "inherit"
        : defaults as childProcess.IOType;
    const child = childProcess.spawn(this.#command, args, {
      cwd,
      env: { ...(clearEnv ? {} : process.env), ...env },
      stdio: [kind(stdin), kind(stdout), kind(stderr)],
      signal,
    });
    child.on("error", () => {});
    return child;
  }
  spawn(): object {
    const child = this.#start("inherit");
    if (child.pid === undefined) throw new NotFound(`Failed to spawn '${this.#command}': entity not found`);
    const status = new Promise((resolve) =>
      child.on(
        "close",
        (code, signal) => resolve({ success: code === 0, code: code ?? 128 + os.constants.signals[signal!], signal }),
      )
    );
    return {
      pid: child.pid,
      status,
      stdin: child.stdin && Object.assign(Writable.toWeb(child.stdin), {}),
      stdout: child.stdout && Readable.toWeb(child.stdout),
      stderr: child.stderr && Readable.toWeb(child.stderr),
      kill: (signal: NodeJS.Signals = "SIGTERM") => {
        if (!child.kill(signal)) throw new TypeError("Child process has already terminated");
      },
      ref: () => child.ref(),
      unref: () => child.unref(),
      [Symbol.asyncDispose]: async () => {
        child.kill();
        await status;
      },
    };
  }
  outputSync(): object {
    const { args = [], cwd, env } = this.#options;
    const { status, stdout, stderr } = childProcess.spawnSync(this.#command, args, {
      cwd,
      env: { ...process.env, ...env },
    });
    return { success: status === 0, code: status, stdout: new Uint8Array(stdout), stderr: new Uint8Array(stderr) };
  }
  async output(): Promise<object> {
    const child = this.#start("pipe");
    if (child.pid === undefined) throw new NotFound(`Failed to spawn '${this.#command}': entity not found`);
    const [out, err]: [Buffer[], Buffer[]] = [[], []];
    child.stdout?.on("data", (chunk) => out.push(chunk));
    child.stderr?.on("data", (chunk) => err.push(chunk));
    const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) =>
      child.on("close", (...it) => resolve(it))
    );
    return {
      success: code === 0,
      code: code ?? 128 + os.constants.signals[signal!],
      signal,
      stdout: new Uint8Array(Buffer.concat(out)),
      stderr: new Uint8Array(Buffer.concat(err)),
    };
  }
}

const connect = ({ hostname = "127.0.0.1", port }: { hostname?: string; port: number }): Promise<Conn> =>
  new Promise((resolve, reject) => {
    const socket = net.connect({ host: hostname, port }, () => resolve(new Conn(socket)));
    socket.once(
      "error",
      (cause) => reject(new (BY_CODE[(cause as NodeJS.ErrnoException).code ?? ""] ?? Error)(cause.message, { cause })),
    );
  });

const readTextFileSync = (name: string | URL): string => asDeno(() => fs.readFileSync(name, "utf8"));
const handlers = new Map<() => void, () => void>();

Object.assign(globalThis, {
  reportError: (error: unknown) => {
    const event = Object.assign(new Event("error", { cancelable: true }), { error });
    if (globalEvents.dispatchEvent(event)) throw error;
  },
  addEventListener: globalEvents.addEventListener.bind(globalEvents),
  removeEventListener: globalEvents.removeEventListener.bind(globalEvents),
  Deno: {
    test,
    errors,
    inspect,
    Command,
    serve,
    connect,
    args: process.argv.slice(2),
    pid: process.pid,
    stdin: {
      get readable() {
        return Readable.toWeb(process.stdin);
      },
    },
    stdout: { writeSync: (bytes: Uint8Array) => fs.writeSync(1, bytes) },
    stderr: { writeSync: (bytes: Uint8Array) => fs.writeSync(2, bytes) },
    execPath: () => EXEC_PATH,
    cwd: () => process.cwd(),
    exit: process.exit,
    build: {
      os: process.platform === "win32" ? "windows" : process.platform,
      arch: process.arch === "x64" ? "x86_64" : "aarch64",
    },
    version: { deno: "2.9.6" },
    env: {
      get: (name: string) => process.env[name],
      set: (name: string, value: string) => void (process.env[name] = value),
      delete: (name: string) => void delete process.env[name],
      has: (name: string) => name in process.env,
      toObject: () => ({ ...process.env }),
    },
    readTextFileSync,
    readTextFile: later(readTextFileSync),
    readFile: later((name: string) => new Uint8Array(fs.readFileSync(name))),
    readFileSync: (name: string | URL) => asDeno(() => new Uint8Array(fs.readFileSync(name))),
    writeTextFileSync: (name: string, text: string, options?: object) =>
      asDeno(() => fs.writeFileSync(name, text, writeOptions(options))),
    writeTextFile: later((name: string, text: string, options?: object) =>
      fs.writeFileSync(name, text, writeOptions(options))
    ),
    writeFile: later((name: string, bytes: Uint8Array, options?: object) =>
      fs.writeFileSync(name, bytes, writeOptions(options))
    ),
    mkdirSync: (name: string, options?: fs.MakeDirectoryOptions) => asDeno(() => void fs.mkdirSync(name, options)),
    mkdir: later((name: string, options?: fs.MakeDirectoryOptions) => void fs.mkdirSync(name, options)),
    makeTempDirSync,
    makeTempDir: later(makeTempDirSync),
    makeTempFileSync,
    makeTempFile: later(makeTempFileSync),
    removeSync: (name: string, options?: object) => asDeno(() => removeSync(name, options)),
    remove: later(removeSync),
    statSync: (name: string | URL) => infoOf(asDeno(() => fs.statSync(name))),
    stat: later((name: string | URL) => infoOf(fs.statSync(name))),
    lstat: later((name: string) => infoOf(fs.lstatSync(name))),
    rename: later((from: string, to: string) => fs.renameSync(from, to)),
    symlink: later((from: string, to: string) => fs.symlinkSync(from, to)),
    chmod: later((name: string, mode: number) => fs.chmodSync(name, mode)),
    utime: later((name: string, atime: Date, mtime: Date) => fs.utimesSync(name, atime, mtime)),
    readDirSync: entriesOf,
    async *readDir(folder: string): AsyncGenerator<object> {
      yield* entriesOf(folder);
    },
    memoryUsage: () => process.memoryUsage(),
    kill: (pid: number, signal: NodeJS.Signals) => process.kill(pid, signal),
    listen: (options: object) => new Listener(net.createServer({ allowHalfOpen: true }), "connection", options),
    listenTls: (options: tls.TlsOptions & { hostname?: string; port?: number }) =>
      new Listener(tls.createServer(options), "secureConnection", options),
    addSignalListener: (name: NodeJS.Signals, handler: () => void) => {
      const it = (): void => handler();
      handlers.set(handler, it);
      process.on(name, it);
    },
    removeSignalListener: (name: NodeJS.Signals, handler: () => void) => {
      process.off(name, handlers.get(handler) ?? handler);
    },
    unrefTimer: (timer: NodeJS.Timeout) => timer.unref(),
  },
});
