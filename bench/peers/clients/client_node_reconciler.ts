/**
 * `npm:@kubernetes/client-node`, its informer and a work queue by hand with 8 workers, as a process: KUBECONFIG OBJECTS
 * ROUND. Fetched when it is first measured.
 */
import { CronTab, Round } from "./crontab.ts";

interface ClientNode {
  readonly KubeConfig: new () => {
    loadFromFile(path: string): void;
    makeApiClient(api: unknown): CustomObjectsApi;
  };
  readonly CustomObjectsApi: unknown;
  readonly PatchStrategy: { readonly MergePatch: string };
  makeInformer(config: unknown, path: string, list: () => Promise<unknown>): Informer;
  setHeaderOptions(name: string, value: string): unknown;
}

interface CustomObjectsApi {
  listClusterCustomObject(request: object): Promise<unknown>;
  patchNamespacedCustomObjectStatus(request: object, options: unknown): Promise<unknown>;
}

interface Informer {
  on(event: string, handler: (object: CronTab) => void): void;
  get(name: string, namespace: string): CronTab | undefined;
  start(): Promise<void>;
}

const PACKAGE: string = "npm:@kubernetes/client-node@2.0.1";
const { KubeConfig, CustomObjectsApi, PatchStrategy, makeInformer, setHeaderOptions } = await import(
  PACKAGE
) as ClientNode;
const round = new Round();
const config = new KubeConfig();
config.loadFromFile(round.kubeconfig);
const api = config.makeApiClient(CustomObjectsApi);
const { group, version, plural } = CronTab;
const informer = makeInformer(
  config,
  `/apis/${group}/${version}/${plural}`,
  () => api.listClusterCustomObject({ group, version, plural }),
);

const waiting = new Set<string>();
const processing = new Set<string>();
const headers = setHeaderOptions("Content-Type", PatchStrategy.MergePatch);

async function reconcile(name: string): Promise<void> {
  const tab = informer.get(name, "default");
  if (tab === undefined) return;
  if (tab.status?.round === round.number) return round.done(name);
  const body = { status: { round: round.number, replicas: tab.spec.replicas } };
  await api.patchNamespacedCustomObjectStatus({ group, version, plural, namespace: "default", name, body }, headers);
}

function next(): string | undefined {
  for (const name of waiting) if (!processing.has(name)) return name;
}

async function work(): Promise<void> {
  if (processing.size >= 8) return;
  for (let name = next(); name !== undefined; name = next()) {
    waiting.delete(name);
    processing.add(name);
    try {
      await reconcile(name);
    } finally {
      processing.delete(name);
    }
  }
}

for (const event of ["add", "update"]) {
  informer.on(event, ({ metadata }) => {
    waiting.add(metadata.name);
    void work();
  });
}
informer.on("error", (error) => {
  throw error;
});
await informer.start();
await round.finish();
