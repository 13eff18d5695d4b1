// The program of examples/webhooks on the fake server: its controller, and its webhooks.
import { Client } from "@kube/informer";
import { ConfigMap } from "@kube/informer/kinds/core/v1";
import { FakeApiServer } from "@kube/informer/testing";
import { installWebhooks, roundTrips } from "@kube/informer/webhooks";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { OldWebsite, Website } from "../../../examples/webhooks/kinds.ts";
import { controller } from "../../../examples/webhooks/main.ts";
import { webhooks } from "../../../examples/webhooks/webhooks.ts";

Deno.test("the example of webhooks fills in and checks Websites, and its controller acts on them", async () => {
  const server = new FakeApiServer({ resources: [Website] });
  server.serveWebhooks(webhooks);
  using client = new Client({ server: "http://fake", transport: server, namespace: "shop" });
  await installWebhooks(client, webhooks, { url: "https://webhooks.test" });
  await using reconciler = controller(client);
  const running = reconciler.run();
  const websites = client.resource(Website);
  const made = await websites.create({ metadata: { name: "blog" }, spec: { container: { image: "nginx:1.29" } } });
  assertEquals(made.spec.replicas, 1);
  await assertRejects(
    () => websites.create({ metadata: { name: "shop" }, spec: { container: { image: "nginx" } } }),
    Error,
    "denied the request: name a version of the image",
  );
  const map = await server.until(ConfigMap, "shop/blog", (map) => map !== undefined);
  assertEquals(map?.data, { image: "nginx:1.29", replicas: "1" });
  await reconciler[Symbol.asyncDispose]();
  await running;
});

Deno.test("the fake server converts a write for the webhooks of the example, and its stored object", async () => {
  const server = new FakeApiServer();
  server.serveWebhooks(webhooks);
  using client = new Client({ server: "http://fake", transport: server, namespace: "shop" });
  await installWebhooks(client, webhooks, { url: "https://webhooks.test" });
  const made = await client.resource(OldWebsite).create({ metadata: { name: "old" }, spec: { image: "nginx:1" } });
  assertEquals(made.spec, { image: "nginx:1", replicas: 1 });
  assertEquals((await client.resource(Website).get("old")).spec, { container: { image: "nginx:1" }, replicas: 1 });
  await assertRejects(
    () => client.resource(OldWebsite).create({ metadata: { name: "latest" }, spec: { image: "nginx" } }),
    Error,
    "denied the request: name a version of the image",
  );
});

Deno.test("no field is lost between the versions of the example", () => {
  const metadata = { name: "a", namespace: "shop", uid: "1", resourceVersion: "1", creationTimestamp: "" };
  for (const replicas of [undefined, 0, 3]) {
    roundTrips(webhooks, OldWebsite, [{ metadata, spec: { image: "nginx:1", replicas } }]);
    roundTrips(webhooks, Website, [{ metadata, spec: { container: { image: "nginx:1" }, replicas } }]);
  }
  assert(Website.crd.spec.versions.length === 2);
});
