/**
 * Names on the server and in the kubeconfig, which a shell offers as completions.
 *
 * {@linkcode ServerNames} is the entry point. It prints nothing, and has no errors: a shell has no place for one.
 *
 * @module
 */
import { defined } from "../engine/api/defined.ts";
import { byShortName, inBestVersion, onlyMetadata } from "../engine/api/resource.ts";
import { timedController } from "../engine/async/time.ts";
import { type Client, findResource } from "../engine/client/client.ts";
import { thisHost } from "../host/connect/host.ts";
import { loadKubeconfig } from "../host/connect/plan.ts";
import type { ClusterNames } from "./completions.ts";
import { builtInResource } from "./shared/built_in.ts";
import { clientFor, type ConnectionFlags } from "./shared/connect.ts";
import type { Terminal } from "./terminal/terminal.ts";

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
 * Names on the server, and in the kubeconfig, that the words of a command line choose. If the server does not respond,
 * or the kubeconfig cannot be read, there are none: a shell has no place for an error.
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
    const [context] = valueOf("--contexts")?.split(",") ?? [];
    this.#flags = {
      ...defined({ context }),
      ...defined(Object.fromEntries(connection)),
      fake: words.includes("--fake"),
    };
    this.#namespace = valueOf("-n", "--namespace");
    this.#terminal = terminal;
    this.#signal = signal;
  }

  /** Returns the plurals of kinds that can be listed; with the group where two kinds have the same. */
  kinds(): Promise<readonly string[]> {
    return this.#ask(async (client, signal) => {
      const known = await client.discover({ signal });
      return [...byShortName(inBestVersion(known).filter(({ verbs }) => verbs.includes("list"))).keys()];
    });
  }

  /** Returns the names of the contexts in the kubeconfig. Sends no request. */
  async contexts(): Promise<readonly string[]> {
    try {
      const config = await loadKubeconfig({ kubeconfig: this.#flags.kubeconfig }, thisHost);
      return "problem" in config ? [] : [...config.contexts.keys()].sort();
    } catch {
      return [];
    }
  }

  namespaces(): Promise<readonly string[]> {
    return this.#ask(async (client, signal) => {
      const { items } = await client.resource(onlyMetadata(builtInResource("ns")!)).list({ limit: LIMIT, signal });
      return items.map(({ metadata }) => metadata.name);
    });
  }

  /** Returns the names of objects of a kind, in the namespace of the command line. */
  names(kind: string): Promise<readonly string[]> {
    return this.#ask(async (client, signal) => {
      const resource = builtInResource(kind) ?? findResource(await client.discover({ signal }), kind);
      const namespace = this.#namespace ?? (client.namespace || "default");
      const { items } = await client.resource(onlyMetadata(resource), { namespace }).list({ limit: LIMIT, signal });
      return items.map(({ metadata }) => metadata.name);
    });
  }

  async #ask(
    question: (client: Client, signal: AbortSignal) => Promise<readonly string[]>,
  ): Promise<readonly string[]> {
    using controller = timedController(TIMEOUT_MS, "No answer in time", this.#signal);
    try {
      using client = await clientFor(this.#flags, this.#terminal);
      return [...await question(client, controller.signal)].sort();
    } catch {
      return [];
    }
  }
}
