// webhooks_test.ts: tests the webhooks on a fake server, which calls them as a real one does.
import { Client } from "@kube/informer";
import { FakeApiServer } from "@kube/informer/testing";
import { installWebhooks } from "@kube/informer/webhooks";
import { equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { Website } from "./kinds.ts";
import { webhooks } from "./webhooks.ts";

test("a Website gets a label, and needs an image with a version", async () => {
  const server = new FakeApiServer({ resources: [Website] });
  server.serveWebhooks(webhooks);
  using client = new Client({ server: "http://fake", transport: server });
  await installWebhooks(client, webhooks, { url: "https://webhooks.test" });
  const websites = client.resource(Website, { namespace: "shop" });
  const blog = await websites.create({ metadata: { name: "blog" }, spec: { image: "nginx:1.29" } });
  equal(blog.metadata.labels?.["app.kubernetes.io/part-of"], "websites");
  await rejects(() => websites.create({ metadata: { name: "shop" }, spec: { image: "nginx" } }), /name a version/);
});
