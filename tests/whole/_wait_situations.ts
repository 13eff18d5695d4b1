// Situations of workloads for `informer wait` and `kubectl rollout status`, and the verdicts of both.

/**
 * The end of a command: `"ready"` with exit code 0; `"waits"` until its time is over; `"failed"` before that, because
 * of the workload; `"refused"`, because it cannot judge the kind, the strategy or the name.
 */
export type Verdict = "ready" | "waits" | "failed" | "refused";

/** A workload named `web`, in a namespace of its own. */
export interface Situation {
  /** The name of the namespace, which begins with the kind as kubectl abbreviates it: `"deploy-good"`. */
  readonly name: string;
  /** What is created, or nothing. */
  readonly draft?: object;
  /** Created before, in the namespace. */
  readonly before?: object;
  /**
   * Changes the workload after it has come to rest, by arguments of kubectl; the commands begin then. @default {they
   * begin with the creation}
   */
  readonly change?: readonly (readonly string[])[];
  /**
   * Comes to rest first, in this state: a JSON path of kubectl and its value.
   * @default {kubectl says that it is ready}
   */
  readonly rest?: readonly [path: string, value: string];
  /** Changes it two seconds after the commands have begun. */
  readonly later?: readonly string[];
  readonly kubectl: Verdict;
  /** The verdict of `informer wait`. */
  readonly wait: Verdict;
  /** What `informer wait` prints in the end. */
  readonly reason: RegExp;
  /** What it prints with `--fail-fast`, if the verdict is `"failed"` then. @default {as without --fail-fast} */
  readonly failure?: RegExp;
  /** Why the verdicts differ. */
  readonly differs?: string;
}

/** Fields of a pod template. */
interface Template {
  readonly image?: string;
  /** How long its pods take until they are ready: `"3s"`. */
  readonly delay?: string;
  /** How long its pods take to terminate, in seconds. */
  readonly grace?: number;
  readonly pod?: object;
}

const METADATA = { name: "web" };
const SELECTOR = { matchLabels: { app: "web" } };
/** Refers to no node. */
const NOWHERE = { nodeSelector: { no: "such" } };

function template({ image = "nginx:1", delay, grace, pod }: Template): object {
  return {
    metadata: {
      labels: { app: "web", ...(grace !== undefined && { "whole-grace": "1" }) },
      ...(delay !== undefined && { annotations: { "whole/ready-delay": delay } }),
    },
    spec: { containers: [{ name: "app", image }], terminationGracePeriodSeconds: grace, ...pod },
  };
}

function deployment(replicas: number, pod: Template = {}, spec: object = {}): object {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: METADATA,
    spec: { replicas, selector: SELECTOR, template: template(pod), ...spec },
  };
}

function statefulSet(replicas: number, pod: Template = {}, spec: object = {}): object {
  return {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: METADATA,
    spec: { serviceName: "web", replicas, selector: SELECTOR, template: template(pod), ...spec },
  };
}

function daemonSet(pod: Template = {}, spec: object = {}): object {
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: METADATA,
    spec: { selector: SELECTOR, template: template(pod), ...spec },
  };
}

function job(image: string, spec: object = {}): object {
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: METADATA,
    spec: { template: template({ image, pod: { restartPolicy: "Never" } }), ...spec },
  };
}

const setImage = (image: string): readonly string[] => ["set", "image", "KIND/web", `app=${image}`];
const patch = (body: object): readonly string[] => ["patch", "KIND", "web", "--type=merge", "-p", JSON.stringify(body)];

const ON_DELETE = { updateStrategy: { type: "OnDelete" } };
const NO_VIEWER = "kubectl has no rollout status for this kind";

/** The situations of the review of whole clusters. */
export const REVIEWED: readonly Situation[] = [
  { name: "deploy-good", draft: deployment(3), kubectl: "ready", wait: "ready", reason: /3 replicas are available/ },
  { name: "deploy-zero", draft: deployment(0), kubectl: "ready", wait: "ready", reason: /0 replicas are available/ },
  {
    name: "deploy-badnew",
    draft: deployment(2, { image: "bad:1" }),
    kubectl: "waits",
    wait: "waits",
    reason: /LessAvailable: 0 of 2/,
    failure: /ImagePullBackOff: pod web-/,
  },
  {
    name: "deploy-badroll",
    draft: deployment(4),
    change: [setImage("bad:1")],
    kubectl: "waits",
    wait: "waits",
    reason: /LessUpdated: 2 of 4/,
    failure: /ImagePullBackOff: pod web-/,
  },
  {
    name: "deploy-paused",
    draft: deployment(3),
    change: [["rollout", "pause", "KIND/web"], setImage("nginx:2")],
    kubectl: "waits",
    wait: "waits",
    reason: /DeploymentPaused: its rollout is paused: 0 of 3/,
  },
  {
    name: "deploy-pausedsame",
    draft: deployment(3),
    change: [["rollout", "pause", "KIND/web"]],
    kubectl: "ready",
    wait: "ready",
    reason: /3 replicas are available/,
  },
  {
    name: "deploy-deadline",
    draft: deployment(2, { image: "bad:1" }, { progressDeadlineSeconds: 3 }),
    rest: ["{.status.conditions[?(@.type=='Progressing')].reason}", "ProgressDeadlineExceeded"],
    kubectl: "failed",
    wait: "waits",
    reason: /ProgressDeadlineExceeded/,
    failure: /ProgressDeadlineExceeded.*ImagePullBackOff/,
    differs: "without --fail-fast, informer wait goes on, because the rollout may still be mended",
  },
  {
    name: "deploy-quota",
    before: { apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "q" }, spec: { hard: { pods: "1" } } },
    draft: deployment(3),
    kubectl: "waits",
    wait: "waits",
    reason: /FailedCreate: .* exceeded quota: q,/,
  },
  {
    name: "deploy-minready",
    draft: deployment(2, {}, { minReadySeconds: 3_600, progressDeadlineSeconds: 7_200 }),
    kubectl: "waits",
    wait: "waits",
    reason: /LessAvailable: 0 of 2/,
  },
  {
    name: "deploy-unsched",
    draft: deployment(1, { pod: NOWHERE }),
    kubectl: "waits",
    wait: "waits",
    reason: /LessAvailable: 0 of 1/,
  },
  {
    name: "deploy-never",
    draft: deployment(2, { image: "never:1" }),
    kubectl: "waits",
    wait: "waits",
    reason: /LessAvailable: 0 of 2/,
  },
  {
    name: "deploy-crash",
    // Its pods are ready for half a second, and never available.
    draft: deployment(2, { image: "crash:1" }, { minReadySeconds: 5 }),
    kubectl: "waits",
    wait: "waits",
    reason: /LessAvailable: 0 of 2/,
    failure: /CrashLoopBackOff: pod web-/,
  },
  {
    name: "deploy-undo",
    draft: deployment(3),
    change: [setImage("bad:1"), ["rollout", "undo", "KIND/web"]],
    kubectl: "ready",
    wait: "ready",
    reason: /3 replicas are available/,
  },
  {
    name: "deploy-term",
    draft: deployment(2),
    change: [patch({ metadata: { finalizers: ["example.com/hold"] } }), ["delete", "KIND", "web", "--wait=false"]],
    kubectl: "ready",
    wait: "waits",
    reason: /terminating.*example\.com\/hold/,
    differs: "kubectl does not look whether a Deployment is being deleted",
  },
  {
    name: "deploy-recreate",
    draft: deployment(2, {}, { strategy: { type: "Recreate" } }),
    change: [setImage("bad:1")],
    kubectl: "waits",
    wait: "waits",
    reason: /LessAvailable: 0 of 2/,
    failure: /ImagePullBackOff: pod web-/,
  },
  {
    name: "deploy-surge",
    draft: deployment(4, {}, { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } } }),
    change: [setImage("bad:1")],
    kubectl: "waits",
    wait: "waits",
    reason: /LessUpdated: 1 of 4/,
    failure: /ImagePullBackOff: pod web-/,
  },
  { name: "sts-good", draft: statefulSet(3), kubectl: "ready", wait: "ready", reason: /3 replicas/ },
  { name: "sts-zero", draft: statefulSet(0), kubectl: "ready", wait: "ready", reason: /0 replicas/ },
  {
    name: "sts-part",
    draft: statefulSet(3, {}, { updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 2 } } }),
    change: [setImage("db:2")],
    kubectl: "ready",
    wait: "ready",
    reason: /1 replicas are updated, as its partition wants/,
  },
  {
    name: "sts-ondel",
    draft: statefulSet(2, {}, ON_DELETE),
    rest: ["{.status.readyReplicas}", "2"],
    change: [setImage("db:2")],
    kubectl: "refused",
    wait: "ready",
    reason: /2 replicas are ready/,
    differs: "kubectl judges only RollingUpdate; informer wait is ready if the pods are",
  },
  {
    name: "sts-stuck",
    draft: statefulSet(2, { image: "bad:1" }),
    kubectl: "waits",
    wait: "waits",
    reason: /LessReplicas: 1 of 2/,
    failure: /ImagePullBackOff: pod web-0/,
  },
  { name: "ds-good", draft: daemonSet(), kubectl: "ready", wait: "ready", reason: /5 pods are available/ },
  {
    name: "ds-bad",
    draft: daemonSet({ image: "bad:1" }),
    kubectl: "waits",
    wait: "waits",
    reason: /LessAvailable: 0 of 5/,
    failure: /ImagePullBackOff: pod web-/,
  },
  {
    name: "ds-ondel",
    draft: daemonSet({}, ON_DELETE),
    rest: ["{.status.numberReady}", "5"],
    change: [setImage("lg:2")],
    kubectl: "refused",
    wait: "ready",
    reason: /5 pods are available/,
    differs: "kubectl judges only RollingUpdate; informer wait is ready if the pods are",
  },
  {
    name: "ds-none",
    draft: daemonSet({ pod: NOWHERE }),
    kubectl: "ready",
    wait: "ready",
    reason: /0 pods are available/,
  },
  {
    name: "job-ok",
    draft: job("x:1"),
    rest: ["{.status.conditions[?(@.type=='Complete')].status}", "True"],
    kubectl: "refused",
    wait: "ready",
    reason: /ready, (?:SuccessCriteriaMet|Complete)/,
    differs: NO_VIEWER,
  },
  {
    name: "job-fail",
    draft: job("fail:1", { backoffLimit: 0 }),
    rest: ["{.status.conditions[?(@.type=='Failed')].status}", "True"],
    kubectl: "refused",
    wait: "waits",
    reason: /failed, BackoffLimitExceeded/,
    failure: /BackoffLimitExceeded/,
    differs: NO_VIEWER,
  },
  {
    name: "job-susp",
    draft: job("x:1", { suspend: true }),
    rest: ["{.status.conditions[?(@.type=='Suspended')].status}", "True"],
    kubectl: "refused",
    wait: "ready",
    reason: /Suspended: it is suspended/,
    differs: NO_VIEWER,
  },
  {
    name: "job-run",
    draft: job("forever:1"),
    rest: ["{.status.ready}", "1"],
    kubectl: "refused",
    wait: "ready",
    reason: /JobRunning/,
    differs: NO_VIEWER,
  },
  {
    name: "job-slowfail",
    draft: job("fail:1", { backoffLimit: 5 }),
    rest: ["{.status.failed}", "1"],
    kubectl: "refused",
    wait: "ready",
    reason: /JobRunning/,
    differs: NO_VIEWER,
  },
  {
    name: "pvc-pend",
    draft: {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: METADATA,
      spec: { accessModes: ["ReadWriteOnce"], storageClassName: "", resources: { requests: { storage: "1Gi" } } },
    },
    kubectl: "refused",
    wait: "waits",
    reason: /NotBound/,
    differs: NO_VIEWER,
  },
  {
    name: "deploy-gone",
    kubectl: "refused",
    wait: "waits",
    reason: /absent/,
    differs: "informer wait waits for objects that do not exist yet",
  },
  {
    name: "rs-good",
    draft: {
      apiVersion: "apps/v1",
      kind: "ReplicaSet",
      metadata: METADATA,
      spec: { replicas: 2, selector: SELECTOR, template: template({}) },
    },
    kubectl: "refused",
    wait: "ready",
    reason: /2 replicas/,
    differs: NO_VIEWER,
  },
];

/** Further ones, most of them with an end that is some seconds away when the commands begin. */
export const FURTHER: readonly Situation[] = [
  {
    name: "deploy-slow",
    draft: deployment(3, { delay: "3s" }),
    kubectl: "ready",
    wait: "ready",
    reason: /3 replicas are available/,
  },
  {
    name: "deploy-scale",
    draft: deployment(2, { delay: "2s" }, { minReadySeconds: 1 }),
    change: [["scale", "KIND/web", "--replicas=5"]],
    kubectl: "ready",
    wait: "ready",
    reason: /5 replicas are available/,
  },
  {
    name: "deploy-mended",
    draft: deployment(3),
    change: [setImage("bad:1")],
    later: setImage("nginx:2"),
    kubectl: "ready",
    wait: "ready",
    reason: /3 replicas are available/,
    failure: /ImagePullBackOff: pod web-/,
  },
  {
    name: "deploy-grace",
    draft: deployment(2, { grace: 4 }),
    change: [setImage("nginx:2")],
    kubectl: "ready",
    wait: "ready",
    reason: /2 replicas are available/,
  },
  {
    name: "sts-parallel",
    draft: statefulSet(4, { delay: "1s" }, { podManagementPolicy: "Parallel" }),
    kubectl: "ready",
    wait: "ready",
    reason: /4 replicas/,
  },
  {
    name: "sts-roll",
    draft: statefulSet(3, { delay: "1s" }),
    change: [setImage("db:2")],
    kubectl: "ready",
    wait: "ready",
    reason: /3 replicas/,
  },
  {
    name: "ds-roll",
    draft: daemonSet({ delay: "1s" }, { updateStrategy: { rollingUpdate: { maxUnavailable: 2 } } }),
    change: [setImage("lg:2")],
    kubectl: "ready",
    wait: "ready",
    reason: /5 pods are available/,
  },
];
