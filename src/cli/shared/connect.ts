/**
 * The flags that choose a server, and the clients that they stand for.
 *
 * {@linkcode clientFor} and {@linkcode clientsFor} are the entry points. With `--fake` a client has a fake API server
 * of its own. No function prints a result.
 *
 * @module
 */
import { defined } from "../../engine/api/json.ts";
import { DerivedController } from "../../engine/async/signals.ts";
import { Client } from "../../engine/client/client.ts";
import { logRequests } from "../../engine/client/http/connection.ts";
import { errorLine } from "../../engine/errors/errors.ts";
import { connect, connectContexts } from "../../host/connect/connect.ts";
import type { ConnectOptions } from "../../host/connect/connect_options.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { UsageError } from "./usage.ts";

/** The flags that choose the server and the credentials. */
export interface ConnectionFlags {
  /** Path of a kubeconfig. */
  readonly kubeconfig?: string;
  /** Name of a context in it. */
  readonly context?: string;
  /** Address of the API server. */
  readonly server?: string;
  /** Path of a file with a bearer token. */
  readonly tokenFile?: string;
  /** The user to act as. */
  readonly as?: string;
  /** The groups of that user. */
  readonly asGroup?: readonly string[];
  /** The uid of that user. */
  readonly asUid?: string;
  /** If `true`, prints a line about each request. */
  readonly verbose?: boolean;
  /** If `true`, uses a fake server in this process. */
  readonly fake?: boolean;
}

/** Refuses flags that have a value, by their long names. @throws {UsageError} that begins with `why`. */
export function refuseFlags(why: string, flags: Readonly<Record<string, unknown>>): void {
  const given = Object.keys(flags).find((flag) => flags[flag]);
  if (given !== undefined) throw new UsageError(`${why}; leave out --${given}`);
}

/** Returns the options of `connect()` that the flags stand for. @throws {UsageError} */
export function connectOptionsFor(flags: ConnectionFlags, terminal: Terminal): ConnectOptions {
  const { kubeconfig, context, server, tokenFile, as: user, asGroup: groups, asUid: uid, verbose } = flags;
  if (user === undefined && (groups ?? uid) !== undefined) {
    throw new UsageError(`${groups === undefined ? "--as-uid" : "--as-group"} needs a user; name it with --as`);
  }
  const as = user === undefined ? undefined : defined({ user, groups, uid });
  const onRequest = verbose ? logRequests((line) => terminal.say(line)) : undefined;
  return defined({ kubeconfig, context, server, tokenFile, as, onRequest });
}

/** Returns a client for the server that the flags name. Disposing it also disposes the fake server, if any. */
export async function clientFor(flags: ConnectionFlags, terminal: Terminal): Promise<Client> {
  const onWarning = (warning: string): void => terminal.say(`warning: ${warning}`);
  const options = { ...connectOptionsFor(flags, terminal), onWarning };
  if (!flags.fake) return await connect(options);
  const { kubeconfig, context, server, tokenFile, as } = flags;
  refuseFlags("--fake needs no other server", { kubeconfig, context, server, "token-file": tokenFile, as });
  const { fakeTransport } = await import("./fake_server.ts"); // no other connection needs it
  const transport = await fakeTransport();
  const { onRequest } = options;
  return new Client(defined({ server: "http://fake", namespace: "default", transport, onWarning, onRequest }));
}

/** The flags that choose one server, or several. */
export interface ClustersFlags extends ConnectionFlags {
  /** Names of contexts, separated by commas. */
  readonly contexts?: string;
  /** If `true`, all contexts of the kubeconfig. */
  readonly allContexts?: boolean;
}

/** A client, with the name of its cluster where the flags may name several. */
export interface ClusterClient {
  /** The name of the context. */
  readonly cluster?: string;
  readonly client: Client;
}

/** The clients of a command, which a disposal disposes. */
class ClusterClients implements Disposable {
  readonly all: readonly ClusterClient[];

  constructor(all: readonly ClusterClient[]) {
    this.all = all;
  }

  /**
   * Finds the resources with these names, as {@linkcode targetsFor} and {@linkcode resourcesFor} do, by the first
   * cluster that answers and has them.
   *
   * @throws the error of the first cluster, if none has.
   */
  async ask<R>(find: (client: Client, signal: AbortSignal) => Promise<R>, signal: AbortSignal): Promise<R> {
    using job = new DerivedController(signal);
    const found = this.all.map(({ client }) => find(client, job.signal));
    try {
      return await Promise.any(found);
    } catch (error) {
      throw error instanceof AggregateError ? error.errors[0] : error;
    }
  }

  [Symbol.dispose](): void {
    for (const { client } of this.all) client[Symbol.dispose]();
  }
}

/**
 * Returns the client of {@linkcode clientFor}, or one for each context that the flags name. Contexts that cannot be
 * used are reported.
 *
 * @throws {UsageError} when flags contradict each other, or no context can be used.
 */
export async function clientsFor(flags: ClustersFlags, terminal: Terminal): Promise<ClusterClients> {
  const { contexts, allContexts, context, server, tokenFile, fake } = flags;
  if (contexts === undefined && !allContexts) return new ClusterClients([{ client: await clientFor(flags, terminal) }]);
  const flag = contexts === undefined ? "--all-contexts" : "--contexts";
  if (contexts !== undefined && allContexts) {
    throw new UsageError("--contexts and --all-contexts cannot be combined; leave one out");
  }
  refuseFlags(`${flag} names several clusters`, { context, server, "token-file": tokenFile, fake });
  const names = contexts?.split(",").filter((name) => name !== "");
  if (names?.length === 0) throw new UsageError(`--contexts must name contexts, such as a,b, but it is "${contexts}"`);
  const onWarning = (warning: string): void => terminal.say(`warning: ${warning}`);
  const clients = await connectContexts({
    ...connectOptionsFor(flags, terminal),
    ...defined({ contexts: names }),
    onWarning,
    onRefused: (error, name) => terminal.say(`error: ${name}: ${errorLine(error)}`),
  });
  if (clients.size === 0) throw new UsageError(`${flag}: no context can be used; check the kubeconfig`);
  return new ClusterClients(Array.from(clients, ([cluster, client]) => ({ cluster, client })));
}
