import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import type { ApiResource } from "../../../src/engine/api/resource.ts";
import { findResource } from "../../../src/engine/client/find_resource.ts";

function resource(
  group: string,
  version: string,
  plural: string,
  kind: string,
  more: Partial<ApiResource> = {},
): ApiResource {
  return {
    group,
    version,
    plural,
    kind,
    scope: "Namespaced",
    singular: kind.toLowerCase(),
    shortNames: [],
    categories: [],
    verbs: ["get", "list", "watch"],
    subresources: [],
    preferred: true,
    ...more,
  };
}

const pods = resource("", "v1", "pods", "Pod", { shortNames: ["po"], categories: ["all"] });
const services = resource("", "v1", "services", "Service", { shortNames: ["svc"], categories: ["all"] });
const events = resource("", "v1", "events", "Event", { shortNames: ["ev"] });
const deployments = resource("apps", "v1", "deployments", "Deployment", { shortNames: ["deploy"] });
const oldDeployments = resource("apps", "v1beta1", "deployments", "Deployment", { preferred: false });
const newEvents = resource("events.k8s.io", "v1", "events", "Event", { shortNames: ["ev"] });
const jobs = resource("batch", "v1beta1", "oldjobs", "OldJob", { preferred: false });
const podMetrics = resource("metrics.k8s.io", "v1beta1", "pods", "PodMetrics", { singular: "" });
const certificates = resource("cert-manager.io", "v1", "certificates", "Certificate", { shortNames: ["cert"] });
const po = resource("games.test", "v1", "po", "Ponytail");
const all = [pods, services, events, oldDeployments, deployments, newEvents, jobs, podMetrics, certificates];

Deno.test("findResource accepts the names that kubectl accepts", () => {
  const cases: [string, ApiResource][] = [
    ["pods", pods],
    ["Pods", pods],
    ["pod", pods],
    ["po", pods],
    ["Pod", pods],
    ["PODMETRICS", podMetrics],
    ["svc", services],
    ["deploy", deployments],
    ["Deployment", deployments],
    ["deployments.apps", deployments],
    ["deploy.apps", deployments],
    ["Deployment.apps", deployments],
    ["deployments.v1.apps", deployments],
    ["deployments.v1beta1.apps", oldDeployments],
    ["Deployment.v1beta1.apps", oldDeployments],
    ["events", events],
    ["ev", events],
    ["events.events.k8s.io", newEvents],
    ["events.v1.events.k8s.io", newEvents],
    ["events.v1", events],
    ["pods.v1.", pods],
    ["pods.", pods],
    ["pods.metrics.k8s.io", podMetrics],
    ["pods.metrics", podMetrics],
    ["cert.cert-manager", certificates],
    ["oldjobs", jobs],
    [" pods ", pods],
  ];
  for (const [text, found] of cases) assertStrictEquals(findResource(all, text), found, text);
});

Deno.test("findResource prefers a plural to a singular, and that to a short name and a kind", () => {
  assertStrictEquals(findResource([...all, po], "po"), po);
  const named = resource("games.test", "v1", "ponies", "Po", { singular: "pony" });
  assertStrictEquals(findResource([named, pods], "po"), pods);
  assertStrictEquals(findResource([named], "po"), named);
});

Deno.test("findResource suggests the name that is spelt most alike", () => {
  const cases: [string, string][] = [
    ["pdos", 'Cannot find a resource "pdos": the server has no such resource. Did you mean "pods"'],
    ["deploymnet", 'Did you mean "deployments.apps"'],
    ["certs", 'Did you mean "certificates.cert-manager.io"'],
    ["deployments.extensions", "it is not among the server's 9 resources in 7 API versions"],
    ["xylophone", "it is not among the server's 9 resources in 7 API versions"],
    ["all", 'it is a category of resources. Name one of "pods" and "services"'],
    ["", "it is not among the server's"],
  ];
  for (const [text, message] of cases) assertThrows(() => findResource(all, text), Error, message);
  assertThrows(() => findResource([], "pods"), Error, "the server lists no resources");
});

Deno.test("findResource suggests at most three names, the nearest first", () => {
  const similar = ["widgets", "gidgets", "gadgets", "midgets"].map((plural) => resource("", "v1", plural, plural));
  const error = assertThrows(() => findResource(similar, "widgetz"), Error);
  assertEquals(
    error.message,
    'Cannot find a resource "widgetz": the server has no such resource. Did you mean "widgets", "gidgets" or "midgets"?',
  );
});
