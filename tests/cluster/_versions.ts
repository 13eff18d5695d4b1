// What servers of some versions lack: tests that need it name it, and are printed as NOT RUN there.
import { programPath } from "../../src/deno/server_programs.ts";
import { minorOf } from "../../tools/introduced.ts";

/** The minor versions, of those that are tested, that lack something; `tools/introduced.json` has their kinds. */
const LACKED_BY = {
  "AuthenticationConfiguration v1": [32, 33],
  "the columns that the fake server has": [32, 33, 34],
  "rows in streaming lists": [32, 33],
  "streaming lists by default": [33],
  "the kinds of src/kinds, and their fields and enums": [32, 33, 34, 36],
} as const satisfies Readonly<Record<string, readonly number[]>>;

/** Something that servers of some versions lack. */
export type Feature = keyof typeof LACKED_BY;

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
