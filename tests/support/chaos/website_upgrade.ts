import { Deployment } from "@kube/informer/kinds/apps/v1";
import { readiness } from "@kube/informer/readiness";
import { EventRecorder } from "@kube/informer/reconcile";
import type { Release, UpgradeOptions } from "@kube/informer/testing/chaos";
import { controller, NAME } from "../../../examples/website/controller.ts";
import { rollOut } from "../../../examples/website/fake_deployments.ts";
import { Website } from "../../../examples/website/kinds.ts";
import { webhooks } from "../../../examples/website_webhooks/webhooks.ts";

const release: Release = {
  crds: [Website],
  controller: async ({ client, signal }) => {
    await using events = new EventRecorder(client, { controller: NAME });
    await using reconciler = controller(client, events);
    await reconciler.run({ signal });
  },
  converges: (server) => {
    for (const object of server.list(Website)) {
      if (readiness(object).state !== "ready") return `${object.metadata.name} is not ready`;
    }
  },
};

/** The project `website` of the examples gets webhooks. */
export function websiteUpgrade(): UpgradeOptions {
  return {
    from: release,
    to: { ...release, webhooks },
    setup: ({ client }) => client.resource(Website).create({ metadata: { name: "old" }, spec: { image: "nginx" } }),
    changes: {
      apply: ({ client, random }) => {
        const spec = { image: random.pick(["nginx:1", "nginx:2"]), replicas: random.below(4) };
        const metadata = { name: random.pick(["blog", "cart"]) };
        return client.resource(Website).apply({ metadata, spec }, { fieldManager: "user", force: true });
      },
      scale: ({ client, random }) => {
        const body = { spec: { replicas: random.below(4) } };
        return client.resource(Website).patch(random.pick(["blog", "old"]), { type: "merge", body });
      },
      "delete": ({ client, random }) => client.resource(Website).delete(random.pick(["blog", "cart"])),
    },
    environment: (server) => {
      for (const key of server.keys(Deployment)) {
        if (readiness(server.get(Deployment, key)).state === "progressing") rollOut(server, key);
      }
    },
  };
}
