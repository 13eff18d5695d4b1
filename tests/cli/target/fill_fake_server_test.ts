import { assert, assertEquals } from "@std/assert";
import { fillFakeServer } from "../../../src/cli/target/fill_fake_server.ts";
import { Namespace, Node, Pod } from "../../../src/kinds/core/v1.ts";
import { FakeApiServer } from "../../../src/testing/mod.ts";
import { run } from "../../support/session.ts";

Deno.test("fillFakeServer makes pods, also in the default namespace, and all of their namespaces and nodes", async () => {
  using server = new FakeApiServer();
  await fillFakeServer(server, { count: 100 });
  const pods = server.list(Pod);
  assertEquals(pods.length, 100);
  assertEquals(pods.filter(({ metadata }) => metadata.namespace === "default").length, 20);
  const namespaces = server.keys(Namespace);
  const nodes = server.keys(Node);
  for (const { metadata, spec } of pods) {
    assert(namespaces.includes(metadata.namespace ?? ""), metadata.namespace);
    assert(nodes.includes(spec.nodeName ?? ""), spec.nodeName);
  }
  assert(namespaces.includes("kube-system"));
});

Deno.test("informer watch pods --fake shows pods, and get has nodes and namespaces", async () => {
  const watched = await run("watch", "pods", "--fake", "--until-synced");
  assert(watched.out.length >= 15, watched.out.join("\n"));
  for (const kind of ["nodes", "namespaces"]) {
    const { code, out } = await run("get", kind, "--fake", "-o", "name");
    assert(code === 0 && out.length > 3, kind);
  }
});
