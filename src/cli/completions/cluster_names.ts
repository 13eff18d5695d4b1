import { metadataOf, resourceName } from "../../api/resource.ts";
import type { Client } from "../../client/client.ts";
import type { ApiResource } from "../../api/api_resource.ts";
import { findResource } from "../../client/find_resource.ts";
import { Namespace } from "../../kinds/core/v1.ts";
import { denoHost } from "../../deno/host/host.ts";
import { loadKubeconfig } from "../../deno/load_kubeconfig.ts";
import { clientFor, type ConnectionFlags } from "../target/client_for.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** Names on a server and in a kubeconfig, for completion. */
export interface ClusterNames {
  /** Returns the plurals of kinds that can be listed; with the group where two kinds have the same. */
  kinds(): Promise<readonly string[]>;
  /** Returns the names of the contexts in the kubeconfig. */
  contexts(): Promise<readonly string[]>;
  /** Returns the names of the namespaces. */
  namespaces(): Promise<readonly string[]>;
  /** Returns the names of objects of a kind, in the namespace of the command line. */
  names(kind: string): Promise<readonly string[]>;
}

/** A shell waits for the answer: more than that is no help. */
const TIMEOUT_MS = 5_000;

/** The largest number of names to offer. */
const LIMIT = 500;

/** Flags with a value that choose the server, by their names on the command line. */
const CONNECTION = {
  "--kubeconfig": "kubeconfig",
  "--context": "context",
  "--server": "server",
  "--token-file": "tokenFile",
};

/**
 * Names on the server, and in the kubeconfig, that the words of a command line choose. Where the server cannot be asked, or the
 * kubeconfig cannot be read, there are none: a shell has no place for an error.
 */
export class ServerNames implements ClusterNames {
  readonly #flags: ConnectionFlags;
  readonly #namespace: string | undefined;
  readonly #terminal: Terminal;
  readonly #signal: AbortSignal;

  /** Names for a line of `words`. Sends nothing yet. */
  constructor(words: readonly string[], terminal: Terminal, signal: AbortSignal) {
    const valueOf = (...flags: string[]): string | undefined => {
      const at = words.findIndex((word) => flags.includes(word));
      return at === -1 ? undefined : words[at + 1] === "=" ? words[at + 2] : words[at + 1];
    };
    const connection = Object.entries(CONNECTION).map(([flag, name]) => [name, valueOf(flag)]);
    this.#flags = { ...Object.fromEntries(connection), fake: words.includes("--fake") };
    this.#namespace = valueOf("-n", "--namespace");
    this.#terminal = terminal;
    this.#signal = signal;
  }

  /** As {@linkcode ClusterNames.kinds}. */
  kinds(): Promise<readonly string[]> {
    return this.#ask(async (client, signal) => {
      const listed = (await client.discover({ signal })).filter(({ verbs, preferred }) =>
        verbs.includes("list") && preferred
      );
      const counts = Map.groupBy(listed, ({ plural }) => plural);
      const nameOf = (resource: ApiResource): string =>
        counts.get(resource.plural)!.length > 1 ? resourceName(resource) : resource.plural;
      return listed.map(nameOf);
    });
  }

  /** As {@linkcode ClusterNames.contexts}. Sends no request. */
  async contexts(): Promise<readonly string[]> {
    try {
      const config = await loadKubeconfig({ kubeconfig: this.#flags.kubeconfig }, denoHost);
      return "problem" in config ? [] : [...config.contexts.keys()].sort();
    } catch {
      return [];
    }
  }

  /** As {@linkcode ClusterNames.namespaces}. */
  namespaces(): Promise<readonly string[]> {
    return this.#ask(async (client, signal) => {
      const { items } = await client.resource(metadataOf(Namespace)).list({ limit: LIMIT, signal });
      return items.map(({ metadata }) => metadata.name);
    });
  }

  /** As {@linkcode ClusterNames.names}. */
  names(kind: string): Promise<readonly string[]> {
    return this.#ask(async (client, signal) => {
      const resource = findResource(await client.discover({ signal }), kind);
      const namespace = this.#namespace ?? (client.namespace || "default");
      const { items } = await client.resource(metadataOf(resource), { namespace }).list({ limit: LIMIT, signal });
      return items.map(({ metadata }) => metadata.name);
    });
  }

  async #ask(
    question: (client: Client, signal: AbortSignal) => Promise<readonly string[]>,
  ): Promise<readonly string[]> {
    const signal = AbortSignal.any([this.#signal, AbortSignal.timeout(TIMEOUT_MS)]);
    try {
      using client = await clientFor(this.#flags, this.#terminal);
      return [...await question(client, signal)].sort();
    } catch {
      return [];
    }
  }
}
