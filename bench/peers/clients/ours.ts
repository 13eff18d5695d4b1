/**
 * Our informer, as a process: URL PODS EVENTS CHANGED MODE. Modes: `full` (every object parsed as it arrives,
 * managedFields kept), `eager` (parsed as it arrives), `read` (the default, and the handler reads every object),
 * `nothing` (the default, nothing is read), `keys` (the default, keys go to a work queue, and a worker takes them),
 * and `fields` (three fields are kept of each object, and the handler reads them).
 */
import { Client, type KubernetesObject, type Resource, SharedIndexInformer, WorkQueue } from "../../../mod.ts";
import { Pod } from "../../../src/kinds/core/v1.ts";
import { Progress } from "../progress.ts";

const progress = new Progress();
const { mode } = progress;
// A real API server is only for Deno, whose TLS it takes; what is loaded then must not be in the file for Node.
const CONNECT: string = "../../../src/connect/mod.ts";
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
const pods = mode === "fields" ? await followFields() : followPods();
progress.begin();
void pods.run();
await progress.finish();

function followPods(): SharedIndexInformer<KubernetesObject> {
  const resource = Pod as Resource<KubernetesObject>;
  const pods = new SharedIndexInformer(client.resource(resource), options);
  addHandler(pods, mode, progress);
  return pods;
}

/**
 * Returns the informer of three fields, whose handler reads them: events that change none of them are delivered too.
 */
async function followFields(): Promise<SharedIndexInformer<KubernetesObject>> {
  const { onlyFields } = await import("../../../mod.ts"); // other modes run with versions that have another name for it
  const resource = onlyFields(Pod, ["spec.nodeName", "status.phase", "status.podIP"]);
  const pods = new SharedIndexInformer(client.resource(resource), { ...options, deliverUnchanged: true });
  let read = 0;
  pods.addEventHandler({
    onAdd: ({ object: { spec, status } }) => {
      if (spec.nodeName !== undefined && status?.phase !== undefined && status.podIP !== undefined) read++;
      progress.added();
    },
    onUpdate: ({ object: { spec, status } }) => {
      if (spec.nodeName !== undefined && status?.phase !== undefined && status.podIP !== undefined) read++;
      progress.updated();
    },
  });
  return pods as unknown as SharedIndexInformer<KubernetesObject>;
}

/** Adds the handler that the mode of a client asks for: `keys`, `nothing`, or any other, which reads every object. */
function addHandler(pods: SharedIndexInformer<KubernetesObject>, mode: string, progress: Progress): void {
  if (mode === "keys") {
    const queue = new WorkQueue();
    // A key that waits already is not queued again, so events are counted where they are delivered.
    pods.addEventHandler({
      onAdd: ({ key }) => {
        queue.add(key);
        progress.added();
      },
      onUpdate: ({ key }) => {
        queue.add(key);
        progress.updated();
      },
    });
    void queue.run(() => {});
  } else if (mode === "nothing") {
    pods.addEventHandler({ onAdd: () => progress.added(), onUpdate: () => progress.updated() });
  } else {
    let read = 0;
    pods.addEventHandler({
      onAdd: ({ object }) => {
        if (object.metadata !== undefined) read++;
        progress.added();
      },
      onUpdate: ({ object }) => {
        if (object.metadata !== undefined) read++;
        progress.updated();
      },
    });
  }
}
