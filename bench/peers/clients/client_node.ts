/**
 * `npm:@kubernetes/client-node`, its informer as its README has it, as a process: URL PODS EVENTS CHANGED. Not a
 * dependency of anything: it is fetched when it is first measured, and so imported by a name that no tool resolves
 * beforehand.
 */
import process from "node:process";
import { Progress } from "../progress.ts";

interface ClientNode {
  readonly KubeConfig: new () => KubeConfig;
  readonly CoreV1Api: unknown;
  makeInformer(config: KubeConfig, path: string, list: () => Promise<unknown>): Informer;
}

interface KubeConfig {
  loadFromFile(path: string): void;
  loadFromOptions(options: unknown): void;
  makeApiClient(api: unknown): { listPodForAllNamespaces(): Promise<unknown> };
}

interface Informer {
  on(event: string, callback: (object: unknown) => void): void;
  start(): Promise<void>;
}

const PACKAGE: string = process.versions.deno === undefined
  ? "@kubernetes/client-node"
  : "npm:@kubernetes/client-node@2.0.1";
const { KubeConfig, CoreV1Api, makeInformer } = await import(PACKAGE) as ClientNode;
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
const api = config.makeApiClient(CoreV1Api);
const informer = makeInformer(config, "/api/v1/pods", () => api.listPodForAllNamespaces());
informer.on("add", () => progress.added());
informer.on("update", () => progress.updated());
informer.on("error", (error) => {
  throw error;
});
progress.begin();
await informer.start();
await progress.finish();
