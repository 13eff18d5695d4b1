/**
 * Diagnoses the connection to a server: configuration, address, certificate, credentials, permissions, watches.
 *
 * {@linkcode doctor} is the entry point: it runs the checks through a `Checkup` and prints the report.
 * It writes nothing on the server and repairs nothing.
 *
 * @module
 */

import { isatty } from "node:tty";
import { readPages } from "../../engine/api/lister_watcher.ts";
import type { KubernetesObject } from "../../engine/api/object.ts";
import { inBestVersion, type Resource, resourceName } from "../../engine/api/resource.ts";
import { type PlacedRule, rolesYaml } from "../../engine/api/roles.ts";
import { StatusError } from "../../engine/api/status.ts";
import { ReadAhead } from "../../engine/async/iterate.ts";
import type { Client } from "../../engine/client/client.ts";
import { permittedEnv, shellWord } from "../../host/connect/runtime/permissions.ts";
import { errorLine } from "../../engine/errors/errors.ts";
import { bytesText, MemoryMeter, type MemoryReport } from "../../engine/informer/cache/memory_report.ts";
import { wrap } from "../codegen/emit_module.ts";
import { clientFor, type ConnectionFlags, connectOptionsFor } from "../shared/connect.ts";
import { EXIT_CODE, UsageError } from "../shared/usage.ts";
import { checkSelection, discover, resourcesFor, type SelectionFlags, selectionFor } from "../shared/targets.ts";
import { terminalSize } from "../terminal/process_screen.ts";
import { type CommandContext, jsonText, tableLines, type Terminal } from "../terminal/terminal.ts";
import { checkConfiguration, checkCredentials, checkDiscovery, checkLogin, checkResource } from "./access_checks.ts";
import { Checkup, CHECKUP_LIMITS, type CheckupLimits, seconds, type Step, type StepStatus } from "./checkup.ts";
import {
  checkAddress,
  checkCertificate,
  type CheckedServer,
  checkServer,
  hostOf,
  type ServerAccess,
} from "./connection_checks.ts";

/** The number of objects to a page. */
const PAGE = 500;

/** The sizes of the objects of a kind. */
interface Measured {
  readonly resource: string;
  readonly memory: MemoryReport;
}

/**
 * Lists kinds in pages, one after the other, and prints the sizes of their objects, as informers would cache them
 * unread. It keeps sizes alone. Kinds that cannot be listed are reported. Returns the exit code.
 *
 * @throws the error of the first kind, if no kind can be listed.
 */
async function measureMemory(
  client: Client,
  resources: readonly Resource<KubernetesObject>[],
  flags: DoctorFlags,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<number> {
  const { namespace } = selectionFor(flags, client);
  const measured: Measured[] = [];
  const failures: { readonly resource: string; readonly error: unknown }[] = [];
  for (const kind of resources) {
    const resource = resourceName(kind);
    try {
      const collection = client.resource(kind, { namespace });
      measured.push({ resource, memory: await measure(collection, resource, terminal, signal) });
    } catch (error) {
      signal.throwIfAborted();
      failures.push({ resource, error });
    }
  }
  terminal.live("");
  if (measured.length === 0 && failures.length > 0) throw failures[0].error;
  for (const { resource, error } of failures) terminal.say(`error: skipped ${resource}: ${errorLine(error)}`);
  measured.sort((a, b) => b.memory.unreadBytes - a.memory.unreadBytes);
  if (flags.output === "json") terminal.result(jsonText({ resources: measured }, 2));
  else for (const line of lines(measured)) terminal.result(line);
  return failures.length === 0 ? EXIT_CODE.done : EXIT_CODE.failed;
}

async function measure(
  collection: ReturnType<Client["resource"]>,
  name: string,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<MemoryReport> {
  let meter = new MemoryMeter();
  const parts = readPages({
    action: `measure "${name}"`,
    list: { limit: PAGE },
    open: (list) =>
      new ReadAhead((signal) => collection.listEntries({ ...list, managedFields: "drop", signal }), signal),
    sizeOf: ({ entries }) => entries.length,
    restart: true,
  });
  terminal.live(`measuring ${name} ...`);
  for await (const { part, restarted } of parts) {
    if (restarted) meter = new MemoryMeter();
    for (const entry of part.entries) meter.add(entry);
    const { objects } = meter.sums;
    const of = part.remainingItemCount === undefined ? "" : ` of ${objects + part.remainingItemCount}`;
    if (part.entries.length > 0) {
      terminal.live(`measuring ${name}: ${objects}${of} objects, ${bytesText(meter.bytes)} ...`);
    }
  }
  return meter.report;
}

function lines(measured: readonly Measured[]): string[] {
  const total = { objects: 0, bytes: 0 };
  const kinds: string[][] = [["RESOURCE", "OBJECTS", "TEXT", "MEAN", "LARGEST"]];
  const namespaces = new Map<string, { objects: number; bytes: number }>();
  for (const { resource, memory: { objects, unreadBytes, largest: [first], ...memory } } of measured) {
    if (objects === 0) continue;
    total.objects += objects;
    total.bytes += unreadBytes;
    const largest = first === undefined ? "" : `${bytesText(first.bytes)} ${first.key}`;
    kinds.push([resource, String(objects), bytesText(unreadBytes), bytesText(unreadBytes / objects), largest]);
    for (const { namespace, objects, bytes } of memory.namespaces) {
      const sum = namespaces.get(namespace) ?? { objects: 0, bytes: 0 };
      namespaces.set(namespace, { objects: sum.objects + objects, bytes: sum.bytes + bytes });
    }
  }
  const largest = measured.flatMap(({ resource, memory }) => memory.largest.map((it) => ({ resource, ...it })))
    .sort((a, b) => b.bytes - a.bytes).slice(0, 10);
  const spaces = [...namespaces].sort(([, a], [, b]) => b.bytes - a.bytes).slice(0, 10);
  return [
    ...tableLines([...kinds, ["all", String(total.objects), bytesText(total.bytes), "", ""]]),
    "",
    ...tableLines([
      ["NAMESPACE", "OBJECTS", "TEXT"],
      ...spaces.map(([name, { objects, bytes }]) => [name || "(none)", String(objects), bytesText(bytes)]),
    ]),
    "",
    ...tableLines([
      ["LARGEST", "TEXT"],
      ...largest.map(({ resource, key, bytes }) => [`${resource} ${key}`, bytesText(bytes)]),
    ]),
  ];
}

/**
 * Prints the roles that informers on these resources need, as YAML: a Role in the namespace, and a ClusterRole for
 * cluster-scoped resources and where there is no namespace. Polled resources are only listed.
 */
function printRoles(resources: readonly Resource[], polled: Set<Resource>, namespace = "", terminal: Terminal): void {
  const rules = resources.map((resource): PlacedRule => ({
    verbs: polled.has(resource) ? ["list"] : ["list", "watch"],
    groups: [resource.group],
    resources: [resource.plural],
    namespace: resource.scope === "Namespaced" ? namespace : "",
  }));
  terminal.result(rolesYaml(rules, { name: "informer" }).trimEnd());
}

/** The results of a diagnosis. */
export interface Report {
  /** Address of the server, if known. */
  readonly server?: string;
  /** Exit code of the process. */
  readonly exitCode: number;
  /** The checks, in their order. */
  readonly steps: readonly Step[];
  /** The Deno flags that this configuration needs, if known. */
  readonly permissions: readonly string[];
  /** The command to run next, if nothing is wrong. */
  readonly next?: string;
  /** Duration, in milliseconds. */
  readonly ms: number;
}

/** Layout of a report. */
interface ReportStyle {
  /** If `true`, symbols and wrapped lines for people; otherwise one line for each check, for logs and `grep`. */
  readonly pretty: boolean;
  /** If `true`, prints colours. */
  readonly colours: boolean;
  /** Maximum width, in characters. */
  readonly columns: number;
}

const SYMBOLS: Readonly<Record<StepStatus, string>> = { ok: "✓", warn: "!", fail: "✗", skip: "-" };
/** Green, yellow, red, grey (ECMA-48 SGR). */
const COLOURS: Readonly<Record<StepStatus, number>> = { ok: 32, warn: 33, fail: 31, skip: 90 };
const BOLD = 1;

export function reportLines(report: Report, style: ReportStyle): string[] {
  return style.pretty ? prettyReport(report, style) : plainReport(report);
}

function plainReport(report: Report): string[] {
  const { steps, permissions } = report;
  const width = Math.max(...steps.map(({ name }) => name.length), "permissions".length);
  const lines = steps.map(({ status, name, what, remedy }) => {
    const advice = remedy === undefined ? "" : `; to do: ${remedy}`;
    return `${status.padEnd(4)}  ${name.padEnd(width)}  ${what}${advice}`;
  });
  if (permissions.length > 0) lines.push(`ok    ${"permissions".padEnd(width)}  ${permissions.join(" ")}`);
  return [...lines, ...summaryOf(report)];
}

function prettyReport(report: Report, { colours, columns }: ReportStyle): string[] {
  const { steps, permissions, server } = report;
  const paint = (code: number, text: string): string => colours ? `\x1b[${code}m${text}\x1b[0m` : text;
  const width = Math.max(...steps.map(({ name }) => name.length), "permissions".length);
  const indent = " ".repeat(width + 6);
  const room = Math.max(24, Math.min(columns, 120) - indent.length);
  const lines = [paint(BOLD, server === undefined ? "informer doctor" : `informer doctor  ${server}`), ""];
  for (const { status, name, what, remedy } of steps) {
    const [first, ...rest] = wrap(what, room);
    lines.push(`  ${paint(COLOURS[status], SYMBOLS[status])} ${name.padEnd(width)}  ${first}`);
    lines.push(...rest.map((line) => indent + line));
    if (remedy === undefined) continue;
    const [advice, ...more] = wrap(remedy, room - 2);
    lines.push(paint(COLOURS[status], `${indent}→ ${advice}`));
    lines.push(...more.map((line) => paint(COLOURS[status], `${indent}  ${line}`)));
  }
  permissions.forEach((flag, i) => {
    const head = i === 0 ? `  ${paint(COLOURS.ok, SYMBOLS.ok)} ${"permissions".padEnd(width)}  ` : indent;
    // Not wrapped, so that it can be copied.
    lines.push(head + flag);
  });
  const worst = worstOf(steps);
  return [...lines, "", ...summaryOf(report).map((line) => `  ${paint(COLOURS[worst], line)}`)];
}

function worstOf(steps: readonly Step[]): StepStatus {
  return (["fail", "warn"] as const).find((status) => steps.some((step) => step.status === status)) ?? "ok";
}

function summaryOf({ steps, next, ms }: Report): string[] {
  const count = (wanted: StepStatus): number => steps.filter(({ status }) => status === wanted).length;
  const [failed, warned] = [count("fail"), count("warn")];
  const warnings = `${warned} ${warned === 1 ? "warning" : "warnings"}`;
  const verdict = failed > 0
    ? `${failed} of ${steps.length} checks failed${warned > 0 ? `, ${warnings}` : ""}`
    : warned > 0
    ? `informers can run, with ${warnings}`
    : "all good: informers can run";
  return [`${verdict} (${seconds(ms)})`, ...next === undefined ? [] : [`next: ${next}`]];
}

/** Returns the command that follows the resources that were checked, with the same connection. */
function nextOf({ names, flags: { namespace, allNamespaces, fake, ...flags } }: Scope): string {
  const { kubeconfig, context, server, tokenFile, as, asGroup = [], asUid } = flags;
  const given = Object.entries({
    kubeconfig,
    context,
    server,
    "token-file": tokenFile,
    as,
    "as-uid": asUid,
    namespace,
  });
  return [
    `informer watch ${names.join(" ")}`,
    ...[...given, ...asGroup.map((group) => ["as-group", group] as const)].flatMap(([flag, value]) =>
      value === undefined ? [] : [`--${flag} ${shellWord(value)}`]
    ),
    ...allNamespaces ? ["-A"] : [],
    ...fake ? ["--fake"] : [],
  ].join(" ");
}

export interface DoctorFlags extends ConnectionFlags, Pick<SelectionFlags, "namespace" | "allNamespaces"> {
  /** A text report, or a JSON object. */
  readonly output: "table" | "json";
  /** If `true`, prints the roles that informers on the resources need, and checks nothing. */
  readonly rbac?: boolean;
  /** If `true`, measures the objects of the resources, or of all kinds, and checks nothing. */
  readonly memory?: boolean;
}

interface DoctorSettings {
  /** Time limits. @default {3 s for a check, 5 s for a credential plugin, 14 s in total} */
  readonly limits?: CheckupLimits;
  /**
   * Layout of the report. @default {for people on a terminal, in colours unless NO_COLOR is set; for logs otherwise}
   */
  readonly style?: ReportStyle;
}

/** The resources to check. */
interface Scope {
  /** Names, as on the command line. */
  readonly names: readonly string[];
  /** The namespace, if it is not the client's. */
  readonly flags: DoctorFlags;
}

/**
 * Checks each step between this machine and a running informer, in the order in which they can fail, and prints
 * problems and remedies. Returns the exit code: 0, 1 when a check failed, 2 when a resource is unknown, 3 when the
 * server cannot be reached or denies access.
 *
 * Nothing is written on the server. Ends within about 15 s.
 *
 * @throws {UsageError} and other errors for invalid flags.
 */
export async function doctor(
  flags: DoctorFlags,
  resources: readonly string[],
  { terminal, signal }: Pick<CommandContext, "terminal" | "signal">,
  settings: DoctorSettings = {},
): Promise<number> {
  const { limits = CHECKUP_LIMITS, style = processStyle() } = settings;
  const names = [...new Set(resources.flatMap((name) => name.split(",")).filter((name) => name !== ""))];
  checkSelection(flags, names);
  if (resources.length > 0 && names.length === 0) throw new UsageError("name at least one resource, such as pods");
  const scope = { names: names.length === 0 ? ["pods"] : names, flags };
  if (flags.rbac && flags.memory) throw new UsageError("--rbac and --memory print different things; leave one out");
  if (flags.rbac) {
    if (flags.output === "json") throw new UsageError("--rbac prints YAML; leave out -o json");
    using client = await clientFor(flags, terminal);
    const polled = new Set<Resource<KubernetesObject>>();
    const found = await resourcesFor(scope.names, "watch", { form: "object", terminal, polled }, client, signal);
    printRoles(found, polled, selectionFor(flags, client).namespace, terminal);
    return EXIT_CODE.done;
  }
  if (flags.memory) {
    using client = await clientFor(flags, terminal);
    const found = names.length > 0
      ? await resourcesFor(names, "list", { form: "object", terminal }, client, signal)
      : await cachedKinds(client, terminal, signal);
    return await measureMemory(client, found, flags, terminal, signal);
  }
  const startedAt = performance.now();
  const checkup = new Checkup(signal, limits, (name) => terminal.live(`looking at ${name} ...`));
  const found = flags.fake ? await examineFake(checkup, scope, terminal) : await examine(checkup, scope, terminal);
  terminal.live("");
  const ms = Math.round(performance.now() - startedAt);
  const { steps, exitCode } = checkup;
  const report = { ...found, exitCode, steps, ...worstOf(steps) === "ok" ? { next: nextOf(scope) } : {}, ms };
  if (flags.output === "json") terminal.result(jsonText({ ok: exitCode === 0, ...report }, 2));
  else for (const line of reportLines(report, style)) terminal.result(line);
  return exitCode;
}

/** Returns the kinds that an informer can follow, each in one version. */
async function cachedKinds(client: Client, terminal: Terminal, signal: AbortSignal): Promise<Resource[]> {
  return inBestVersion(await discover(client, terminal, signal)).filter(({ verbs, group }) =>
    // Events of this group are those of the core group.
    verbs.includes("list") && verbs.includes("watch") && group !== "events.k8s.io"
  );
}

/** The server and permissions of a report. */
type Found = Pick<Report, "server" | "permissions">;

async function examineFake(checkup: Checkup, scope: Scope, terminal: Terminal): Promise<Found> {
  using client = await clientFor(scope.flags, terminal);
  checkup.note("configuration", { status: "ok", what: "a fake API server in this process" });
  await examineServer(checkup, scope, { client, ask: (path, init) => askClient(client, path, init) });
  return { permissions: [] };
}

async function examine(checkup: Checkup, scope: Scope, terminal: Terminal): Promise<Found> {
  const warnings = new Set<string>();
  using access = await checkConfiguration(checkup, {
    ...connectOptionsFor(scope.flags, terminal),
    onWarning: (warning) => warnings.add(warning),
  });
  if (access === undefined) return { permissions: [] };
  // The warnings so far are about credentials, which have a check of their own below.
  warnings.clear();
  await examineAccess(checkup, scope, access);
  for (const what of warnings) {
    checkup.note("warning", { status: "warn", what, remedy: "look it up in the server's release notes" });
  }
  const { origin, server: address } = access.connection;
  const insecure = `--unsafely-ignore-certificate-errors=${hostOf(address)}`;
  return {
    server: address.href.replace(/\/$/, ""),
    permissions: [...origin.permissions, ...(origin.insecure ? [insecure] : [])],
  };
}

async function examineAccess(checkup: Checkup, scope: Scope, access: ServerAccess): Promise<void> {
  if (!await checkAddress(checkup, access)) return;
  const hasLogin = await checkCredentials(checkup, access);
  if (!await checkCertificate(checkup, access)) return;
  if (hasLogin) return await examineServer(checkup, scope, access);
  await checkServer(checkup, access);
}

async function examineServer(checkup: Checkup, { names, flags }: Scope, server: CheckedServer): Promise<void> {
  if (!await checkServer(checkup, server)) return;
  if (!await checkLogin(checkup, server)) return;
  const known = await checkDiscovery(checkup, server);
  if (known === undefined) return;
  const { namespace } = selectionFor(flags, server.client);
  const parts = names.map((name) => ({ name, part: checkup.beside() }));
  await Promise.all(parts.map(({ name, part }) => checkResource(part, server, known, name, namespace)));
  for (const { part } of parts) checkup.append(part);
}

/** Sends a request; an error status is a response, too. */
async function askClient(client: Client, path: string, init: RequestInit): Promise<Response> {
  try {
    return await client.fetch(path, init);
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    return Response.json(error.status, { status: error.status.code });
  }
}

function processStyle(): ReportStyle {
  const pretty = isatty(1);
  return { pretty, colours: pretty && !permittedEnv("NO_COLOR"), columns: pretty ? terminalSize().columns : 80 };
}
