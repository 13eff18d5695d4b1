// Webhooks that a real API server calls over HTTPS.
import { type Client, StatusError } from "@kube/informer";
import { FetchServer } from "@kube/informer/connect";
import { ValidatingWebhookConfiguration } from "@kube/informer/kinds/admissionregistration/v1";
import { ConfigMap } from "@kube/informer/kinds/core/v1";
import {
  makeCertificates,
  startControlPlane,
  type TestConfigurations,
  type TestWebhooks,
} from "@kube/informer/testing/control-plane";
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { delay } from "@std/async";
import { report, seconds, testOfAssets } from "./_cluster.ts";

/** The parts of an AdmissionReview that these tests read. */
interface Review {
  readonly request: {
    readonly uid: string;
    readonly dryRun: boolean;
    readonly object: { readonly metadata: { readonly name: string }; readonly data?: Readonly<Record<string, string>> };
  };
}

const OPERATIONS = ["CREATE", "UPDATE"] as const;
const RULES = [{ apiGroups: [""], apiVersions: ["v1"], operations: OPERATIONS, resources: ["configmaps"] }];

/** Refuses ConfigMaps with `data.refuse`, and adds `data.added` to those with data. */
class MapWebhooks implements TestWebhooks {
  readonly paths: string[] = [];
  readonly names: string[] = [];

  async fetch(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    const { request: { uid, object } } = await request.json() as Review;
    this.paths.push(pathname);
    this.names.push(object.metadata.name);
    const refused = pathname === "/validate" && object.data?.refuse !== undefined;
    const patch = pathname === "/mutate" && object.data !== undefined
      ? { patchType: "JSONPatch", patch: btoa('[{"op":"add","path":"/data/added","value":"by the webhook"}]') }
      : {};
    const response = refused
      ? { uid, allowed: false, status: { code: 422, message: `data.refuse is "${object.data!.refuse}"` } }
      : { uid, allowed: true, ...patch };
    return Response.json({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response });
  }

  configurations(
    { url }: { readonly url: string },
    { caBundle }: { readonly caBundle: string },
  ): TestConfigurations {
    const webhook = (path: string) => ({
      name: `${path}.tests.example.com`,
      admissionReviewVersions: ["v1"],
      clientConfig: { url: `${url}/${path}`, caBundle: btoa(caBundle) },
      rules: RULES,
      sideEffects: "None" as const,
    });
    return {
      validating: { metadata: { name: "validating" }, webhooks: [webhook("validate")] },
      mutating: { metadata: { name: "mutating" }, webhooks: [webhook("mutate")] },
    };
  }
}

testOfAssets("startControlPlane calls webhooks when it has started", async (assets) => {
  const webhooks = new MapWebhooks();
  const startedAt = performance.now();
  await using server = await startControlPlane({ assets, webhooks });
  report(`started with webhooks in ${seconds(startedAt)}`);
  using client = server.client({ namespace: "default" });
  assertEquals(webhooks.names.filter((name) => name.startsWith("informer-webhooks-probe")), []);
  // The first request is reviewed, without a retry.
  const maps = client.resource(ConfigMap);
  const error = await assertRejects(
    () => maps.create({ metadata: { name: "wrong" }, data: { refuse: "this" } }),
    StatusError,
    'admission webhook "validate.tests.example.com" denied the request: data.refuse is "this"',
  );
  assertEquals(error.status.code, 422);
  assertEquals(await maps.getOrUndefined("wrong"), undefined);
  const created = await maps.create({ metadata: { name: "right" }, data: { a: "1" } });
  assertEquals(created.data, { a: "1", added: "by the webhook" });
  assertEquals(webhooks.paths.slice(-2), ["/mutate", "/validate"]);
  const installed = await client.resource(ValidatingWebhookConfiguration).get("validating");
  assertEquals(installed.webhooks?.map(({ name }) => name), ["validate.tests.example.com"]);
});

/** How the webhooks of a test behave. */
type Behaviour = "answers" | "hangs" | "fails";

testOfAssets("failurePolicy decides if webhooks are slow, failing, killed or absent", async (assets) => {
  await using server = await startControlPlane({ assets });
  using client = server.client({ namespace: "default" });
  const { ca, ...certificate } = await makeCertificates({ hosts: ["127.0.0.1"] });
  let behaviour: Behaviour = "answers";
  let reviews = 0;
  const handler = async (request: Request): Promise<Response> => {
    const { request: { uid } } = await request.json() as Review;
    reviews++;
    if (behaviour === "hangs") {
      await new Promise((resolve) => request.signal.addEventListener("abort", resolve, { once: true }));
    }
    if (behaviour === "fails") return new Response("no", { status: 500 });
    return Response.json({
      apiVersion: "admission.k8s.io/v1",
      kind: "AdmissionReview",
      response: { uid, allowed: true, warnings: ["reviewed"] },
    });
  };
  const port = await FetchServer.listen(handler, { port: 0, certificate });
  const url = `https://127.0.0.1:${port.port}/`;
  const webhook = (failurePolicy: "Fail" | "Ignore") => ({
    name: `${failurePolicy.toLowerCase()}.tests.example.com`,
    admissionReviewVersions: ["v1"],
    clientConfig: { url, caBundle: btoa(ca) },
    failurePolicy,
    objectSelector: { matchLabels: { policy: failurePolicy } },
    rules: RULES,
    sideEffects: "None" as const,
    timeoutSeconds: 1,
  });
  await client.resource(ValidatingWebhookConfiguration).create({
    metadata: { name: "policies" },
    webhooks: [webhook("Fail"), webhook("Ignore")],
  });
  for (; reviews === 0; await delay(100)) await create(client, "Fail");

  const expect = async (what: Behaviour | "killed", fails: RegExp | undefined): Promise<void> => {
    if (what !== "killed") behaviour = what;
    await create(client, "Ignore");
    const error = await create(client, "Fail").then(() => undefined, (error) => error);
    if (fails === undefined) return assertEquals(error, undefined);
    assert(error instanceof StatusError);
    assertEquals(error.status.code, 500);
    assertMatch(error.message, /failed calling webhook "fail.tests.example.com"/);
    assertMatch(error.message, fails);
  };
  await expect("answers", undefined);
  await expect("hangs", /context deadline exceeded|Client.Timeout exceeded/);
  await expect("fails", /an error on the server|500|the server rejected/);
  await expect("answers", undefined);
  await port[Symbol.asyncDispose]();
  await expect("killed", /connection refused/);
  await using again = await FetchServer.listen(handler, { port: port.port, certificate });
  assertEquals(again.port, port.port);
  await expect("answers", undefined);
  // The port answers with the certificate of another authority.
  await again[Symbol.asyncDispose]();
  const { cert, key } = await makeCertificates();
  await using _other = await FetchServer.listen(handler, { port: port.port, certificate: { cert, key } });
  await expect("answers", /certificate signed by unknown authority/);
});

async function create(client: Client, policy: string): Promise<void> {
  const labels = { policy };
  await client.resource(ConfigMap).create({ metadata: { generateName: "map-", labels } } as never, { dryRun: true });
}
