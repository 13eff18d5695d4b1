import { ValidationError } from "@cliffy/command";
import { StatusError } from "../../api/errors.ts";
import type { Selection } from "../../api/options.ts";
import { LabelSelector } from "../../api/selector.ts";
import { Client } from "../../client/client.ts";
import { UsageError } from "../errors/usage_error.ts";
import { checkFieldSelector } from "./check_field_selector.ts";

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

/** What a namespace may be called (RFC 1123 label). */
const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
