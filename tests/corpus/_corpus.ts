import type { Manifest } from "./_manifest.ts";
import { access } from "./access.ts";
import { cluster } from "./cluster.ts";
import { core } from "./core.ts";
import { extension } from "./extension.ts";
import { network } from "./network.ts";
import { pods } from "./pods.ts";
import { storage } from "./storage.ts";
import { workloads } from "./workloads.ts";

/** All manifests. The types of their drafts are checked when this module is. */
export const CORPUS: readonly Manifest[] = [
  ...pods,
  ...core,
  ...workloads,
  ...network,
  ...storage,
  ...access,
  ...extension,
  ...cluster,
];
