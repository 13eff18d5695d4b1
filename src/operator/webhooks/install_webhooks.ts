/**
 * Installs the configuration of webhooks on the API server.
 *
 * {@linkcode installWebhooks} is the entry point. It removes nothing that was installed before.
 *
 * @module
 */
import { defined } from "../../engine/api/json.ts";
import type { KubernetesObject } from "../../engine/api/object.ts";
import type { Resource } from "../../engine/api/resource.ts";
import type { Apply } from "../../engine/api/written.ts";
import type { Client } from "../../engine/client/client.ts";
import { checkNames } from "../../engine/errors/option_names.ts";
import {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from "../../engine/kinds/admissionregistration/v1.ts";
import { applyOwned, installCrds, type InstallCrdsOptions, type InstalledCrd } from "../schema/install_crds.ts";
import type { ConfigurationOptions, WebhookAddress } from "./configurations.ts";
import type { Webhooks } from "./webhooks.ts";

/** Options for {@linkcode installWebhooks}. */
export interface InstallWebhooksOptions extends InstallCrdsOptions, ConfigurationOptions {}

/** What {@linkcode installWebhooks} did. */
export interface InstalledWebhooks {
  /** What it did with the configuration of handlers that validate. Absent if there are none. */
  readonly validating?: InstalledCrd["result"];
  /** What it did with the configuration of handlers that mutate. Absent if there are none. */
  readonly mutating?: InstalledCrd["result"];
  /** What it did with the CRDs of kinds with conversions. */
  readonly crds: readonly InstalledCrd[];
}

/**
 * Configures the API server to call your webhooks, with server-side apply. Call it when they are served already:
 * from then on, with `failurePolicy` `"Fail"`, requests need a response.
 *
 * CRDs with conversions are installed like `installCrds` does, and then the configurations for handlers. The API server
 * takes up to a few seconds to use them. The client needs `get`, `create` and `patch` for
 * `validatingwebhookconfigurations` and `mutatingwebhookconfigurations`, and for CRDs with conversions. If you remove
 * all handlers of a type, delete the configuration yourself.
 *
 * @throws {StatusError} if the server refuses an object, or with 409 (`isConflict`) if another manager owns its fields.
 * @throws {BreakingChangeError} like `installCrds`.
 * @throws the signal's reason.
 */
export async function installWebhooks(
  client: Client,
  webhooks: Webhooks,
  where: WebhookAddress,
  options: InstallWebhooksOptions = {},
): Promise<InstalledWebhooks> {
  checkNames("install webhooks", options, "signal fieldManager force allowBreaking dryRun caBundle name");
  const { caBundle, name, ...rest } = options;
  const { allowBreaking: _, fieldManager = "kube-informer", ...more } = rest;
  const { crds, ...drafts } = webhooks.configurations(where, defined({ caBundle, name }));
  const installed = { crds: crds.length === 0 ? [] : await installCrds(client, crds, rest) };
  for (const [member, draft] of Object.entries(drafts) as [keyof typeof drafts, Apply<KubernetesObject>][]) {
    const kind: Resource = member === "validating" ? ValidatingWebhookConfiguration : MutatingWebhookConfiguration;
    const before = await client.resource(kind).getOrUndefined(draft.metadata.name, { signal: options.signal });
    const what = `${kind.kind} "${draft.metadata.name}"`;
    const result = await applyOwned(client.resource(kind), what, before, draft, { ...more, fieldManager });
    Object.assign(installed, { [member]: result });
  }
  return installed;
}
