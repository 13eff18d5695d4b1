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
import { decoder } from "../engine/api/object.ts";
import { isForbidden } from "../engine/api/status.ts";
import { isAbortOf } from "../engine/async/signals.ts";
import { Client } from "../engine/client/client.ts";
import { isDeno } from "../host/connect/runtime/runtime.ts";
import type { Manager } from "../operator/controllers/reconcile/manager.ts";
import { sendPlanned } from "../testing/plan/overlay.ts";
import { plan, type PlanOptions } from "../testing/plan/plan.ts";
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

/** A plan to make. */
interface PlanJob extends Pick<PlanOptions, "namespace" | "serverDryRun" | "timeoutMs"> {
  readonly module: string;
  readonly recording?: string;
}

/** A child process finds its job in this variable, with the options of a client that forwards reads. */
const VARIABLE = "INFORMER_PLAN";

/** The module argument of the child process. */
const CHILD = "-";

const CODES = { nothing: EXIT_CODE.done, changes: EXIT_CODE.usage, failed: EXIT_CODE.failed } as const;

/** Prints what the controllers of a module would write. Returns 2 for changes, and 1 for a failure. */
export async function planModule(
  flags: PlanFlags,
  [module]: readonly string[],
  context: CommandContext,
): Promise<number> {
  const { terminal, signal } = context;
  if (module === CHILD) return await planInside(context);
  const { namespace, recording, serverDryRun, allowOutside, timeout, output } = flags;
  if (recording !== undefined && serverDryRun) {
    throw new UsageError("--server-dry-run needs a server; leave out --recording");
  }
  if (!allowOutside && !isDeno()) {
    throw new UsageError(
      "only Deno can stop calls to other systems than the API server; use Deno, or add --allow-outside if they are harmless",
    );
  }
  const timeoutMs = durationMs(timeout, "timeout");
  const job: PlanJob = defined({ module, namespace, recording, serverDryRun, timeoutMs });
  using client = recording === undefined ? await clientFor(flags, terminal) : undefined;
  // Without a server, each request of the plan would be repeated until its time is over.
  await client?.fetch("/version", { signal }).then(({ body }) => body?.cancel(), (error) => {
    if (!isForbidden(error)) throw error; // a role may lack this right
  });
  const planning = allowOutside ? planHere(job, { client, allowOutside, signal }) : planApart(job, client, context);
  const report = await planning.catch((error) => {
    if (!isAbortOf(signal, error)) throw error;
  });
  if (report === undefined) return EXIT_CODE.failed; // also when interrupted: 0 would say that nothing changes
  if (output === "json") terminal.result(jsonText(report, 2));
  else for (const line of planText(report).split("\n")) terminal.result(line.replace(/\S.*/, plain));
  return CODES[report.result];
}

/** Runs a module in this process. What it prints goes to standard error. */
async function planHere(
  { module, recording, ...job }: PlanJob,
  options: Pick<PlanOptions, "client" | "allowOutside" | "signal">,
): Promise<PlanReport> {
  const own = { ...console };
  Object.assign(console, { log: own.error, info: own.error, debug: own.error });
  try {
    const exports = await import(pathToFileURL(resolve(module)).href).catch((cause) => {
      throw unreadable("plan", module, "a module with manager(client)", cause);
    });
    const { manager } = exports as { readonly manager?: (client: Client) => Manager };
    if (typeof manager !== "function") {
      throw new UsageError(`plan: "${module}" exports no function manager(client); export it, and return a Manager`);
    }
    const file = recording === undefined ? undefined : await open(recording).catch((cause) => {
      throw unreadable("--recording", recording, "a file of informer record", cause);
    });
    const bytes = file?.readableWebStream({ autoClose: true }) as ReadableStream<Uint8Array> | undefined;
    return await plan((client) => manager(client), { ...job, ...options, ...defined({ recording: bytes }) });
  } finally {
    Object.assign(console, own);
  }
}

/** Runs a module in a child process that reaches nothing but this one. Returns undefined if it has no report. */
async function planApart(
  job: PlanJob,
  client: Client | undefined,
  { terminal, signal }: CommandContext,
): Promise<PlanReport | undefined> {
  const token = crypto.randomUUID();
  await using server = client && await listen(0, forwarder(client, token, job.serverDryRun === true), terminal);
  const address = `127.0.0.1:${server?.port}`;
  const proxy = client && { server: `http://${address}`, token, namespace: client.namespace };
  // Deno does not run a package of JSR by its address.
  const [, version] = /^https:\/\/jsr\.io\/@kube\/informer\/([^/]+)\//.exec(import.meta.url) ?? [];
  const program = version ? `jsr:@kube/informer@${version}/cli` : new URL("./main.ts", import.meta.url).href;
  const flags = "run --quiet --no-prompt --no-lock --allow-read --allow-env".split(" ");
  const child = new Deno.Command(Deno.execPath(), {
    args: [...flags, ...client ? [`--allow-net=${address}`] : [], program, "plan", CHILD],
    env: {
      [VARIABLE]: JSON.stringify({ job, proxy }),
      // The runtime itself exports traces, whatever the program may reach.
      OTEL_DENO: "false",
      NO_PROXY: "127.0.0.1",
      no_proxy: "127.0.0.1",
    },
    stdin: "null",
    stderr: "inherit",
    signal,
  });
  const { stdout } = await child.output();
  return stdout.length === 0 ? undefined : JSON.parse(decoder.decode(stdout));
}

/** Runs a plan in the child process, and prints the report as JSON. */
async function planInside({ terminal, signal }: CommandContext): Promise<number> {
  // It has written nothing, so it does not wait for reconciles to end.
  signal.addEventListener("abort", () => Deno.exit(EXIT_CODE.failed));
  const { job, proxy } = JSON.parse(Deno.env.get(VARIABLE)!);
  const credentials = { apply: (headers: Headers) => headers.set("authorization", `Bearer ${proxy.token}`) };
  using client = proxy && new Client({ server: proxy.server, namespace: proxy.namespace, credentials });
  terminal.result(JSON.stringify(await planHere(job, { client, allowOutside: "stopped", signal })));
  return EXIT_CODE.done;
}

/** Forwards the reads of a child process to the API server, and the dry runs if there may be any. */
export function forwarder(client: Client, token: string, mayDryRun: boolean): (request: Request) => Promise<Response> {
  return async (request) => {
    if (request.headers.get("authorization") !== `Bearer ${token}`) {
      return new Response("Unauthorized", { status: 401 });
    }
    const { pathname, search } = new URL(request.url);
    const { method } = request;
    const body = await request.text();
    const headers = new Headers();
    for (const name of ["accept", "content-type"]) headers.set(name, request.headers.get(name) ?? "application/json");
    const init = { method, headers, ...body !== "" && { body } };
    const response = await sendPlanned(client, pathname + search, init, mayDryRun);
    const type = response.headers.get("content-type") ?? "application/json";
    return new Response(response.body, { status: response.status, headers: { "content-type": type } });
  };
}
