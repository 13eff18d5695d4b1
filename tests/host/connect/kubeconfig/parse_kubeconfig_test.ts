import {
  assert,
  assertEquals,
  assertFalse,
  assertInstanceOf,
  assertMatch,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import fc from "npm:fast-check@^4.10.2";
import {
  describeValue,
  ENTRY_FIELDS,
  EntryFields,
  type EntryKind,
  isEmptyKubeconfig,
  KubeconfigError,
  mergeKubeconfigs,
  parseKubeconfig,
  quote,
  quoteAll,
} from "../../../../src/host/connect/kubeconfig/parse_kubeconfig.ts";
import { resolveContext } from "../../../../src/host/connect/kubeconfig/resolve_context.ts";
import { nearest } from "../../../../src/engine/errors/errors.ts";
import { kubeconfigObject, kubeconfigText, pemData } from "../../../support/servers/kubeconfig.ts";

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

const FILE = "/home/ada/.kube/config";

function refused(text: string): KubeconfigError {
  return assertThrows(() => parseKubeconfig(text, FILE), KubeconfigError);
}

Deno.test("parseKubeconfig reads YAML and JSON alike", () => {
  const yaml = parseKubeconfig(kubeconfigText(), FILE);
  for (const json of [JSON.stringify(kubeconfigObject()), JSON.stringify(kubeconfigObject(), null, "\t")]) {
    const config = parseKubeconfig(json, FILE);
    assertEquals(config.currentContext, { name: "home", file: FILE });
    assertEquals([...config.clusters.keys()], ["farm"]);
    assertEquals(config.clusters.get("farm")?.fields(), yaml.clusters.get("farm")?.fields());
    assertEquals(config.users.get("ada")?.file, FILE);
    assertEquals(config.contexts.get("home")?.fields(), { cluster: "farm", user: "ada" });
  }
});

Deno.test("parseKubeconfig reads a file without content as an empty kubeconfig", () => {
  for (const text of ["", "\n", "# nothing here\n", "---\n", "{}", "apiVersion: v1\nkind: Config\nusers: null\n"]) {
    const config = parseKubeconfig(text, FILE);
    assert(isEmptyKubeconfig(config), JSON.stringify(text));
    assertEquals(config.files, [FILE]);
  }
  assertFalse(isEmptyKubeconfig(parseKubeconfig("current-context: a", FILE)));
  assertFalse(isEmptyKubeconfig(parseKubeconfig("users: [{name: a}]", FILE)));
});

Deno.test("parseKubeconfig's syntax errors name line and column, and do not show the content", () => {
  const error = refused("apiVersion: v1\nusers:\n- name: a\n  user: {token: 'hunter2}\n");
  assertEquals(error.file, FILE);
  assertStringIncludes(error.message, `Cannot use kubeconfig "${FILE}": it is neither YAML nor JSON: `);
  assertStringIncludes(error.message, "at line 5, column 1");
  for (
    const text of ["users:\n- user: {token: *hunter2 }", "users: [{user: {token: !hunter2 x}}]", "token: 'hunter2"]
  ) {
    const printed = Deno.inspect(refused(text));
    assertFalse(printed.includes("hunter2"), printed);
  }
});

Deno.test("parseKubeconfig takes numbers, booleans and documents as kubectl does", () => {
  const user = (fields: string): EntryFields => {
    return new EntryFields(parseKubeconfig(`users: [{name: "007", user: {${fields}}}]`, FILE).users.get("007")!);
  };
  assertEquals(user(`username: "1e3", password: '0123', token: !!str 1`).text("password"), "0123");
  for (const text of ["0123", "1e3", "yes", "on", "n"]) {
    const error = assertThrows(() => user(`password: ${text}`).text("password"), KubeconfigError);
    assertMatch(error.message, /must be text, in quotes if need be, but it is a (number|boolean)$/);
    for (const place of [`users: [{name: ${text}}]`, `current-context: ${text}`]) {
      assertMatch(refused(place).message, /, in quotes if need be, but it is a (number|boolean)$/);
    }
  }
  const insecure = (text: string): boolean => {
    const { clusters } = parseKubeconfig(`clusters: [{name: a, cluster: {insecure-skip-tls-verify: ${text}}}]`, FILE);
    return new EntryFields(clusters.get("a")!).flag("insecure-skip-tls-verify");
  };
  assertEquals(["yes", "on", "true", "no", "off", "~"].map(insecure), [true, true, true, false, false, false]);
  assertThrows(() => insecure('"no"'), KubeconfigError, "must be true or false, but it is text");
  const first = parseKubeconfig("---\n# by a tool\ncurrent-context: a\n---\ncurrent-context: b\n", FILE);
  assertEquals(first.currentContext?.name, "a");
});

Deno.test("parseKubeconfig supports merge keys and anchors", () => {
  const config = parseKubeconfig(
    "clusters:\n- name: a\n  cluster: &a {server: 'https://a', proxy-url: ''}\n- name: b\n  cluster: {<<: *a, server: 'https://b'}\n",
    FILE,
  );
  assertEquals(config.clusters.get("b")?.fields(), { server: "https://b", "proxy-url": "" });
});

Deno.test("parseKubeconfig refuses a name that occurs twice in a file [C143]", () => {
  for (const [list, kind] of [["clusters", "cluster"], ["contexts", "context"], ["users", "user"]]) {
    const error = refused(`${list}: [{name: twin}, {name: other}, {name: twin}]`);
    assertEquals(error.entry, `${kind} "twin"`);
    assertEquals(error.field, `${list}[2]`);
    assertStringIncludes(error.message, "is a second entry with this name");
  }
});

Deno.test("parseKubeconfig refuses YAML that is not a kubeconfig", () => {
  const cases: readonly [text: string, includes: string][] = [
    ["just words", "it must be a mapping"],
    ["- a\n- b", "it is a list"],
    ["kind: Pod\napiVersion: v1", `field "kind" must be "Config", but it is "Pod": this is not a kubeconfig`],
    ["apiVersion: v2", `field "apiVersion" must be "v1", but it is "v2"`],
    ["kind: [Config]", "it is a list"],
    ["clusters: {}", `field "clusters" must be a list, but it is a mapping`],
    ["users: [a]", `field "users[0]" must be a mapping with "name" and "user", but it is text`],
    ["users: [{user: {}}]", `field "users[0]" has no name: it is missing`],
    ["users: [{name: ''}]", `has no name: it is empty`],
    [
      "users: [{name: a, user: [b]}]",
      `user "a" of kubeconfig "${FILE}": field "user" must be a mapping, but it is a list`,
    ],
    ["users: [{name: a, usr: {}}]", `field "usr" is not known (did you mean "user"?)`],
    [
      "current-context: [a]",
      `field "current-context" must be the name of a context, in quotes if need be, but it is a list`,
    ],
    ["currentContext: a", `field "currentContext" is not known (did you mean "current-context"?)`],
    ["Users: []", `did you mean "users"?`],
    ["gadgets: []", `field "gadgets" is not known: a kubeconfig has "apiVersion"`],
    ["a: 1\na: 2", "duplicated mapping key at line 2, column 1"],
  ];
  for (const [text, includes] of cases) {
    const error = refused(text);
    assertEquals(error.file, FILE);
    assertStringIncludes(error.message, includes);
  }
});

Deno.test("parseKubeconfig accepts preferences and extensions", () => {
  const config = parseKubeconfig(
    "preferences: {colors: true, extensions: [1]}\nextensions: [{name: a, extension: {b: 1}}]\ncurrent-context: ''",
    FILE,
  );
  assert(isEmptyKubeconfig(config));
});

Deno.test("KubeconfigEntry hides credentials when it is printed", () => {
  const config = parseKubeconfig("users: [{name: a, user: {token: hunter2, password: hunter3}}]", FILE);
  const entry = config.users.get("a")!;
  assertEquals(entry.fields().token, "hunter2");
  for (
    const printed of [
      Deno.inspect(config),
      Deno.inspect(entry),
      JSON.stringify(entry),
      String(entry),
      Deno.inspect({ ...entry }),
    ]
  ) {
    assertFalse(printed.includes("hunter"), printed);
  }
});

const SECRET = "hunter2secret";

/** Runs all there is on a text; whatever is thrown must be ours. Returns it. */
function survive(text: string): KubeconfigError | undefined {
  try {
    const config = mergeKubeconfigs([parseKubeconfig(text, "/f"), parseKubeconfig(kubeconfigText(), "/g")]);
    for (const context of config.contexts.keys()) resolveContext(config, { context });
    return undefined;
  } catch (error) {
    assertInstanceOf(error, KubeconfigError, `${text}\n${error}`);
    return error;
  }
}

const scalar = fc.oneof(
  fc.constantFrom("", null, true, false, 0, "a", "ada", "farm", "home", "https://x", "http://x", "__proto__", "\ud800"),
  fc.string(),
  fc.string({ unit: "binary" }),
  fc.constantFrom(pemData("CERTIFICATE"), pemData("PRIVATE KEY"), SECRET),
);
const plugin = fc.record({
  apiVersion: fc.constantFrom("client.authentication.k8s.io/v1beta1", "v1"),
  command: scalar,
  args: fc.array(scalar, { maxLength: 2 }),
  env: fc.array(fc.record({ name: scalar, value: scalar }), { maxLength: 2 }),
  interactiveMode: scalar,
}, { requiredKeys: ["apiVersion"] });
const extension = fc.record({ name: fc.constantFrom("client.authentication.k8s.io/exec", "x"), extension: scalar });
const value = fc.oneof(
  { weight: 1, arbitrary: plugin },
  { weight: 1, arbitrary: fc.array(extension, { maxLength: 2 }) },
  { weight: 1, arbitrary: fc.constantFrom(`http://u:${SECRET}@p.example`, `socks5://${SECRET}%@p`) },
  { weight: 4, arbitrary: scalar },
  fc.array(scalar, { maxLength: 3 }),
  fc.dictionary(fc.string(), fc.array(scalar, { maxLength: 2 }), { maxKeys: 2 }),
);
const entries = (kind: EntryKind) => {
  const field = fc.oneof({ weight: 30, arbitrary: fc.constantFrom(...ENTRY_FIELDS[kind]) }, fc.string());
  return fc.array(
    fc.record({
      name: fc.constantFrom("ada", "farm", "home", "x", "__proto__"),
      [kind]: fc.dictionary(field, value, { maxKeys: 5 }),
    }, { requiredKeys: ["name"] }),
    { maxLength: 2 },
  );
};
const config = fc.record({
  apiVersion: fc.constantFrom("v1"),
  "current-context": fc.constantFrom("home", "x", ""),
  clusters: entries("cluster"),
  contexts: entries("context"),
  users: entries("user"),
}, { requiredKeys: [] });

Deno.test("parseKubeconfig and resolveContext throw only KubeconfigError, for any text", () => {
  fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => void survive(text)), { numRuns: 300 });
  const tokens = fc.constantFrom(
    ..."-:[]{}&*!|>'\"%@`#,?\n\t ",
    "- ",
    ": ",
    "\n  ",
    "a",
    "<<",
    "users",
    "name",
    "---\n",
  );
  fc.assert(fc.property(fc.array(tokens, { maxLength: 60 }), (parts) => void survive(parts.join(""))), {
    numRuns: 500,
  });
});

Deno.test("parseKubeconfig and resolveContext throw only KubeconfigError, for any fields", () => {
  fc.assert(fc.property(config, (object) => void survive(JSON.stringify(object))), { numRuns: 1000 });
});

Deno.test("parseKubeconfig and resolveContext throw only KubeconfigError for a kubeconfig that was cut or damaged anywhere", () => {
  const text = kubeconfigText({
    cluster: { "certificate-authority-data": pemData("CERTIFICATE") },
    user: { token: "t", as: "grace", "as-groups": ["a", "b"], "as-user-extra": { k: ["v"] } },
  });
  assertEquals(survive(text), undefined);
  for (let end = 0; end < text.length; end++) survive(text.slice(0, end));
  fc.assert(
    fc.property(fc.nat(text.length - 1), fc.string({ unit: "binary", maxLength: 3 }), (at, other) => {
      survive(text.slice(0, at) + other + text.slice(at + 1));
    }),
    { numRuns: 500 },
  );
});

Deno.test("KubeconfigError never shows a credential, wherever the damage is", () => {
  const text = kubeconfigText({ user: { username: "ada", password: SECRET } });
  const start = text.indexOf("username");
  let failures = 0;
  for (let at = start; at <= text.indexOf(SECRET) + SECRET.length; at++) {
    for (const other of "{}[]&*!|>'\"%@`#,?\n\t:-x\u0000") {
      const error = survive(text.slice(0, at) + other + text.slice(at));
      if (error === undefined) continue;
      failures++;
      const printed = Deno.inspect(error);
      assert(!printed.includes("hunter") && !printed.includes("secret"), printed);
    }
  }
  assert(failures > 100, `only ${failures} of the texts were refused`);
});

Deno.test("nearest finds a name with a typo, and none that differs much", () => {
  const names = ["production", "staging", "dev"];
  assertEquals(nearest("prodution", names), "production");
  assertEquals(nearest("Staging", names), "staging");
  assertEquals(nearest("dve", names), "dev");
  assertEquals(nearest("de", names), "dev");
  assertEquals(nearest("kind", names), undefined);
  assertEquals(nearest("a", []), undefined);
  assertEquals(nearest("a".repeat(10_000), names), undefined);
});

Deno.test("quote and quoteAll shorten long values", () => {
  assertEquals(quote(`a"b`), `"a\\"b"`);
  assertEquals(quote("x".repeat(100)).length, 82);
  assertEquals(quoteAll(["a", "b"]), `"a", "b"`);
  assertEquals(quoteAll(Array.from({ length: 13 }, (_, index) => `n${index}`)).endsWith(`"n9" and 3 more`), true);
});

Deno.test("describeValue names the type of a value, never the value", () => {
  assertEquals(
    [null, undefined, [], {}, "x", true, 5].map(describeValue),
    ["missing", "missing", "a list", "a mapping", "text", "a boolean", "a number"],
  );
});
