import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import type { KubernetesObject } from "../../src/api/object.ts";
import {
  apiVersionOf,
  defineResource,
  metadataOf,
  pathOf,
  type Resource,
  resourceName,
} from "../../src/api/resource.ts";

const Pod: Resource = defineResource({ version: "v1", plural: "pods", kind: "Pod" });
const Deployment: Resource = defineResource({
  group: "apps",
  version: "v1",
  plural: "deployments",
  kind: "Deployment",
});
const Node: Resource = defineResource({ version: "v1", plural: "nodes", kind: "Node", scope: "Cluster" });

Deno.test("defineResource fills in group and scope, and freezes", () => {
  assertEquals<Resource>(Pod, { group: "", version: "v1", plural: "pods", kind: "Pod", scope: "Namespaced" });
  assertThrows(() => Object.assign(Pod, { plural: "nodes" }), TypeError);
});

Deno.test("defineResource names the part that is missing or not allowed in a path", () => {
  const good = { group: "apps", version: "v1", plural: "deployments", kind: "Deployment" };
  for (const field of ["version", "plural", "kind"]) {
    for (const [bad, printed] of [["", `""`], [undefined, "undefined"], [7, "7"]]) {
      assertThrows(
        () => defineResource({ ...good, [field]: bad }),
        TypeError,
        `Cannot define a resource: ${field} must be a non-empty string, found ${printed}`,
      );
    }
  }
  for (const field of ["group", "version", "plural"]) {
    for (const bad of ["a/b", "a%2fb", "..", ".", "a?b", "a#b", "a\\b"]) {
      const error = assertThrows(() => defineResource({ ...good, [field]: bad }), TypeError);
      assertStringIncludes(error.message, `Cannot use "${bad}" as ${field}`);
    }
  }
});

Deno.test("metadataOf changes the representation and nothing else", () => {
  const metadata: Resource<KubernetesObject> = metadataOf(Deployment);
  assertEquals(metadata, { ...Deployment, representation: "metadata" });
  assertEquals(Deployment.representation, undefined);
  assertThrows(() => Object.assign(metadata, { representation: "object" }), TypeError);
});

Deno.test("apiVersionOf and resourceName leave the core group out", () => {
  assertEquals([apiVersionOf(Pod), resourceName(Pod)], ["v1", "pods"]);
  assertEquals([apiVersionOf(Deployment), resourceName(Deployment)], ["apps/v1", "deployments.apps"]);
});

Deno.test("pathOf addresses collections, objects and subresources", () => {
  assertEquals(
    [
      pathOf(Pod),
      pathOf(Pod, { namespace: "" }),
      pathOf(Pod, { namespace: "shop" }),
      pathOf(Pod, { namespace: "shop", name: "cart-0" }),
      pathOf(Pod, { namespace: "shop", name: "cart-0", subresource: "status" }),
      pathOf(Pod, { namespace: "shop", name: "cart-0", subresource: "proxy/healthz" }),
      pathOf(Deployment, { namespace: "shop", name: "web", subresource: "scale" }),
      pathOf(Node, { namespace: "shop", name: "node-1" }),
      pathOf(Pod, { namespace: "shop", name: "system:a b" }),
    ],
    [
      "/api/v1/pods",
      "/api/v1/pods",
      "/api/v1/namespaces/shop/pods",
      "/api/v1/namespaces/shop/pods/cart-0",
      "/api/v1/namespaces/shop/pods/cart-0/status",
      "/api/v1/namespaces/shop/pods/cart-0/proxy/healthz",
      "/apis/apps/v1/namespaces/shop/deployments/web/scale",
      "/api/v1/nodes/node-1",
      "/api/v1/namespaces/shop/pods/system%3Aa%20b",
    ],
  );
});

Deno.test("pathOf refuses names and namespaces that would change the path", () => {
  for (const bad of ["..", ".", "a/b", "a%2fb", "a?b", "a#b", "a\\b"]) {
    assertThrows(() => pathOf(Pod, { namespace: bad }), TypeError, `Cannot use "${bad}" as namespace`);
    assertThrows(() => pathOf(Pod, { namespace: "shop", name: bad }), TypeError, `Cannot use "${bad}" as name`);
  }
  for (const bad of ["..", "status/..", "a?b"]) {
    assertThrows(() => pathOf(Pod, { name: "cart-0", subresource: bad }), TypeError, "as subresource");
  }
});

Deno.test("pathOf refuses a resource that would change the path", () => {
  for (const field of ["group", "version", "plural"]) {
    for (const bad of ["..", ".", "a/b", "a%2fb", "a?b", "a#b", "a\\b", ...(field === "group" ? [] : [""])]) {
      assertThrows(() => pathOf({ ...Deployment, [field]: bad }), TypeError, `Cannot use "${bad}" as ${field}`);
    }
  }
});

Deno.test("pathOf refuses an empty name, and a subresource without a name", () => {
  assertThrows(
    () => pathOf(Deployment, { namespace: "shop", name: "" }),
    TypeError,
    `Cannot address one of "deployments.apps": the name is empty`,
  );
  assertThrows(
    () => pathOf(Pod, { namespace: "shop", subresource: "status" }),
    TypeError,
    `Cannot address "status" of one of "pods": no name is given`,
  );
});
