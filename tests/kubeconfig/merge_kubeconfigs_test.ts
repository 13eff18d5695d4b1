import { assertEquals } from "@std/assert";
import { isEmptyKubeconfig } from "../../src/kubeconfig/model/kubeconfig.ts";
import { mergeKubeconfigs } from "../../src/kubeconfig/merge_kubeconfigs.ts";
import { parseKubeconfig } from "../../src/kubeconfig/parse_kubeconfig.ts";

Deno.test("mergeKubeconfigs takes each entry entirely from the first file that defines its name", () => {
  const config = mergeKubeconfigs([
    parseKubeconfig("users: [{name: ada, user: {username: ada}}, {name: bob, user: {token: b}}]", "/one/config"),
    parseKubeconfig(
      "users: [{name: ada, user: {password: p, token: a}}, {name: cyd, user: {token: c}}]",
      "/two/config",
    ),
  ]);
  assertEquals(config.files, ["/one/config", "/two/config"]);
  assertEquals([...config.users.keys()], ["ada", "bob", "cyd"]);
  assertEquals(config.users.get("ada")?.fields(), { username: "ada" });
  assertEquals(config.users.get("ada")?.file, "/one/config");
  assertEquals(config.users.get("cyd")?.file, "/two/config");
});

Deno.test("mergeKubeconfigs takes the first current context that is not empty", () => {
  const config = mergeKubeconfigs([
    parseKubeconfig("current-context: ''", "/one"),
    parseKubeconfig("current-context: two", "/two"),
    parseKubeconfig("current-context: three", "/three"),
  ]);
  assertEquals(config.currentContext, { name: "two", file: "/two" });
});

Deno.test("mergeKubeconfigs joins a context in one file with cluster and user in others", () => {
  const config = mergeKubeconfigs([
    parseKubeconfig("contexts: [{name: a, context: {cluster: c, user: u}}]", "/one"),
    parseKubeconfig("clusters: [{name: c}]", "/two"),
    parseKubeconfig("users: [{name: u}]", "/three"),
  ]);
  assertEquals(
    [config.contexts.get("a")?.file, config.clusters.get("c")?.file, config.users.get("u")?.file],
    ["/one", "/two", "/three"],
  );
});

Deno.test("mergeKubeconfigs of no files is empty", () => {
  assertEquals(isEmptyKubeconfig(mergeKubeconfigs([])), true);
  assertEquals(isEmptyKubeconfig(mergeKubeconfigs([parseKubeconfig("", "/a"), parseKubeconfig("", "/b")])), true);
});
