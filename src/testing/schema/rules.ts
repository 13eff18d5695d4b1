import { checkSelector, type Rule } from "./checks.ts";
import { APPS_RULES, BATCH_RULES } from "./rules_workloads.ts";
import { CORE_RULES } from "./rules_core.ts";
import { NETWORKING_RULES } from "./rules_networking.ts";
import { POD_RULES } from "./rules_pod.ts";
import { POLICY_RULES } from "./rules_policy.ts";

/** Rules by the name of the type: `"core/v1.Container"`. */
export const RULES: Readonly<Record<string, Rule>> = {
  "meta/v1.LabelSelector": checkSelector,
  ...APPS_RULES,
  ...BATCH_RULES,
  ...CORE_RULES,
  ...NETWORKING_RULES,
  ...POD_RULES,
  ...POLICY_RULES,
};

/** Types whose rules say, in words of their own, which members are required and which values they have. */
export const OWN_WORDS: ReadonlySet<string> = new Set([
  "core/v1.DownwardAPIVolumeFile",
  "core/v1.NodeSelector",
  "core/v1.NodeSelectorRequirement",
  "core/v1.PodSpec",
  "core/v1.ServiceAccountTokenProjection",
  "core/v1.Sysctl",
  "core/v1.Taint",
  "core/v1.Toleration",
  "meta/v1.LabelSelectorRequirement",
  "meta/v1.OwnerReference",
]);

/** Fields, by type and name, of which a rule or the server's storage says what is required and allowed. */
export const ELSEWHERE: ReadonlySet<string> = new Set([
  "apps/v1.DaemonSetSpec.selector",
  "apps/v1.DaemonSetUpdateStrategy.type",
  "apps/v1.DeploymentStrategy.type",
  "apps/v1.StatefulSetSpec.podManagementPolicy",
  "apps/v1.StatefulSetUpdateStrategy.type",
  "batch/v1.JobSpec.podReplacementPolicy",
  "batch/v1.PodFailurePolicyOnExitCodesRequirement.values",
  "meta/v1.ObjectMeta.ownerReferences",
  "rbac/v1.RoleRef.kind",
  "rbac/v1.Subject.kind",
]);
