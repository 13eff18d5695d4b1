// role_test.ts: runs the whole program on a fake server, and compares the rights that it uses with manifests.yaml.
import { accessUsed, Client } from "@kube/informer";
import { Deployment } from "@kube/informer/kinds/apps/v1";
import { Event } from "@kube/informer/kinds/events/v1";
import { FakeApiServer } from "@kube/informer/testing";
import { assertAccess } from "@kube/informer/testing/roles";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { NAME } from "./controller.ts";
import { rollOut } from "./fake_deployments.ts";
import { Website } from "./kinds.ts";
import { manager } from "./main.ts";

test("the role grants what the program uses", async () => {
  const server = new FakeApiServer();
  server.create(Website, {
    metadata: { namespace: "shop", name: "blog" },
    spec: { image: "nginx" },
  });
  using client = new Client({ server: "http://fake", transport: server, namespace: NAME });
  const stop = new AbortController();
  await using parts = manager(client);
  const running = parts.run({ signal: stop.signal });
  await server.until(Deployment, "shop/blog", (made) => made !== undefined);
  rollOut(server, "shop/blog");
  while (server.list(Event).length === 0) await new Promise((resolve) => server.afterNext(resolve)); // the last write
  stop.abort();
  await running;
  assertAccess(accessUsed(client), await readFile(new URL("manifests.yaml", import.meta.url), "utf8"));
});
