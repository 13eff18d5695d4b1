import { assertEquals, assertMatch } from "@std/assert";
import { Folder } from "../support/serve.ts";
import { run } from "../support/session.ts";

/** Runs a command line that is wrong: nothing on standard output, and one line that matches. */
async function refused(code: number, message: RegExp, ...args: string[]): Promise<void> {
  const result = await run(...args);
  const about = args.join(" ");
  assertEquals([result.code, result.out, result.err.length], [code, [], 1], `${about}: ${result.err.join("\n")}`);
  assertMatch(result.err[0], message, about);
}

Deno.test("informer reports a usage error in one line, and exits with 2", async () => {
  const cases: [RegExp, ...string[]][] = [
    [/^error: no command given; try "informer watch pods --fake", or see informer --help$/],
    [/^error: Unknown command "wacth"\. Did you mean command "watch"\? See informer --help$/, "wacth"],
    [/^error: Unknown command "wacth"\. Did you mean command "watch"\?/, "wacth", "pods", "--kubeconfig", "f"],
    [/"shell" must be .* "bash", "fish", "zsh"/, "completions", "ksh"],
    [/^error: Missing argument\(s\): resources; see informer watch --help$/, "watch"],
    [/^error: Missing argument\(s\): resources; see informer get --help$/, "get"],
    [
      /^error: Unknown option "--prot"\. Did you mean option "--port"\? See informer fake --help$/,
      "fake",
      "--prot",
      "1",
    ],
    [/^error: There is no flag "--bogus"; see informer watch --help$/, "watch", "--bogus", "pods"],
    [/^error: There is no flag "--bogus"/, "watch", "pods", "--bogus"],
    [/^error: There is no flag "--bogus"; see informer get --help$/, "get", "pods", "--bogus"],
    [/^error: There is no flag "-p", and a value stands behind a space/, "watch", "pods", "-lapp=web"],
    [/"--output" must be of type "format", but got "yaml".*"json"/, "watch", "pods", "-o", "yaml"],
    [
      /"--streaming-list" must be .* "auto", "on", "off"; see informer watch/,
      "watch",
      "pods",
      "--streaming-list",
      "yes",
    ],
    [/-A and -n contradict each other/, "watch", "pods", "-A", "-n", "shop"],
    [/-n must name one namespace.*found "Shop"/, "get", "pods", "-n", "Shop"],
    [/what follows "-n" is empty/, "watch", "pods", "-n", ""],
    [/--cache= is empty/, "watch", "pods", "--cache="],
    [
      /label selector "app=web,,x": found "," at character 9, expected a label key$/,
      "watch",
      "pods",
      "-l",
      "app=web,,x",
    ],
    [/label selector "app in": found its end/, "watch", "pods", "-l", "app in"],
    [/--field-selector "a.b=c" is refused by the server/, "get", "pods", "--field-selector", "a.b=c", "--fake"],
    [/--field-selector "a.b=c" is refused by the server/, "watch", "pods", "--field-selector", "a.b=c", "--fake"],
    [/^error: --cache: "\/" is a folder; name a file$/, "watch", "pods", "--fake", "--cache", "/"],
    [/field selector "spec": found "spec" at character 1/, "get", "pods", "--field-selector", "spec"],
    [/--timeout must be a duration such as "30s".*found "3x"/, "watch", "pods", "--timeout", "3x"],
    [/--timeout must be longer than 0/, "watch", "pods", "--timeout", "0"],
    [/--resync must be at most "596h"/, "watch", "pods", "--resync", "1000h"],
    [/--until-synced ends before a resync/, "watch", "pods", "--until-synced", "--resync", "1s"],
    [
      /--cache: folder "\/nonexistent" does not exist; make it first$/,
      "watch",
      "pods",
      "--cache",
      "/nonexistent/c.json",
    ],
    [/--cache needs a file, found "--timeout"/, "watch", "pods", "--cache", "--timeout", "3s"],
    [/--fake is a server of its own; leave out --server/, "get", "pods", "--fake", "--server", "http://127.0.0.1:8001"],
    [/--server must begin with "https:\/\/" or "http:\/\/", found "htp:\/\/"/, "get", "pods", "--server", "htp://x"],
    [/a name selects one object; leave out -l/, "get", "pods", "web-0", "-A"],
    [/"web-1" names no kind; write each object as kind\/name/, "get", "pod/web-0", "web-1"],
    [/the name in "pod\/" is empty/, "get", "pod/"],
    [/"\/web-0" names no kind/, "get", "/web-0"],
    [/"pod\/web-0\/log" is not the kind and the name/, "get", "pod/web-0/log"],
    [/name at least one resource/, "get", ","],
    [/^error: Missing argument\(s\): objects; see informer wait --help$/, "wait"],
    [/name objects, as in deploy\/web, or choose them with -l, --field-selector or --all$/, "wait", "pods"],
    [/a name selects one object; leave out -l, --field-selector, --all and -A$/, "wait", "pod/a", "--all"],
    [/a name selects one object/, "wait", "pod", "a", "-A"],
    [/--timeout must be longer than 0$/, "wait", "pod/a", "--timeout", "0"],
    [
      /--for must be ready, deleted, condition=TYPE, .* PATH of a field, found "redy"$/,
      "wait",
      "pod/a",
      "--for",
      "redy",
    ],
    [/--for must be .* PATH=VALUE.* found "jsonpath=\{.a\}=1"$/, "wait", "pod/a", "--for", "jsonpath={.a}=1"],
    [/--for must be .* found "condition="$/, "wait", "pod/a", "--for", "condition="],
    [/--for must be .* found "condition=A="$/, "wait", "pod/a", "--for", "condition=A="],
    [
      /the field path "{.status.phase}": found "{" at character 1/,
      "wait",
      "pod/a",
      "--for",
      "{.status.phase}=Running",
    ],
    [/"all" is a category, whose objects are listed; name the kind of web$/, "wait", "all/web", "--fake"],
    [/Cannot find a resource "podz": .*did you mean "pods"/, "get", "podz", "--fake"],
    [/Cannot find a resource "deploymnts": .*did you mean "deployments.apps"/, "watch", "deploymnts", "--fake"],
    [/name at least one resource/, "watch", ",", "--fake"],
    [/"--port" must be of type "integer", but got "abc"; see informer fake --help$/, "fake", "--port", "abc"],
    [/--port must be at most 65535, found 70000/, "fake", "--port", "70000"],
    [/--pods must be a number that is at least 0, found -1/, "fake", "--pods", "-1"],
    [/"--churn" must be of type "number", but got "fast"/, "fake", "--churn", "fast"],
    [/"--namespaces" must be .* "any", "real"/, "fake", "--namespaces", "some"],
    [/"--churn-mix" must be .* "update", "all"/, "fake", "--churn-mix", "some"],
    [/--churn-for ends what --churn begins/, "fake", "--churn-for", "3s"],
    [/--kubeconfig needs a file, found "--pods"/, "fake", "--kubeconfig", "--pods"],
    [/--kubeconfig: "\/nonexistent\/k" cannot be written/, "fake", "--kubeconfig", "/nonexistent/k"],
    [/No arguments allowed for command "informer fake"/, "fake", "pods"],
    [/--for must be a duration/, "demo", "--for", "long"],
    [/--churn must be a number that is at least 0/, "demo", "--churn", "-1"],
  ];
  for (const [message, ...args] of cases) await refused(2, message, ...args);
});

Deno.test("informer reports a kubeconfig error in one line, and exits with 3, or with 2 without a context", async () => {
  await using folder = new Folder();
  const config = (fields: Record<string, unknown>): string =>
    JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "farm", cluster: { server: "http://127.0.0.1:8001" } }],
      contexts: [{ name: "home", context: { cluster: "farm" } }],
      ...fields,
    });
  const empty = folder.write("empty", "");
  const malformed = folder.write("malformed", "clusters: [{");
  const contextless = folder.write("contextless", config({}));
  const unknown = folder.write(
    "unknown",
    config({ "current-context": "home", clusters: [{ name: "farm", cluster: { server: "http://x", sever: "y" } }] }),
  );
  const cases: [RegExp, ...string[]][] = [
    [/there is no such file; correct it, or choose another with --kubeconfig/, "--kubeconfig", folder.file("missing")],
    [/it has no clusters, contexts or users; correct it/, "--kubeconfig", empty],
    [/it is neither YAML nor JSON: .* at line 1, column \d+; correct it/, "--kubeconfig", malformed],
    [/cluster "farm" of kubeconfig .*: field "sever" is not known/, "--kubeconfig", unknown],
    [
      /--token-file names .*: there is no such file$/,
      "--server",
      "https://127.0.0.1:8001",
      "--token-file",
      folder.file("t"),
    ],
  ];
  for (const [message, ...args] of cases) {
    await refused(3, message, "get", "pods", ...args);
    await refused(3, message, "watch", "pods", ...args);
  }
  const choices: [RegExp, ...string[]][] = [
    [/"current-context" is missing: set it, or pass --context; the contexts are "home"$/, "--kubeconfig", contextless],
    [/context "away", which does not exist: the contexts are "home"/, "--kubeconfig", contextless, "--context", "away"],
  ];
  for (const [message, ...args] of choices) {
    await refused(2, message, "get", "pods", ...args);
    await refused(2, message, "watch", "pods", ...args);
  }
});
