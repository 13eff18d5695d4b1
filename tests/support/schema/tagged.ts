/**
 * Requests that a kube-apiserver 1.37.2 refuses because of the `+k8s:` tags of its Go types. The causes are all that it
 * says.
 */
import type { Json, JsonObject } from "../../../src/engine/api/json.ts";

/** A request that is refused. */
export interface Tagged {
  /** The path of the list: `"/apis/apps/v1/namespaces/default/statefulsets"`. */
  readonly path: string;
  /** The object, without its metadata. */
  readonly object: JsonObject;
  /** A merge patch of it; without one, the object itself is refused. */
  readonly change?: JsonObject;
  /** The causes: field, reason and message. */
  readonly causes: readonly string[];
}

function repeated(count: number, one: (index: number) => Json): readonly Json[] {
  return Array.from({ length: count }, (_, index) => one(index));
}

const LABEL =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with " +
  "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is " +
  "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const KEY = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an " +
  "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is " +
  "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

const invalid = (field: string, value: string, why: string): string =>
  `${field} FieldValueInvalid: Invalid value: ${value}: ${why}`;
const fixed = (field: string, value = "null"): string => invalid(field, value, "field is immutable");
const least = (field: string, value: number, limit: number): string =>
  invalid(field, String(value), `must be greater than or equal to ${limit}`);
const required = (field: string): string => `${field} FieldValueRequired: Required value`;
const tooMany = (field: string, found: number, most: number): string =>
  `${field} FieldValueTooMany: Too many: ${found}: must have at most ${most} items`;
const tooLong = (field: string, most: number): string =>
  `${field} FieldValueTooLong: Too long: may not be more than ${most} characters`;

const labels = { a: "b" };
const template = { metadata: { labels }, spec: { containers: [{ name: "a", image: "b" }] } };
const set = { spec: { serviceName: "a", selector: { matchLabels: labels }, template } };
const controllers = "/api/v1/namespaces/default/replicationcontrollers";
const scalers = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
const scaler = { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "a" }, maxReplicas: 3 };
const sets = "/apis/apps/v1/namespaces/default/statefulsets";
const slices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
const runtimes = "/apis/node.k8s.io/v1/runtimeclasses";
const attachments = "/apis/storage.k8s.io/v1/volumeattachments";
const attachment = { attacher: "a.b", nodeName: "n", source: { persistentVolumeName: "p" } };
const claims = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims";
const pools = "/apis/resource.k8s.io/v1/resourceslices";
const pool = { driver: "d.io", nodeName: "n", pool: { name: "p", generation: 1, resourceSliceCount: 1 } };
const device = (index: number): JsonObject => ({ name: `r${index}`, exactly: { deviceClassName: "a.b" } });
const counters = { a: { value: "1" } };
const claim = (devices: JsonObject): JsonObject => ({ spec: { devices: { requests: [device(0)], ...devices } } });

/** Requests that are refused. */
export const TAGGED: readonly Tagged[] = [
  {
    path: scalers,
    object: { spec: { ...scaler, maxReplicas: 0 } },
    causes: [
      invalid("spec.maxReplicas", "0", "must be greater than or equal to `minReplicas`"),
      required("spec.maxReplicas"),
    ],
  },
  { path: scalers, object: { spec: { ...scaler, minReplicas: -1 } }, causes: [least("spec.minReplicas", -1, 0)] },
  {
    path: controllers,
    object: { spec: { selector: labels, template, replicas: -1, minReadySeconds: -2 } },
    causes: [least("spec.replicas", -1, 0), least("spec.minReadySeconds", -2, 0)],
  },
  {
    path: slices,
    object: { addressType: "IPv4", endpoints: [{ addresses: repeated(101, (index) => `10.0.0.${index}`) }] },
    causes: [tooMany("endpoints[0].addresses", 101, 100)],
  },
  { path: slices, object: { addressType: "IPv4" }, change: { addressType: "IPv6" }, causes: [fixed("addressType")] },
  { path: runtimes, object: { handler: "A_b" }, causes: [invalid("handler", '"A_b"', LABEL)] },
  { path: runtimes, object: { handler: "a" }, change: { handler: "b" }, causes: [fixed("handler")] },
  {
    path: attachments,
    object: { spec: { ...attachment, attacher: "a".repeat(64) } },
    causes: [tooLong("spec.attacher", 63)],
  },
  {
    path: attachments,
    object: { spec: attachment },
    change: { spec: { nodeName: "m" } },
    causes: [fixed("spec")],
  },
  {
    path: claims,
    object: claim({ requests: repeated(33, device) }),
    causes: [tooMany("spec.devices.requests", 33, 32)],
  },
  {
    path: claims,
    object: claim({ constraints: [{ requests: ["r0", "r0"], matchAttribute: "a.b/c" }] }),
    causes: ['spec.devices.constraints[0].requests[1] FieldValueDuplicate: Duplicate value: "r0"'],
  },
  {
    path: claims,
    object: claim({ constraints: [{ requests: repeated(33, () => "r0"), matchAttribute: "a.b/c" }] }),
    causes: [tooMany("spec.devices.constraints[0].requests", 33, 32)],
  },
  {
    path: claims,
    object: claim({
      requests: [{ name: "r", exactly: { deviceClassName: "a.b", tolerations: [{ key: "-a", operator: "Exists" }] } }],
    }),
    causes: [invalid("spec.devices.requests[0].exactly.tolerations[0].key", '"-a"', KEY)],
  },
  {
    path: claims,
    object: claim({}),
    change: { spec: { devices: { requests: [device(1)] } } },
    causes: [fixed("spec")],
  },
  {
    path: pools,
    object: { spec: { ...pool, sharedCounters: repeated(9, (index) => ({ name: `c${index}`, counters })) } },
    causes: [tooMany("spec.sharedCounters", 9, 8)],
  },
  {
    path: pools,
    object: { spec: { ...pool, sharedCounters: [{ name: "C_", counters }] } },
    causes: [invalid("spec.sharedCounters[0].name", '"C_"', LABEL)],
  },
  { path: sets, object: set, change: { spec: { serviceName: "x" } }, causes: [fixed("spec.serviceName", '"x"')] },
  {
    path: "/api/v1/namespaces/default/secrets",
    object: { type: "a/b" },
    change: { type: "a/c" },
    causes: [fixed("type", '"a/c"')],
  },
  {
    path: "/apis/storage.k8s.io/v1/csidrivers",
    object: { spec: { volumeLifecycleModes: ["Persistent"] } },
    change: { spec: { volumeLifecycleModes: ["Ephemeral"] } },
    causes: [fixed("spec.volumeLifecycleModes", '["Ephemeral"]')],
  },
  {
    path: "/apis/storage.k8s.io/v1/storageclasses",
    object: { provisioner: "a.b/c" },
    change: { provisioner: "a.b/d", parameters: { a: "b" }, reclaimPolicy: "Retain" },
    causes: [fixed("provisioner"), fixed("parameters"), fixed("reclaimPolicy")],
  },
];

/** A claim, and a status that has too many users, and the name of an interface that is too long. */
export const CLAIM = {
  path: claims,
  object: claim({}),
  status: {
    reservedFor: repeated(257, (index) => ({ resource: "pods", name: `p${index}`, uid: `${index}` })),
    devices: [{ driver: "a.b", pool: "p", device: "d", networkData: { interfaceName: "é".repeat(129) } }],
  },
  causes: [
    tooMany("status.reservedFor", 257, 256),
    "status.devices[0].networkData.interfaceName FieldValueTooLong: Too long: may not be more than 256 bytes",
  ],
};
