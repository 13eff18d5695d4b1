import { errorLine } from "@kube/informer";
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { isConflict, StatusError } from "../../../src/engine/api/status.ts";
import { Client } from "../../../src/engine/client/client.ts";
import { CustomResourceDefinition } from "../../../src/engine/kinds/apiextensions/v1.ts";
import { BreakingChangeError, installCrds } from "../../../src/operator/schema/install_crds.ts";
import { defineKind } from "../../../src/operator/schema/mod.ts";
import { installWebhooks, Webhooks } from "../../../src/operator/webhooks/mod.ts";
import { FakeApiServer } from "../../../src/testing/mod.ts";
import { FakeTime } from "../../support/times/fake_time.ts";
import { definitionOf, Gadget, Widget } from "../../support/sources/widgets.ts";

/** The definition of widgets, whose `spec` has these fields. */
function widgets(properties: object): ReturnType<typeof definitionOf> {
  const spec = { type: "object", properties };
  return definitionOf(Widget, { schema: { openAPIV3Schema: { type: "object", properties: { spec } } } });
}

const SIZE = { size: { type: "integer" } };

/** A kind with its definition, as `defineKind` makes it. */
const kind = (crd: ReturnType<typeof definitionOf>) => ({
  ...Widget,
  crd: { ...crd, metadata: { name: crd.metadata.name!, labels: { app: "shop" } } },
});

Deno.test("installCrds takes kinds and drafts, and says what it did with each", async () => {
  using server = new FakeApiServer();
  using client = new Client({ server: "http://fake", transport: server });
  const results = async (...kinds: Parameters<typeof installCrds>[1]): Promise<string[]> =>
    (await installCrds(client, kinds)).map(({ name, result }) => `${result} ${name}`);
  const both = ["widgets.acme.dev", "gadgets.acme.dev"];
  assertEquals(await results(kind(widgets(SIZE)), definitionOf(Gadget)), both.map((name) => `created ${name}`));
  assertEquals(await results(kind(widgets(SIZE)), definitionOf(Gadget)), both.map((name) => `unchanged ${name}`));
  const wider = kind(widgets({ ...SIZE, host: { type: "string" } }));
  assertEquals(await results(wider), ["changed widgets.acme.dev"]);
  assertEquals((await client.resource(CustomResourceDefinition).get(both[0])).metadata.labels, { app: "shop" });
});

Deno.test("installCrds writes nothing if one change breaks stored objects, unless that is allowed", async () => {
  using server = new FakeApiServer();
  using client = new Client({ server: "http://fake", transport: server });
  await installCrds(client, [widgets(SIZE)]);
  const kinds = [definitionOf(Gadget), widgets({})];
  const error = await assertRejects(() => installCrds(client, kinds), BreakingChangeError);
  assertEquals(error.changes.map(({ definition, path }) => `${definition} ${path}`), ["widgets.acme.dev spec.size"]);
  assertStringIncludes(
    error.message,
    "Cannot install definitions: stored objects would break. widgets.acme.dev v1 spec.",
  );
  assertStringIncludes(error.message, "To install anyway, set allowBreaking");
  assertEquals(server.requests.filter(({ verb }) => verb === "patch").length, 1);
  const dry = await installCrds(client, kinds, { allowBreaking: true, dryRun: true });
  assertEquals(dry.map(({ result, changes }) => [result, changes.length]), [["created", 0], ["changed", 1]]);
  assertEquals(await client.resource(CustomResourceDefinition).getOrUndefined("gadgets.acme.dev"), undefined);
  await installCrds(client, kinds, { allowBreaking: true });
  assertEquals((await installCrds(client, kinds)).map(({ result }) => result), ["unchanged", "unchanged"]);
});

Deno.test("installCrds names the definition, the owner of its fields, and the remedy", async () => {
  using server = new FakeApiServer();
  using client = new Client({ server: "http://fake", transport: server });
  const definitions = client.resource(CustomResourceDefinition);
  await definitions.create(widgets(SIZE), { fieldManager: "kubectl-create" });
  const wider = widgets({ ...SIZE, host: { type: "string" } });
  const error = await assertRejects(() => installCrds(client, [wider]), StatusError);
  assertEquals([isConflict(error), error.message.split(" using ")[0]], [
    true,
    'Cannot install definition "widgets.acme.dev": "kubectl-create"',
  ]);
  assertStringIncludes(error.message, "owns fields with other values. To take them over, set force");
  assertEquals((await installCrds(client, [wider], { force: true }))[0].result, "changed");
  server.failNext(403, 1, ({ verb }) => verb === "patch");
  const refused = await assertRejects(
    () => installCrds(client, [wider]),
    StatusError,
    'Cannot install definition "widgets.acme.dev": ',
  );
  assertEquals(errorLine(refused), refused.message, "the same words once");
});

Deno.test("installCrds takes a kind and its older version, and keeps a conversion webhook", async () => {
  const names = { group: "acme.dev", kind: "Backup", plural: "backups" } as const;
  const spec = { type: "object", properties: { schedule: { type: "string" } } } as const;
  const Old = defineKind({ ...names, version: "v1alpha1", spec });
  const Backup = defineKind({ ...names, version: "v1", spec, olderVersions: [Old] });
  const server = new FakeApiServer();
  using client = new Client({ server: "http://fake", transport: server });
  for (const kinds of [[Backup, Old], [Old, Backup]]) {
    const installed = await installCrds(client, kinds);
    assertEquals(installed.map(({ name }) => name), ["backups.acme.dev"]);
    const { versions } = server.get(CustomResourceDefinition, "backups.acme.dev")!.spec;
    assertEquals(versions.map(({ name, storage }) => [name, storage]), [["v1", true], ["v1alpha1", false]]);
  }
  const Other = defineKind({ ...names, version: "v2", spec });
  await assertRejects(() => installCrds(client, [Backup, Other]), TypeError, "Name the older kind in olderVersions");
  const webhooks = new Webhooks().convert(Backup, Old, {
    toHub: ({ spec }) => ({ spec }),
    fromHub: ({ spec }) => ({ spec }),
  });
  await installWebhooks(client, webhooks, { url: "https://hooks" });
  for (const caBundle of [btoa("/tls/ca.crt"), "/tls/ca.crt", "*"]) {
    const [crd] = webhooks.configurations({ url: "https://hooks" }).crds;
    const webhook = { conversionReviewVersions: ["v1"], clientConfig: { url: "https://hooks", caBundle } };
    const wrong = { ...crd, spec: { ...crd.spec, conversion: { strategy: "Webhook", webhook } } };
    const why = 'Cannot install definition "backups.acme.dev": the caBundle of its conversion must be the PEM text';
    await assertRejects(() => installCrds(client, [wrong]), TypeError, why);
  }
  const [{ result }] = await installCrds(client, [Backup]);
  assertEquals(result, "unchanged");
  assertEquals(server.get(CustomResourceDefinition, "backups.acme.dev")!.spec.conversion?.strategy, "Webhook");
});

Deno.test("installCrds waits until a definition is established, even if discovery lists its kind before", async () => {
  using time = new FakeTime();
  using server = new FakeApiServer();
  let [looks, isEstablished] = [0, false];
  const fetch = async (request: Request): Promise<Response> => {
    const response = await server.fetch(request);
    if (request.method !== "GET" || !request.url.includes("/customresourcedefinitions/") || !response.ok) {
      return response;
    }
    looks++;
    const definition = await response.json() as CustomResourceDefinition;
    const conditions = definition.status?.conditions?.map((it) =>
      it.type === "Established" && !isEstablished ? { ...it, status: "False" } : it
    );
    return Response.json({ ...definition, status: { ...definition.status, conditions } });
  };
  using client = new Client({ server: "http://fake", transport: { fetch } });
  let isDone = false;
  const installing = installCrds(client, [definitionOf(Widget)]).finally(() => isDone = true);
  await time.tickAsync(3_000);
  assertEquals([looks > 3, isDone], [true, false]);
  isEstablished = true;
  await time.tickAsync(1_000); // the longest wait between two looks
  assertEquals((await installing).map(({ result }) => result), ["created"]);
});
