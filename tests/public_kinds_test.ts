/**
 * The views of kinds as users write them: the code is type-checked, and each `@ts-expect-error` fails the check if the
 * compiler accepts the line.
 */
import {
  type ApiStatus,
  type Apply,
  type Client,
  copyOf,
  defineResource,
  type DynamicObject,
  findResource,
  type KubernetesObject,
  type MergePatch,
  type Mutable,
  type ObjectDraft,
  parseQuantity,
  type Resource,
  type SharedInformerFactory,
} from "@kube/informer";
import type { CustomResourceDefinition } from "@kube/informer/kinds/apiextensions/v1";
import { Deployment, type StatefulSet } from "@kube/informer/kinds/apps/v1";
import type { SelfSubjectAccessReview } from "@kube/informer/kinds/authorization/v1";
import { ConfigMap, type Node, Pod, type Service, ServiceAccount } from "@kube/informer/kinds/core/v1";
import { pod } from "@kube/informer/testing";
import type { IndexedCollection, Scale, TokenRequest } from "@kube/informer/types";
import { assertEquals, assertNotStrictEquals } from "@std/assert";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false;
function same<A, B>(..._: Same<A, B> extends true ? [] : [never]): void {}

Deno.test("types: a quantity is sent as text or as a number, and read as text", () => {
  const spec = { containers: [{ name: "app", resources: { limits: { cpu: 1, memory: "1Gi" } } }] };
  const draft: ObjectDraft<Pod> = { metadata: { name: "a" }, spec };
  const template = { spec: { containers: [{ name: "app", resources: { requests: { cpu: 0.5 } } }] } };
  const applied: Apply<Deployment> = { metadata: { name: "a" }, spec: { template } };
  const patch: MergePatch<Node> = { status: { allocatable: { "example.com/licenses": 3 } } };
  // @ts-expect-error other texts are no numbers
  const named: ObjectDraft<Pod> = { metadata: { name: "a" }, spec: { containers: [{ name: 1 }] } };
  // @ts-expect-error what is read, changed and written back is text
  const changed: Mutable<Pod> = { ...pod({ name: "a" }), spec };
  const read = (pod: Pod, names: IndexedCollection<Pod>): void => {
    const cpu = pod.spec.containers[0].resources?.limits?.cpu;
    same<typeof cpu extends string | undefined ? true : false, true>();
    const text: string | undefined = cpu;
    void [text, names, parseQuantity(cpu ?? "0"), parseQuantity("1")];
  };
  assertEquals(
    [draft, applied, patch, named, changed].length + read.length + Number(parseQuantity(0.5)),
    7.5,
  );
});

Deno.test("types: an object that was read has its metadata, and is readonly at any depth", () => {
  const read = (pod: Pod): void => {
    same<typeof pod.metadata.uid, string>();
    same<typeof pod.metadata.creationTimestamp, string>();
    same<typeof pod.spec.nodeName, string | undefined>();
    same<typeof pod.kind, "Pod" | undefined>();
    // @ts-expect-error the status may be absent
    pod.status.phase;
    // @ts-expect-error read-only
    pod.metadata.labels = {};
    // @ts-expect-error read-only, deep inside
    pod.spec.containers[0].image = "nginx";
    // @ts-expect-error read-only lists
    pod.spec.containers.push({ name: "a" });
    // @ts-expect-error a field that pods do not have
    pod.spec.nodename;
    // Newer servers may send other values of an enum.
    const policy: string | undefined = pod.spec.restartPolicy;
    if (pod.status?.phase === "Later") void policy;
    void [pod.status?.containerStatuses?.[0].lastState, pod.status?.podIPs?.[0].ip, pod.status?.qosClass];
    void pod.spec.containers[0].securityContext?.capabilities?.drop?.[0];
  };
  assertEquals(read.length, 1);
});

Deno.test("types: a draft needs what the API requires, and has neither status nor server-set metadata", () => {
  const drafts: ObjectDraft<Deployment>[] = [
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "web" },
      spec: {
        selector: { matchLabels: { app: "web" } },
        template: {
          metadata: { labels: { app: "web" } },
          spec: {
            containers: [{
              name: "c",
              image: "nginx",
              ports: [{ containerPort: 80 }],
              volumeMounts: [{ name: "v", mountPath: "/v" }],
              livenessProbe: { httpGet: { path: "/", port: 80 } },
              resources: { limits: { cpu: "1" } },
              imagePullPolicy: "Always",
            }],
            volumes: [{ name: "v", emptyDir: {} }],
            tolerations: [],
            affinity: {},
          },
        },
        strategy: { rollingUpdate: { maxSurge: "25%", maxUnavailable: 1 } },
      },
    },
    // @ts-expect-error no spec
    { metadata: { name: "web" } },
    // @ts-expect-error no selector
    { metadata: { name: "web" }, spec: { template: { spec: { containers: [] } } } },
    // @ts-expect-error no template
    { metadata: { name: "web" }, spec: { selector: {} } },
  ];
  const spec = { containers: [{ name: "app" }] };
  const pods: ObjectDraft<Pod>[] = [
    { metadata: { generateName: "web-" }, spec },
    // @ts-expect-error neither name nor generateName
    { metadata: { labels: {} }, spec },
    // @ts-expect-error no metadata
    { spec },
    // @ts-expect-error the status is the server's
    { metadata: { name: "web" }, spec, status: { phase: "Running" } },
    // @ts-expect-error the uid is the server's
    { metadata: { name: "web", uid: "u" }, spec },
    // @ts-expect-error another kind
    { kind: "Node", metadata: { name: "web" }, spec },
    // @ts-expect-error another group
    { apiVersion: "apps/v1", metadata: { name: "web" }, spec },
    // @ts-expect-error a field that does not exist
    { metadata: { name: "web" }, spec: { containers: [{ name: "app" }], nodename: "n" } },
    // @ts-expect-error a field that does not exist, in a list
    { metadata: { name: "web" }, spec: { containers: [{ name: "app", img: "nginx" }] } },
    // @ts-expect-error a field that is required, in a list
    { metadata: { name: "web" }, spec: { containers: [{ image: "nginx" }] } },
    // @ts-expect-error a value that the enum does not have
    { metadata: { name: "web" }, spec: { containers: [], restartPolicy: "always" } },
    // @ts-expect-error a number is no text
    { metadata: { name: "web" }, spec: { containers: [], nodeName: 7 } },
  ];
  const others: [ObjectDraft<Service>, ObjectDraft<SelfSubjectAccessReview>, ObjectDraft<StatefulSet>] = [
    { metadata: { name: "web" } },
    { spec: { resourceAttributes: { verb: "list", resource: "pods" } } },
    {
      metadata: { name: "db" },
      spec: {
        selector: {},
        template: { spec: { containers: [] } },
        volumeClaimTemplates: [{ metadata: { name: "data" }, spec: { accessModes: ["ReadWriteOnce"] } }],
      },
    },
  ];
  assertEquals([drafts.length, pods.length, others.length], [4, 12, 3]);
});

Deno.test("types: recursive schemas can be written", () => {
  const definition: ObjectDraft<CustomResourceDefinition> = {
    metadata: { name: "tabs.acme.dev" },
    spec: {
      group: "acme.dev",
      scope: "Namespaced",
      names: { plural: "tabs", kind: "Tab" },
      versions: [{
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", properties: { spec: { type: "object", properties: {} } } } },
      }],
    },
  };
  const tree: CustomResourceDefinition["spec"]["versions"][number]["schema"] = definition.spec.versions[0].schema;
  same<ObjectDraft<CustomResourceDefinition>["spec"]["versions"][number]["name"], string>();
  assertEquals(Object.keys(tree?.openAPIV3Schema?.properties ?? {}), ["spec"]);
});

Deno.test("types: an apply needs the name, and the keys of the items of a merged list", () => {
  const applies: Apply<Pod>[] = [
    { metadata: { name: "web" } },
    { apiVersion: "v1", kind: "Pod", metadata: { name: "web", labels: { app: "web" } }, status: { phase: "Running" } },
    { metadata: { name: "web" }, spec: { containers: [{ name: "app", ports: [{ containerPort: 80 }] }] } },
    { metadata: { name: "web" }, status: { conditions: [{ type: "Ready" }] } },
    // @ts-expect-error no name
    { metadata: {} },
    // @ts-expect-error no metadata
    { spec: {} },
    // @ts-expect-error a container is identified by its name
    { metadata: { name: "web" }, spec: { containers: [{ image: "nginx" }] } },
    // @ts-expect-error a port is identified by its number
    { metadata: { name: "web" }, spec: { containers: [{ name: "app", ports: [{ hostPort: 80 }] }] } },
    // @ts-expect-error a list that is replaced has complete items
    { metadata: { name: "web" }, spec: { containers: [{ name: "app", envFrom: [{ secretRef: { nam: "a" } }] }] } },
    // @ts-expect-error a field that does not exist
    { metadata: { name: "web" }, spec: { nodename: "n" } },
    // @ts-expect-error a value that the enum does not have
    { metadata: { name: "web" }, spec: { restartPolicy: "always" } },
    // @ts-expect-error nothing is deleted by null
    { metadata: { name: "web" }, spec: { nodeName: null } },
  ];
  assertEquals(applies.length, 12);
});

Deno.test("types: a merge patch has any part, and null deletes", () => {
  const patches: MergePatch<Deployment>[] = [
    {},
    { metadata: { labels: { tier: null }, annotations: null }, spec: { replicas: 3 } },
    { spec: { strategy: { rollingUpdate: null }, template: { spec: { containers: [{ name: "app" }] } } } },
    // @ts-expect-error lists are replaced, so their items are complete
    { spec: { template: { spec: { containers: [{ image: "nginx" }] } } } },
    // @ts-expect-error a field that does not exist
    { spec: { replica: 3 } },
    // @ts-expect-error a text is no number
    { spec: { replicas: "3" } },
    // @ts-expect-error a value that the enum does not have
    { spec: { strategy: { type: "rolling" } } },
  ];
  assertEquals(patches.length, 7);
});

Deno.test("copyOf returns a deep copy that can be changed, and its type says so", () => {
  const read: Pod = Object.freeze(pod({ name: "web", labels: { app: "web" } }));
  const copy = copyOf(read);
  same<typeof copy, Mutable<Pod>>();
  copy.metadata.labels = { a: "b" };
  copy.metadata.finalizers = ["example.com/wait"];
  copy.metadata.finalizers.push("example.com/more");
  copy.spec.containers[0].image = "nginx";
  copy.spec.containers.push({ name: "side" });
  copy.spec.restartPolicy = "Never";
  // @ts-expect-error a value that the enum does not have
  copy.spec.restartPolicy = "never";
  delete copy.spec.nodeName;
  // @ts-expect-error a field that does not exist
  copy.spec.nodename = "n";
  // @ts-expect-error the version is needed to update
  delete copy.metadata.resourceVersion;
  const back: Pod = copy;
  const draft: ObjectDraft<Pod> = copy;
  const part = copyOf(read.spec.containers);
  part[0].image = "apache";
  assertEquals([read.metadata.labels, read.spec.containers.length], [{ app: "web" }, 1]);
  assertNotStrictEquals(read.spec.containers[0].image, "nginx");
  assertEquals([back.spec.containers.length, draft.metadata.name], [2, "web"]);
});

/** Requests as users write them: type-checked, and not run. */
export async function requests(client: Client, cached: Pod, node: Node): Promise<void> {
  const pods = client.resource(Pod, { namespace: "shop" });
  const created = await pods.create({ metadata: { name: "web" }, spec: { containers: [{ name: "app" }] } });
  same<typeof created, Pod>();
  // @ts-expect-error a draft without a spec
  await pods.create({ metadata: { name: "web" } });
  const evicted = await pods.create({ metadata: { name: "web" } }, { subresource: "eviction" });
  same<typeof evicted, ApiStatus>();
  const copy = copyOf(cached);
  copy.metadata.labels = { a: "b" };
  await pods.update(copy);
  await pods.update({ ...copy, status: { ...copy.status, phase: "Failed" } }, { subresource: "status" });
  // @ts-expect-error a cached object is no copy
  await pods.update(cached);
  // @ts-expect-error a draft has no version
  await pods.update({ metadata: { name: "web" }, spec: { containers: [] } });
  // @ts-expect-error a copy of another kind
  await pods.update(copyOf(node));
  await pods.apply({ metadata: { name: "web" }, spec: { hostname: "web" } }, { fieldManager: "shop" });
  // @ts-expect-error an apply names its owner
  await pods.apply({ metadata: { name: "web" } });
  // @ts-expect-error a container is identified by its name
  await pods.apply({ metadata: { name: "web" }, spec: { containers: [{}] } }, { fieldManager: "shop" });
  await pods.patch("web", { type: "merge", body: { metadata: { labels: { a: null } } } });
  // @ts-expect-error a field that does not exist
  await pods.patch("web", { type: "merge", body: { metadata: { label: { a: null } } } });
  await pods.patch("web", { type: "apply", fieldManager: "shop", body: { spec: { hostname: "web" } } });
  // @ts-expect-error a field that does not exist
  await pods.patch("web", { type: "apply", fieldManager: "shop", body: { spec: { hostName: "web" } } });
  await client.resource(ConfigMap).update({ ...copyOf(await client.resource(ConfigMap).get("a")), data: { a: "b" } });
}

/** Subresources, of other kinds than their collections: type-checked, and not run. */
export async function subresources(client: Client, name: string): Promise<void> {
  const deployments = client.resource(Deployment);
  const scale = await deployments.get(name, { subresource: "scale" });
  same<typeof scale, Scale>();
  const whole = [await deployments.get(name), await deployments.get(name, { subresource: "status" })];
  same<typeof whole, Deployment[]>();
  const other = await client.resource(Pod).get(name, { subresource: "ephemeralcontainers" });
  same<typeof other, DynamicObject>();
  const patched = await deployments.patch(
    name,
    { type: "merge", body: { spec: { replicas: 3 } } },
    { subresource: "scale" },
  );
  same<typeof patched, Scale>();
  const updated = await deployments.update({ ...copyOf(scale), spec: { replicas: 4 } }, { subresource: "scale" });
  same<typeof updated, Scale>();
  // @ts-expect-error a scale has no template
  await deployments.update({ ...copyOf(scale), spec: { template: {} } }, { subresource: "scale" });
  const accounts = client.resource(ServiceAccount);
  const request = await accounts.create({ metadata: { name } }, { subresource: "token" });
  same<typeof request, TokenRequest>();
  same<typeof request.status.token, string>();
  const bound = await client.resource(Pod).create({ metadata: { name }, target: {} }, { subresource: "binding" });
  same<typeof bound, ApiStatus>();
  const unknown = await client.resource(Pod).create({ metadata: { name } }, { subresource: "resize" });
  same<typeof unknown, DynamicObject>();
}

/** Kinds that are found at run time: type-checked, and not run. */
export async function dynamic(client: Client, informers: SharedInformerFactory): Promise<void> {
  interface Tab extends KubernetesObject {
    readonly spec: { readonly replicas: number };
  }
  const found = findResource(await client.discover(), "tabs");
  const known = informers.forResource<Tab>(found);
  same<NonNullable<ReturnType<typeof known.lister.get>>, Tab>();
  const tab = await client.resource<Tab>(found).get("a");
  same<typeof tab.spec.replicas, number>();
  const unknown = informers.forResource(found);
  same<NonNullable<ReturnType<typeof unknown.lister.get>>, DynamicObject>();
  same<NonNullable<ReturnType<typeof unknown.lister.get>>["spec"], unknown>();
  // @ts-expect-error an unknown member has no members
  unknown.lister.get("a/b")?.spec.replicas;
  // @ts-expect-error a kind that is known is of its own type
  informers.forResource<Tab>(Pod);
  const resource = client.resource(found);
  await resource.create({ metadata: { name: "a" }, spec: { replicas: 1 } });
  // @ts-expect-error an object that is stored needs a name
  await resource.create({ spec: { replicas: 1 } });
  const copy = copyOf(await resource.get("a"));
  copy.spec = { replicas: 2 };
  await resource.update(copy);
  await resource.patch("a", { type: "merge", body: { spec: { replicas: null } } });
  const views: IndexedCollection<KubernetesObject>[] = [known, unknown, informers.forResource(Pod)];
  const resources: Resource[] = [found, Pod, Deployment];
  void [views, resources];
}

/** A kind of one's own: type-checked, and not run. */
export async function custom(client: Client): Promise<void> {
  interface Tab extends KubernetesObject {
    readonly spec: { readonly schedule: string; readonly mode?: "Allow" | "Forbid"; readonly days?: readonly string[] };
    readonly status?: { readonly runs: number };
  }
  const Tab: Resource<Tab> = defineResource<Tab>({ group: "acme.dev", version: "v1", plural: "tabs", kind: "Tab" });
  const tabs = client.resource(Tab, { namespace: "shop" });
  const created = await tabs.create({ metadata: { name: "a" }, spec: { schedule: "0 0 * * *", mode: "Allow" } });
  // @ts-expect-error a value that the enum does not have
  await tabs.create({ metadata: { name: "a" }, spec: { schedule: "0 0 * * *", mode: "Deny" } });
  const copy = copyOf(created);
  copy.spec.days = ["Monday"];
  copy.spec.days.push("Friday");
  copy.status = { runs: 1 };
  await tabs.update(copy, { subresource: "status" });
  await tabs.apply({ metadata: { name: "a" }, spec: { mode: "Forbid" } }, { fieldManager: "shop" });
}
