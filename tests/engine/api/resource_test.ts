import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import type { KubernetesObject } from "../../../src/engine/api/object.ts";
import {
  type ApiResource,
  apiVersionOf,
  compareVersionPriority,
  defineResource,
  inBestVersion,
  onlyMetadata,
  parseResourcePath,
  pathOf,
  type Resource,
  resourceName,
  verbOf,
} from "../../../src/engine/api/resource.ts";
import { editDistance } from "../../../src/engine/errors/errors.ts";

Deno.test("editDistance counts insertions, deletions, replacements and swaps of neighbours", () => {
  const cases: readonly (readonly [string, string, number])[] = [
    ["", "", 0],
    ["", "pods", 4],
    ["pods", "pods", 0],
    ["pod", "pods", 1],
    ["ppods", "pods", 1],
    ["pads", "pods", 1],
    ["opds", "pods", 1],
    ["opsd", "pods", 2],
    ["kitten", "sitting", 3],
  ];
  for (const [a, b, distance] of cases) {
    assertEquals([editDistance(a, b), editDistance(b, a)], [distance, distance], `${a} ${b}`);
  }
});

const Pod: Resource = defineResource({ version: "v1", plural: "pods", kind: "Pod" });
const Deployment: Resource = defineResource({
  group: "apps",
  version: "v1",
  plural: "deployments",
  kind: "Deployment",
});
const Node: Resource = defineResource({ version: "v1", plural: "nodes", kind: "Node", scope: "Cluster" });

Deno.test("inBestVersion takes the preferred version of each resource, else its first", () => {
  const known = (plural: string, version: string, preferred: boolean, group = "example.com"): ApiResource => {
    const resource = defineResource({ group, version, plural, kind: plural });
    const lists = { shortNames: [], categories: [], verbs: [], subresources: [] };
    return { ...resource, ...lists, singular: plural, preferred } as ApiResource;
  };
  const all = [
    known("a", "v1", true),
    known("a", "v1beta1", false),
    known("b", "v1beta1", false),
    known("b", "v1alpha1", false),
    known("c", "v1beta1", false),
    known("c", "v1", true),
    known("a", "v2", true, "other.com"),
  ];
  assertEquals(inBestVersion(all).map(({ group, plural, version }) => [plural, group, version].join(" ")), [
    ...["a example.com v1", "b example.com v1beta1", "c example.com v1", "a other.com v2"],
  ]);
});

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
        `Cannot define a resource: ${field} must be a non-empty string, but it is ${printed}`,
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

Deno.test("onlyMetadata changes the representation and nothing else", () => {
  const metadata: Resource<KubernetesObject> = onlyMetadata(Deployment);
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
    `Cannot address an object of "deployments.apps": its name is empty`,
  );
  assertThrows(
    () => pathOf(Pod, { namespace: "shop", subresource: "status" }),
    TypeError,
    `Cannot address "status" of "pods": the object's name is missing`,
  );
});

Deno.test("parseResourcePath reads what pathOf makes, and is undefined for paths that are about no resource", () => {
  const deployments = defineResource({
    group: "apps",
    version: "v1",
    plural: "deployments",
    kind: "Deployment",
    scope: "Namespaced",
  });
  const nodes = defineResource({ group: "", version: "v1", plural: "nodes", kind: "Node", scope: "Cluster" });
  for (
    const { resource, namespace } of [{ resource: deployments, namespace: "shop" }, { resource: nodes, namespace: "" }]
  ) {
    const { group, version, plural } = resource;
    for (
      const parts of [{}, { name: "a" }, { name: "a", subresource: "scale" }, { name: "a", subresource: "proxy/b" }]
    ) {
      const place = { group, version, plural, namespace, name: undefined, subresource: undefined, ...parts };
      assertEquals(parseResourcePath(pathOf(resource, { namespace, ...parts })), place);
    }
  }
  assertEquals(parseResourcePath("/api/v1/namespaces/shop/status"), {
    ...{ group: "", version: "v1", plural: "namespaces", namespace: "", name: "shop", subresource: "status" },
  });
  for (const path of ["/", "/version", "/api", "/api/v1", "/apis/apps", "/apis/apps/v1"]) {
    assertEquals(parseResourcePath(path), undefined);
  }
  assertThrows(() => parseResourcePath("/api/v1/pods/%"), URIError);
});

Deno.test("verbOf is the verb that rules have for a request", () => {
  const of = (method: string, name?: string, query = ""): string =>
    verbOf(method, { name }, new URLSearchParams(query));
  assertEquals(["GET", "HEAD"].map((method) => [of(method), of(method, "a")]), [["list", "get"], ["list", "get"]]);
  assertEquals(
    ["watch=true", "watch=1", "watch=", "watch=false", "watch=0"].map((query) => of("GET", undefined, query)),
    [
      ...["watch", "watch", "watch", "list", "list"],
    ],
  );
  assertEquals(
    ["POST", "PUT", "PATCH", "OPTIONS"].map((method) => of(method, "a")),
    ["create", "update", "patch", "options"],
  );
  assertEquals([of("DELETE"), of("DELETE", "a")], ["deletecollection", "delete"]);
});

Deno.test("compareVersionPriority orders versions as Kubernetes does, those of another form last", () => {
  const versions = ["v1alpha1", "foo", "v1", "v10", "v2beta1", "v1beta2", "bar", "v2", "v1beta1", "v01"];
  assertEquals(versions.sort(compareVersionPriority), [
    "v10",
    "v2",
    "v1",
    "v2beta1",
    "v1beta2",
    "v1beta1",
    "v1alpha1",
    "bar",
    "foo",
    "v01",
  ]);
});
