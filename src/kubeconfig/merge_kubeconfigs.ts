import type { Kubeconfig, KubeconfigEntry } from "./model/kubeconfig.ts";

/**
 * Merges kubeconfigs by kubectl's rules: of entries with the same name, the first one is taken unchanged, and the first
 * `current-context` that is not empty wins. Each entry keeps the path of its file.
 */
export function mergeKubeconfigs(configs: readonly Kubeconfig[]): Kubeconfig {
  const currentContext = configs.find((config) => config.currentContext !== undefined)?.currentContext;
  return {
    files: configs.flatMap((config) => config.files),
    ...(currentContext === undefined ? {} : { currentContext }),
    clusters: firstOfEach(configs.map((config) => config.clusters)),
    contexts: firstOfEach(configs.map((config) => config.contexts)),
    users: firstOfEach(configs.map((config) => config.users)),
  };
}

function firstOfEach(maps: readonly ReadonlyMap<string, KubeconfigEntry>[]): ReadonlyMap<string, KubeconfigEntry> {
  const merged = new Map<string, KubeconfigEntry>();
  for (const map of maps) {
    for (const [name, entry] of map) if (!merged.has(name)) merged.set(name, entry);
  }
  return merged;
}
