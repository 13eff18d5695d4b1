import { checkSelector, type Rule } from "./checks.ts";
import { APPS_RULES, BATCH_RULES } from "./rules_workloads.ts";
import { AUTOSCALING_RULES } from "./rules_autoscaling.ts";
import { CONTAINER_RULES } from "./rules_container.ts";
import { CORE_RULES } from "./rules_core.ts";
import { DEFINITION_RULES } from "./rules_definitions.ts";
import { NETWORKING_RULES } from "./rules_networking.ts";
import { POD_RULES } from "./rules_pod.ts";
import { POLICY_RULES } from "./rules_policy.ts";

/** Rules by the name of the type: `"core/v1.Container"`. */
export const RULES: Readonly<Record<string, Rule>> = {
  "meta/v1.LabelSelector": checkSelector,
  ...APPS_RULES,
  ...AUTOSCALING_RULES,
  ...BATCH_RULES,
  ...CONTAINER_RULES,
  ...CORE_RULES,
  ...DEFINITION_RULES,
  ...NETWORKING_RULES,
  ...POD_RULES,
  ...POLICY_RULES,
};

/** Types whose rules say, in words of their own, which members are required and which values they have. */
export const OWN_WORDS: ReadonlySet<string> = new Set(
  [
    "ContainerResizePolicy",
    "DownwardAPIVolumeFile",
    "EndpointAddress",
    "HTTPGetAction",
    "HTTPHeader",
    "HostAlias",
    "LimitRangeItem",
    "LimitRangeSpec",
    "NodeSelector",
    "NodeSelectorRequirement",
    "PodAffinityTerm",
    "PodReadinessGate",
    "PodSchedulingGate",
    "PodSpec",
    "ServiceAccountTokenProjection",
    "Sysctl",
    "TCPSocketAction",
    "Taint",
    "Toleration",
    "TopologySpreadConstraint",
    "VolumeMount",
  ].map((name) => `core/v1.${name}`),
);

/** The needs of a field, where the server states them otherwise than its schema does. */
interface Saying {
  /** The text of a required value; undefined: the field is not required, or the rule of a type says so. */
  readonly required?: string;
  /** The values, in the order in which the server prints them; undefined: the rule of a type names them. */
  readonly allowed?: readonly string[];
}

const ELSEWHERE: Saying = {};

/** The fields, by type and name, whose schema the server follows otherwise. */
export const SAYINGS: Readonly<Record<string, Saying>> = {
  "apiextensions/v1.CustomResourceDefinitionNames.kind": ELSEWHERE,
  "apiextensions/v1.CustomResourceDefinitionNames.plural": ELSEWHERE,
  "apiextensions/v1.CustomResourceDefinitionSpec.group": ELSEWHERE,
  "apiextensions/v1.CustomResourceDefinitionSpec.scope": ELSEWHERE,
  "apiextensions/v1.CustomResourceDefinitionSpec.versions": ELSEWHERE,
  "apiextensions/v1.CustomResourceDefinitionVersion.name": ELSEWHERE,
  "apps/v1.ControllerRevision.data": ELSEWHERE,
  "apps/v1.DaemonSetSpec.selector": ELSEWHERE,
  "apps/v1.DaemonSetUpdateStrategy.type": ELSEWHERE,
  "apps/v1.DeploymentStrategy.type": ELSEWHERE,
  "apps/v1.StatefulSetSpec.podManagementPolicy": ELSEWHERE,
  "apps/v1.StatefulSetUpdateStrategy.type": ELSEWHERE,
  "autoscaling/v2.ContainerResourceMetricSource.container": ELSEWHERE,
  "autoscaling/v2.ContainerResourceMetricSource.name": ELSEWHERE,
  "autoscaling/v2.HPAScalingPolicy.type": ELSEWHERE,
  "autoscaling/v2.MetricIdentifier.name": ELSEWHERE,
  "autoscaling/v2.MetricSpec.type": ELSEWHERE,
  "autoscaling/v2.MetricTarget.type": ELSEWHERE,
  "autoscaling/v2.ResourceMetricSource.name": ELSEWHERE,
  "batch/v1.CronJobSpec.concurrencyPolicy": ELSEWHERE,
  "batch/v1.JobSpec.completionMode": ELSEWHERE,
  "batch/v1.JobSpec.podReplacementPolicy": ELSEWHERE,
  "batch/v1.PodFailurePolicyOnExitCodesRequirement.operator": ELSEWHERE,
  "batch/v1.PodFailurePolicyOnExitCodesRequirement.values": ELSEWHERE,
  "batch/v1.PodFailurePolicyRule.action": ELSEWHERE,
  "batch/v1.SuccessPolicy.rules": ELSEWHERE,
  "meta/v1.LabelSelectorRequirement.key": ELSEWHERE,
  "meta/v1.LabelSelectorRequirement.operator": ELSEWHERE,
  "meta/v1.ObjectMeta.ownerReferences": ELSEWHERE,
  "meta/v1.OwnerReference.apiVersion": ELSEWHERE,
  "meta/v1.OwnerReference.kind": ELSEWHERE,
  "meta/v1.OwnerReference.name": ELSEWHERE,
  "meta/v1.OwnerReference.uid": ELSEWHERE,
  "networking/v1.HTTPIngressPath.pathType": ELSEWHERE,
  "networking/v1.IngressServiceBackend.name": ELSEWHERE,
  "networking/v1.NetworkPolicyPort.protocol": { allowed: ["TCP", "UDP", "SCTP"] },
  "rbac/v1.RoleRef.kind": ELSEWHERE,
  "rbac/v1.Subject.kind": ELSEWHERE,
  "scheduling/v1.PriorityClass.preemptionPolicy": { allowed: ["PreemptLowerPriority", "Never"] },
  "storage/v1.StorageClass.reclaimPolicy": ELSEWHERE,
};
