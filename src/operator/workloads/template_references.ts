/**
 * The names that a pod template refers to.
 *
 * {@linkcode templateReferences} is the entry point. It reads the paths in {@linkcode REFERENCES}, which a test
 * compares with the schema of PodSpec. It does not look whether the objects exist.
 *
 * @module
 */
import { elementsAt, fieldValues } from "../../engine/api/selector.ts";
import { checkNames } from "../../engine/errors/option_names.ts";
import type { PodSpec } from "../../engine/kinds/core/v1.ts";

/** The names that a pod template refers to, sorted and without repetition. Objects are in the pod's namespace. */
export interface TemplateReferences {
  /** ConfigMaps: in `env`, `envFrom` and volumes. */
  readonly configMaps: readonly string[];
  /** Secrets: in `env`, `envFrom`, `imagePullSecrets` and volumes, also those with which a volume is mounted. */
  readonly secrets: readonly string[];
  /** PersistentVolumeClaims: in volumes, and the claims that an ephemeral volume copies. */
  readonly persistentVolumeClaims: readonly string[];
  /** The ServiceAccount, `"default"` if the template names none. */
  readonly serviceAccounts: readonly string[];
  /** Images of all containers, and of image volumes. */
  readonly images: readonly string[];
  /** The PriorityClass, if there is one. It is cluster-scoped. */
  readonly priorityClasses: readonly string[];
  /** The RuntimeClass, if there is one. It is cluster-scoped. */
  readonly runtimeClasses: readonly string[];
  /** ResourceClaims. */
  readonly resourceClaims: readonly string[];
  /** ResourceClaimTemplates. */
  readonly resourceClaimTemplates: readonly string[];
}

/** Options for {@linkcode templateReferences}. */
export interface TemplateReferencesOptions {
  /**
   * If `true`, leaves out references with `optional: true`, with which a pod starts even if the object is missing.
   *
   * @default {false}
   */
  readonly requiredOnly?: boolean;
}

const CONTAINERS = ["containers", "initContainers", "ephemeralContainers"];
const VOLUMES = ["volumes"];
const WITH_SECRETS = ["cephfs", "cinder", "flexVolume", "iscsi", "rbd", "scaleIO", "storageos"];

function below(places: readonly string[], ...paths: readonly string[]): string[] {
  return places.flatMap((place) => paths.map((path) => `${place}.${path}`));
}

/** The field paths in a PodSpec that end with a name. A path passes through arrays. */
export const REFERENCES: Readonly<Record<keyof TemplateReferences, readonly string[]>> = {
  configMaps: [
    ...below(CONTAINERS, "env.valueFrom.configMapKeyRef.name", "envFrom.configMapRef.name"),
    ...below(VOLUMES, "configMap.name", "projected.sources.configMap.name"),
  ],
  secrets: [
    "imagePullSecrets.name",
    ...below(CONTAINERS, "env.valueFrom.secretKeyRef.name", "envFrom.secretRef.name"),
    ...below(VOLUMES, "secret.secretName", "projected.sources.secret.name", "azureFile.secretName"),
    ...below(VOLUMES, "csi.nodePublishSecretRef.name", ...below(WITH_SECRETS, "secretRef.name")),
  ],
  persistentVolumeClaims: [
    "volumes.persistentVolumeClaim.claimName",
    ...below(["volumes.ephemeral.volumeClaimTemplate.spec"], "dataSource.name", "dataSourceRef.name"),
  ],
  serviceAccounts: ["serviceAccountName", "serviceAccount"],
  images: [...below(CONTAINERS, "image"), "volumes.image.reference"],
  priorityClasses: ["priorityClassName"],
  runtimeClasses: ["runtimeClassName"],
  resourceClaims: ["resourceClaims.resourceClaimName"],
  resourceClaimTemplates: ["resourceClaims.resourceClaimTemplateName"],
};

/** The object that has a name, and what else decides whether the name counts. */
interface Reference {
  readonly optional?: boolean;
  /** In a data source, which may be a snapshot, or in another namespace. */
  readonly kind?: string;
  readonly namespace?: string;
}

/**
 * Returns the names of the objects and images that a pod template refers to. Use it to restart workloads after a change
 * of their configuration, or to find objects that nothing uses.
 *
 * It reads all containers, init containers, ephemeral containers and volumes, and knows each path in the API of
 * Kubernetes 1.37. Pass a pod spec, or an object with one as `spec`: a pod template or a pod. An informer with `fields`
 * must keep the whole pod spec.
 *
 * Names in commands, arguments and annotations are not found, nor names that a controller reads from its own objects.
 *
 * @example
 * ```ts
 * import { templateReferences } from "@kube/informer/workloads";
 * import { assertEquals } from "@std/assert";
 *
 * const { configMaps, secrets, serviceAccounts } = templateReferences({
 *   containers: [{ name: "app", image: "web:1", envFrom: [{ configMapRef: { name: "settings" } }] }],
 *   volumes: [{ name: "certificates", secret: { secretName: "tls" } }],
 * });
 * assertEquals([configMaps, secrets, serviceAccounts], [["settings"], ["tls"], ["default"]]);
 * ```
 */
export function templateReferences(
  template: PodSpec | { readonly spec?: PodSpec },
  options: TemplateReferencesOptions = {},
): TemplateReferences {
  checkNames("find the references in a pod template", options, "requiredOnly");
  const { requiredOnly = false } = options;
  const spec = "spec" in template ? template.spec : template;
  const counts = ({ optional, kind = "PersistentVolumeClaim", namespace }: Reference): boolean =>
    !(requiredOnly && optional) && kind === "PersistentVolumeClaim" && namespace === undefined;
  const namesAt = (path: string): readonly unknown[] => {
    const keys = path.split(".");
    const holders = elementsAt(spec, keys.slice(0, -1)) as readonly Reference[];
    return fieldValues(holders.filter(counts), keys.slice(-1));
  };
  const references = Object.fromEntries(
    Object.entries(REFERENCES).map(([of, paths]) => {
      return [of, [...new Set(paths.flatMap(namesAt))].filter((name) => name).sort()];
    }),
  ) as unknown as TemplateReferences;
  return references.serviceAccounts.length > 0 ? references : { ...references, serviceAccounts: ["default"] };
}
