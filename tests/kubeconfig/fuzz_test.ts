import { assert, assertEquals, assertInstanceOf } from "@std/assert";
import fc from "fast-check";
import { ENTRY_FIELDS } from "../../src/kubeconfig/parse_kubeconfig.ts";
import type { EntryKind } from "../../src/kubeconfig/parse_kubeconfig.ts";
import { KubeconfigError } from "../../src/kubeconfig/parse_kubeconfig.ts";
import { mergeKubeconfigs } from "../../src/kubeconfig/parse_kubeconfig.ts";
import { parseKubeconfig } from "../../src/kubeconfig/parse_kubeconfig.ts";
import { resolveContext } from "../../src/kubeconfig/resolve_context.ts";
import { kubeconfigText, pemData } from "../support/kubeconfig.ts";

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
