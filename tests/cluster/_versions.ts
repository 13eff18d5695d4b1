// What servers of some versions lack: tests that need it name it, and are printed as NOT RUN there.
import type { Client } from "@kube/informer";
import { programPath } from "../../src/testing/control_plane/server_programs.ts";
import { minorOf } from "../../tools/introduced.ts";
import { TESTED } from "../../tools/versions.ts";

/** The minor versions, of those that are tested, that lack something; `tools/introduced.json` has their kinds. */
const LACKED_BY = {
  "AuthenticationConfiguration v1": [32, 33],
  "rows in streaming lists": [32, 33],
  "server-side shards": [32, 33, 34],
  "server-side shards by default": [32, 33, 34, 36, 37],
  "sort() in rules": [32, 33, 34],
  "streaming lists by default": [33],
  "the kinds of src/engine/kinds, and their fields and enums": [32, 33, 34, 36],
} as const satisfies Readonly<Record<string, readonly number[]>>;

/** Something that servers of some versions lack. */
export type Feature = keyof typeof LACKED_BY;

/**
 * The kinds in which servers of a minor version differ from the fake one, which follows the newest: in `resources` by a
 * subresource or a name, in `columns` by a column or its description, in `cells` by what rows of tables show.
 */
const DIFFERENCES: Readonly<Record<"resources" | "columns" | "cells", Readonly<Record<number, readonly string[]>>>> = {
  resources: {
    32: ["storage.k8s.io/v1 CSINode", "v1 Pod"],
    33: ["storage.k8s.io/v1 CSINode"],
    34: ["storage.k8s.io/v1 CSINode"],
    36: ["storage.k8s.io/v1 CSINode"],
  },
  columns: {
    32: ["apiextensions.k8s.io/v1 CustomResourceDefinition", "v1 ServiceAccount"],
    33: ["apiextensions.k8s.io/v1 CustomResourceDefinition", "v1 ServiceAccount"],
    34: ["apiextensions.k8s.io/v1 CustomResourceDefinition", "v1 ServiceAccount"],
    36: ["apiextensions.k8s.io/v1 CustomResourceDefinition"],
  },
  cells: {
    32: ["v1 ServiceAccount"],
    33: ["v1 ServiceAccount"],
    34: ["v1 ServiceAccount"],
  },
};

/** How a server of a minor version begins the refusal of an apply whose YAML has a key twice. */
export function strictYamlText(minor: number): string {
  return minor < 37 ? "error strict decoding YAML" : "error strict decoding patch";
}

/** What a server of a minor version says of values below a bound of a schema, as `reason: message` of their causes. */
export function tooSmall(minor: number): Readonly<Record<"text" | "list" | "map", string>> {
  if (minor < 38) {
    return {
      text: 'FieldValueInvalid: Invalid value: "a": spec.text in body should be at least 2 chars long',
      list: "FieldValueInvalid: Invalid value: 1: spec.list in body should have at least 2 items",
      map: "FieldValueInvalid: Invalid value: 1: spec.map in body should have at least 2 properties",
    };
  }
  return {
    text: "FieldValueTooShort: Too short: must be at least 2 characters",
    list: "FieldValueTooFew: Too few: 1: must have at least 2 items",
    map: "FieldValueTooFew: Too few: 1: must have at least 2 items",
  };
}

/** The largest number of header values that a server of a minor version reads in a request; Go 1.26 had no bound. */
export function mostHeaderValues(minor: number): number {
  return minor < 38 ? Infinity : 16_384;
}

/** Returns true for a minor version that answers with aggregated discovery v2beta1 if nothing else is accepted. */
export function hasBetaDiscovery(minor: number): boolean {
  return minor < 33;
}

/** The names of the kinds in which servers of a minor version differ from the fake one, sorted; prints them. */
export function differencesOf(minor: number, what: keyof typeof DIFFERENCES): readonly string[] {
  const kinds = DIFFERENCES[what][minor] ?? [];
  if (kinds.length > 0) console.error(`DIFFERENT: ${what} of Kubernetes 1.${minor}: ${kinds.join(", ")}`);
  return kinds;
}

/** Returns true for the minor version of `src/engine/kinds`, which the fake server follows. */
export function isNewest(minor: number): boolean {
  return TESTED.at(-1) === `1.${minor}`;
}

/** The minor version of a server: 37. */
export async function minorOfServer(client: Client): Promise<number> {
  const { gitVersion } = await (await client.fetch("/version")).json() as { readonly gitVersion: string };
  return minorOf(gitVersion);
}

/** The minor version of the servers in the folder `assets`: 37. */
export function minorVersion(assets: string): number {
  const { stdout } = new Deno.Command(programPath(assets, "kube-apiserver"), { args: ["--version"] }).outputSync();
  return minorOf(new TextDecoder().decode(stdout).trim().replace(/^Kubernetes /, ""));
}

/** Returns true if servers of a minor version have it. */
export function hasFeature(minor: number, feature: Feature): boolean {
  return !(LACKED_BY[feature] as readonly number[]).includes(minor);
}

/** Returns what a test needs that lists so. */
export function needsOf(streamingList: "on" | "off"): readonly Feature[] {
  return streamingList === "on" ? ["streaming lists by default"] : [];
}

/** Returns the reason why a test that needs `features` cannot pass on a minor version. */
export function lackOf(minor: number, features: readonly Feature[]): string | undefined {
  const lacking = features.filter((feature) => !hasFeature(minor, feature));
  return lacking.length === 0 ? undefined : `Kubernetes 1.${minor} lacks ${lacking.join(", ")}`;
}
