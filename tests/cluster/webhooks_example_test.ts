// The program of examples/webhooks on a real server, also while its webhooks fail.
import { StatusError } from "@kube/informer";
import { FetchServer } from "@kube/informer/connect";
import { ConfigMap } from "@kube/informer/kinds/core/v1";
import { makeCertificates, startControlPlane } from "@kube/informer/testing/control-plane";
import { installWebhooks, Webhooks } from "@kube/informer/webhooks";
import { assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { delay } from "@std/async";
import { OldWebsite, Website } from "../../examples/webhooks/kinds.ts";
import { controller } from "../../examples/webhooks/main.ts";
import { webhooks } from "../../examples/webhooks/webhooks.ts";
import { withDeadline } from "../support/cluster/with_deadline.ts";
import { testOfAssets } from "./_cluster.ts";

testOfAssets(
  "the example of webhooks converts, fills in and checks, and its controller goes on without them",
  async (assets) => {
    await using plane = await startControlPlane({ assets });
    using client = plane.client({ namespace: "default" });
    const { ca: caBundle, ...certificate } = await makeCertificates({ hosts: ["127.0.0.1"] });
    let isSlow = false;
    const handler = async (request: Request): Promise<Response> => {
      if (isSlow) await new Promise((resolve) => request.signal.addEventListener("abort", resolve, { once: true }));
      return await webhooks.fetch(request);
    };
    let port = await FetchServer.listen(handler, { port: 0, certificate });
    const number = port.port;
    await installWebhooks(client, webhooks, { url: `https://127.0.0.1:${number}` }, { caBundle });
    const [websites, old, maps] = [client.resource(Website), client.resource(OldWebsite), client.resource(ConfigMap)];
    const draft = (name: string, image = "nginx:1.29") => ({ metadata: { name }, spec: { container: { image } } });

    // The server takes a configuration up to a few seconds later.
    await withDeadline("the webhooks to be called", async (signal) => {
      while ((await websites.create(draft("try"), { dryRun: true, signal })).spec.replicas !== 1) {
        await delay(100, { signal });
      }
    });
    await websites.create(draft("blog"));
    const error = await assertRejects(() => websites.create(draft("shop", "nginx")), StatusError);
    assertMatch(error.message, /denied the request: name a version of the image/);
    assertEquals(error.status.details?.causes?.map(({ field }) => field), ["spec.container.image"]);
    assertEquals((await old.get("blog")).spec, { image: "nginx:1.29", replicas: 1 });
    await old.create({ metadata: { name: "old" }, spec: { image: "nginx:1.28", replicas: 2 } });
    assertEquals((await websites.get("old")).spec, { container: { image: "nginx:1.28" }, replicas: 2 });

    await using reconciler = controller(client);
    const running = reconciler.run();
    const restored = async (name: string): Promise<void> => {
      await withDeadline(`the ConfigMap ${name}`, async (signal) => {
        while ((await maps.getOrUndefined(name, { signal })) === undefined) await delay(50, { signal });
      });
    };
    for (const name of ["blog", "old"]) await restored(name);
    const refused = async (verb: "mutate" | "validate", why: RegExp): Promise<void> => {
      const error = await assertRejects(() => websites.create(draft("next"), { dryRun: true }), StatusError);
      assertEquals(error.status.code, 500);
      assertStringIncludes(error.message, `failed calling webhook "${verb}.v1.websites.example.com"`);
      assertMatch(error.message, why);
      await maps.delete("blog"); // the controller goes on
      await restored("blog");
    };
    await port[Symbol.asyncDispose](); // killed
    await refused("mutate", /connection refused/);
    isSlow = true;
    const late = websites.create(draft("next"), { dryRun: true, timeoutMs: 20_000 });
    port = await FetchServer.listen(handler, { port: number, certificate, graceMs: 0 });
    await assertRejects(() => late, StatusError, "failed calling webhook");
    isSlow = false;
    // A handler that throws: failurePolicy decides, and the controller goes on.
    const strict = new Webhooks().validate(Website, () => {
      throw new Error("a mistake");
    }, { failurePolicy: "Ignore" });
    await port[Symbol.asyncDispose]();
    await using _again = await FetchServer.listen(async (request) => {
      return request.url.includes("/validate/") ? await strict.fetch(request) : await webhooks.fetch(request);
    }, { port: number, certificate });
    await refused("validate", /a mistake/);
    await installWebhooks(client, strict, { url: `https://127.0.0.1:${number}` }, { caBundle, force: true });
    await withDeadline("failurePolicy Ignore", async (signal) => {
      for (;; await delay(100, { signal })) {
        if (await websites.create(draft("next"), { dryRun: true, signal }).then(() => true, () => false)) return;
      }
    });
    await reconciler[Symbol.asyncDispose]();
    await running;
  },
);
