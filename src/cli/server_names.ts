/**
 * Names on the server and in the kubeconfig, which a shell offers as completions.
 *
 * {@linkcode ServerNames} is the entry point. It prints nothing, and has no errors: a shell has no place for one.
 *
 * @module
 */
import { inBestVersion, onlyMetadata } from "../engine/api/resource.ts";
import { timedController } from "../engine/async/time.ts";
import type { Client } from "../engine/client/client.ts";
import { findResource } from "../engine/client/find_resource.ts";
import { Namespace } from "../engine/kinds/core/v1.ts";
import { thisHost } from "../host/connect/host.ts";
import { loadKubeconfig } from "../host/connect/plan.ts";
import { COMMANDS, REPEATED } from "./commands.ts";
import type { ClusterNames } from "./completions.ts";
import { clientFor, type ClustersFlags } from "./shared/connect.ts";
import { byShortName, type SelectionFlags } from "./shared/targets.ts";
import type { Terminal } from "./terminal/terminal.ts";

/** A shell waits for the answer: more than that is no help. */
const TIMEOUT_MS = 5_000;

/** The largest number of names to offer. */
const LIMIT = 500;

/**
 * Names on the server, and in the kubeconfig, that the words of a command line choose. If the server does not respond,
 * or the kubeconfig cannot be read, there are none: a shell has no place for an error.
 */
export class ServerNames implements ClusterNames {
  readonly #flags: NamesFlags;
  readonly #terminal: Terminal;
  readonly #signal: AbortSignal;

  /** Names for a line of `words`. Sends nothing yet. */
  constructor(words: readonly string[], terminal: Terminal, signal: AbortSignal) {
    this.#flags = flagsIn(words);
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
      const { items } = await client.resource(onlyMetadata(Namespace)).list({ limit: LIMIT, signal });
      return items.map(({ metadata }) => metadata.name);
    });
  }

  /** Returns the names of objects of a kind, in the namespace of the command line. */
  names(kind: string): Promise<readonly string[]> {
    return this.#ask(async (client, signal) => {
      const resource = findResource(await client.discover({ signal }), kind);
      const namespace = this.#flags.namespace ?? (client.namespace || "default");
      const { items } = await client.resource(onlyMetadata(resource), { namespace }).list({ limit: LIMIT, signal });
      return items.map(({ metadata }) => metadata.name);
    });
  }

  async #ask(find: (client: Client, signal: AbortSignal) => Promise<readonly string[]>): Promise<readonly string[]> {
    using controller = timedController(TIMEOUT_MS, "No answer in time", this.#signal);
    try {
      const { contexts, context = contexts?.split(",")[0] } = this.#flags;
      using client = await clientFor({ ...this.#flags, ...context !== undefined && { context } }, this.#terminal);
      return [...await find(client, controller.signal)].sort();
    } catch {
      return [];
    }
  }
}

/** The flags that choose the names. */
type NamesFlags = ClustersFlags & Pick<SelectionFlags, "namespace">;

/** Returns the flags of a command line, as the parser names them. It has no errors: the line is not complete. */
function flagsIn(line: readonly string[]): NamesFlags {
  const words = unbroken(line);
  const { flags, connection } = COMMANDS.find(({ usage }) => usage.split(" ", 1)[0] === words[0]) ?? {};
  const found: Record<string, unknown> = {};
  for (const usage of Object.keys({ ...flags, ...connection })) {
    const [, short, long, type] = /^(?:(-\w), )?(--[a-z-]+)( <)?/.exec(usage) ?? [];
    const places = words.keys().filter((at) => words[at] === short || words[at] === long);
    const values = [...places].map((at) => type === undefined ? true : words[at + 1]);
    if (values.length === 0) continue;
    const name = long.slice(2).replace(/-(\w)/g, (_, letter) => letter.toUpperCase());
    found[name] = REPEATED.includes(long) ? values : values[0];
  }
  return found;
}

/** Returns the words of a line, where `--flag=value` is two. Bash also takes words apart, at each `=` and `:`. */
function unbroken(line: readonly string[]): string[] {
  const words: string[] = [];
  for (const word of line.flatMap((word) => /^(--[a-z-]+)=(.+)$/.exec(word)?.slice(1) ?? word)) {
    if (word === "=") continue;
    if (word === ":" || words.at(-1)?.endsWith(":")) words.push((words.pop() ?? "") + word);
    else words.push(word);
  }
  return words;
}
