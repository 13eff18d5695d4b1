/**
 * Our informer, as a process: URL PODS EVENTS CHANGED MODE MIX. Modes:
 *
 * - `full`: every object is parsed as it arrives, managedFields are kept, and the handler reads every object
 * - `eager`: every object is parsed as it arrives, and the handler reads it
 * - `read`: the default, and the handler reads every object
 * - `read-previous`: the default, and the handler reads every object, and for an update the version before too
 * - `nothing`: the default, and nothing is read
 * - `keys`: the default, keys go to a work queue, and a worker takes them
 * - `fields`: three fields of each object are kept, and the handler reads them
 *
 * To read an object is to read a field of its metadata, of its spec and of its status.
 */
import { Client, type KubernetesObject, type Resource, SharedIndexInformer, WorkQueue } from "@kube/informer";
import { Node, Pod } from "@kube/informer/kinds/core/v1";
import { type Followed, followedIn } from "../job.ts";
import { Progress, type Settled } from "../progress.ts";
import { readFields } from "../reads.ts";

/** A part of `memory()`, which older versions do not have. */
interface Compact {
  readonly objects: number;
  readonly savedBytes: number;
}

const progress = new Progress();
const { mode } = progress;
// A real API server is only for Deno, whose TLS it takes; what is loaded then must not be in the file for Node.
const CONNECT: string = "@kube/informer/connect";
const client: Client = progress.url.startsWith("/")
  ? await (await import(CONNECT)).connect({ kubeconfig: progress.url })
  : new Client({ server: progress.url, ...(globalThis as { readonly benchOptions?: object }).benchOptions });
const options = {
  parse: mode === "full" || mode === "eager" ? "eager" as const : "lazy" as const,
  managedFields: mode === "full" ? "keep" as const : "drop" as const,
  onError: (error: unknown) => {
    if (!progress.synced) throw error; // afterwards the watch expires, which is part of the job
  },
};
const queue = new WorkQueue();
const informers: SharedIndexInformer<KubernetesObject>[] = [];
for (const name of followedIn(progress.job.mix)) {
  informers.push(mode === "fields" ? await followFields(name) : await follow(name));
}
if (mode === "keys") void queue.run(() => {});
progress.begin();
for (const informer of informers) void informer.run();
await progress.finish(compacted);

/** What the caches hold compactly; nothing where this version knows no such thing. */
function compacted(): Settled {
  const reports = informers.flatMap((informer) => {
    const { compact } = informer.memory() as { readonly compact?: Compact };
    return compact === undefined ? [] : [compact];
  });
  if (reports.length === 0) return {};
  const sum = (field: keyof Compact): number => reports.reduce((sum, report) => sum + report[field], 0);
  return { compactObjects: sum("objects"), compactSavedMb: sum("savedBytes") / 1e6 };
}

async function resourceOf(name: Followed): Promise<Resource<KubernetesObject>> {
  switch (name) {
    case "pods":
      return Pod as Resource<KubernetesObject>;
    case "nodes":
      return Node as Resource<KubernetesObject>;
    case "leases": { // a module that other mixes do not need
      const { Lease } = await import("@kube/informer/kinds/coordination/v1");
      return Lease as Resource<KubernetesObject>;
    }
  }
}

/** The three fields of each collection that are kept. */
function fieldsOf(name: Followed): readonly string[] {
  switch (name) {
    case "pods":
      return ["spec.nodeName", "status.phase", "status.podIP"];
    case "nodes":
      return ["spec.podCIDR", "status.nodeInfo", "status.allocatable"];
    case "leases":
      return ["spec.holderIdentity", "spec.leaseDurationSeconds", "spec.renewTime"];
  }
}

/** Makes an informer with a handler that does what the mode asks for. */
async function follow(name: Followed): Promise<SharedIndexInformer<KubernetesObject>> {
  const informer = new SharedIndexInformer(client.resource(await resourceOf(name)), options);
  if (mode === "keys") followKeys(informer);
  else if (mode === "nothing") {
    informer.addEventHandler({
      onAdd: () => progress.added(),
      onUpdate: () => progress.updated(),
      onDelete: () => progress.deleted(),
    });
  } else if (mode === "read-previous") followReading(informer, name, true);
  else followReading(informer, name, false);
  return informer;
}

function followKeys(informer: SharedIndexInformer<KubernetesObject>): void {
  // A key that waits already is not queued again, so events are counted where they are delivered.
  informer.addEventHandler({
    onAdd: ({ key }) => {
      queue.add(key);
      progress.added();
    },
    onUpdate: ({ key }) => {
      queue.add(key);
      progress.updated();
    },
    onDelete: ({ key }) => {
      queue.add(key);
      progress.deleted();
    },
  });
}

function followReading(informer: SharedIndexInformer<KubernetesObject>, name: Followed, previousToo: boolean): void {
  let read = 0;
  informer.addEventHandler({
    onAdd: ({ object }) => {
      read += readFields(name, object);
      progress.added();
    },
    onUpdate: (event) => {
      read += readFields(name, event.object);
      if (previousToo) read += readFields(name, event.previous);
      progress.updated();
    },
    onDelete: ({ object }) => {
      read += readFields(name, object);
      progress.deleted();
    },
  });
}

/**
 * Makes an informer of three fields, whose handler reads them: events that change none of them are delivered too.
 */
async function followFields(name: Followed): Promise<SharedIndexInformer<KubernetesObject>> {
  const { onlyFields } = await import("@kube/informer"); // other modes run with versions that have another name for it
  const resource = onlyFields(await resourceOf(name), fieldsOf(name) as unknown as never[]);
  const reduced = new SharedIndexInformer(client.resource(resource), { ...options, deliverUnchanged: true });
  const informer = reduced as unknown as SharedIndexInformer<KubernetesObject>;
  followReading(informer, name, false);
  return informer;
}
