// Events of controllers as a real server checks and stores them.
import { defineResource, type KubernetesObject, type Resource } from "@kube/informer";
import { ConfigMap, Node } from "@kube/informer/kinds/core/v1";
import { EventRecorder } from "@kube/informer/reconcile";
import { assertEquals } from "@std/assert";
import { delay } from "@std/async";
import { clusterTests } from "./_cluster.ts";
import { withDeadline } from "../support/cluster/with_deadline.ts";

const cluster = clusterTests();

/** Events as `kubectl describe` reads them. */
interface CoreEvent extends KubernetesObject {
  readonly message?: string;
  readonly reason?: string;
  readonly type?: string;
  readonly involvedObject: { readonly name?: string };
  readonly series?: { readonly count?: number };
}
const CoreEvent: Resource<CoreEvent> = defineResource<CoreEvent>({ version: "v1", plural: "events", kind: "Event" });

async function until(what: string, holds: () => boolean): Promise<void> {
  await withDeadline(what, async (signal) => {
    while (!holds()) await delay(10, { signal });
  });
}

cluster.anywhere("EventRecorder writes events and series that the server accepts and kubectl sees", async (setting) => {
  const { namespace } = setting;
  const warnings: string[] = [];
  const client = await setting.connect({ onWarning: (warning) => void warnings.push(warning) });
  const map = await client.resource(ConfigMap, { namespace }).create({ metadata: { name: "wall" } });
  const node = await client.resource(Node).create({ metadata: { name: `node-${namespace}` } });
  const errors: unknown[] = [];
  const recorder = new EventRecorder(client, {
    controller: "example.com/painter",
    onError: (error) => errors.push(error),
  });
  recorder.record(map, { reason: "Painted", action: "Paint", note: "ä".repeat(2_000), related: node });
  await until(`created to be 1`, () => recorder.status().created === 1);
  recorder.record(map, { reason: "Painted", action: "Paint", related: node });
  await until(`updated to be 1`, () => recorder.status().updated === 1);
  for (let time = 0; time < 3; time++) recorder.record(map, { reason: "Painted", action: "Paint", related: node });
  recorder.record(node, { type: "Warning", reason: "Dirty", action: "Look", note: "Clean it." });
  await recorder[Symbol.asyncDispose]();
  assertEquals([errors, warnings], [[], []]);
  assertEquals(recorder.status(), { queued: 0, created: 2, updated: 2, dropped: 0, lastError: undefined });
  const selectors = { [namespace]: "involvedObject.name=wall", default: `involvedObject.name=${node.metadata.name}` };
  const seen: unknown[] = [];
  for (const [namespace, fieldSelector] of Object.entries(selectors)) {
    for (const event of (await client.resource(CoreEvent, { namespace }).list({ fieldSelector })).items) {
      seen.push([event.involvedObject.name, event.type, event.reason, event.message?.length, event.series?.count]);
    }
  }
  assertEquals(seen, [
    ["wall", "Normal", "Painted", 511, 5],
    [node.metadata.name, "Warning", "Dirty", 9, undefined],
  ]);
  await client.resource(Node).delete(node.metadata.name);
});
