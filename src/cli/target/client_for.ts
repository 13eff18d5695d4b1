import { ValidationError } from "@cliffy/command";
import { StatusError } from "../../api/errors.ts";
import type { KubernetesObject } from "../../api/object.ts";
import type { Selection } from "../../api/options.ts";
import { metadataOf, type Resource } from "../../api/resource.ts";
import { LabelSelector } from "../../api/selector.ts";
import { Client } from "../../client/client.ts";
import { findResource } from "../../client/find_resource.ts";
import { connect } from "../../deno/connect.ts";
import { Pod } from "../../kinds/core/v1.ts";
import { FakeApiServer, pods } from "../../testing/mod.ts";
import { SteadyChurn } from "./steady_churn.ts";
import { errorLine, UsageError } from "../errors/exit_code.ts";
import { checkFieldSelector } from "./check_field_selector.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** The flags that say which server, and as whom. */
export interface ConnectionFlags {
  /** Path of a kubeconfig. */
  readonly kubeconfig?: string;
  /** Name of a context in it. */
  readonly context?: string;
  /** Address of the API server. */
  readonly server?: string;
  /** Path of a file with a bearer token. */
  readonly tokenFile?: string;
  /** Whether to use a fake server in this process. */
  readonly fake?: boolean;
}

/** The flags that say which objects. */
export interface SelectionFlags {
  /** One namespace. */
  readonly namespace?: string;
  /** All of them. */
  readonly allNamespaces?: boolean;
  /** A label selector. */
  readonly selector?: string;
  /** A field selector. */
  readonly fieldSelector?: string;
}

/** A client for the server that the flags name. Disposing it ends what was started for it. */
export async function clientFor(flags: ConnectionFlags, terminal: Terminal): Promise<Client> {
  const onWarning = (warning: string): void => terminal.say(`warning: ${warning}`);
  const { kubeconfig, context, server, tokenFile } = flags;
  if (!flags.fake) return await connect({ kubeconfig, context, server, tokenFile, onWarning });
  for (const [flag, value] of Object.entries({ kubeconfig, context, server, "token-file": tokenFile })) {
    if (value !== undefined) throw new UsageError(`--fake is a server of its own; leave out --${flag}`);
  }
  const fake = new FakeApiServer();
  for (const pod of pods(100)) fake.create(Pod, pod);
  const churn = new SteadyChurn(fake, { perSecond: 5, mix: "all" });
  churn.start();
  const transport = {
    fetch: (request: Request) => fake.fetch(request),
    [Symbol.dispose]: () => {
      churn.stop();
      fake[Symbol.dispose]();
    },
  };
  return new Client({ server: "http://fake", namespace: "default", transport, onWarning });
}

/**
 * Refuses what can be refused before anything is sent.
 *
 * @throws {UsageError} @throws {ValidationError} @throws {SyntaxError}
 */
export function checkSelection(flags: SelectionFlags, names: readonly string[]): void {
  for (const name of names) {
    // Positional arguments swallow flags that nobody knows.
    if (!name.startsWith("-")) continue;
    const hint = name.startsWith("--") ? "" : ", and a value stands behind a space, as in -l app=web";
    throw new ValidationError(`There is no flag "${name}"${hint}`);
  }
  const { namespace, selector, fieldSelector } = flags;
  if (flags.allNamespaces && namespace !== undefined) {
    throw new UsageError("-A and -n contradict each other; leave one out");
  }
  if (namespace !== undefined && !NAMESPACE.test(namespace)) {
    throw new UsageError(`-n must name one namespace, by lower case letters, digits and "-", found "${namespace}"`);
  }
  if (selector !== undefined) LabelSelector.parse(selector);
  if (fieldSelector !== undefined) checkFieldSelector(fieldSelector);
}

/** What a server says to a field selector that it can read and does not know, as an error in usage; others as they are. */
export function explainRefusal(error: unknown, { fieldSelector }: SelectionFlags): unknown {
  if (!(error instanceof StatusError) || error.status.code !== 400 || fieldSelector === undefined) return error;
  return new UsageError(`--field-selector "${fieldSelector}" is refused by the server: ${error.status.message}`, {
    cause: error,
  });
}

/** What the flags select; the client's namespace unless they say otherwise. */
export function selectionFor(flags: SelectionFlags, client: Client): Selection {
  return {
    ...(flags.allNamespaces ? {} : { namespace: flags.namespace ?? (client.namespace || "default") }),
    ...(flags.selector === undefined ? {} : { labelSelector: flags.selector }),
    ...(flags.fieldSelector === undefined ? {} : { fieldSelector: flags.fieldSelector }),
  };
}

/**
 * The resources that `names` mean on this server, each once.
 *
 * @throws {UsageError} when a name means nothing there, or something that cannot be done with `verb`.
 */
export async function resourcesFor(
  client: Client,
  names: readonly string[],
  verb: "list" | "watch",
  options: { readonly metadataOnly?: boolean; readonly signal: AbortSignal; readonly terminal: Terminal },
): Promise<Resource<KubernetesObject>[]> {
  const warnings: string[] = [];
  const known = await client.discover({
    signal: options.signal,
    onError: (error, groupVersion) => warnings.push(`warning: ${groupVersion} was not discovered: ${errorLine(error)}`),
  });
  // If all had failed, the error would have said so.
  for (const warning of warnings) options.terminal.say(warning);
  const found = new Map<string, Resource<KubernetesObject>>();
  for (const name of names.flatMap((name) => name.split(",")).filter((name) => name !== "")) {
    let resource;
    try {
      resource = findResource(known, name);
    } catch (error) {
      throw new UsageError(errorLine(error), { cause: error });
    }
    if (!resource.verbs.includes(verb)) {
      throw new UsageError(`"${resource.plural}" cannot be ${verb === "list" ? "listed" : "watched"} on this server`);
    }
    const { group, version, plural, kind, scope } = resource;
    const plain: Resource = { group, version, plural, kind, scope };
    found.set(`${group}/${plural}`, options.metadataOnly ? metadataOf(plain) : plain);
  }
  if (found.size === 0) throw new UsageError("name at least one resource, such as pods");
  return [...found.values()];
}

/** What a namespace may be called (RFC 1123 label). */
const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
