import { Command, EnumType } from "@cliffy/command";
import { assertEquals } from "@std/assert";
import type { ClusterNames } from "../../../src/cli/completions/cluster_names.ts";
import { complete } from "../../../src/cli/completions/complete.ts";

const cluster: ClusterNames = {
  kinds: () => Promise.resolve(["deployments", "pods", "poddisruptionbudgets"]),
  contexts: () => Promise.resolve(["production", "staging"]),
  namespaces: () => Promise.resolve(["default", "shop"]),
  names: (kind) => Promise.resolve(["web-0", "web-1"].map((name) => kind.startsWith("po") ? name : `${kind}-${name}`)),
};

/** The words for a line; the word in question is behind the last blank. */
async function offered(line: string): Promise<string | readonly string[]> {
  const program = new Command().name("informer")
    .command("get <resources:string> [names...:string]", "Lists. Or gets.")
    .type("format", new EnumType(["json", "yaml"]))
    .option("-n, --namespace <namespace:string>", "In one namespace.")
    .option("-A, --all-namespaces", "In all.")
    .option("-o, --output <format:format>", "How to print.")
    .option("--kubeconfig <file:string>", "A file.")
    .option("--context <name:string>", "A context.")
    .reset()
    .command("watch <resources...:string>", "Watches.").option("--cache <file:string>", "A file.").reset()
    .command("kinds", "Writes.").option("--file <file:string>", "A file.").option("--out <file:string>", "A file.")
    .option("--group <group:string>", "A group.").reset()
    .command("completions <shell:string>", "Completes.").reset()
    .command("fake", "Serves.").reset();
  const found = await complete(program, line.split(" "), cluster);
  return found === "files" ? found : found.map(({ word }) => word);
}

Deno.test("complete offers commands and their flags", async () => {
  assertEquals(await offered(""), ["get", "watch", "kinds", "completions", "fake"]);
  assertEquals(await offered("w"), ["watch"]);
  assertEquals(await offered("get --n"), ["--namespace"]);
  assertEquals(await offered("get pods -"), [
    ...["-n", "--namespace", "-A", "--all-namespaces", "-o", "--output", "--kubeconfig", "--context"],
  ]);
  assertEquals([await offered("nothing "), await offered("fake ")], [[], []]);
});

Deno.test("complete offers the values of flags: formats, namespaces and files", async () => {
  assertEquals(await offered("get pods -o "), ["json", "yaml"]);
  assertEquals(await offered("get pods --output = y"), ["yaml"]);
  assertEquals(await offered("get -n s"), ["shop"]);
  assertEquals([await offered("get --kubeconfig "), await offered("watch --cache x")], ["files", "files"]);
  assertEquals([await offered("kinds --file c"), await offered("kinds --out "), await offered("kinds --group ")], [
    ...["files", "files"],
    [],
  ]);
  assertEquals(await offered("get --context "), ["production", "staging"]);
  assertEquals(await offered("get --context = s"), ["staging"]);
});

Deno.test("complete offers kinds, several by commas", async () => {
  assertEquals(await offered("get po"), ["pods", "poddisruptionbudgets"]);
  assertEquals(await offered("get pods,dep"), ["pods,deployments"]);
  assertEquals(await offered("watch pods dep"), ["deployments"]);
  assertEquals(await offered("get -A d"), ["deployments"]);
});

Deno.test("complete offers the names of objects, behind a kind or a slash", async () => {
  assertEquals(await offered("get pods "), ["web-0", "web-1"]);
  assertEquals(await offered("get -n shop pods -o json web-1"), ["web-1"]);
  assertEquals(await offered("get pods web-0 "), ["web-1"]);
  assertEquals(await offered("get pod/"), ["pod/web-0", "pod/web-1"]);
  assertEquals(await offered("get pod/web-0 deploy/d"), ["deploy/deploy-web-0", "deploy/deploy-web-1"]);
  assertEquals(await offered("get pod/web-0 w"), []);
});

Deno.test("complete offers shells", async () => {
  assertEquals(await offered("completions "), ["bash", "fish", "zsh"]);
});
