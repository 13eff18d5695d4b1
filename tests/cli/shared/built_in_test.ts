import { assert, assertEquals } from "@std/assert";
import { builtInResource } from "../../../src/cli/shared/built_in.ts";
import { Client } from "../../../src/engine/client/client.ts";
import { findResource } from "../../../src/engine/client/find_resource.ts";
import { FakeApiServer } from "../../../src/testing/mod.ts";
import { run } from "../../support/processes/session.ts";

Deno.test("builtInResource finds what discovery would find", async () => {
  using client = new Client({ server: "http://fake", transport: new FakeApiServer() });
  const known = await client.discover();
  let count = 0;
  for (const { plural, singular, shortNames, kind } of known) {
    for (const name of [plural, singular, ...shortNames, kind]) {
      const found = builtInResource(name);
      if (found === undefined) continue;
      count++;
      const { group, version, plural, kind, scope, verbs } = findResource(known, name);
      assertEquals({ ...found }, { group, version, plural, kind, scope });
      assert(verbs.includes("list"), name);
    }
  }
  assert(count > 80, `${count} names`);
  for (const other of ["all", "", "pods.v1", "*"]) assertEquals(builtInResource(other), undefined);
});

Deno.test("informer get asks a server without a built-in kind which kind has its name", async () => {
  const paths: string[] = [];
  const group = {
    metadata: { name: "example.com" },
    versions: [{
      version: "v2",
      resources: [{ resource: "pods", responseKind: { kind: "Pod" }, scope: "Cluster", verbs: ["list", "get"] }],
    }],
  };
  await using web = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, ({ url }) => {
    const { pathname } = new URL(url);
    paths.push(pathname);
    if (pathname === "/apis") return Response.json({ kind: "APIGroupDiscoveryList", items: [group] });
    if (pathname !== "/apis/example.com/v2/pods") return new Response("404 page not found", { status: 404 });
    return Response.json({ kind: "PodList", metadata: { resourceVersion: "1" }, items: [{ metadata: { name: "a" } }] });
  });
  const { code, out } = await run("get", "po,pods", "-o", "name", "--server", `http://127.0.0.1:${web.addr.port}`);
  assertEquals([code, out], [2, []]); // no such short name there
  paths.length = 0;
  const found = await run("get", "pods", "-o", "name", "--server", `http://127.0.0.1:${web.addr.port}`);
  assertEquals([found.code, found.out], [0, ["pod.example.com/a"]]);
  assertEquals(paths.sort(), ["/api", "/api/v1/namespaces/default/pods", "/apis", "/apis/example.com/v2/pods"]);
});
