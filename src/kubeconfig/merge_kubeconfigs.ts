import type { Kubeconfig, KubeconfigEntry } from "./model/kubeconfig.ts";

/**
 * Several kubeconfigs as one, by kubectl's rules: per name the first file that defines it wins, with the whole entry, and
 * the first `current-context` that is not empty wins. Entries keep the file they came from.
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
