import { assertEquals, assertThrows } from "@std/assert";
import { byShortName } from "../../../src/cli/shared/targets.ts";
import { defineResource } from "../../../src/engine/api/resource.ts";
import { Deployment } from "../../../src/engine/kinds/apps/v1.ts";
import { Node, Pod } from "../../../src/engine/kinds/core/v1.ts";

Deno.test("byShortName gives each resource one name: plurals only where no other has them, in any order", () => {
  const Metrics = defineResource({ group: "metrics.k8s.io", version: "v1", plural: "pods", kind: "PodMetrics" });
  const Mine = defineResource({ group: "example.com", version: "v1", plural: "deployments", kind: "Deployment" });
  const all = [Pod, Metrics, Deployment, Mine, Node];
  const names = ["pods", "pods.metrics.k8s.io", "deployments.apps", "deployments.example.com", "nodes"];
  for (const order of [all, all.toReversed()]) {
    const found = byShortName(order);
    assertEquals(names.map((name) => found.get(name)), all);
    assertEquals(found.size, all.length);
  }
  assertEquals([...byShortName([Metrics, Node]).keys()], ["pods", "nodes"]);
  assertThrows(() => byShortName([Pod, Metrics, Pod]), Error, 'two have the name "pods". Leave one out');
});
