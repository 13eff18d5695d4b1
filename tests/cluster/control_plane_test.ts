// The control plane that tests of users start.
import { Client, defineResource, type KubernetesObject, type Resource, type Transport } from "@kube/informer";
import { connect } from "@kube/informer/connect";
import { CustomResourceDefinition } from "@kube/informer/kinds/apiextensions/v1";
import { ConfigMap } from "@kube/informer/kinds/core/v1";
import { FakeApiServer } from "@kube/informer/testing";
import { startControlPlane } from "@kube/informer/testing/control-plane";
import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { versionOf } from "../../src/testing/control_plane/server_programs.ts";
import { definitionOf } from "../support/sources/widgets.ts";
import { report, seconds, testOfAssets } from "./_cluster.ts";

interface Tab extends KubernetesObject {
  readonly spec: { readonly a: number };
}
const Tab: Resource<Tab> = defineResource<Tab>({
  group: "planes.example.com",
  version: "v1",
  plural: "tabs",
  kind: "Tab",
});

/** Their definition; the schema of a real server refuses texts. */
const DEFINITION = {
  kind: "CustomResourceDefinition" as const,
  ...definitionOf(Tab, {
    schema: {
      openAPIV3Schema: {
        type: "object",
        properties: { spec: { type: "object", properties: { a: { type: "integer" } } } },
      },
    },
  }),
};

/** A test of a user, for both kinds of servers. */
async function writesAndReads(server: Transport & { readonly url: string }): Promise<void> {
  using client = new Client({ server: server.url, transport: server, namespace: "default" });
  await client.resource(ConfigMap).create({ metadata: { name: "settings" }, data: { a: "1" } });
  await client.resource(Tab).create({ metadata: { name: "daily" }, spec: { a: 1 } });
  const { items } = await client.resource(Tab).list();
  assertEquals(items.map(({ metadata: { name, namespace }, spec }) => [name, namespace, spec]), [
    ["daily", "default", { a: 1 }],
  ]);
}

testOfAssets("startControlPlane serves definitions, to clients of each kind, and leaves nothing", async (assets) => {
  const file = await Deno.makeTempFile({ suffix: ".yaml" });
  try {
    await Deno.writeTextFile(file, `kind: Namespace\n---\n${JSON.stringify(DEFINITION)}\n`);
    const startedAt = performance.now();
    let folder: string;
    {
      await using server = await startControlPlane({ assets, version: await versionOf(assets), crds: [file] });
      report(`started in ${seconds(startedAt)}`);
      folder = server.folder;
      await writesAndReads(server);
      using client = server.client({ namespace: "default" });
      await assertRejects(
        () => client.resource(Tab).create({ metadata: { name: "wrong" }, spec: { a: "x" } } as never),
        Error,
        "must be of type integer",
      );
      const kubeconfig = `${folder}/kubeconfig`;
      await Deno.writeTextFile(kubeconfig, server.kubeconfig);
      using other = await connect({ kubeconfig });
      assertEquals((await other.resource(ConfigMap).get("settings")).data, { a: "1" });
    }
    await assertRejects(() => Deno.stat(folder), Deno.errors.NotFound);
    const { stdout } = await new Deno.Command("ps", { args: ["-eo", "args"] }).output();
    assertEquals(new TextDecoder().decode(stdout).includes(folder), false);
  } finally {
    await Deno.remove(file);
  }
});

testOfAssets("a test that runs on a control plane runs on the fake", async () => {
  using server = new FakeApiServer();
  server.create(CustomResourceDefinition, DEFINITION);
  await writesAndReads(server);
});

testOfAssets("startControlPlane fails with the log of a kube-apiserver that does not start", async (assets) => {
  const error = await assertRejects(() => startControlPlane({ assets, flags: ["--no-such-flag"] }), Error);
  assertMatch(error.message, /^Cannot start apiserver: it has ended\. The end of its log:\n[^]*no-such-flag/);
});

testOfAssets("startControlPlane says why a definition is not served", async (assets) => {
  const { metadata, spec } = DEFINITION;
  const other = {
    ...DEFINITION,
    metadata: { ...metadata, name: `other${metadata.name}` },
    spec: { ...spec, names: { ...spec.names, plural: `other${spec.names.plural}`, singular: "other" } },
  };
  await assertRejects(
    () => startControlPlane({ assets, crds: [DEFINITION, other] }),
    Error,
    'Cannot serve "othertabs.planes.example.com": "TabList" is already in use',
  );
});

testOfAssets("a control plane ends with its signal", async (assets) => {
  const stop = new AbortController();
  const server = await startControlPlane({ assets, signal: stop.signal });
  stop.abort(new Error("enough"));
  await server[Symbol.asyncDispose]();
  await assertRejects(() => Deno.stat(server.folder), Deno.errors.NotFound);
});
