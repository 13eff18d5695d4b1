import { ValidationError } from "@cliffy/command";
import { checkSelectors } from "../../api/check_selectors.ts";
import { StatusError } from "../../api/errors.ts";
import type { Selection } from "../../api/options.ts";
import type { Client } from "../../client/client.ts";
import { UsageError } from "../errors/usage_error.ts";

/** The flags that select objects. */
export interface SelectionFlags {
  /** A namespace. */
  readonly namespace?: string;
  /** If `true`, all namespaces. */
  readonly allNamespaces?: boolean;
  /** A label selector. */
  readonly selector?: string;
  /** A field selector. */
  readonly fieldSelector?: string;
}

/**
 * Validates flags and names before a request is sent.
 *
 * @throws {UsageError}
 * @throws {ValidationError}
 * @throws {SyntaxError}
 */
export function checkSelection(flags: SelectionFlags, names: readonly string[]): void {
  for (const name of names) {
    // The parser takes unknown flags for positional arguments.
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
  checkSelectors({ labelSelector: selector, fieldSelector });
}

/** Converts the server's rejection of a field selector to a {@linkcode UsageError}; returns other errors unchanged. */
export function explainRefusal(error: unknown, { fieldSelector }: SelectionFlags): unknown {
  if (!(error instanceof StatusError) || error.status.code !== 400 || fieldSelector === undefined) return error;
  return new UsageError(`--field-selector "${fieldSelector}" is refused by the server: ${error.status.message}`, {
    cause: error,
  });
}

/** Returns the selection of the flags; the default namespace is the client's. */
export function selectionFor(flags: SelectionFlags, client: Client): Selection {
  return {
    ...(flags.allNamespaces ? {} : { namespace: flags.namespace ?? (client.namespace || "default") }),
    ...(flags.selector === undefined ? {} : { labelSelector: flags.selector }),
    ...(flags.fieldSelector === undefined ? {} : { fieldSelector: flags.fieldSelector }),
  };
}

/** The names allowed for a namespace (RFC 1123 label). */
const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
