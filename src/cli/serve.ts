import { PAGE_HTML, PAGE_POLICY } from "./page_html.ts";
import { isSecret, type Resource, resourceName } from "../api/resource.ts";
import type { KubernetesObject } from "../api/object.ts";
import type { RelayedCollection } from "../edge/options.ts";
import { InformerRelay } from "../edge/informer_relay.ts";
import { FileSnapshots } from "../deno/snapshots.ts";
import { SharedInformerFactory } from "../informer/shared_informer_factory.ts";
import type { ReflectorPhase } from "../reflector/transition.ts";
import { checkOutputFile } from "./output_file.ts";
import { errorLine } from "../errors/errors.ts";
import { EXIT_CODE, UsageError } from "./errors/explain_error.ts";
import {
  checkNumbers,
  checkSelection,
  clientFor,
  type ConnectionFlags,
  POLL_MS,
  readableSelection,
  resourcesFor,
  type SelectionFlags,
} from "./resources/resources_for.ts";
import { listen } from "./resources/fake_server.ts";
import { FailureReporter, type Terminal } from "./terminal/terminal.ts";

/** Headers of the page. */
const HEADERS: Readonly<Record<string, string>> = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-cache",
  "content-security-policy": PAGE_POLICY,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

/** Answers a request for the page, which is at `/`; `undefined` for other requests. */
export function answerPage(request: Request): Response | undefined {
  if (URL.parse(request.url)?.pathname !== "/") return undefined; // its host may be none
  if (request.method === "HEAD") return new Response(null, { headers: HEADERS });
  return request.method === "GET" ? new Response(PAGE_HTML, { headers: HEADERS }) : undefined;
}

interface ServeFlags extends ConnectionFlags, SelectionFlags {
  /** The port; 0 is any free one. */
  readonly port: number;
  /** If `true`, serves the data of Secrets. */
  readonly showSecrets?: boolean;
  /** The file from which caches begin, and to which they are written. */
  readonly snapshot?: string;
}

/** Serves caches of resources over HTTP on loopback until the signal aborts. Returns the exit code. */
export async function serve(
  flags: ServeFlags,
  names: readonly string[],
  terminal: Terminal,
  signal: AbortSignal,
): Promise<number> {
  checkSelection(flags, names);
  checkNumbers({ port: flags.port });
  const store = await snapshotsFor(flags, names);
  using client = await clientFor(flags, terminal);
  const polled = new Set<Resource<KubernetesObject>>();
  const resources = await resourcesFor(client, names, "watch", { form: "table", signal, terminal, polled });
  await using informers = new SharedInformerFactory(client, {
    ...await readableSelection(flags, client, resources, { terminal, signal }),
    snapshots: store && { store },
    onError: (error, { plural }) => terminal.say(`error: ${plural}: ${errorLine(error)}`),
  });
  const collections = collectionsOf(resources, polled, flags.showSecrets ?? false, terminal);
  await using relay = new InformerRelay(informers, {
    collections,
    onError: (error) => terminal.say(`error: ${errorLine(error)}`),
  });
  const http = listen(flags.port, (request, info) => answerPage(request) ?? relay.fetch(request, info), terminal);
  const address = `http://127.0.0.1:${http.port}`;
  try {
    terminal.result(address);
    const served = Object.keys(collections);
    terminal.say(
      `serving ${served.join(", ")} on ${address}; open it in a browser, or try: curl -N ${address}/events/${
        served[0]
      }`,
    );
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener("abort", () => resolve(), { once: true });
    });
  } finally {
    await relay[Symbol.asyncDispose]();
    await http[Symbol.asyncDispose]();
    // It writes the last snapshots.
    await informers.shutdown();
  }
  return store !== undefined && store.unwritten.size > 0 ? EXIT_CODE.failed : EXIT_CODE.done;
}

/**
 * Returns the place of snapshots, which never have the data of Secrets.
 *
 * @throws {UsageError} when the file cannot be written, or is of no use.
 */
async function snapshotsFor(flags: ServeFlags, names: readonly string[]): Promise<ServedSnapshots | undefined> {
  const { snapshot, fake } = flags;
  if (snapshot === undefined) return undefined;
  if (fake) {
    throw new UsageError("--snapshot is of no use with --fake, whose objects end with this program; leave one out");
  }
  await checkOutputFile("--snapshot", snapshot);
  const isOnly = names.join(",").split(",").length === 1;
  return new ServedSnapshots((name) => isOnly ? snapshot : `${snapshot}.${name.split("/", 1)[0]}`);
}

/** The files of the caches, and which of them could not be written. */
class ServedSnapshots extends FileSnapshots {
  /** The names of snapshots whose last write has failed. */
  readonly unwritten = new Set<string>();

  /** Writes a snapshot. @throws as its base. */
  override async set(...args: Parameters<FileSnapshots["set"]>): Promise<boolean> {
    this.unwritten.add(args[0]);
    const isWritten = await super.set(...args);
    this.unwritten.delete(args[0]);
    return isWritten;
  }
}

/** Returns the collections by their plurals, or by their names with the group where another has the same plural. */
function collectionsOf(
  resources: readonly Resource<KubernetesObject>[],
  polled: ReadonlySet<Resource<KubernetesObject>>,
  keepsData: boolean,
  terminal: Terminal,
): Record<string, RelayedCollection> {
  const collections: Record<string, RelayedCollection> = {};
  for (const resource of resources) {
    const name = Object.hasOwn(collections, resource.plural) ? resourceName(resource) : resource.plural;
    const failures = new FailureReporter(resourceName(resource), (line) => terminal.say(line));
    collections[name] = {
      resource,
      pollMs: polled.has(resource) ? POLL_MS : undefined,
      keep: keepsData && isSecret(resource) ? "data" : undefined,
      reflector: {
        onPhase: (phase: ReflectorPhase): void => {
          if (phase.name === "watching" && phase.open) failures.recovered();
        },
      },
      onError: (error): void => failures.report(error, true),
    };
  }
  return collections;
}
