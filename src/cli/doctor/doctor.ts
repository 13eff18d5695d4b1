/**
 * Diagnoses the connection to a server: configuration, address, certificate, credentials, permissions, watches.
 *
 * {@linkcode doctor} is the entry point: it runs the checks of `checks/` through a `Checkup` and prints the report.
 * It writes nothing on the server and repairs nothing.
 *
 * @module
 */
import { jsonText } from "../terminal/text/plain.ts";
import { StatusError } from "../../api/errors.ts";
import type { ApiResource } from "../../api/api_resource.ts";
import { type Resource, resourceName } from "../../api/resource.ts";
import { errorLine } from "../../errors/error_line.ts";
import type { Client } from "../../client/client.ts";
import type { CheckedServer, ServerAccess } from "./checks/server_access.ts";
import { checkCredentials } from "./checks/check_credentials.ts";
import { checkConfiguration } from "./checks/check_configuration.ts";
import { Checkup, CHECKUP_LIMITS, type CheckupLimits } from "./checkup/checkup.ts";
import { reportLines, type ReportStyle } from "./report.ts";
import { checkResource } from "./checks/check_resource.ts";
import { checkServer } from "./checks/check_server.ts";
import { checkDiscovery } from "./checks/check_discovery.ts";
import { checkLogin } from "./checks/check_login.ts";
import { checkAddress } from "./checks/check_address.ts";
import { checkCertificate } from "./checks/check_certificate.ts";
import { measureMemory } from "./measure_memory.ts";
import { printRoles } from "./print_roles.ts";
import { EXIT_CODE } from "../errors/exit_code.ts";
import { UsageError } from "../errors/usage_error.ts";
import { clientFor, type ConnectionFlags } from "../target/client_for.ts";
import { resourcesFor } from "../target/resources_for.ts";
import { checkSelection, type SelectionFlags, selectionFor } from "../target/selection_flags.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** The flags of `doctor`. */
export interface DoctorFlags extends ConnectionFlags, Pick<SelectionFlags, "namespace" | "allNamespaces"> {
  /** A text report, or a JSON object. */
  readonly output: "table" | "json";
  /** If `true`, prints the roles that informers on the resources need, and checks nothing. */
  readonly rbac?: boolean;
  /** If `true`, measures the objects of the resources, or of all kinds, and checks nothing. */
  readonly memory?: boolean;
}

/** Settings of {@linkcode doctor}. */
export interface DoctorSettings {
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
 * problems and remedies. Returns the exit code: 0, 1 when a check failed, 2 when a resource is unknown, 3 when the server
 * cannot be reached or denies access.
 *
 * Nothing is written on the server. Ends within about 15 s.
 *
 * @throws {UsageError} and other errors for invalid flags.
 */
export async function doctor(
  flags: DoctorFlags,
  resources: readonly string[],
  terminal: Terminal,
  signal: AbortSignal,
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
    const found = await resourcesFor(client, scope.names, "watch", { form: "object", signal, terminal });
    printRoles(found, selectionFor(flags, client).namespace, terminal);
    return EXIT_CODE.done;
  }
  if (flags.memory) {
    using client = await clientFor(flags, terminal);
    const found = names.length > 0
      ? await resourcesFor(client, names, "list", { form: "object", signal, terminal })
      : await cachedKinds(client, terminal, signal);
    const { namespace } = selectionFor(flags, client);
    return await measureMemory(client, found, { namespace, output: flags.output, signal }, terminal);
  }
  const startedAt = performance.now();
  const checkup = new Checkup(signal, limits, (name) => terminal.live(`looking at ${name} ...`));
  const found = flags.fake ? await examineFake(checkup, scope, terminal) : await examine(checkup, scope);
  terminal.live("");
  const ms = Math.round(performance.now() - startedAt);
  const { steps, exitCode } = checkup;
  const report = { ...found, exitCode, steps, ms };
  if (flags.output === "json") terminal.result(jsonText({ ok: exitCode === 0, ...report }, 2));
  else for (const line of reportLines(report, style)) terminal.result(line);
  return exitCode;
}

/** Returns the kinds that an informer can follow, each in one version. */
async function cachedKinds(client: Client, terminal: Terminal, signal: AbortSignal): Promise<Resource[]> {
  const known = await client.discover({
    signal,
    onError: (error, groupVersion) => terminal.say(`warning: ${groupVersion} was not discovered: ${errorLine(error)}`),
  });
  const found = new Map<string, ApiResource>();
  for (const kind of known) {
    const { verbs, group, preferred } = kind;
    // Events of this group are those of the core group.
    if (!verbs.includes("list") || !verbs.includes("watch") || group === "events.k8s.io") continue;
    if (preferred || !found.has(resourceName(kind))) found.set(resourceName(kind), kind);
  }
  return Array.from(
    found.values(),
    ({ group, version, plural, kind, scope }) => ({ group, version, plural, kind, scope }),
  );
}

/** The server and permissions of a report. */
interface Found {
  readonly server?: string;
  readonly permissions: readonly string[];
}

async function examineFake(checkup: Checkup, scope: Scope, terminal: Terminal): Promise<Found> {
  using client = await clientFor(scope.flags, terminal);
  checkup.note("configuration", { status: "ok", what: "a fake API server in this process" });
  await examineServer(checkup, scope, { client, ask: (path, init) => askClient(client, path, init) });
  return { permissions: [] };
}

async function examine(checkup: Checkup, scope: Scope): Promise<Found> {
  const { kubeconfig, context, server, tokenFile } = scope.flags;
  const warnings = new Set<string>();
  using access = await checkConfiguration(checkup, {
    ...{ kubeconfig, context, server, tokenFile },
    onWarning: (warning) => warnings.add(warning),
  });
  if (access === undefined) return { permissions: [] };
  // The warnings so far are about credentials, which have a check of their own below.
  warnings.clear();
  await examineAccess(checkup, scope, access);
  for (const what of warnings) {
    checkup.note("warning", { status: "warn", what, remedy: "see what the server's release notes say about it" });
  }
  const { origin, server: address } = access.connection;
  const insecure = `--unsafely-ignore-certificate-errors=${address.hostname.replace(/^\[(.*)\]$/, "$1")}`;
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
  const pretty = Deno.stdout.isTerminal();
  return { pretty, colours: pretty && !Deno.noColor, columns: pretty ? Deno.consoleSize().columns || 80 : 80 };
}
