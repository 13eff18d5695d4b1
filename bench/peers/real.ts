import { pooledMap } from "@std/async";
import { isAlreadyExists, type ObjectDraft } from "../../mod.ts";
import { connect } from "../../src/host/connect/mod.ts";
import { Namespace, Pod } from "../../src/engine/kinds/core/v1.ts";
import { BreakableControlPlane } from "../../tests/support/cluster/control_plane.ts";
import { podItem } from "../_data.ts";
import { clientArgs } from "./job.ts";
import { PEERS } from "./peer.ts";
import { type RaceOptions, type Result, runClient } from "./race.ts";

/** The clients that take a kubeconfig, all over TLS and with the server's own streaming lists where they know them. */
const IDS = ["keys", "read", "client-node", "client-go", "client-go-protobuf"];

/** Writers at a time, for two cores. */
const CONCURRENCY = 12;

/** A generated pod as a person would write it: the server fills in the rest, and has no status for it yet. */
function draft(index: number): ObjectDraft<Pod> {
  const { metadata, spec } = podItem(index) as unknown as Pod;
  const { name, namespace, labels, annotations, ownerReferences } = metadata;
  return {
    metadata: { name: `${name}-${index.toString(36)}`, namespace, labels, annotations, ownerReferences },
    spec,
  } as ObjectDraft<Pod>;
}

async function seed(kubeconfig: string, pods: number): Promise<void> {
  using client = await connect({ kubeconfig });
  const drafts = Array.from({ length: pods }, (_, index) => draft(index));
  for (const name of new Set(drafts.map(({ metadata }) => metadata.namespace!))) {
    try {
      await client.resource(Namespace).create({ metadata: { name } });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  }
  const write = (draft: ObjectDraft<Pod>): Promise<Pod> =>
    client.resource(Pod, { namespace: draft.metadata.namespace }).create(draft);
  for await (const _ of pooledMap(CONCURRENCY, drafts, write));
}

/**
 * Time to sync against a real kube-apiserver, of whose programs `assets` is the folder: runs of each client by its id.
 */
export async function raceOnApiServer(
  assets: string,
  options: Omit<RaceOptions, "streamingLists">,
): Promise<Map<string, Result[]>> {
  const { job, repetitions, timeoutMs = 180_000, onRun } = options;
  await using plane = await BreakableControlPlane.start(assets);
  await seed(plane.kubeconfig, job.pods);
  const results = new Map<string, Result[]>();
  for (let repetition = 0; repetition < repetitions; repetition++) {
    for (const peer of PEERS.filter(({ id }) => IDS.includes(id))) {
      try {
        const args = clientArgs({ pods: job.pods, events: 0, changed: 0 }, peer.mode);
        const result = await runClient([...await peer.command(), plane.kubeconfig, ...args], timeoutMs);
        results.set(peer.id, [...results.get(peer.id) ?? [], result]);
        onRun?.(peer, result);
      } catch (error) {
        onRun?.(peer, error instanceof Error ? error : new Error(String(error)));
      }
    }
  }
  return results;
}
