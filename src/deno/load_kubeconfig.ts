import { mergeKubeconfigs } from "../kubeconfig/merge_kubeconfigs.ts";
import { isEmptyKubeconfig, type Kubeconfig } from "../kubeconfig/model/kubeconfig.ts";
import { kubeconfigError } from "../kubeconfig/model/kubeconfig_error.ts";
import { parseKubeconfig } from "../kubeconfig/parse_kubeconfig.ts";
import { pathOfOption } from "./check_options.ts";
import type { ConnectAttempt } from "./connect_error.ts";
import type { ConnectOptions } from "./connect_options.ts";
import { envFlag, type Host } from "./host/host.ts";
import { FileProblem, readCheckedFile } from "./host/read_checked_file.ts";

/** The kubeconfig files to read. */
interface Choice {
  readonly paths: readonly string[];
  /** Name of this place in a {@linkcode ConnectAttempt}. */
  readonly source: string;
  /** If `true`, a missing file is an error; otherwise it is skipped. */
  readonly mustExist: boolean;
  /** If `true`, a missing read permission is an error; otherwise the next place is tried. */
  readonly mustBeAllowed: boolean;
}

/**
 * Returns the kubeconfig of the options, of `KUBECONFIG` or of the home folder, or the reason why there is none.
 *
 * Files that an option names must exist. Files that an option or `KUBECONFIG` names must be readable; the file in the
 * home folder need not be.
 *
 * @throws {KubeconfigError} when a file cannot be read or parsed.
 */
export async function loadKubeconfig(
  options: Pick<ConnectOptions, "kubeconfig" | "context">,
  host: Host,
): Promise<Kubeconfig | ConnectAttempt> {
  const choice = choose(options, host);
  if ("problem" in choice) return choice;
  const configs: Kubeconfig[] = [];
  for (const path of choice.paths) {
    try {
      const text = await readCheckedFile(path, host);
      configs.push(parseKubeconfig(text, path));
    } catch (error) {
      if (!(error instanceof FileProblem)) throw error;
      if (error.cause instanceof Deno.errors.NotFound && !choice.mustExist) continue;
      if (error.cause instanceof Deno.errors.NotCapable && !choice.mustBeAllowed) {
        return { source: choice.source, problem: error.message, cause: error };
      }
      throw kubeconfigError({ file: path }, error.message, { cause: error });
    }
  }
  if (configs.length === 0) {
    const one = choice.paths.length === 1;
    return { source: choice.source, problem: one ? "there is no such file" : "there is none of these files" };
  }
  const config = mergeKubeconfigs(configs);
  if (isEmptyKubeconfig(config) && !choice.mustExist && options.context === undefined) {
    return { source: choice.source, problem: "it has no clusters, contexts or users" };
  }
  return config;
}

function choose(options: Pick<ConnectOptions, "kubeconfig">, host: Host): Choice | ConnectAttempt {
  const { kubeconfig } = options;
  if (kubeconfig !== undefined) {
    const value = pathOfOption("kubeconfig", kubeconfig);
    const paths = typeof kubeconfig === "string" ? splitList(value, host) : [value];
    if (paths.length === 0) {
      throw new TypeError(`Cannot connect: "kubeconfig" names no file, found ${JSON.stringify(value)}`);
    }
    return { paths, source: "kubeconfig", mustExist: true, mustBeAllowed: true };
  }
  let paths: readonly string[];
  let home: string | undefined;
  const homeName = host.windows ? "USERPROFILE" : "HOME";
  try {
    paths = splitList(host.env("KUBECONFIG") ?? "", host);
    if (paths.length === 0) home = host.env(homeName);
  } catch (cause) {
    // KUBECONFIG may name another cluster than the file in the home folder, so that file is not tried.
    if (!(cause instanceof Deno.errors.NotCapable)) throw cause;
    const flag = envFlag("KUBECONFIG", homeName);
    return { source: "KUBECONFIG", problem: `this program may not read it, run it with ${flag}`, cause };
  }
  if (paths.length > 0) {
    const source = `KUBECONFIG ${paths.map((path) => JSON.stringify(path)).join(", ")}`;
    return { paths, source, mustExist: false, mustBeAllowed: true };
  }
  if (!home) return { source: "KUBECONFIG", problem: `it is not set, and neither is ${homeName}` };
  const path = host.windows ? `${home}\\.kube\\config` : `${home}/.kube/config`;
  return { paths: [path], source: JSON.stringify(path), mustExist: false, mustBeAllowed: false };
}

/** Splits a list of paths and removes duplicates (clientcmd `NewDefaultClientConfigLoadingRules`). */
function splitList(list: string, host: Host): string[] {
  const paths = list.split(host.windows ? ";" : ":").filter((path) => path !== "");
  return [...new Set(paths)];
}
