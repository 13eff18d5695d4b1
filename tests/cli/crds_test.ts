import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { loadAll } from "js-yaml";
import type { ObjectDraft } from "../../src/engine/api/written.ts";
import { defineResource } from "../../src/engine/api/resource.ts";
import { CustomResourceDefinition } from "../../src/engine/kinds/apiextensions/v1.ts";
import { FakeApiServer } from "../../src/testing/mod.ts";
import { CRONTAB_FILE, crontabDefinition } from "../support/sources/crontab.ts";
import { Folder, serve } from "../support/servers/serve.ts";
import { run } from "../support/processes/session.ts";

/** A module that exports kinds with these definitions, and other values. */
function moduleOf(...definitions: readonly object[]): string {
  const kinds = definitions.map((crd, index) => `export const Kind${index} = { crd: ${JSON.stringify(crd)} };`);
  return ["export const port = 80;", "export default function main() {}", ...kinds].join("\n");
}

/** The definition with another name, whose first version has this schema of `spec`. */
function definition(plural: string, spec: object): Record<string, unknown> {
  const openAPIV3Schema = { type: "object", properties: { spec } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.acme.dev` },
    spec: {
      group: "acme.dev",
      scope: "Namespaced",
      names: { plural, kind: plural },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  };
}

const [WIDE, NARROW] = [{ type: "integer" }, { type: "integer", maximum: 5 }];
const RULE = { type: "integer", "x-kubernetes-validations": [{ rule: "self > 1" }] };

Deno.test("informer crds prints the definitions of modules and files, as YAML and JSON", async () => {
  await using folder = new Folder();
  const [a, b] = [definition("as", WIDE), definition("bs", NARROW)];
  const module = folder.write("kinds.ts", `const size: number = 1;\n${moduleOf(a, b)}`);
  const yaml = await run("crds", module);
  assertEquals([yaml.code, yaml.err], [0, []]);
  assertEquals(loadAll(yaml.out.join("\n")), [a, b]);
  const json = await run("crds", module, CRONTAB_FILE, "-o", "json");
  assertEquals(JSON.parse(json.out.join("\n")), { apiVersion: "v1", kind: "List", items: [a, b, crontabDefinition()] });
  const again = folder.write("again.yaml", yaml.out.join("\n"));
  assertEquals((await run("crds", again)).out, yaml.out);
});

Deno.test("informer crds tells what a kind says otherwise than its schema, once for each reason", async () => {
  await using folder = new Folder();
  const changes = [
    { path: "spec.a", keyword: "format", reason: 'Left out: "jwt". Kube-apiserver does not check it' },
    { path: "spec.b", keyword: "format", reason: 'Left out: "jwt". Kube-apiserver does not check it' },
    { path: "spec.b", keyword: "readOnly", reason: "Left out" },
  ];
  const kind = JSON.stringify({ kind: "A", crd: definition("as", WIDE), changes });
  const printed = await run("crds", folder.write("kinds.ts", `export const A = ${kind};`));
  assertEquals([printed.code, printed.err], [0, [
    'A spec.a, spec.b: format: Left out: "jwt". Kube-apiserver does not check it',
    "A spec.b: readOnly: Left out",
  ]]);
  assertEquals(loadAll(printed.out.join("\n")), [definition("as", WIDE)]);
});

Deno.test("informer crds --compare names what breaks, and exits with 1", async () => {
  await using folder = new Folder();
  const [as, bs, cs] = ["as", "bs", "cs"].map((plural) => definition(plural, WIDE));
  const old = folder.write("old.json", JSON.stringify({ kind: "List", items: [as, bs] }));
  const narrow = folder.write("narrow.ts", moduleOf(definition("as", NARROW), bs, cs));
  const text = await run("crds", "--compare", old, narrow);
  assertEquals(text, {
    code: 1,
    out: [
      "as.acme.dev v1 spec: bound narrowed (maximum none to 5). Other stored values become invalid. Correct them, or " +
      "add a version (breaks stored objects)",
    ],
    err: ["2 compared, 1 breaking change, 0 to check"],
  });
  const json = await run("crds", "--compare", old, narrow, "-o", "json");
  const [{ message, ...change }] = JSON.parse(json.out.join("\n"));
  assertEquals(change, {
    definition: "as.acme.dev",
    change: "bound narrowed",
    breaks: "stored objects",
    version: "v1",
    path: "spec",
  });
  assertStringIncludes(message, "maximum none to 5");
  assertEquals((await run("crds", "--compare", narrow, old)).out.map((line) => line.split(". ")[0]), [
    "cs.acme.dev spec: definition removed",
  ]);
  const rules = folder.write("rules.ts", moduleOf(definition("as", RULE), bs));
  const checked = await run("crds", "--compare", old, rules);
  assertEquals([checked.code, checked.err], [0, ["2 compared, 0 breaking changes, 1 to check"]]);
  assertStringIncludes(checked.out[0], "rule added (self > 1)");
});

Deno.test("informer crds --compare-cluster compares with the installed definitions", async () => {
  await using folder = new Folder();
  using server = new FakeApiServer();
  for (const plural of ["as", "bs"]) {
    server.create(
      CustomResourceDefinition,
      definition(plural, WIDE) as unknown as ObjectDraft<CustomResourceDefinition>,
    );
  }
  await using served = await serve(server);
  const at = ["--compare-cluster", "--server", served.url];
  const same = await run(
    "crds",
    ...at,
    folder.write("same.ts", moduleOf(definition("as", WIDE), definition("cs", WIDE))),
  );
  assertEquals(same, { code: 0, out: [], err: ["1 compared, 0 breaking changes, 0 to check"] });
  const narrow = await run("crds", ...at, folder.write("narrow.ts", moduleOf(definition("bs", NARROW))));
  assertEquals([narrow.code, narrow.out.length], [1, 1]);
  assertMatch(narrow.out[0], /^bs\.acme\.dev v1 spec: bound narrowed /);
  using closed = new FakeApiServer({ authorize: () => false });
  await using refusing = await serve(closed);
  const refused = await run("crds", "--compare-cluster", "--server", refusing.url, CRONTAB_FILE);
  assertEquals([refused.code, refused.out], [3, []]);
});

Deno.test("informer crds says what is wrong with its files and flags", async () => {
  await using folder = new Folder();
  const cases: [RegExp, ...string[]][] = [
    [/^error: Missing argument\(s\): files/],
    [/--compare needs two files, the old and the new one/, "--compare", CRONTAB_FILE],
    [/--compare needs two files.* without --compare-cluster/, "--compare", "--compare-cluster", "a.yaml", "b.yaml"],
    [/crds: ".*no\.yaml" cannot be read: there is no such file; name a module/, folder.file("no.yaml")],
    [/crds: ".*no\.ts" cannot be read: Module not found.*; name a module/, folder.file("no.ts")],
    [/crds: ".*empty\.ts" exports no kind of defineKind/, folder.write("empty.ts", "export const a = 1;")],
    [/crds: ".*wrong\.ts" cannot be read: .*; name a module/, folder.write("wrong.ts", "export const a = ;")],
    [/crds: ".*pod\.yaml" has no CustomResourceDefinition/, folder.write("pod.yaml", "kind: Pod")],
  ];
  for (const [message, ...args] of cases) {
    const result = await run("crds", ...args);
    assertEquals([result.code, result.out, result.err.length], [2, [], 1], result.err.join("\n"));
    assertMatch(result.err[0], message);
  }
});

Deno.test("informer crds --service prints the configurations of webhooks, which name the Service and the authority", async () => {
  await using folder = new Folder();
  const files = ["kinds.ts", "webhooks.ts"].map((name) =>
    new URL(`../../examples/webhooks/${name}`, import.meta.url).pathname
  );
  const CA = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  const ca = folder.write("ca.crt", CA);
  const { code, out, err } = await run("crds", ...files, "--service", "shop/hooks:8443", "--ca", ca);
  assertEquals([code, err], [0, []]);
  const objects = loadAll(out.join("\n")) as Record<string, never>[];
  assertEquals(objects.map(({ kind, metadata }) => `${kind} ${(metadata as { name: string }).name}`).sort(), [
    "CustomResourceDefinition websites.example.com",
    "MutatingWebhookConfiguration hooks.shop",
    "ValidatingWebhookConfiguration hooks.shop",
  ]);
  const text = out.join("\n");
  assertStringIncludes(text, `caBundle: ${btoa(CA)}`);
  assertStringIncludes(text, "strategy: Webhook");
  assertMatch(text, /name: hooks\n\s+namespace: shop\n\s+path: .*\n\s+port: 8443/);
  const wrong = await run("crds", ...files, "--service", "hooks");
  assertEquals(wrong.code, 2);
  assertStringIncludes(wrong.err.join(), "--service must be NAMESPACE/NAME");
  const byUrl = await run("crds", ...files, "--service", "https://hooks.test/path");
  assertMatch(byUrl.out.join("\n"), /url: https:\/\/hooks\.test\/path/);
  const [kinds] = files;
  const alone = await run("crds", kinds);
  const loss = "websites.example.com v1 schema: conversion missing (v1beta1 has spec.image)";
  assertEquals(
    [alone.code, alone.err.filter((line) => line.startsWith(`warning: ${loss}`)).length],
    [0, 1],
    alone.err.join("\n"),
  );
  const needs = await run("crds", kinds, "--service", "shop/hooks");
  assertEquals([needs.code, needs.out], [2, []]);
  assertMatch(needs.err[0], /--service needs webhooks; pass the module that exports them, too/);
  using empty = new FakeApiServer();
  await using served = await serve(empty);
  const fresh = await run("crds", "--compare-cluster", kinds, "--server", served.url);
  assertEquals([fresh.code, fresh.out.filter((line) => line.startsWith(loss)).length], [1, 1]);
  const unnamed = await run("crds", files.at(-1)!);
  assertEquals([unnamed.code, unnamed.err.length], [2, 1]);
  assertMatch(unnamed.err[0], /exports webhooks; say by --service where the API server finds them/);
});

Deno.test("informer crds --migrate stores all objects in one version, says what it does, and exits with 1 for refused objects", async () => {
  await using folder = new Folder();
  using server = new FakeApiServer();
  const openAPIV3Schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const version = (name: string, storage: boolean) => ({ name, served: true, storage, schema: { openAPIV3Schema } });
  const crd = definition("as", WIDE) as unknown as ObjectDraft<CustomResourceDefinition>;
  const two = { ...crd, spec: { ...crd.spec, versions: [version("v1", true), version("v1beta1", false)] } };
  const A = defineResource({ group: "acme.dev", version: "v1", plural: "as", kind: "as" });
  server.create(CustomResourceDefinition, { ...two, spec: { ...two.spec, versions: [version("v1beta1", true)] } });
  server.patch(CustomResourceDefinition, "as.acme.dev", { spec: { versions: two.spec.versions } });
  for (const name of ["a", "b"]) server.create(A, { metadata: { name, namespace: "shop" } });
  await using served = await serve(server);
  const migrate = async (...flags: string[]) =>
    await run(
      "crds",
      folder.write("kinds.ts", moduleOf(two)),
      "--migrate",
      ...flags,
      "--server",
      served.url,
    );
  server.failNext({ code: 404 }, 100, ({ url }) => url.includes("storagemigration"));
  const planned = "as.acme.dev: 2 objects, stored in v1beta1 and v1, to v1";
  assertEquals(await migrate("--dry-run"), { code: 0, out: [], err: [planned] });
  server.failNext(422, 1, ({ verb, url }) => verb === "patch" && url.includes("/b"));
  const refused = await migrate("-o", "json");
  const rewriting = "as.acme.dev: pass 1: 2 of 2, up to shop/a";
  assertEquals([refused.code, refused.err.slice(0, 2)], [1, [planned, rewriting]]);
  assertMatch(refused.err[2], /^shop\/b: /);
  assertEquals(refused.err[3], "as.acme.dev: storedVersions stay; refused objects: 1");
  assertEquals(JSON.parse(refused.out.join("\n"))[0].rewritten, 1);
  const done = await migrate();
  assertEquals([done.code, done.err.at(-1)], [0, "as.acme.dev: all objects are stored in v1"]);
  const entry = {
    manager: "user",
    operation: "Apply",
    apiVersion: "acme.dev/v1alpha1",
    fieldsType: "FieldsV1",
  } as const;
  const managedFields = [{ ...entry, fieldsV1: { "f:spec": {} } }];
  server.create(A, { metadata: { name: "c", namespace: "shop", managedFields } });
  assertEquals((await migrate()).err, [
    "as.acme.dev: 0 objects, stored in v1, to v1; 1 have managedFields in versions that are not served",
    "as.acme.dev: 1 of 1 have lost managedFields in versions that are not served",
  ]);
  assertEquals((await migrate("--compare")).code, 2);
  assertEquals((await run("crds", "--dry-run", "kinds.ts")).code, 2);
});
