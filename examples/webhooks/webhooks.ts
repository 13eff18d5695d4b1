// webhooks.ts: fills in, checks and converts Websites.
import type { Client } from "@kube/informer";
import { type InstalledWebhooks, installWebhooks, refuse, Webhooks } from "@kube/informer/webhooks";
import { OldWebsite, Website } from "./kinds.ts";

export const webhooks = new Webhooks()
  .mutate(Website, ({ draft }) => {
    draft.spec.replicas ??= 1;
  })
  .validate(Website, ({ object, old }) => {
    const { image } = object.spec.container;
    if (image !== old?.spec.container.image && /:latest$|^[^:]*$/.test(image)) {
      throw refuse("name a version of the image", {
        causes: [{ field: "spec.container.image", message: `"${image}" can change at any time` }],
      });
    }
  })
  .convert(Website, OldWebsite, {
    toHub: ({ spec: { image, replicas } }) => ({ spec: { container: { image }, replicas } }),
    fromHub: ({ spec: { container, replicas } }) => ({ spec: { image: container?.image, replicas } }),
  });

/** Has the API server call them through the Service. */
export function install(client: Client): Promise<InstalledWebhooks> {
  return installWebhooks(client, webhooks, { service: { namespace: "websites", name: "websites" } });
}
