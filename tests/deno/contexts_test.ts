import { DecodeError, isUnauthorized, UnexpectedKindError } from "@kube/informer";
import { connectContexts, connectKubeconfig, KubeconfigError } from "@kube/informer/deno";
import { Pod } from "@kube/informer/kinds/core/v1";
import { assertEquals, assertRejects } from "@std/assert";
import { kubeconfigText, pemData } from "../support/kubeconfig.ts";
import { serve } from "../support/tls_server.ts";
import { makeCertificates } from "../support/certificates.ts";

const SERVER = "http://127.0.0.1:1";

Deno.test("connectKubeconfig refuses programs and files by name, and reads and runs nothing", async () => {
  const file = await Deno.makeTempFile();
  const exec = {
    apiVersion: "client.authentication.k8s.io/v1",
    interactiveMode: "Never",
    command: "sh",
    args: ["-c", `echo ran > ${file}`],
  };
  const data = { "client-key-data": pemData("PRIVATE KEY") };
  const cluster = { server: "https://farm.example" };
  for (
    const [parts, field] of [
      [{ user: { exec }, cluster }, "exec"],
      [{ user: { tokenFile: file }, cluster }, "tokenFile"],
      [{ user: { "client-certificate": file, ...data }, cluster }, "client-certificate"],
      [{ cluster: { ...cluster, "certificate-authority": file } }, "certificate-authority"],
    ] as const
  ) {
    const error = await assertRejects(
      () => connectKubeconfig(kubeconfigText(parts), "secret fleet/berlin"),
      KubeconfigError,
      `kubeconfig "secret fleet/berlin": field "${field}" names a ${field === "exec" ? "program" : "file"}`,
    );
    assertEquals(error.field, field);
  }
  assertEquals(await Deno.readTextFile(file), "");
  await Deno.remove(file);
});

Deno.test("connectKubeconfig applies certificates and a token that are in the text, and refuses what connect() refuses", async () => {
  await using certificates = await makeCertificates();
  await using server = await serve({ certificates, authorization: () => "Bearer abc" });
  const cluster = { server: server.url, "certificate-authority-data": btoa(certificates.text("ca.crt")) };
  const text = kubeconfigText({ cluster, user: { token: "abc" }, context: { namespace: "shop" } });
  using client = await connectKubeconfig(text, "berlin");
  assertEquals([client.namespace, client.server.href], ["shop", `${server.url}/`]);
  const answered = await assertRejects(() => client.resource(Pod).list());
  assertEquals(isUnauthorized(answered), false); // it trusts the server, which answers no list of pods
  assertEquals(answered instanceof DecodeError || answered instanceof UnexpectedKindError, true);
  await assertRejects(() => connectKubeconfig("", "berlin"), KubeconfigError, "it has no clusters");
  await assertRejects(() => connectKubeconfig(text, "berlin", { context: "away" }), KubeconfigError, `context "away"`);
});

Deno.test("connectContexts returns a client for each context, and leaves out one that cannot be used", async () => {
  const path = await Deno.makeTempFile();
  const contexts = ["berlin", "paris", "lost"];
  await Deno.writeTextFile(
    path,
    JSON.stringify({
      clusters: contexts.slice(0, 2).map((name) => ({ name, cluster: { server: `${SERVER}/${name}` } })),
      contexts: contexts.map((name) => ({ name, context: { cluster: name } })),
    }),
  );
  const refused: string[] = [];
  const open = async (contexts?: readonly string[]): Promise<unknown> => {
    const clients = await connectContexts({
      kubeconfig: path,
      contexts,
      onRefused: (_error, name) => refused.push(name),
    });
    const found = Array.from(clients, ([name, client]) => [name, client.server.pathname]);
    for (const client of clients.values()) client[Symbol.dispose]();
    return found;
  };
  assertEquals(await open(), [["berlin", "/berlin"], ["paris", "/paris"]]);
  assertEquals(refused.splice(0), ["lost"]);
  assertEquals(await open(["paris", "paris"]), [["paris", "/paris"]]);
  await assertRejects(() => open(["paris", "rome"]), KubeconfigError, `context "rome"`); // a mistake of the caller
  assertEquals(refused, []);
  await assertRejects(() => connectContexts({ kubeconfig: path }), KubeconfigError, `"lost"`);
  await Deno.remove(path);
  await assertRejects(() => connectContexts({ kubeconfig: path }), KubeconfigError, path);
});
