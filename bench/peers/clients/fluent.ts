/**
 * `npm:kubernetes-fluent-client`, its Watch as its README has it, as a process: URL PODS EVENTS CHANGED MODE
 * MIX. Fetched when it is first measured, like client-node.
 */
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { type Followed, followedIn } from "../job.ts";
import { Progress } from "../progress.ts";
import { readFields } from "../reads.ts";

interface FluentClient {
  K8s(model: unknown): {
    Watch(callback: (object: { metadata: { resourceVersion: string } }, phase: string) => void, config?: unknown): {
      start(): Promise<unknown>;
    };
  };
  readonly kind: { readonly Pod: unknown; readonly Node: unknown };
  readonly GenericKind: new () => object;
  RegisterKind(model: unknown, type: object): void;
}

const PACKAGE: string = "npm:kubernetes-fluent-client@3.11.6";
const progress = new Progress();
// It reads the usual places and nothing else.
const file = join(await mkdtemp(join(tmpdir(), "peers-")), "kubeconfig.json");
const kubeconfig = {
  apiVersion: "v1",
  kind: "Config",
  clusters: [{ name: "bench", cluster: { "server": progress.url, "insecure-skip-tls-verify": true } }],
  users: [{ name: "bench", user: {} }],
  contexts: [{ name: "bench", context: { cluster: "bench", user: "bench" } }],
  "current-context": "bench",
};
await writeFile(file, JSON.stringify(kubeconfig));
process.env.KUBECONFIG = file;
const { K8s, kind, GenericKind, RegisterKind } = await import(PACKAGE) as FluentClient;
/** Its models have no leases. */
class RegisteredLease extends GenericKind {}
RegisterKind(RegisteredLease, { group: "coordination.k8s.io", version: "v1", kind: "Lease", plural: "leases" });
const seen = new Map<unknown, string>();
const MODELS: Readonly<Record<Followed, unknown>> = { pods: kind.Pod, nodes: kind.Node, leases: RegisteredLease };
let read = 0;
const watchers = followedIn(progress.job.mix).map((name) =>
  K8s(MODELS[name]).Watch((object, phase) => {
    const { uid, resourceVersion } = object.metadata as { uid?: string; resourceVersion: string };
    const known = seen.get(uid);
    if (known === resourceVersion) return; // it delivers everything again with each of its relists
    read += readFields(name, object);
    if (phase === "DELETED") seen.delete(uid);
    else seen.set(uid, resourceVersion);
    if (known === undefined) progress.added();
    else progress.updated();
  })
);
progress.begin();
await Promise.all(watchers.map((watcher) => watcher.start()));
await progress.finish();
