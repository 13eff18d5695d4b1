// webhooks.ts: fills in and checks Websites before they are stored.
import type { Client } from "@kube/informer";
import { type InstalledWebhooks, installWebhooks, refuse, Webhooks } from "@kube/informer/webhooks";
import { NAME } from "./controller.ts";
import { Website } from "./kinds.ts";

export const webhooks = new Webhooks()
  .mutate(Website, ({ draft }) => {
    draft.metadata.labels = { "app.kubernetes.io/part-of": "websites", ...draft.metadata.labels };
  })
  .validate(Website, ({ object, old }) => {
    const { image } = object.spec;
    if (image === old?.spec.image || /:[\w.-]+$/.test(image)) return;
    throw refuse("name a version of the image", {
      causes: [{ field: "spec.image", message: `"${image}" has no tag, so that it can change at any time` }],
    });
  });

/** Has the API server call them through the Service. `caBundle` is the authority of their certificate, as PEM. */
export function install(client: Client, caBundle: string): Promise<InstalledWebhooks> {
  return installWebhooks(client, webhooks, { service: { namespace: NAME, name: NAME } }, { caBundle });
}
