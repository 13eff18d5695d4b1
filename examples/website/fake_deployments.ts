// fake_deployments.ts: plays the Deployment controller in tests, because the fake server runs no controllers.
import { Deployment } from "@kube/informer/kinds/apps/v1";
import type { FakeApiServer } from "@kube/informer/testing";

/** Reports all pods of a Deployment as ready. */
export function rollOut(server: FakeApiServer, key: string): void {
  const { metadata: { generation }, spec: { replicas } } = server.get(Deployment, key)!;
  const counts = { replicas, updatedReplicas: replicas, readyReplicas: replicas, availableReplicas: replicas };
  const conditions = [
    { type: "Available", status: "True", reason: "MinimumReplicasAvailable" },
    { type: "Progressing", status: "True", reason: "NewReplicaSetAvailable" },
  ];
  server.patch(Deployment, key, { status: { observedGeneration: generation, ...counts, conditions } });
}
