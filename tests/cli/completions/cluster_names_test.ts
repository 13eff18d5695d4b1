import { assert, assertEquals } from "@std/assert";
import { ServerNames } from "../../../src/cli/completions/cluster_names.ts";
import { Terminal } from "../../../src/cli/terminal/terminal.ts";
import { Namespace, Pod } from "../../../src/kinds/core/v1.ts";
import { FakeApiServer, namespace, pod } from "../../../src/testing/mod.ts";
import { writeKubeconfig } from "../../support/host.ts";
import { Folder, serve } from "../../support/serve.ts";
import { Captured } from "../../support/session.ts";

function namesFor(...words: string[]): ServerNames {
  const screen = { stdout: new Captured(), stderr: new Captured(), columns: () => 80, capable: false };
  return new ServerNames(words, new Terminal(() => {}, screen), new AbortController().signal);
}

Deno.test("ServerNames are those of the server and the namespace on the line", async () => {
  using server = new FakeApiServer({
    resources: [{ group: "example.com", version: "v1", plural: "events", kind: "Event", scope: "Namespaced" }],
  });
  server.create(Namespace, namespace({ name: "shop" }));
  server.create(Pod, pod({ name: "web-0", namespace: "shop" }));
  server.create(Pod, pod({ name: "db-0", namespace: "default" }));
  await using served = await serve(server);
  const names = namesFor("get", "--server", "=", served.url, "-n", "shop");
  assertEquals([await names.names("po"), await names.namespaces()], [["web-0"], ["shop"]]);
  assertEquals(await namesFor("get", "--server", served.url).names("pods"), ["db-0"]);
  const kinds = await names.kinds();
  assert(kinds.includes("pods") && kinds.includes("events.example.com") && kinds.includes("events"));
});

Deno.test("ServerNames are none without a server, or if the kind is unknown", async () => {
  assertEquals(await namesFor("get", "--server", "http://127.0.0.1:1").kinds(), []);
  assertEquals(await namesFor("get", "--kubeconfig", "/nonexistent/config").namespaces(), []);
  assertEquals(await namesFor("get", "--fake").names("podz"), []);
});

Deno.test("ServerNames has the contexts of the kubeconfig on the line, and none where it cannot be read", async () => {
  await using folder = new Folder();
  const kubeconfig = await writeKubeconfig(folder.file("config"), { server: "http://127.0.0.1:1" });
  assertEquals(await namesFor("get", "--kubeconfig", kubeconfig, "--context", "h").contexts(), ["home"]);
  folder.write("broken", "contexts: 1");
  assertEquals(await namesFor("get", "--kubeconfig", folder.file("broken")).contexts(), []);
  assertEquals(await namesFor("get", "--kubeconfig", folder.file("missing")).contexts(), []);
});
