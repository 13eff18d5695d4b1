/**
 * Asks a server for the defaults that are Go code, by dry runs of the objects in `minimal_objects.yaml`.
 *
 * A field has a default if it was filled in with one value wherever its type was without it. What the server draws, or
 * takes from other fields, differs between the objects, and is left to the rules of the fake server.
 *
 * @module
 */
import { load } from "js-yaml";
import { join } from "node:path";
import type { Client } from "../mod.ts";
import type { ApiResource } from "../src/engine/api/resource.ts";
import { apiVersionOf, type BuiltInTypes, idOf, SCALARS, type SchemaNode, targetOf, typeOf } from "./built_in_types.ts";

/** Defaults in JSON by type and field: `"core/v1.Probe periodSeconds"`. */
export type CodeDefaults = ReadonlyMap<string, unknown>;

type Values = Readonly<Record<string, unknown>>;

/** Types that a create fills in by more than defaults: metadata, finalizers of namespaces, statuses. */
const LEFT_OUT = ["ObjectMeta", "NamespaceSpec", "PodStatus", "CustomResourceDefinitionStatus", "APIServiceStatus"];

/** Fields that the server draws. */
const DRAWN = ["clusterIP", "clusterIPs", "healthCheckNodePort", "nodePort"];

/** Returns the defaults, and the fields that are filled in by more than a default, with the values. */
export async function codeDefaults(
  client: Pick<Client, "fetch">,
  types: BuiltInTypes,
  resources: readonly ApiResource[],
): Promise<{ readonly defaults: CodeDefaults; readonly differing: readonly string[] }> {
  const collector = new DefaultsCollector(types);
  const objects = load(await Deno.readTextFile(join(import.meta.dirname!, "minimal_objects.yaml"))) as Values[];
  for (const object of objects) {
    const { apiVersion, kind, metadata } = object as { apiVersion: string; kind: string; metadata: Values };
    const resource = resources.find((it) => apiVersionOf(it) === apiVersion && it.kind === kind);
    const name = types.kind(apiVersion, kind);
    if (resource === undefined || name === undefined) {
      console.warn(`not asked for defaults: the server has no ${kind} of ${apiVersion}`);
      continue;
    }
    const scope = metadata.namespace === undefined ? "" : `namespaces/${metadata.namespace}/`;
    const root = resource.group === "" ? "api" : "apis";
    const response = await client.fetch(`/${root}/${apiVersion}/${scope}${resource.plural}?dryRun=All`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(object),
    }).catch((cause) => {
      throw new Error(`Cannot ask for the defaults of ${kind} ${metadata.name}: ${cause.message}`, { cause });
    });
    collector.read(name, object, await response.json());
  }
  return collector.result();
}

/** Compares what was sent with the answers. */
export class DefaultsCollector {
  readonly #seen = new Map<string, Set<string | undefined>>();

  constructor(readonly types: Pick<BuiltInTypes, "fields">) {}

  /** Compares what was sent of a type with the answer. */
  read(name: string, sent: Values, got: Values): void {
    if (LEFT_OUT.includes(typeOf(name)) || SCALARS[name] !== undefined) return;
    for (const { owner, go, node } of this.types.fields(name)) {
      if (DRAWN.includes(go.name) || targetOf(node)?.endsWith("Time")) continue;
      const value = got[go.name] ?? undefined;
      if (sent[go.name] !== undefined) this.#descend(node, sent[go.name], value);
      else if (!go.pointer && isStruct(node)) this.#descend(node, {}, value ?? {});
      else this.#note(`${idOf(owner)}.${typeOf(owner)} ${go.name}`, go.pointer || !isZero(value) ? value : undefined);
    }
  }

  /** Returns what was the same everywhere. */
  result(): { readonly defaults: CodeDefaults; readonly differing: readonly string[] } {
    const defaults = new Map<string, unknown>();
    const differing: string[] = [];
    for (const [field, values] of [...this.#seen].sort(([a], [b]) => a < b ? -1 : 1)) {
      const [value] = values;
      if (values.size > 1) differing.push(`${field}: ${[...values].map((it) => it ?? "nothing").sort().join(" or ")}`);
      else if (value !== undefined) defaults.set(field, JSON.parse(value));
    }
    return { defaults, differing };
  }

  #note(field: string, value: unknown): void {
    const values = this.#seen.get(field) ?? new Set();
    this.#seen.set(field, values.add(value === undefined ? undefined : JSON.stringify(value)));
  }

  #descend(node: SchemaNode, sent: unknown, got: unknown): void {
    if (got === undefined) return; // Dropped: a feature that the server has switched off.
    const target = targetOf(node);
    if (target !== undefined) this.read(target, sent as Values, got as Values);
    const inner = node.items ?? node.additionalProperties;
    if (inner === undefined) return;
    for (const key in sent as Values) this.#descend(inner, (sent as Values)[key], (got as Values)[key]);
  }
}

function isStruct(node: SchemaNode): boolean {
  const target = targetOf(node);
  return target !== undefined && SCALARS[target] === undefined;
}

function isZero(value: unknown): boolean {
  return value === "" || value === 0 || value === "0" || value === false;
}
