/**
 * The command `informer plan`: runs the controllers of a module once, and prints what they would write.
 *
 * {@linkcode planModule} is the entry point. On Deno the module runs in a child process that may reach only this
 * process, which forwards reads to the API server with the credentials. `testing/plan` runs the controllers.
 *
 * @module
 */
import { open } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { defined } from "../engine/api/json.ts";
import { StatusError } from "../engine/api/status.ts";
import { Client } from "../engine/client/client.ts";
import { errorLine } from "../engine/errors/errors.ts";
import { InformerError } from "../engine/errors/informer_error.ts";
import { isDeno } from "../host/connect/runtime/runtime.ts";
import type { Manager } from "../operator/controllers/reconcile/manager.ts";
import { planRefusal } from "../testing/plan/overlay.ts";
import { plan } from "../testing/plan/plan.ts";
import { type PlanReport, planText } from "../testing/plan/report.ts";
import { listen } from "./loopback.ts";
import { unreadable } from "./output_file.ts";
import { clientFor, type ConnectionFlags } from "./shared/connect.ts";
import { durationMs } from "./shared/flag_values.ts";
import { EXIT_CODE, UsageError } from "./shared/usage.ts";
import { type CommandContext, jsonText, plain } from "./terminal/terminal.ts";

interface PlanFlags extends Omit<ConnectionFlags, "fake"> {
  readonly namespace?: string;
  readonly recording?: string;
  readonly serverDryRun?: boolean;
  readonly allowOutside?: boolean;
  readonly timeout: string;
  readonly output: "text" | "json";
}

/** A plan to make, which a child process reads from its standard input. */
interface PlanJob {
  readonly module: string;
  readonly namespace?: string;
  readonly recording?: string;
  readonly serverDryRun?: boolean;
  readonly timeoutMs: number;
  /** The address that forwards reads, its token, and the client's namespace. */
  readonly proxy?: { readonly server: string; readonly token: string; readonly namespace: string };
}

/** The module argument of the child process. */
const CHILD = "-";

const CODES = { nothing: EXIT_CODE.done, changes: EXIT_CODE.usage, failed: EXIT_CODE.failed } as const;

/** Prints what the controllers of a module would write. Returns 2 for changes, and 1 for a failure. */
export async function planModule(flags: PlanFlags, args: readonly string[], context: CommandContext): Promise<number> {
  const { terminal, signal } = context;
  const [module] = args;
  if (module === CHILD) return await planInside(context);
  const { namespace, recording, serverDryRun, allowOutside, timeout, output } = flags;
  if (recording !== undefined && serverDryRun) {
    throw new UsageError("--server-dry-run needs a server; leave out --recording");
  }
  const job: PlanJob = defined({
    module,
    namespace,
    recording,
    serverDryRun,
    timeoutMs: durationMs(timeout, "timeout"),
  });
  using client = recording === undefined ? await clientFor(flags, terminal) : undefined;
  const report = allowOutside
    ? await planHere(job, { client, allowOutside: true, signal })
    : await planApart(job, client, context);
  if (report === undefined) return EXIT_CODE.failed;
  if (output === "json") terminal.result(jsonText(report, 2));
  else for (const line of planText(report).split("\n")) terminal.result(line.replace(/\S.*/, plain));
  return CODES[report.result];
}

/** Runs a module in this process. What it prints goes to standard error. */
async function planHere(
  { module, recording, proxy: _, ...job }: PlanJob,
  options: { readonly client?: Client; readonly allowOutside: true | "stopped"; readonly signal: AbortSignal },
): Promise<PlanReport> {
  const { console } = globalThis;
  const { log, info, debug, error } = console;
  Object.assign(console, { log: error, info: error, debug: error });
  try {
    const exports = await import(pathToFileURL(resolve(module)).href).catch((cause) => {
      throw unreadable("plan", module, "a module with manager(client)", cause);
    }) as { readonly manager?: (client: Client) => Manager };
    const { manager } = exports;
    if (typeof manager !== "function") {
      throw new UsageError(`plan: "${module}" exports no function manager(client); export it, and return a Manager`);
    }
    const file = recording === undefined ? undefined : await open(recording).catch((cause) => {
      throw unreadable("--recording", recording, "a file of informer record", cause);
    });
    const bytes = file?.readableWebStream({ autoClose: true }) as ReadableStream<Uint8Array> | undefined;
    return await plan((client) => manager(client), { ...job, ...options, ...defined({ recording: bytes }) });
  } finally {
    Object.assign(console, { log, info, debug });
  }
}

/** Runs a module in a child process that reaches nothing but this one. Returns undefined if it has no report. */
async function planApart(
  job: PlanJob,
  client: Client | undefined,
  { terminal, signal }: CommandContext,
): Promise<PlanReport | undefined> {
  if (!isDeno()) {
    throw new UsageError(
      "only Deno can stop calls to other systems than the API server; use Deno, or add --allow-outside if they are harmless",
    );
  }
  const token = crypto.randomUUID();
  await using server = client && await listen(0, forwarder(client, token, job.serverDryRun === true), terminal);
  const address = `127.0.0.1:${server?.port}`;
  const proxy = client && { server: `http://${address}`, token, namespace: client.namespace };
  // Deno does not run a package of JSR by its address.
  const [, version] = /^https:\/\/jsr\.io\/@kube\/informer\/([^/]+)\//.exec(import.meta.url) ?? [];
  const program = version === undefined
    ? new URL("./main.ts", import.meta.url).href
    : `jsr:@kube/informer@${version}/cli`;
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      ..."run --quiet --no-prompt --no-lock --cached-only --allow-read --allow-env".split(" "),
      ...server === undefined ? [] : [`--allow-net=${address}`],
      ...[program, "plan", CHILD],
    ],
    // The runtime itself exports traces, whatever the program may reach.
    env: { NO_PROXY: "127.0.0.1", no_proxy: "127.0.0.1", OTEL_DENO: "false" },
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
    signal,
  }).spawn();
  await new Blob([JSON.stringify(defined({ ...job, proxy }))]).stream().pipeTo(child.stdin);
  const [text] = await Promise.all([new Response(child.stdout).text(), child.status]);
  signal.throwIfAborted();
  return text === "" ? undefined : JSON.parse(text);
}

/** Runs a plan that another process has sent, and prints the report as JSON. */
async function planInside({ terminal, signal }: CommandContext): Promise<number> {
  const { proxy, ...job } = JSON.parse(await readAll()) as PlanJob;
  const credentials = { apply: (headers: Headers) => headers.set("authorization", `Bearer ${proxy?.token}`) };
  const { server, namespace } = proxy ?? {};
  using client = server === undefined ? undefined : new Client({ server, namespace, credentials });
  terminal.result(JSON.stringify(await planHere(job, { client, allowOutside: "stopped", signal })));
  return EXIT_CODE.done;
}

const readAll = (): Promise<string> => new Response(Deno.stdin.readable).text();

/** Forwards the reads of a child process to the API server, and the dry runs if there may be any. */
export function forwarder(client: Client, token: string, mayDryRun: boolean): (request: Request) => Promise<Response> {
  return async (request) => {
    if (request.headers.get("authorization") !== `Bearer ${token}`) {
      return new Response("Unauthorized", { status: 401 });
    }
    const { pathname, search } = new URL(request.url);
    const { method, signal } = request;
    const body = await request.text();
    const refuse = (code: number, message: string): Response =>
      Response.json({ kind: "Status", apiVersion: "v1", status: "Failure", code, message }, { status: code });
    const refusal = planRefusal(method, pathname + search, mayDryRun, body !== "");
    if (refusal !== undefined) return refuse(403, refusal);
    const headers = new Headers();
    for (const name of ["accept", "content-type"]) headers.set(name, request.headers.get(name) ?? "application/json");
    try {
      const init = { method, headers, signal, ...body !== "" && { body } };
      const response = await client.fetch(pathname + search, init);
      const type = response.headers.get("content-type") ?? "application/json";
      return new Response(response.body, { status: response.status, headers: { "content-type": type } });
    } catch (error) {
      if (error instanceof StatusError) return Response.json(error.status, { status: error.status.code });
      if (error instanceof InformerError) return refuse(502, errorLine(error));
      throw error;
    }
  };
}
