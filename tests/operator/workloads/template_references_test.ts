import { assertEquals } from "@std/assert";
import type { PodSpec } from "../../../src/engine/kinds/core/v1.ts";
import { structNamed } from "../../../src/testing/fake/schema/schema.ts";
import type { Schema } from "../../../src/operator/schema/values/object_schema.ts";
import { REFERENCES, templateReferences } from "../../../src/operator/workloads/template_references.ts";

/** Paths in a PodSpec that end like a reference, and name no object that `templateReferences` could return. */
const NO_REFERENCES: Readonly<Record<string, readonly string[]>> = {
  "the name of a part of this pod": [
    "CONTAINERS.name",
    "CONTAINERS.env.name",
    "CONTAINERS.env.valueFrom.fileKeyRef.volumeName",
    "CONTAINERS.env.valueFrom.resourceFieldRef.containerName",
    "CONTAINERS.ports.name",
    "CONTAINERS.resizePolicy.resourceName",
    "CONTAINERS.resources.claims.name",
    "CONTAINERS.volumeMounts.name",
    "CONTAINERS.volumeDevices.name",
    "ephemeralContainers.targetContainerName",
    "evictionResponders.name",
    "resourceClaims.name",
    "resources.claims.name",
    "schedulingGates.name",
    "volumes.name",
    "volumes.downwardAPI.items.resourceFieldRef.containerName",
    "volumes.projected.sources.downwardAPI.items.resourceFieldRef.containerName",
  ],
  "the name of a header, an option or a user": [
    "CONTAINERS.livenessProbe.httpGet.httpHeaders.name",
    "CONTAINERS.readinessProbe.httpGet.httpHeaders.name",
    "CONTAINERS.startupProbe.httpGet.httpHeaders.name",
    "CONTAINERS.lifecycle.postStart.httpGet.httpHeaders.name",
    "CONTAINERS.lifecycle.preStop.httpGet.httpHeaders.name",
    "CONTAINERS.securityContext.windowsOptions.gmsaCredentialSpecName",
    "CONTAINERS.securityContext.windowsOptions.runAsUserName",
    "dnsConfig.options.name",
    "os.name",
    "securityContext.sysctls.name",
    "securityContext.windowsOptions.gmsaCredentialSpecName",
    "securityContext.windowsOptions.runAsUserName",
  ],
  "a policy": ["CONTAINERS.imagePullPolicy"],
  "a program or a node": ["nodeName", "schedulerName"],
  "an image, a file or a volume outside of Kubernetes": [
    "volumes.azureDisk.diskName",
    "volumes.azureFile.shareName",
    "volumes.cephfs.secretFile",
    "volumes.gcePersistentDisk.pdName",
    "volumes.iscsi.initiatorName",
    "volumes.rbd.image",
    "volumes.flocker.datasetName",
    "volumes.scaleIO.volumeName",
    "volumes.storageos.volumeName",
    "volumes.vsphereVolume.storagePolicyName",
  ],
  "a cluster-scoped object that is not read": [
    "volumes.ephemeral.volumeClaimTemplate.spec.storageClassName",
    "volumes.ephemeral.volumeClaimTemplate.spec.volumeAttributesClassName",
    "volumes.ephemeral.volumeClaimTemplate.spec.volumeName",
    "volumes.projected.sources.clusterTrustBundle.name",
    "volumes.projected.sources.clusterTrustBundle.signerName",
    "volumes.projected.sources.podCertificate.signerName",
  ],
  "an object that is not read": ["schedulingGroup.podGroupName"],
  "metadata of a new claim": [
    "volumes.ephemeral.volumeClaimTemplate.metadata.generateName",
    "volumes.ephemeral.volumeClaimTemplate.metadata.name",
    "volumes.ephemeral.volumeClaimTemplate.metadata.ownerReferences.name",
  ],
};

/** The last keys of paths that may lead to a reference. */
const LIKE_A_REFERENCE = /^(?:name|reference)$|Name$|[sS]ecret|[cC]onfigMap|[cC]laim|[aA]ccount|[iI]mage|[cC]lass/;

/** The paths of all texts in a type, without those in types that contain themselves. */
function textsIn(schema: Schema, path = "", above: readonly Schema[] = []): string[] {
  switch (schema.type) {
    case "struct":
      if (above.includes(schema)) return [];
      return [...schema.fields.values()].flatMap((field) =>
        textsIn(field.schema, path === "" ? field.name : `${path}.${field.name}`, [...above, schema])
      );
    case "list":
      return textsIn(schema.items, path, above);
    case "string":
      return [path];
    default:
      return [];
  }
}

const SPEC = structNamed("core/v1.PodSpec");
const CONTAINERS = ["containers", "initContainers", "ephemeralContainers"];

/** Returns an object of a type that has only the value at a path. */
function objectWith(schema: Schema, keys: readonly string[], value: unknown): unknown {
  if (schema.type === "list") return [objectWith(schema.items, keys, value)];
  if (schema.type !== "struct") return value;
  const [key, ...rest] = keys;
  return { [key]: objectWith(schema.fields.get(key)!.schema, rest, value) };
}

Deno.test("templateReferences reads each path in the schema of PodSpec that names a ConfigMap, a Secret, and so on", () => {
  const others = new Set(
    Object.values(NO_REFERENCES).flat().flatMap((path) => {
      return path.startsWith("CONTAINERS.") ? CONTAINERS.map((of) => path.replace("CONTAINERS", of)) : [path];
    }),
  );
  const found = textsIn(SPEC).filter((path) => LIKE_A_REFERENCE.test(path.split(".").at(-1)!));
  assertEquals(found.length > 100, true, `${found.length} paths`);
  const read = Object.values(REFERENCES).flat();
  assertEquals(
    found.filter((path) => !read.includes(path) && !others.has(path)),
    [],
    "read them, or say what they are",
  );
  assertEquals(read.filter((path) => !found.includes(path)), [], "the schema has no such path");
  assertEquals([...others].filter((path) => !found.includes(path)), [], "remove them from the list");
  assertEquals(new Set(read).size, read.length);
});

Deno.test("templateReferences finds a name at each of its paths, and nothing else", () => {
  for (const [of, paths] of Object.entries(REFERENCES)) {
    for (const path of paths) {
      const spec = objectWith(SPEC, path.split("."), "found") as PodSpec;
      const { serviceAccounts, ...others } = templateReferences(spec);
      const names = Object.entries(others).filter(([, names]) => names.length > 0);
      if (of === "serviceAccounts") assertEquals([serviceAccounts, names], [["found"], []], path);
      else assertEquals([serviceAccounts, names], [["default"], [[of, ["found"]]]], path);
    }
  }
});

Deno.test("templateReferences sorts names, returns each once, and leaves out empty ones", () => {
  const { configMaps, images, priorityClasses } = templateReferences({
    containers: [
      { name: "a", image: "web:2", envFrom: [{ configMapRef: { name: "z" } }, { configMapRef: {} }] },
      { name: "b", image: "web:1", envFrom: [{ configMapRef: { name: "a" } }] },
    ],
    initContainers: [{ name: "c", image: "web:2", envFrom: [{ configMapRef: { name: "z" } }] }],
    priorityClassName: "",
  });
  assertEquals({ configMaps, images, priorityClasses }, {
    configMaps: ["a", "z"],
    images: ["web:1", "web:2"],
    priorityClasses: [],
  });
});

Deno.test("templateReferences reads the spec of a template or pod, and knows an empty one", () => {
  const spec = { containers: [{ name: "a", image: "web:1" }], serviceAccountName: "web" };
  assertEquals(templateReferences({ spec }), templateReferences(spec));
  assertEquals(templateReferences({}).serviceAccounts, ["default"]);
  assertEquals(templateReferences({ spec }).serviceAccounts, ["web"]);
});

Deno.test("templateReferences leaves out optional references on request", () => {
  const spec: PodSpec = {
    containers: [{
      name: "a",
      env: [
        { name: "A", valueFrom: { secretKeyRef: { name: "maybe", key: "a", optional: true } } },
        { name: "B", valueFrom: { secretKeyRef: { name: "must", key: "a", optional: false } } },
      ],
    }],
    volumes: [{ name: "v", configMap: { name: "maybe", optional: true } }],
  };
  const names = (requiredOnly?: boolean): unknown => {
    const { secrets, configMaps } = templateReferences(spec, requiredOnly === undefined ? {} : { requiredOnly });
    return { secrets, configMaps };
  };
  assertEquals(names(), { secrets: ["maybe", "must"], configMaps: ["maybe"] });
  assertEquals(names(true), { secrets: ["must"], configMaps: [] });
});

Deno.test("templateReferences counts a data source only if it is a claim in the pod's namespace", () => {
  const claims = (source: object): readonly string[] =>
    templateReferences({
      containers: [],
      volumes: [{
        name: "v",
        ephemeral: { volumeClaimTemplate: { spec: { dataSourceRef: { name: "source", ...source } as never } } },
      }],
    }).persistentVolumeClaims;
  assertEquals(claims({ kind: "PersistentVolumeClaim" }), ["source"]);
  assertEquals(claims({ kind: "VolumeSnapshot", apiGroup: "snapshot.storage.k8s.io" }), []);
  assertEquals(claims({ kind: "PersistentVolumeClaim", namespace: "other" }), []);
});
