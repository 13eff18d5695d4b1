import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { isConflict, StatusError } from "../../../src/engine/api/status.ts";
import { Client } from "../../../src/engine/client/client.ts";
import {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from "../../../src/engine/kinds/admissionregistration/v1.ts";
import { CustomResourceDefinition } from "../../../src/engine/kinds/apiextensions/v1.ts";
import { Namespace } from "../../../src/engine/kinds/core/v1.ts";
import { BreakingChangeError, defineKind } from "../../../src/operator/schema/mod.ts";
import { FakeApiServer } from "../../../src/testing/mod.ts";
import { installWebhooks, Webhooks } from "../../../src/operator/webhooks/mod.ts";
import { Website } from "./_reviews.ts";

const service = { namespace: "shop", name: "operator", port: 8443 };
const CA = "-----BEGIN CERTIFICATE-----\né\n-----END CERTIFICATE-----\n";
const names = { group: "example.com", kind: "Job", plural: "jobs" } as const;
const Old = defineKind({ ...names, version: "v1beta1", spec: { type: "object" } });
const New = defineKind({ ...names, version: "v1", spec: { type: "object" }, olderVersions: [Old] });

function all(): Webhooks {
  return new Webhooks()
    .validate(Website, () => {})
    .mutate(Website, () => {})
    .convert(New, Old, { toHub: ({ spec }) => ({ spec }), fromHub: ({ spec }) => ({ spec }) });
}

Deno.test("a configuration has all defaults, and the address of its webhook", () => {
  const { validating, mutating, crds } = all().configurations({ service }, { caBundle: CA });
  const common = {
    rules: [{
      apiGroups: ["example.com"],
      apiVersions: ["v1"],
      operations: ["CREATE", "UPDATE"],
      resources: ["websites"],
      scope: "Namespaced",
    }],
    failurePolicy: "Fail",
    matchPolicy: "Equivalent",
    sideEffects: "None",
    timeoutSeconds: 10,
    admissionReviewVersions: ["v1"],
  };
  const caBundle = btoa(String.fromCharCode(...new TextEncoder().encode(CA)));
  const client = (path: string) => ({ service: { ...service, path }, caBundle });
  const name = (verb: string) => `${verb}.v1.websites.example.com`;
  assertEquals(validating as unknown, {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingWebhookConfiguration",
    metadata: { name: "operator.shop" },
    webhooks: [{ ...common, name: name("validate"), clientConfig: client(`/validate/${name("validate")}`) }],
  });
  assertEquals(mutating?.webhooks as unknown, [
    { ...common, name: name("mutate"), clientConfig: client(`/mutate/${name("mutate")}`) },
  ]);
  assertEquals(crds as unknown, [{
    ...New.crd,
    spec: {
      ...New.crd.spec,
      conversion: {
        strategy: "Webhook",
        webhook: { clientConfig: client("/convert/jobs.example.com"), conversionReviewVersions: ["v1"] },
      },
    },
  }]);
  assertEquals(new Webhooks().configurations({ service }), { crds: [] });
});

Deno.test("options of handlers are in the configuration, in the order of the handlers", () => {
  const options = {
    name: "first.ns.example.com",
    operations: ["DELETE"],
    subresources: ["", "status", "*"],
    failurePolicy: "Ignore",
    matchPolicy: "Exact",
    matchConditions: [{ name: "not-nodes", expression: "!('system:nodes' in request.userInfo.groups)" }],
    objectSelector: { matchLabels: { a: "b" } },
    namespaceSelector: { matchExpressions: [{ key: "k", operator: "Exists" }] },
    sideEffects: "NoneOnDryRun",
    timeoutSeconds: 3,
  } as const;
  const webhooks = new Webhooks()
    .validate(Namespace, () => {}, options)
    .validate(Website, () => {}, { objectSelector: undefined, timeoutSeconds: undefined })
    .mutate(Website, () => {}, { reinvocationPolicy: "IfNeeded" });
  const { validating, mutating } = webhooks.configurations({ url: "https://10.0.0.1:9443/" }, { name: "mine" });
  const { operations, subresources: _, ...rest } = options;
  assertEquals(validating?.webhooks?.[0] as unknown, {
    ...rest,
    rules: [{
      apiGroups: [""],
      apiVersions: ["v1"],
      operations,
      resources: ["namespaces", "namespaces/status", "namespaces/*"],
      scope: "Cluster",
    }],
    clientConfig: { url: "https://10.0.0.1:9443/validate/first.ns.example.com" },
    admissionReviewVersions: ["v1"],
  });
  assertEquals([validating?.webhooks?.[1].timeoutSeconds, validating?.webhooks?.[1].name], [
    10,
    "validate.v1.websites.example.com",
  ]);
  assertEquals([mutating?.webhooks?.[0].reinvocationPolicy, mutating?.metadata.name], ["IfNeeded", "mine"]);
  const named = (url: string) => webhooks.configurations({ url }).validating?.metadata.name;
  assertEquals(["https://h.example:1", "https://[::1]:1"].map(named), ["h.example", "1"]);
});

Deno.test("installWebhooks applies configurations and CRDs, and says what it did", async () => {
  using server = new FakeApiServer();
  using client = new Client({ server: "http://fake", transport: server });
  const where = { service };
  const results = async (webhooks: Webhooks, options?: object): Promise<unknown> => {
    const { crds, ...rest } = await installWebhooks(client, webhooks, where, options);
    return { ...rest, crds: crds.map(({ name, result }) => `${result} ${name}`) };
  };
  const [mutating, validating] = [
    client.resource(MutatingWebhookConfiguration),
    client.resource(ValidatingWebhookConfiguration),
  ];
  const dry = { validating: "created", mutating: "created", crds: ["created jobs.example.com"] };
  assertEquals(await results(all(), { dryRun: true }), dry);
  assertEquals(await validating.getOrUndefined("operator.shop"), undefined);
  assertEquals(await results(all()), dry);
  const crd = await client.resource(CustomResourceDefinition).get("jobs.example.com");
  assertEquals(crd.spec.conversion?.webhook?.clientConfig?.service?.path, "/convert/jobs.example.com");
  const same = { validating: "unchanged", mutating: "unchanged", crds: ["unchanged jobs.example.com"] };
  assertEquals(await results(all()), same);
  const fewer = new Webhooks().validate(Website, () => {}, { timeoutSeconds: 5 });
  assertEquals(await results(fewer), { validating: "changed", crds: [] });
  assertEquals((await validating.get("operator.shop")).webhooks?.[0].timeoutSeconds, 5);
  assert(await mutating.getOrUndefined("operator.shop") !== undefined, "nothing is removed");
});

Deno.test("installWebhooks names the owner of fields, takes them by force, and stops with its signal", async () => {
  using server = new FakeApiServer();
  using client = new Client({ server: "http://fake", transport: server });
  const webhooks = new Webhooks().validate(Website, () => {});
  const where = { url: "https://hooks" };
  await installWebhooks(client, webhooks, where, { fieldManager: "helm" });
  const other = new Webhooks().validate(Website, () => {}, { failurePolicy: "Ignore" });
  const error = await assertRejects(() => installWebhooks(client, other, where), StatusError);
  assert(isConflict(error));
  assertStringIncludes(error.message, 'Cannot install ValidatingWebhookConfiguration "hooks": "helm"');
  assertStringIncludes(error.message, "To take them over, set force");
  assertEquals((await installWebhooks(client, other, where, { force: true })).validating, "changed");
  const reason = new Error("stopped");
  await assertRejects(
    () => installWebhooks(client, other, where, { signal: AbortSignal.abort(reason) }),
    Error,
    "stopped",
  );
  await assertRejects(() => installWebhooks(client, other, where, { forced: true } as never), TypeError, '"force"');
});

Deno.test("installWebhooks refuses CRDs that break stored objects, like installCrds", async () => {
  using server = new FakeApiServer();
  using client = new Client({ server: "http://fake", transport: server });
  await installWebhooks(client, all(), { service });
  const Narrow = defineKind({
    ...names,
    version: "v1",
    spec: { type: "object", required: ["a"], properties: { a: { type: "string" } } },
    olderVersions: [Old],
  });
  const breaking = new Webhooks().convert(Narrow, Old, {
    toHub: () => ({ spec: { a: "" } }),
    fromHub: () => ({ spec: {} }),
  });
  await assertRejects(() => installWebhooks(client, breaking, { service }), BreakingChangeError);
  const { crds } = await installWebhooks(client, breaking, { service }, { allowBreaking: true });
  assertEquals(crds[0].result, "changed");
});

Deno.test("an address without TLS, and authorities that are no PEM text, are refused before a request", async () => {
  using server = new FakeApiServer();
  using client = new Client({ server: "http://fake", transport: server });
  const install = (url: string, caBundle?: string) => () => installWebhooks(client, all(), { url }, { caBundle });
  for (const url of ["http://hooks:9443", "hooks:9443", "https://", "/hooks", ""]) {
    const why = `Cannot configure webhooks: url must begin with https:// and a host, but it is "${url}"`;
    await assertRejects(install(url), TypeError, why);
  }
  const why = "Cannot configure webhooks: caBundle must be the PEM text of a certificate, but ";
  await assertRejects(install("https://h", "/tls/ca.crt"), TypeError, `${why}it is "/tls/ca.crt". Read its file`);
  await assertRejects(install("https://h", ""), TypeError, `${why}it is ""`);
  const key = "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n";
  for (const text of [btoa(CA.replace("é", "")), key, "-----END CERTIFICATE----- -----BEGIN CERTIFICATE-----"]) {
    const error = await assertRejects(install("https://h", text), TypeError, `${why}it has none`);
    assert(!error.message.includes("c2VjcmV0"));
  }
  assertEquals(server.requests.length, 0);
  await install("HTTPS://hooks:9443/base", CA)();
});
