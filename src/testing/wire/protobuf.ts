import { type Json, type JsonObject, type MutableJson, setMember } from "./json.ts";

/**
 * The protobuf messages of some kinds, with the field numbers of `generated.proto` of k8s.io/api 0.36 and the JSON
 * names of the fields.
 *
 * A field reads `NUMBER NAME TYPE`. Before the name, `?` marks a field whose zero value is kept. After the name, `+`
 * marks an inlined message. Before the type, `*` marks a list; braces mark a map with string keys. Rare volumes,
 * affinities and windows are omitted.
 */
export const PROTOBUF_MESSAGES: Readonly<Record<string, string>> = {
  ConfigMap: "1 metadata ObjectMeta|4 ?immutable bool|2 data {string}|3 binaryData {bytes}",
  ObjectMeta: "1 name string|2 generateName string|3 namespace string|4 selfLink string|5 uid string" +
    "|6 resourceVersion string|7 generation int|8 creationTimestamp time|9 ?deletionTimestamp time" +
    "|10 ?deletionGracePeriodSeconds int|11 labels {string}|12 annotations {string}" +
    "|13 ownerReferences *OwnerReference|14 finalizers *string|17 managedFields *ManagedFieldsEntry",
  OwnerReference: "5 apiVersion string|1 kind string|3 name string|4 uid string|6 ?controller bool" +
    "|7 ?blockOwnerDeletion bool",
  ManagedFieldsEntry: "1 manager string|2 operation string|3 apiVersion string|4 ?time time|6 fieldsType string" +
    "|7 ?fieldsV1 raw|8 subresource string",
  Secret: "1 metadata ObjectMeta|5 ?immutable bool|2 data {bytes}|4 stringData {string}|3 type string",
  Namespace: "1 metadata ObjectMeta|2 spec NamespaceSpec|3 status NamespaceStatus",
  NamespaceSpec: "1 finalizers *string",
  NamespaceStatus: "1 phase string|2 conditions *NamespaceCondition",
  NamespaceCondition: "1 type string|2 status string|4 lastTransitionTime time|5 reason string|6 message string",
  ServiceAccount: "1 metadata ObjectMeta|2 secrets *ObjectReference|3 imagePullSecrets *LocalObjectReference" +
    "|4 ?automountServiceAccountToken bool",
  ObjectReference: "1 kind string|2 namespace string|3 name string|4 uid string|5 apiVersion string" +
    "|6 resourceVersion string|7 fieldPath string",
  LocalObjectReference: "1 name string",
  Service: "1 metadata ObjectMeta|2 spec ServiceSpec|3 status ServiceStatus",
  ServiceSpec: "1 ports *ServicePort|2 selector {string}|3 clusterIP string|18 clusterIPs *string|4 type string" +
    "|5 externalIPs *string|7 sessionAffinity string|8 loadBalancerIP string" +
    "|9 loadBalancerSourceRanges *string|10 externalName string|11 externalTrafficPolicy string" +
    "|12 healthCheckNodePort int|13 publishNotReadyAddresses bool" +
    "|14 ?sessionAffinityConfig SessionAffinityConfig|19 ipFamilies *string|17 ?ipFamilyPolicy string" +
    "|20 ?allocateLoadBalancerNodePorts bool|21 ?loadBalancerClass string" +
    "|22 ?internalTrafficPolicy string|23 ?trafficDistribution string",
  ServicePort: "1 name string|2 protocol string|6 ?appProtocol string|3 port int|4 targetPort intorstring" +
    "|5 nodePort int",
  SessionAffinityConfig: "1 ?clientIP ClientIPConfig",
  ClientIPConfig: "1 ?timeoutSeconds int",
  ServiceStatus: "1 loadBalancer LoadBalancerStatus|2 conditions *Condition",
  LoadBalancerStatus: "1 ingress *LoadBalancerIngress",
  LoadBalancerIngress: "1 ip string|2 hostname string|3 ?ipMode string|4 ports *PortStatus",
  PortStatus: "1 port int|2 protocol string|3 ?error string",
  Condition: "1 type string|2 status string|3 observedGeneration int|4 lastTransitionTime time|5 reason string" +
    "|6 message string",
  Deployment: "1 metadata ObjectMeta|2 spec DeploymentSpec|3 status DeploymentStatus",
  DeploymentSpec: "1 ?replicas int|2 ?selector LabelSelector|3 template PodTemplateSpec|4 strategy DeploymentStrategy" +
    "|5 minReadySeconds int|6 ?revisionHistoryLimit int|7 paused bool|9 ?progressDeadlineSeconds int",
  LabelSelector: "1 matchLabels {string}|2 matchExpressions *LabelSelectorRequirement",
  LabelSelectorRequirement: "1 key string|2 operator string|3 values *string",
  PodTemplateSpec: "1 metadata ObjectMeta|2 spec PodSpec",
  PodSpec: "1 volumes *Volume|20 initContainers *Container|2 containers *Container|3 restartPolicy string" +
    "|4 ?terminationGracePeriodSeconds int|5 ?activeDeadlineSeconds int|6 dnsPolicy string" +
    "|7 nodeSelector {string}|8 serviceAccountName string|9 serviceAccount string" +
    "|21 ?automountServiceAccountToken bool|10 nodeName string|11 hostNetwork bool|12 hostPID bool" +
    "|13 hostIPC bool|27 ?shareProcessNamespace bool|14 ?securityContext PodSecurityContext" +
    "|15 imagePullSecrets *LocalObjectReference|16 hostname string|17 subdomain string" +
    "|18 ?affinity Affinity|19 schedulerName string|22 tolerations *Toleration|23 hostAliases *HostAlias" +
    "|24 priorityClassName string|25 ?priority int|26 ?dnsConfig PodDNSConfig" +
    "|28 readinessGates *PodReadinessGate|29 ?runtimeClassName string|30 ?enableServiceLinks bool" +
    "|31 ?preemptionPolicy string|32 overhead {quantity}" +
    "|33 topologySpreadConstraints *TopologySpreadConstraint|35 ?setHostnameAsFQDN bool|36 ?os PodOS" +
    "|37 ?hostUsers bool|38 schedulingGates *PodSchedulingGate|39 resourceClaims *PodResourceClaim" +
    "|40 ?resources ResourceRequirements|41 ?hostnameOverride string",
  Volume: "1 name string|2 + VolumeSource",
  VolumeSource: "1 ?hostPath HostPathVolumeSource|2 ?emptyDir EmptyDirVolumeSource|6 ?secret SecretVolumeSource" +
    "|10 ?persistentVolumeClaim PersistentVolumeClaimVolumeSource|16 ?downwardAPI DownwardAPIVolumeSource" +
    "|19 ?configMap ConfigMapVolumeSource|26 ?projected ProjectedVolumeSource|28 ?csi CSIVolumeSource" +
    "|30 ?image ImageVolumeSource",
  HostPathVolumeSource: "1 path string|2 ?type string",
  EmptyDirVolumeSource: "1 medium string|2 ?sizeLimit quantity",
  SecretVolumeSource: "1 secretName string|2 items *KeyToPath|3 ?defaultMode int|4 ?optional bool",
  KeyToPath: "1 key string|2 path string|3 ?mode int",
  PersistentVolumeClaimVolumeSource: "1 claimName string|2 readOnly bool",
  DownwardAPIVolumeSource: "1 items *DownwardAPIVolumeFile|2 ?defaultMode int",
  DownwardAPIVolumeFile:
    "1 path string|2 ?fieldRef ObjectFieldSelector|3 ?resourceFieldRef ResourceFieldSelector|4 ?mode int",
  ObjectFieldSelector: "1 apiVersion string|2 fieldPath string",
  ResourceFieldSelector: "1 containerName string|2 resource string|3 divisor quantity",
  ConfigMapVolumeSource: "1 + LocalObjectReference|2 items *KeyToPath|3 ?defaultMode int|4 ?optional bool",
  ProjectedVolumeSource: "1 sources *VolumeProjection|2 ?defaultMode int",
  VolumeProjection: "1 ?secret SecretProjection|2 ?downwardAPI DownwardAPIProjection|3 ?configMap ConfigMapProjection" +
    "|4 ?serviceAccountToken ServiceAccountTokenProjection",
  SecretProjection: "1 + LocalObjectReference|2 items *KeyToPath|4 ?optional bool",
  DownwardAPIProjection: "1 items *DownwardAPIVolumeFile",
  ConfigMapProjection: "1 + LocalObjectReference|2 items *KeyToPath|4 ?optional bool",
  ServiceAccountTokenProjection: "1 audience string|2 ?expirationSeconds int|3 path string",
  CSIVolumeSource: "1 driver string|2 ?readOnly bool|3 ?fsType string|4 volumeAttributes {string}" +
    "|5 ?nodePublishSecretRef LocalObjectReference",
  ImageVolumeSource: "1 reference string|2 pullPolicy string",
  Container: "1 name string|2 image string|3 command *string|4 args *string|5 workingDir string" +
    "|6 ports *ContainerPort|19 envFrom *EnvFromSource|7 env *EnvVar|8 resources ResourceRequirements" +
    "|23 resizePolicy *ContainerResizePolicy|24 ?restartPolicy string" +
    "|25 restartPolicyRules *ContainerRestartRule|9 volumeMounts *VolumeMount" +
    "|21 volumeDevices *VolumeDevice|10 ?livenessProbe Probe|11 ?readinessProbe Probe" +
    "|22 ?startupProbe Probe|12 ?lifecycle Lifecycle|13 terminationMessagePath string" +
    "|20 terminationMessagePolicy string|14 imagePullPolicy string|15 ?securityContext SecurityContext" +
    "|16 stdin bool|17 stdinOnce bool|18 tty bool",
  ContainerPort: "1 name string|2 hostPort int|3 containerPort int|4 protocol string|5 hostIP string",
  EnvFromSource: "1 prefix string|2 ?configMapRef ConfigMapEnvSource|3 ?secretRef SecretEnvSource",
  ConfigMapEnvSource: "1 + LocalObjectReference|2 ?optional bool",
  SecretEnvSource: "1 + LocalObjectReference|2 ?optional bool",
  EnvVar: "1 name string|2 value string|3 ?valueFrom EnvVarSource",
  EnvVarSource: "1 ?fieldRef ObjectFieldSelector|2 ?resourceFieldRef ResourceFieldSelector" +
    "|3 ?configMapKeyRef ConfigMapKeySelector|4 ?secretKeyRef SecretKeySelector",
  ConfigMapKeySelector: "1 + LocalObjectReference|2 key string|3 ?optional bool",
  SecretKeySelector: "1 + LocalObjectReference|2 key string|3 ?optional bool",
  ResourceRequirements: "1 limits {quantity}|2 requests {quantity}|3 claims *ResourceClaim",
  ResourceClaim: "1 name string|2 request string",
  ContainerResizePolicy: "1 resourceName string|2 restartPolicy string",
  ContainerRestartRule: "1 action string|2 ?exitCodes ContainerRestartRuleOnExitCodes",
  ContainerRestartRuleOnExitCodes: "1 operator string|2 values *int",
  VolumeMount: "1 name string|2 readOnly bool|7 ?recursiveReadOnly string|3 mountPath string|4 subPath string" +
    "|5 ?mountPropagation string|6 subPathExpr string",
  VolumeDevice: "1 name string|2 devicePath string",
  Probe: "1 + ProbeHandler|2 initialDelaySeconds int|3 timeoutSeconds int|4 periodSeconds int" +
    "|5 successThreshold int|6 failureThreshold int|7 ?terminationGracePeriodSeconds int",
  ProbeHandler: "1 ?exec ExecAction|2 ?httpGet HTTPGetAction|3 ?tcpSocket TCPSocketAction|4 ?grpc GRPCAction",
  ExecAction: "1 command *string",
  HTTPGetAction: "1 path string|2 port intorstring|3 host string|4 scheme string|5 httpHeaders *HTTPHeader",
  HTTPHeader: "1 name string|2 value string",
  TCPSocketAction: "1 port intorstring|2 host string",
  GRPCAction: "1 port int|2 ?service string",
  Lifecycle: "1 ?postStart LifecycleHandler|2 ?preStop LifecycleHandler|3 ?stopSignal string",
  LifecycleHandler: "1 ?exec ExecAction|2 ?httpGet HTTPGetAction|3 ?tcpSocket TCPSocketAction|4 ?sleep SleepAction",
  SleepAction: "1 seconds int",
  SecurityContext: "1 ?capabilities Capabilities|2 ?privileged bool|3 ?seLinuxOptions SELinuxOptions|4 ?runAsUser int" +
    "|8 ?runAsGroup int|5 ?runAsNonRoot bool|6 ?readOnlyRootFilesystem bool" +
    "|7 ?allowPrivilegeEscalation bool|9 ?procMount string|11 ?seccompProfile SeccompProfile" +
    "|12 ?appArmorProfile AppArmorProfile",
  Capabilities: "1 add *string|2 drop *string",
  SELinuxOptions: "1 user string|2 role string|3 type string|4 level string",
  SeccompProfile: "1 type string|2 ?localhostProfile string",
  AppArmorProfile: "1 type string|2 ?localhostProfile string",
  PodSecurityContext: "1 ?seLinuxOptions SELinuxOptions|2 ?runAsUser int|6 ?runAsGroup int|3 ?runAsNonRoot bool" +
    "|4 supplementalGroups *int|12 ?supplementalGroupsPolicy string|5 ?fsGroup int|7 sysctls *Sysctl" +
    "|9 ?fsGroupChangePolicy string|10 ?seccompProfile SeccompProfile|11 ?appArmorProfile AppArmorProfile" +
    "|13 ?seLinuxChangePolicy string",
  Sysctl: "1 name string|2 value string",
  Affinity: "",
  Toleration: "1 key string|2 operator string|3 value string|4 effect string|5 ?tolerationSeconds int",
  HostAlias: "1 ip string|2 hostnames *string",
  PodDNSConfig: "1 nameservers *string|2 searches *string|3 options *PodDNSConfigOption",
  PodDNSConfigOption: "1 name string|2 ?value string",
  PodReadinessGate: "1 conditionType string",
  TopologySpreadConstraint:
    "1 maxSkew int|2 topologyKey string|3 whenUnsatisfiable string|4 ?labelSelector LabelSelector" +
    "|5 ?minDomains int|6 ?nodeAffinityPolicy string|7 ?nodeTaintsPolicy string|8 matchLabelKeys *string",
  PodOS: "1 name string",
  PodSchedulingGate: "1 name string",
  PodResourceClaim: "1 name string|3 ?resourceClaimName string|4 ?resourceClaimTemplateName string",
  DeploymentStrategy: "1 type string|2 ?rollingUpdate RollingUpdateDeployment",
  RollingUpdateDeployment: "1 ?maxUnavailable intorstring|2 ?maxSurge intorstring",
  DeploymentStatus: "1 observedGeneration int|2 replicas int|3 updatedReplicas int|7 readyReplicas int" +
    "|4 availableReplicas int|5 unavailableReplicas int|9 ?terminatingReplicas int" +
    "|6 conditions *DeploymentCondition|8 ?collisionCount int",
  DeploymentCondition: "1 type string|2 status string|6 lastUpdateTime time|7 lastTransitionTime time|4 reason string" +
    "|5 message string",
  Job: "1 metadata ObjectMeta|2 spec JobSpec|3 status JobStatus",
  JobSpec: "1 ?parallelism int|2 ?completions int|3 ?activeDeadlineSeconds int" +
    "|11 ?podFailurePolicy PodFailurePolicy|16 ?successPolicy SuccessPolicy|7 ?backoffLimit int" +
    "|12 ?backoffLimitPerIndex int|13 ?maxFailedIndexes int|4 ?selector LabelSelector" +
    "|5 ?manualSelector bool|6 template PodTemplateSpec|8 ?ttlSecondsAfterFinished int" +
    "|9 ?completionMode string|10 ?suspend bool|14 ?podReplacementPolicy string|15 ?managedBy string",
  PodFailurePolicy: "1 rules *PodFailurePolicyRule",
  PodFailurePolicyRule: "1 action string|2 ?onExitCodes PodFailurePolicyOnExitCodesRequirement" +
    "|3 onPodConditions *PodFailurePolicyOnPodConditionsPattern",
  PodFailurePolicyOnExitCodesRequirement: "1 ?containerName string|2 operator string|3 values *int",
  PodFailurePolicyOnPodConditionsPattern: "1 type string|2 status string",
  SuccessPolicy: "1 rules *SuccessPolicyRule",
  SuccessPolicyRule: "1 ?succeededIndexes string|2 ?succeededCount int",
  JobStatus: "1 conditions *JobCondition|2 ?startTime time|3 ?completionTime time|4 active int|5 succeeded int" +
    "|6 failed int|11 ?terminating int|7 completedIndexes string|10 ?failedIndexes string" +
    "|8 ?uncountedTerminatedPods UncountedTerminatedPods|9 ?ready int",
  JobCondition: "1 type string|2 status string|3 lastProbeTime time|4 lastTransitionTime time|5 reason string" +
    "|6 message string",
  UncountedTerminatedPods: "1 succeeded *string|2 failed *string",
  CronJob: "1 metadata ObjectMeta|2 spec CronJobSpec|3 status CronJobStatus",
  CronJobSpec: "1 schedule string|8 ?timeZone string|2 ?startingDeadlineSeconds int|3 concurrencyPolicy string" +
    "|4 ?suspend bool|5 jobTemplate JobTemplateSpec|6 ?successfulJobsHistoryLimit int" +
    "|7 ?failedJobsHistoryLimit int",
  JobTemplateSpec: "1 metadata ObjectMeta|2 spec JobSpec",
  CronJobStatus: "1 active *ObjectReference|4 ?lastScheduleTime time|5 ?lastSuccessfulTime time",
  Event: "1 metadata ObjectMeta|2 involvedObject ObjectReference|3 reason string|4 message string" +
    "|5 source EventSource|6 firstTimestamp time|7 lastTimestamp time|8 count int|9 type string" +
    "|10 eventTime microtime|11 ?series EventSeries|12 action string|13 ?related ObjectReference" +
    "|14 reportingComponent string|15 reportingInstance string",
  EventSource: "1 component string|2 host string",
  EventSeries: "1 count int|2 lastObservedTime microtime",
  Lease: "1 metadata ObjectMeta|2 spec LeaseSpec",
  LeaseSpec: "1 ?holderIdentity string|2 ?leaseDurationSeconds int|3 ?acquireTime microtime|4 ?renewTime microtime" +
    "|5 ?leaseTransitions int|6 ?strategy string|7 ?preferredHolder string",
  Role: "1 metadata ObjectMeta|2 rules *PolicyRule",
  PolicyRule: "1 verbs *string|2 apiGroups *string|3 resources *string|4 resourceNames *string" +
    "|5 nonResourceURLs *string",
  RoleBinding: "1 metadata ObjectMeta|2 subjects *Subject|3 roleRef RoleRef",
  Subject: "1 kind string|2 apiGroup string|3 name string|4 namespace string",
  RoleRef: "1 apiGroup string|2 kind string|3 name string",
  ClusterRole: "1 metadata ObjectMeta|2 rules *PolicyRule|3 ?aggregationRule AggregationRule",
  AggregationRule: "1 clusterRoleSelectors *LabelSelector",
  ClusterRoleBinding: "1 metadata ObjectMeta|2 subjects *Subject|3 roleRef RoleRef",
  SelfSubjectAccessReview:
    "1 metadata ObjectMeta|2 spec SelfSubjectAccessReviewSpec|3 status SubjectAccessReviewStatus",
  SelfSubjectAccessReviewSpec:
    "1 ?resourceAttributes ResourceAttributes|2 ?nonResourceAttributes NonResourceAttributes",
  ResourceAttributes: "1 namespace string|2 verb string|3 group string|4 version string|5 resource string" +
    "|6 subresource string|7 name string|8 ?fieldSelector FieldSelectorAttributes" +
    "|9 ?labelSelector LabelSelectorAttributes",
  FieldSelectorAttributes: "1 rawSelector string|2 requirements *FieldSelectorRequirement",
  FieldSelectorRequirement: "1 key string|2 operator string|3 values *string",
  LabelSelectorAttributes: "1 rawSelector string|2 requirements *LabelSelectorRequirement",
  NonResourceAttributes: "1 path string|2 verb string",
  SubjectAccessReviewStatus: "1 allowed bool|4 denied bool|2 reason string|3 evaluationError string",
  DeleteOptions: "1 ?gracePeriodSeconds int|2 ?preconditions Preconditions|3 ?orphanDependents bool" +
    "|4 ?propagationPolicy string|5 dryRun *string" +
    "|6 ?ignoreStoreReadErrorWithClusterBreakingPotential bool",
  Preconditions: "1 ?uid string|2 ?resourceVersion string",
  Pod: "1 metadata ObjectMeta|2 spec PodSpec|3 status PodStatus",
  PodStatus: "17 observedGeneration int|1 phase string|2 conditions *PodCondition|3 message string|4 reason string" +
    "|11 nominatedNodeName string|5 hostIP string|16 hostIPs *HostIP|6 podIP string|12 podIPs *PodIP" +
    "|7 ?startTime time|10 initContainerStatuses *ContainerStatus|8 containerStatuses *ContainerStatus" +
    "|9 qosClass string|13 ephemeralContainerStatuses *ContainerStatus|14 resize string" +
    "|15 resourceClaimStatuses *PodResourceClaimStatus" +
    "|18 ?extendedResourceClaimStatus PodExtendedResourceClaimStatus|19 allocatedResources {quantity}" +
    "|20 ?resources ResourceRequirements" +
    "|21 nodeAllocatableResourceClaimStatuses *NodeAllocatableResourceClaimStatus",
  PodCondition: "1 type string|7 observedGeneration int|2 status string|3 lastProbeTime time" +
    "|4 lastTransitionTime time|5 reason string|6 message string",
  HostIP: "1 ip string",
  PodIP: "1 ip string",
  ContainerStatus: "1 name string|2 state ContainerState|3 lastState ContainerState|4 ready bool|5 restartCount int" +
    "|6 image string|7 imageID string|8 containerID string|9 ?started bool" +
    "|10 allocatedResources {quantity}|11 ?resources ResourceRequirements" +
    "|12 volumeMounts *VolumeMountStatus|13 ?user ContainerUser" +
    "|14 allocatedResourcesStatus *ResourceStatus|15 ?stopSignal string",
  ContainerState: "1 ?waiting ContainerStateWaiting|2 ?running ContainerStateRunning" +
    "|3 ?terminated ContainerStateTerminated",
  ContainerStateWaiting: "1 reason string|2 message string",
  ContainerStateRunning: "1 startedAt time",
  ContainerStateTerminated:
    "1 exitCode int|2 signal int|3 reason string|4 message string|5 startedAt time|6 finishedAt time" +
    "|7 containerID string",
  VolumeMountStatus: "1 name string|2 mountPath string|3 readOnly bool|4 ?recursiveReadOnly string" +
    "|5 ?volumeStatus VolumeStatus",
  VolumeStatus: "1 ?image ImageVolumeStatus",
  ImageVolumeStatus: "1 imageRef string",
  ContainerUser: "1 ?linux LinuxContainerUser",
  LinuxContainerUser: "1 uid int|2 gid int|3 supplementalGroups *int",
  ResourceStatus: "1 name string|2 resources *ResourceHealth",
  ResourceHealth: "1 resourceID string|2 health string|6 ?message string",
  PodResourceClaimStatus: "1 name string|2 ?resourceClaimName string",
  PodExtendedResourceClaimStatus: "1 requestMappings *ContainerExtendedResourceRequest|2 resourceClaimName string",
  ContainerExtendedResourceRequest: "1 containerName string|2 resourceName string|3 requestName string",
  NodeAllocatableResourceClaimStatus: "1 resourceClaimName string|2 containers *string|3 resources {quantity}",
};

/** The message of a body, by apiVersion and kind; `DeleteOptions` are accepted in any version. */
export const PROTOBUF_KINDS: Readonly<Record<string, string>> = {
  "v1 ConfigMap": "ConfigMap",
  "v1 Secret": "Secret",
  "v1 Namespace": "Namespace",
  "v1 ServiceAccount": "ServiceAccount",
  "v1 Service": "Service",
  "apps/v1 Deployment": "Deployment",
  "batch/v1 Job": "Job",
  "batch/v1 CronJob": "CronJob",
  "v1 Event": "Event",
  "coordination.k8s.io/v1 Lease": "Lease",
  "rbac.authorization.k8s.io/v1 Role": "Role",
  "rbac.authorization.k8s.io/v1 RoleBinding": "RoleBinding",
  "rbac.authorization.k8s.io/v1 ClusterRole": "ClusterRole",
  "rbac.authorization.k8s.io/v1 ClusterRoleBinding": "ClusterRoleBinding",
  "authorization.k8s.io/v1 SelfSubjectAccessReview": "SelfSubjectAccessReview",
  "v1 DeleteOptions": "DeleteOptions",
  "v1 Pod": "Pod",
};

/** A field of a message. */
interface ProtobufField {
  /** Its name in JSON. */
  readonly name: string;
  /** The type of its value, or of the values of its list or map. */
  readonly type: string;
  /** True if it is a list. */
  readonly list: boolean;
  /** True if it is a map with string keys. */
  readonly map: boolean;
  /** True if a zero value is kept, which Go has a pointer for. */
  readonly keepsZero: boolean;
  /** True if its members belong to the enclosing message. */
  readonly inline: boolean;
}

const parsed = new Map<string, ReadonlyMap<number, ProtobufField>>();

/** Returns the fields of a message in {@linkcode PROTOBUF_MESSAGES}, in the order of their numbers. */
function protobufFields(message: string): ReadonlyMap<number, ProtobufField> {
  let fields = parsed.get(message);
  if (fields === undefined) {
    const texts = PROTOBUF_MESSAGES[message].split("|").filter((field) => field !== "").map((field) =>
      field.split(" ")
    );
    fields = new Map(
      texts.sort(([a], [b]) => Number(a) - Number(b)).map(([number, name, type]) => [Number(number), {
        name: name.replace("?", ""),
        type: type.replace(/[*{}]/g, ""),
        list: type.startsWith("*"),
        map: type.startsWith("{"),
        keepsZero: name.startsWith("?"),
        inline: name.endsWith("+"),
      }]),
    );
    parsed.set(message, fields);
  }
  return fields;
}

/** Media type of Kubernetes' protobuf: an envelope with the kind, around the message of that kind. */
export const PROTOBUF = "application/vnd.kubernetes.protobuf";

/** A value on the wire. */
type Wire = number | bigint | Uint8Array;

/** The bytes before each envelope: `k8s` and a zero. */
const PROTOBUF_MAGIC: Uint8Array = new Uint8Array([0x6b, 0x38, 0x73, 0]);
const decoder = new TextDecoder("utf-8", { fatal: true });

/**
 * Decodes the object in a body of Kubernetes' protobuf: the kinds of {@linkcode PROTOBUF_KINDS}.
 *
 * @throws {UnknownMessage} for another kind, or a field that is not in the tables.
 * @throws {Error} if the bytes are not protobuf.
 */
export function readProtobuf(bytes: Uint8Array): JsonObject {
  if (!PROTOBUF_MAGIC.every((byte, at) => bytes[at] === byte)) {
    throw new Error("Cannot read the body: it does not begin with the magic number of Kubernetes' protobuf");
  }
  const envelope = new Map(fieldsIn(bytes.subarray(PROTOBUF_MAGIC.length)));
  const type = new Map(fieldsIn(bytesOf(envelope.get(1) ?? new Uint8Array())));
  const apiVersion = text(type.get(1) ?? new Uint8Array());
  const kind = text(type.get(2) ?? new Uint8Array());
  const message = PROTOBUF_KINDS[`${apiVersion} ${kind}`] ?? (kind === "DeleteOptions" ? kind : undefined);
  if (message === undefined) throw new UnknownMessage(`the kind ${kind} of ${apiVersion}`);
  return { apiVersion, kind, ...readMessage(message, bytesOf(envelope.get(2) ?? new Uint8Array())) };
}

/** A kind or a field that is not in the tables, which the message names. */
export class UnknownMessage extends Error {
  /** `"UnknownMessage"`. */
  override readonly name = "UnknownMessage";
}

function readMessage(message: string, bytes: Uint8Array): MutableJson {
  const object: MutableJson = {};
  const fields = protobufFields(message);
  for (const [number, wire] of fieldsIn(bytes)) {
    const field = fields.get(number);
    if (field === undefined) {
      if (wire instanceof Uint8Array && wire.length === 0) continue;
      throw new UnknownMessage(`field ${number} of ${message}`);
    }
    const { name } = field;
    if (field.map) {
      const entry = new Map(fieldsIn(bytesOf(wire)));
      const value = entry.get(2) ??
        (field.type in PROTOBUF_MESSAGES ? new Uint8Array() : ZERO[field.type] ?? new Uint8Array());
      const map = (object[name] ??= {}) as MutableJson;
      setMember(map, text(entry.get(1) ?? new Uint8Array()), readValue(field.type, value));
    } else if (field.list) {
      const list = (object[name] ??= []) as Json[];
      list.push(readValue(field.type, wire) ?? null);
    } else {
      const value = readValue(field.type, wire);
      if (field.inline) Object.assign(object, value);
      else if (value !== undefined && (field.keepsZero || !isZero(value))) setMember(object, name, value);
    }
  }
  return object;
}

const ZERO: Readonly<Record<string, Wire>> = { int: 0n, bool: 0n };

function isZero(value: Json): boolean {
  return value === "" || value === 0 || value === false;
}

function readValue(type: string, wire: Wire): Json | undefined {
  switch (type) {
    case "string":
      return text(wire);
    case "int":
      return Number(BigInt.asIntN(64, BigInt(wire as bigint)));
    case "bool":
      return wire !== 0n;
    case "double":
      return wire as number;
    case "bytes":
      return btoa(String.fromCharCode(...bytesOf(wire)));
    case "quantity":
      return text(new Map(fieldsIn(bytesOf(wire))).get(1) ?? new Uint8Array());
    case "raw":
      return readRaw(bytesOf(wire));
    case "time":
    case "microtime":
      return readTime(bytesOf(wire), type === "microtime");
    case "intorstring": {
      const fields = new Map(fieldsIn(bytesOf(wire)));
      return fields.get(1) === 1n ? text(fields.get(3) ?? new Uint8Array()) : readValue("int", fields.get(2) ?? 0n);
    }
    default:
      return readMessage(type, bytesOf(wire));
  }
}

function readRaw(bytes: Uint8Array): Json {
  const raw = bytesOf(new Map(fieldsIn(bytes)).get(1) ?? new Uint8Array());
  return raw.length === 0 ? {} : JSON.parse(decoder.decode(raw));
}

/** Go's zero time means no time and is omitted. */
function readTime(bytes: Uint8Array, micro: boolean): Json | undefined {
  const fields = new Map(fieldsIn(bytes));
  const seconds = Number(BigInt.asIntN(64, (fields.get(1) ?? 0n) as bigint));
  if (seconds <= 0) return undefined;
  const time = new Date(seconds * 1_000).toISOString().replace(/\.\d+Z$/, "");
  if (!micro) return `${time}Z`;
  const micros = Math.floor(Number(fields.get(2) ?? 0n) / 1_000);
  return `${time}.${String(micros).padStart(6, "0")}Z`;
}

function text(wire: Wire): string {
  return decoder.decode(bytesOf(wire));
}

function bytesOf(wire: Wire): Uint8Array {
  if (wire instanceof Uint8Array) return wire;
  throw new Error("Cannot read the body: its protobuf has a number in place of bytes");
}

/** Yields the fields of a message in wire order. */
function* fieldsIn(bytes: Uint8Array): Generator<[number, Wire]> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n;; shift += 7n) {
      if (at >= bytes.length || shift > 63n) throw new Error("Cannot read the body: its protobuf ends inside a number");
      const byte = bytes[at++];
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const take = (size: number): number => {
    if (at + size > bytes.length) throw new Error("Cannot read the body: its protobuf ends inside a field");
    at += size;
    return at - size;
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const field = tag >>> 3;
    switch (tag & 7) {
      case 0:
        yield [field, varint()];
        break;
      case 1:
        yield [field, view.getFloat64(take(8), true)];
        break;
      case 2: {
        const size = Number(varint());
        const start = take(size);
        yield [field, bytes.subarray(start, start + size)];
        break;
      }
      case 5:
        yield [field, view.getFloat32(take(4), true)];
        break;
      default:
        throw new Error(`Cannot read the body: its protobuf has a field of the unknown wire type ${tag & 7}`);
    }
  }
}
