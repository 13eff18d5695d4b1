import type { ApiResource } from "../../api/api_resource.ts";
import { DecodeError } from "../../api/errors.ts";
import type { KubernetesObject } from "../../api/object.ts";
import { metadataOf, type Resource, tableOf } from "../../api/resource.ts";
import type { Client } from "../../client/client.ts";
import { findResource } from "../../client/find_resource.ts";
import { errorLine } from "../../errors/error_line.ts";
import { UsageError } from "../errors/usage_error.ts";
import type { Terminal } from "../terminal/terminal.ts";

const FORMS: Readonly<
  Record<"object" | "metadata" | "table", (resource: Resource) => Resource<KubernetesObject>>
> = { object: (resource) => resource, metadata: metadataOf, table: tableOf };

/**
 * Finds the resources with these names on the server, each once, in the form in which objects are needed. The name of a
 * category, such as `all`, stands for its members.
 *
 * @throws {UsageError} when a name is unknown, or its resource does not support `verb`.
 */
export async function resourcesFor(
  client: Client,
  names: readonly string[],
  verb: "list" | "watch",
  options: {
    readonly form: "object" | "metadata" | "table";
    readonly signal: AbortSignal;
    readonly terminal: Terminal;
  },
): Promise<Resource<KubernetesObject>[]> {
  const warnings: string[] = [];
  const known = await client.discover({
    signal: options.signal,
    onError: (error, groupVersion) => warnings.push(`warning: ${groupVersion} was not discovered: ${errorLine(error)}`),
  });
  // If all groups had failed, `discover` would have thrown.
  for (const warning of warnings) options.terminal.say(warning);
  if (known.length === 0) {
    throw new DecodeError(
      "Cannot discover resources: the server lists none; check that its address is that of an API server",
    );
  }
  const found = new Map<string, Resource<KubernetesObject>>();
  for (const name of names.flatMap((name) => name.split(",")).filter((name) => name !== "")) {
    for (const resource of named(known, name)) {
      if (!resource.verbs.includes(verb)) {
        throw new UsageError(`"${resource.plural}" cannot be ${verb === "list" ? "listed" : "watched"} on this server`);
      }
      const { group, version, plural, kind, scope } = resource;
      const plain: Resource = { group, version, plural, kind, scope };
      found.set(`${group}/${plural}`, FORMS[options.form](plain));
    }
  }
  if (found.size === 0) throw new UsageError("name at least one resource, such as pods");
  return [...found.values()];
}

/** Returns the resource with that name, or the members of the category, each in the version that the server prefers. */
function named(known: readonly ApiResource[], name: string): readonly ApiResource[] {
  try {
    return [findResource(known, name)];
  } catch (error) {
    const members = known.filter(({ categories, preferred }) => preferred && categories.includes(name));
    if (members.length > 0) return members;
    throw new UsageError(errorLine(error), { cause: error });
  }
}
