/**
 * Objects of the size and shape they have on a busy cluster, the same in every run: pods of 9.1 kB, of which
 * managedFields are 2.9 kB, and leases of 0.85 kB.
 */
import { Random } from "../src/testing/fake/random.ts";
import { bigPod } from "../tests/support/big_pods.ts";

const encoder = new TextEncoder();

/** One JSON object. */
export type Item = Record<string, unknown>;

function time(index: number): string {
  return new Date(Date.UTC(2026, 0, 5) + index * 61_000).toISOString().replace(".000", "");
}

/** One pod as an item of a list, without kind and apiVersion, with a version of seven digits: 9.1 kB. */
export function podItem(index: number): Item {
  const { metadata, spec, status } = bigPod(index);
  return { metadata: { ...metadata, resourceVersion: String(1_000_000 + index) }, spec, status };
}

/** One node's lease as an item of a list: 0.85 kB. */
export function leaseItem(index: number): Item {
  const random = new Random(index + 1);
  const node = `worker-${index}.eu-central-1.example.internal`;
  const owner = random.uid();
  return {
    metadata: {
      name: node,
      namespace: "kube-node-lease",
      uid: random.uid(),
      resourceVersion: String(2_000_000 + index),
      creationTimestamp: time(index),
      ownerReferences: [{ apiVersion: "v1", kind: "Node", name: node, uid: owner }],
      managedFields: [{
        manager: "kubelet",
        operation: "Update",
        apiVersion: "coordination.k8s.io/v1",
        time: time(index + 1),
        fieldsType: "FieldsV1",
        fieldsV1: {
          "f:metadata": { "f:ownerReferences": { ".": {}, [`k:{"uid":"${owner}"}`]: {} } },
          "f:spec": { "f:holderIdentity": {}, "f:leaseDurationSeconds": {}, "f:renewTime": {} },
        },
      }],
    },
    spec: { holderIdentity: node, leaseDurationSeconds: 40, renewTime: time(index + 2).replace("Z", ".123456Z") },
  };
}

/** An item as a watch writes it. */
export function typed(kind: string, apiVersion: string, item: Item): Item {
  return { kind, apiVersion, ...item };
}

/** The body of a watch with one event for each of these objects. */
export function watchBody(objects: readonly Item[]): Uint8Array<ArrayBuffer> {
  return encoder.encode(objects.map((object) => `{"type":"MODIFIED","object":${JSON.stringify(object)}}\n`).join(""));
}

/** The body of a built-in kind's list. */
export function listBody(kind: string, apiVersion: string, items: readonly Item[]): Uint8Array<ArrayBuffer> {
  const metadata = { resourceVersion: "3000000" };
  return encoder.encode(`${JSON.stringify({ kind: `${kind}List`, apiVersion, metadata, items })}\n`);
}

/** `bytes` as a byte stream in chunks of `size`, like the body of a response. */
export function streamOf(bytes: Uint8Array, size = 65_536): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    type: "bytes",
    pull(controller): void {
      const view = controller.byobRequest?.view;
      const length = Math.min(size, bytes.length - at, view?.byteLength ?? size);
      if (length === 0) {
        controller.close();
        controller.byobRequest?.respond(0);
      } else if (view) {
        new Uint8Array(view.buffer, view.byteOffset, length).set(bytes.subarray(at, at + length));
        controller.byobRequest?.respond(length);
      } else controller.enqueue(bytes.slice(at, at + length));
      at += length;
    },
  }) as ReadableStream<Uint8Array>;
}
