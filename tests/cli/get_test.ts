import { assertEquals, assertMatch } from "@std/assert";
import { load } from "js-yaml";
import { defineResource } from "../../src/engine/api/resource.ts";
import { Deployment } from "../../src/engine/kinds/apps/v1.ts";
import { ConfigMap, Namespace, Pod } from "../../src/engine/kinds/core/v1.ts";
import { deployment, FakeApiServer, namespace, pod } from "../../src/testing/mod.ts";
import { pods } from "../support/sources/big_pods.ts";
import { serve } from "../support/servers/serve.ts";
import { run, Session } from "../support/processes/session.ts";
import { Big, NARROW, WIDE, wide } from "../support/sources/wide.ts";

const Secret = defineResource({ group: "", version: "v1", plural: "secrets", kind: "Secret" });

Deno.test("informer get prints a table, names, or a list in JSON", async () => {
  using server = new FakeApiServer();
  server.create(Pod, pod({ name: "web-0", namespace: "shop", labels: { app: "web" } }));
  server.create(Pod, pod({ name: "db-0", namespace: "shop" }));
  server.create(Pod, pod({ name: "web-0", namespace: "bank", labels: { app: "web" } }));
  await using served = await serve(server);
  const get = (...args: string[]): ReturnType<typeof run> => run("get", ...args, "--server", served.url);

  const table = await get("po", "-n", "shop");
  assertEquals([table.code, table.err, table.out.length], [0, [], 3]);
  assertMatch(table.out[0], /^NAME +READY +STATUS +RESTARTS +AGE$/);
  assertMatch(table.out[1], /^db-0 +0\/1 +Pending +0 +\d+d$/);
  const all = await get("po", "-A");
  assertMatch(all.out[0], /^NAMESPACE +NAME +READY/);
  assertMatch(all.out[1], /^bank +web-0 /);
  assertMatch((await get("po", "-n", "shop", "-o", "wide")).out[0], /AGE +IP +NODE +NOMINATED NODE +READINESS GATES$/);

  assertEquals((await get("pods", "-A", "-o", "name", "-l", "app=web")).out, ["pod/web-0", "pod/web-0"]);
  const one = await get("pods", "-A", "-o", "name", "--field-selector", "metadata.namespace=bank");
  assertEquals([one.code, one.out, one.err], [0, ["pod/web-0"], []]);
  assertEquals((await get("pods", "-n", "bank", "-l", "app=none")).err, ["no pods found in namespace bank"]);
  assertEquals((await get("pods,cm", "-A", "-l", "app=none")).err, ["no pods or configmaps found"]);
  assertEquals((await get("nodes")).err, ["no nodes found"]);

  const { out, err } = await get("pods", "-A", "-o", "json");
  const list = JSON.parse(out.join("\n"));
  assertEquals(err, []);
  assertEquals([list.kind, list.apiVersion, list.metadata], ["List", "v1", {
    resourceVersion: server.resourceVersion,
  }]);
  assertEquals(
    list.items.map(({ kind, apiVersion, metadata }: Pod) => [kind, apiVersion, metadata.namespace, metadata.name]),
    [["Pod", "v1", "bank", "web-0"], ["Pod", "v1", "shop", "db-0"], ["Pod", "v1", "shop", "web-0"]],
  );
  assertEquals(list.items.some((item: Pod) => "managedFields" in item.metadata), false);
  assertEquals(JSON.parse((await get("pods", "-n", "empty", "-o", "json")).out.join("\n")).items, []);
});

Deno.test("informer get prints one object by name, also as -o name prints it", async () => {
  using server = new FakeApiServer();
  server.create(Deployment, deployment({ name: "web", namespace: "shop" }));
  server.create(Namespace, namespace({ name: "shop" }));
  await using served = await serve(server);
  const get = (...args: string[]): ReturnType<typeof run> => run("get", ...args, "--server", served.url);

  const plain = JSON.parse((await get("deploy", "web", "-n", "shop", "-o", "json")).out.join("\n"));
  assertEquals([plain.kind, plain.metadata.name, "managedFields" in plain.metadata], ["Deployment", "web", false]);
  const full = await get("deployment.apps/web", "-n", "shop", "-o", "json", "--show-managed-fields");
  assertEquals(JSON.parse(full.out.join("\n")), server.get(Deployment, "shop/web"));
  assertEquals((await get("deployment.v1.apps", "web", "-n", "shop", "-o", "name")).out, ["deployment.apps/web"]);
  const [head, row] = (await get("ns/shop")).out;
  assertMatch(head, /^NAME +STATUS +AGE$/);
  assertMatch(row, /^shop +Active /);
});

Deno.test("informer get lists several kinds, and gets several objects of one or more kinds", async () => {
  using server = new FakeApiServer();
  for (const name of ["web-0", "web-1"]) server.create(Pod, pod({ name, namespace: "shop" }));
  server.create(Deployment, deployment({ name: "web", namespace: "shop" }));
  await using served = await serve(server);
  const get = (...args: string[]): ReturnType<typeof run> => run("get", ...args, "-n", "shop", "--server", served.url);

  const both = await get("pods,deploy,po");
  assertEquals(both.out.map((line) => line.split(" ")[0]), [
    ...["NAME", "pod/web-0", "pod/web-1", "", "NAME", "deployment.apps/web"],
  ]);
  assertMatch(both.out[4], /^NAME +READY +UP-TO-DATE +AVAILABLE +AGE$/);
  assertEquals((await get("deploy,cm", "-o", "name")).out, ["deployment.apps/web"]);
  assertEquals((await get("pods", "web-1", "web-0", "-o", "name")).out, ["pod/web-1", "pod/web-0"]);
  const mixed = JSON.parse((await get("pod/web-1", "deploy/web", "-o", "json")).out.join("\n"));
  assertEquals(mixed.items.map(({ kind }: Pod) => kind), ["Pod", "Deployment"]);
  assertEquals([mixed.kind, mixed.metadata.resourceVersion], ["List", ""]);

  const some = await get("pods", "web-0", "web-7", "web-8", "-o", "name");
  assertEquals([some.code, some.out, some.err.length], [1, ["pod/web-0"], 2]);
  assertMatch(some.err[0], /^error: Cannot get "pods\/web-7" in namespace "shop": 404 NotFound/);
  const none = await get("pods", "web-7");
  assertEquals([none.code, none.out, none.err.length], [1, [], 1]);
  assertMatch(none.err[0], /^error: .*web-7.*\. Check the name and the namespace$/);
});

Deno.test("informer get finds members of a category that their group serves in an older version only", async () => {
  const place = { group: "example.com", scope: "Namespaced", categories: ["mine"] } as const;
  using server = new FakeApiServer({
    resources: [
      { ...place, version: "v1", plural: "alphas", kind: "Alpha" },
      { ...place, version: "v1beta1", plural: "betas", kind: "Beta", categories: ["mine", "cat-betas"] },
    ],
  });
  const make = (version: string, plural: string, kind: string): void => {
    const Kind = defineResource({ group: "example.com", version, plural, kind });
    server.create(Kind, { metadata: { name: "one", namespace: "default" } });
  };
  make("v1", "alphas", "Alpha");
  make("v1beta1", "betas", "Beta");
  await using served = await serve(server);
  const get = async (name: string): Promise<readonly string[]> =>
    (await run("get", name, "-o", "name", "--server", served.url)).out;
  assertEquals(await get("mine"), ["alpha.example.com/one", "beta.example.com/one"]);
  assertEquals(await get("cat-betas"), ["beta.example.com/one"]);
});

Deno.test("informer get prints YAML as kubectl does", async () => {
  using server = new FakeApiServer();
  for (const name of ["a", "b"]) server.create(Pod, pod({ name, namespace: "shop" }));
  await using served = await serve(server);
  const get = async (...args: string[]): Promise<string> =>
    (await run("get", ...args, "-n", "shop", "-o", "yaml", "--server", served.url)).out.join("\n");
  const one = await get("pod", "a", "--show-managed-fields");
  assertEquals(load(one), server.get(Pod, "shop/a"));
  assertMatch(one, /^apiVersion: v1\nkind: Pod\nmetadata:\n/);
  const list = load(await get("pods", "--show-managed-fields"));
  const items = server.list(Pod);
  assertEquals(list, { apiVersion: "v1", kind: "List", items, metadata: { resourceVersion: server.resourceVersion } });
  assertEquals(
    load(await get("cm")),
    { apiVersion: "v1", kind: "List", items: [], metadata: { resourceVersion: server.resourceVersion } },
  );
});

Deno.test("informer get prints the columns of a custom resource's definition", async () => {
  using server = new FakeApiServer({
    resources: [{
      ...{ group: "example.com", version: "v1", plural: "widgets", kind: "Widget", scope: "Namespaced" },
      columns: [{ name: "Size", type: "integer", jsonPath: ".spec.size" }],
    }],
  });
  const Widget = defineResource({ group: "example.com", version: "v1", plural: "widgets", kind: "Widget" });
  server.create(Widget, { metadata: { name: "w", namespace: "default" }, spec: { size: 3 } } as never);
  await using served = await serve(server);
  assertEquals((await run("get", "widgets", "--server", served.url)).out, ["NAME   SIZE", "w      3"]);
});

Deno.test("informer get redacts Secrets by default", async () => {
  using server = new FakeApiServer();
  server.create(
    Secret,
    { metadata: { name: "login", namespace: "default" }, data: { password: "aHVudGVyMg==" } } as never,
  );
  await using served = await serve(server);
  for (
    const target of [["secrets"], ["secret", "login"], ["secrets", "-o", "json"], ["secret", "login", "-o", "json"]]
  ) {
    const { code, out } = await run("get", ...target, "--server", served.url);
    assertEquals([code, out.join("\n").includes("aHVudGVyMg")], [0, false], target.join(" "));
  }
  const shown = await run("get", "secret", "login", "-o", "json", "--secret-data", "--server", served.url);
  assertEquals(JSON.parse(shown.out.join("\n")).data, { password: "aHVudGVyMg==" });
});

Deno.test("informer get lists in pages and shows its progress", async () => {
  using server = new FakeApiServer();
  for (const each of pods(1_100)) server.create(Pod, each);
  await using served = await serve(server);
  const session = new Session(["get", "pods", "-A", "-o", "name", "--server", served.url], { terminal: true });
  assertEquals(await session.code, 0);
  assertMatch(session.err.text, /500 of 1100 pods.*1000 of 1100 pods/s);
  assertEquals(session.out.lines.length, 1_100);
  assertEquals(session.err.text.endsWith("\r\x1b[2K"), true, "the live line is gone");
});

Deno.test("informer get that is stopped prints no partial result and exits with 0", async () => {
  using server = new FakeApiServer();
  for (const each of pods(3)) server.create(Pod, each);
  server.latency(60_000);
  await using served = await serve(server);
  const session = new Session(["get", "pods", "-A", "--server", served.url]);
  session.interrupt();
  assertEquals([await session.code, session.out.text, session.err.text], [0, "", ""]);
  server.latency(0);
});

Deno.test("informer get lists the members of a category, those that have objects", async () => {
  using server = new FakeApiServer();
  server.create(Pod, pod({ name: "web-0", namespace: "shop" }));
  server.create(Deployment, deployment({ name: "web", namespace: "shop" }));
  server.create(Secret, { metadata: { name: "hidden", namespace: "shop" } });
  await using served = await serve(server);
  const get = (...args: string[]): ReturnType<typeof run> => run("get", ...args, "--server", served.url);
  const { code, out, err } = await get("all", "-n", "shop");
  assertEquals(
    [code, err, out.map((line) => line.split(" ")[0])],
    [0, [], ["NAME", "pod/web-0", "", "NAME", "deployment.apps/web"]],
  );
  assertEquals((await get("all,deploy", "-n", "shop", "-o", "name")).out, ["pod/web-0", "deployment.apps/web"]);
  const named = await get("all", "web", "-n", "shop");
  assertEquals([named.code, named.err], [
    2,
    ['error: "all" is a category, and its objects can only be listed; name the kind of web'],
  ]);
});

Deno.test("informer get prints no control characters in JSON and YAML, which have the same values", async () => {
  using server = new FakeApiServer();
  const evil = "a\u001b[2J\u009b31m\u202eb\nc\u2028";
  const data = { evil, [evil]: "x" };
  server.create(ConfigMap, { metadata: { name: "a", namespace: "shop" }, data });
  await using served = await serve(server);
  for (
    const args of [["cm", "a", "-o", "json"], ["cm", "-o", "json"], ["cm", "a", "-o", "yaml"], ["cm", "-o", "yaml"]]
  ) {
    const { out } = await run("get", ...args, "-n", "shop", "--server", served.url);
    const text = out.join("\n");
    // deno-lint-ignore no-control-regex -- these are what is looked for
    assertEquals(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e]/.exec(text), null, args.join(" "));
    const found = load(text) as { readonly data?: unknown; readonly items: { readonly data: unknown }[] };
    assertEquals(found.data ?? found.items[0].data, data);
  }
});

Deno.test("informer get prints large integers of custom kinds as the server has them", async () => {
  const [ID, LOW] = WIDE;
  using server = new FakeApiServer();
  server.define(Big.crd as never);
  for (const name of ["a", "b"]) {
    const spec = { id: NARROW[0], note: "9007199254740993", ids: [NARROW[1], NARROW[0]] };
    server.create(Big, { metadata: { name, namespace: "shop" }, spec });
  }
  await using served = await serve(wide(server));
  const get = async (...args: string[]): Promise<string> =>
    (await run("get", "bigs", ...args, "-n", "shop", "--server", served.url)).out.join("\n");
  const json = `"spec":{"id":${ID},"ids":[${LOW},${ID}],"note":"9007199254740993"}`;
  assertEquals((await get("-o", "json")).split(json).length, 3);
  assertEquals((await get("a", "-o", "json")).replaceAll(/\s+/g, "").split(json).length, 2);
  assertMatch((await get()).split("\n")[1], new RegExp(`^a +${ID}`));
  const yaml = `spec:\n  id: ${ID}\n  ids:\n  - ${LOW}\n  - ${ID}\n  note: "9007199254740993"`;
  assertEquals((await get("a", "-o", "yaml")).split(yaml).length, 2);
  assertEquals((await get("-o", "yaml")).replaceAll("\n  ", "\n").split(yaml).length, 3);
});
