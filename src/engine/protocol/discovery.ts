/**
 * The discovery documents from a Kubernetes API server.
 *
 * {@linkcode Discovery} is the entry point. The relay and the fake server use it. It writes documents, and reads none.
 *
 * @module
 */
import { compareVersionPriority, isBuiltInGroup, type Resource } from "../api/resource.ts";

/** The `/version` document for the Kubernetes version whose protocol is served, without `gitCommit`. */
export const KUBERNETES_VERSION = {
  major: "1",
  minor: "37",
  emulationMajor: "1",
  emulationMinor: "37",
  minCompatibilityMajor: "1",
  minCompatibilityMinor: "36",
  gitVersion: "v1.37.2",
  gitTreeState: "clean",
  buildDate: "1970-01-01T00:00:00Z",
  goVersion: "go1.26.8",
  compiler: "gc",
  platform: "linux/amd64",
} as const;

/** A subresource in discovery. */
export interface Subresource {
  /** Its name, e.g. `"scale"`. */
  readonly name: string;
  /** The verbs that it allows. */
  readonly verbs: readonly string[];
  /** The kind in its bodies. An empty group and version mean the resource's own group and version. */
  readonly responseKind: { readonly group: string; readonly version: string; readonly kind: string };
}

/** A resource in discovery. */
export interface DiscoveredResource extends Pick<Resource, "group" | "version" | "plural" | "kind" | "scope"> {
  /** One object's name, e.g. `"pod"`. */
  readonly singular: string;
  /** The short names, e.g. `["po"]`. */
  readonly shortNames: readonly string[];
  /** The categories, e.g. `["all"]`. */
  readonly categories: readonly string[];
  /** The verbs that it allows. */
  readonly verbs: readonly string[];
  /** True for a custom resource. */
  readonly custom: boolean;
  /** The subresources. */
  readonly parts: readonly Subresource[];
}

/** The discovery documents: groups, versions, resources. */
export class Discovery {
  readonly #resources: () => Iterable<DiscoveredResource>;

  /** Describes the resources that `resources` returns at each call. */
  constructor(resources: () => Iterable<DiscoveredResource>) {
    this.#resources = resources;
  }

  /** Returns true if the group exists, and has the version if you pass one. */
  has(group: string, version?: string): boolean {
    return this.#definitions().some((definition) =>
      definition.group === group && (version === undefined || definition.version === version)
    );
  }

  /** Returns the `/api` document. */
  versions(host: string): object {
    return {
      kind: "APIVersions",
      versions: ["v1"],
      serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress: host }],
    };
  }

  /** Returns the `/apis` document. */
  groups(): object {
    return { kind: "APIGroupList", apiVersion: "v1", groups: this.#groupNames().map((group) => this.#group(group)) };
  }

  /** Returns the `/apis/GROUP` document, or `undefined` if the group does not exist. */
  group(group: string): object | undefined {
    return this.has(group) ? { kind: "APIGroup", apiVersion: "v1", ...this.#group(group) } : undefined;
  }

  /** Returns the document for `/apis/GROUP/VERSION` or `/api/v1`, or `undefined` if the version does not exist. */
  resources(group: string, version: string): object | undefined {
    if (!this.has(group, version)) return undefined;
    const definitions = this.#definitions().filter((definition) =>
      definition.group === group && definition.version === version
    );
    return {
      kind: "APIResourceList",
      // The core group's document predates this field.
      ...(group === "" ? {} : { apiVersion: "v1" }),
      groupVersion: group === "" ? version : `${group}/${version}`,
      resources: definitions.flatMap(resourcesOf),
    };
  }

  /**
   * Returns the aggregated document for `/api` or `/apis`: every group with its resources (`APIGroupDiscoveryList`,
   * apidiscovery.k8s.io/v2).
   */
  aggregated(core: boolean): object {
    const items = (core ? [""] : this.#groupNames()).map((group) => ({
      metadata: core ? { creationTimestamp: null } : { name: group, creationTimestamp: null },
      versions: this.#versionsOf(group).map((version) => ({
        version,
        resources: this.#definitions()
          .filter((definition) => definition.group === group && definition.version === version)
          .map(aggregatedOf),
        freshness: "Current",
      })),
    }));
    return { kind: "APIGroupDiscoveryList", apiVersion: "apidiscovery.k8s.io/v2", metadata: {}, items };
  }

  #definitions(): DiscoveredResource[] {
    return [...this.#resources()];
  }

  #groupNames(): string[] {
    const groups = [...new Set(this.#definitions().map((definition) => definition.group))].filter((it) => it !== "");
    return [...groups.filter(isBuiltInGroup), ...groups.filter((group) => !isBuiltInGroup(group)).sort()];
  }

  #versionsOf(group: string): string[] {
    const versions = this.#definitions().filter((definition) => definition.group === group).map((d) => d.version);
    return [...new Set(versions)].sort(compareVersionPriority);
  }

  #group(name: string): Record<string, unknown> {
    const versions = this.#versionsOf(name).map((version) => ({ groupVersion: `${name}/${version}`, version }));
    return { name, versions, preferredVersion: versions[0] };
  }
}

function resourcesOf(definition: DiscoveredResource): unknown[] {
  const { plural, singular, kind, verbs, shortNames, categories, parts } = definition;
  const namespaced = definition.scope === "Namespaced";
  return [
    {
      name: plural,
      singularName: singular,
      namespaced,
      kind,
      verbs,
      ...(shortNames.length === 0 ? {} : { shortNames }),
      ...(categories.length === 0 ? {} : { categories }),
    },
    ...parts.map(({ name, verbs, responseKind: { group, version, kind } }) => ({
      name: `${plural}/${name}`,
      singularName: "",
      namespaced,
      ...(group === "" ? {} : { group, version }),
      kind,
      verbs,
    })),
  ];
}

function aggregatedOf(definition: DiscoveredResource): unknown {
  const { group, version, kind, shortNames, categories, custom, parts } = definition;
  return {
    resource: definition.plural,
    // Built-in kinds leave it to the reader to fill in their group and version.
    responseKind: custom ? { group, version, kind } : { group: "", version: "", kind },
    scope: definition.scope === "Namespaced" ? "Namespaced" : "Cluster",
    singularResource: definition.singular,
    verbs: definition.verbs,
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
    ...(parts.length === 0 ? {} : {
      subresources: parts.map(({ name, responseKind, verbs }) => ({
        subresource: name,
        responseKind: custom && responseKind.group === "" ? { group, version, kind } : responseKind,
        verbs,
      })),
    }),
  };
}
