/**
 * `npm:@kubernetes/client-node`, its informer as its README has it, as a process: URL PODS EVENTS CHANGED MODE
 * MIX. Not a dependency of anything: it is fetched when it is first measured, and so imported by a name that no tool
 * resolves beforehand.
 */
import process from "node:process";
import { type Followed, followedIn } from "../job.ts";
import { Progress } from "../progress.ts";
import { readFields } from "../reads.ts";

interface ClientNode {
  readonly KubeConfig: new () => KubeConfig;
  readonly CoreV1Api: { readonly core: unique symbol };
  readonly CoordinationV1Api: { readonly coordination: unique symbol };
  makeInformer(config: KubeConfig, path: string, list: () => Promise<unknown>): Informer;
}

interface KubeConfig {
  loadFromFile(path: string): void;
  loadFromOptions(options: unknown): void;
  makeApiClient(api: ClientNode["CoreV1Api"]): {
    listPodForAllNamespaces(): Promise<unknown>;
    listNode(): Promise<unknown>;
  };
  makeApiClient(api: ClientNode["CoordinationV1Api"]): { listLeaseForAllNamespaces(): Promise<unknown> };
}

interface Informer {
  on(event: string, callback: (object: object) => void): void;
  start(): Promise<void>;
}

const PACKAGE: string = process.versions.deno === undefined
  ? "@kubernetes/client-node"
  : "npm:@kubernetes/client-node@2.0.1";
const { KubeConfig, CoreV1Api, CoordinationV1Api, makeInformer } = await import(PACKAGE) as ClientNode;
const progress = new Progress();
const config = new KubeConfig();
if (progress.url.startsWith("/")) config.loadFromFile(progress.url);
else {
  config.loadFromOptions({
    clusters: [{ name: "bench", server: progress.url, skipTLSVerify: true }],
    users: [{ name: "bench" }],
    contexts: [{ name: "bench", cluster: "bench", user: "bench" }],
    currentContext: "bench",
  });
}
const core = config.makeApiClient(CoreV1Api);
const coordination = config.makeApiClient(CoordinationV1Api);
const LISTS: Readonly<Record<Followed, readonly [path: string, list: () => Promise<unknown>]>> = {
  pods: ["/api/v1/pods", () => core.listPodForAllNamespaces()],
  nodes: ["/api/v1/nodes", () => core.listNode()],
  leases: ["/apis/coordination.k8s.io/v1/leases", () => coordination.listLeaseForAllNamespaces()],
};
let read = 0;
const informers = followedIn(progress.job.mix).map((name) => {
  const informer = makeInformer(config, ...LISTS[name]);
  informer.on("add", (object) => {
    read += readFields(name, object);
    progress.added();
  });
  informer.on("update", (object) => {
    read += readFields(name, object);
    progress.updated();
  });
  informer.on("delete", (object) => {
    read += readFields(name, object);
    progress.deleted();
  });
  informer.on("error", (error) => {
    throw error;
  });
  return informer;
});
progress.begin();
await Promise.all(informers.map((informer) => informer.start()));
await progress.finish();
