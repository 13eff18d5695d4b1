/**
 * Kinds that Kubernetes servers have, which the command line finds without discovery.
 *
 * {@linkcode builtInResource} is the entry point. It sends no request, so the server may lack the kind.
 *
 * @module
 */
import { defineResource, type Resource } from "../../engine/api/resource.ts";

/**
 * By group and version, for each kind: its name, plural, and short name if it has one. A `*` marks a kind without
 * namespaces. No other group can take such a name: the server lists these groups first.
 */
const KINDS: Readonly<Record<string, string>> = {
  "/v1": "Pod pods po,Service services svc,Namespace* namespaces ns,Node* nodes no,ConfigMap configmaps cm," +
    "Secret secrets,Event events ev,Endpoints endpoints ep,ServiceAccount serviceaccounts sa," +
    "PersistentVolume* persistentvolumes pv,PersistentVolumeClaim persistentvolumeclaims pvc," +
    "ReplicationController replicationcontrollers rc",
  "apps/v1": "Deployment deployments deploy,ReplicaSet replicasets rs,StatefulSet statefulsets sts," +
    "DaemonSet daemonsets ds",
  "batch/v1": "Job jobs,CronJob cronjobs cj",
  "networking.k8s.io/v1": "Ingress ingresses ing,NetworkPolicy networkpolicies netpol",
  "policy/v1": "PodDisruptionBudget poddisruptionbudgets pdb",
  "rbac.authorization.k8s.io/v1": "Role roles,RoleBinding rolebindings,ClusterRole* clusterroles," +
    "ClusterRoleBinding* clusterrolebindings",
  "storage.k8s.io/v1": "StorageClass* storageclasses sc",
};

/** Returns the built-in kind with this plural, singular or short name; `undefined` for other names. */
export function builtInResource(name: string): Resource | undefined {
  const wanted = name.trim().toLowerCase();
  for (const [place, kinds] of Object.entries(KINDS)) {
    for (const [written, plural, short] of kinds.split(",").map((words) => words.split(" "))) {
      const kind = written.replace("*", "");
      if (![plural, short, kind.toLowerCase()].includes(wanted)) continue;
      const [group, version] = place.split("/");
      return defineResource({ group, version, plural, kind, scope: kind === written ? "Namespaced" : "Cluster" });
    }
  }
  return undefined;
}
