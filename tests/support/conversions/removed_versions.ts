/** Writes to an object whose fields are managed in a version that is no longer served, and then gone. */
import { type Client, type KubernetesObject, StatusError } from "@kube/informer";
import { installCrds } from "@kube/informer/schema";
import { installWebhooks, type WebhookAddress } from "@kube/informer/webhooks";
import { delay } from "@std/async";
import { OldSite, Site, siteWebhooks } from "./play.ts";

/** Returns the CRD without v1alpha1, or with it. Without a conversion, both versions have the schema of v1. */
function definitionAt(step: "served" | "unserved" | "gone", isConverted: boolean): typeof Site.crd {
  const { spec } = Site.crd;
  const { schema } = spec.versions.find(({ storage }) => storage)!;
  const versions = spec.versions.filter(({ storage }) => storage || step !== "gone")
    .map((it) => ({ ...it, ...!isConverted && { schema }, served: it.storage || step === "served" }));
  return { ...Site.crd, spec: { ...spec, versions } };
}

/** Returns what a server says to writes in each step of a removal. With `where`, a webhook converts. */
export async function answersAfterRemoval(
  client: Client,
  where?: WebhookAddress,
  caBundle?: string,
): Promise<unknown[]> {
  const answers: unknown[] = [];
  const note = async (attempt: Promise<KubernetesObject & { readonly spec?: unknown }>): Promise<void> => {
    answers.push(
      await attempt.then(({ metadata: { managedFields = [] }, spec }) => [
        spec,
        // Their order follows times.
        managedFields.map(({ manager, operation, apiVersion, fieldsV1 }) => [manager, operation, apiVersion, fieldsV1])
          .sort((a, b) => JSON.stringify(a) < JSON.stringify(b) ? -1 : 1),
      ], (error) => {
        if (error instanceof StatusError) return [error.status.code, error.status.reason, error.status.message];
        throw error;
      }),
    );
  };
  const isConverted = where !== undefined;
  const install = (step: "served" | "unserved" | "gone") =>
    installCrds(client, [definitionAt(step, isConverted)], {
      signal: AbortSignal.timeout(60_000),
      force: true,
      allowBreaking: true,
    });
  const [sites, metadata, container] = [client.resource(Site), { name: "removed" }, { image: "a" }];
  await install("served");
  if (where !== undefined) await installWebhooks(client, siteWebhooks(() => {}), where, { caBundle, force: true });
  const user = { fieldManager: "user", force: true };
  const labels = { tier: "web" };
  const create = async (): Promise<boolean> => {
    if (isConverted) {
      await client.resource(OldSite).apply({ metadata: { ...metadata, labels }, spec: container }, user);
      return (await sites.get("removed")).spec.container !== undefined;
    }
    // The versions on the fake do not hold the same objects without a webhook.
    const { metadata: { managedFields } } = await sites.apply(
      { metadata: { ...metadata, labels }, spec: { container } },
      user,
    );
    const value = managedFields!.map((it) => ({ ...it, apiVersion: "example.com/v1alpha1" }));
    await sites.patch("removed", { type: "json", body: [{ op: "replace", path: "/metadata/managedFields", value }] });
    return true;
  };
  // The server uses the webhook a moment later.
  for (let left = 100; !await create().catch((error) => left-- > 0 ? false : Promise.reject(error));) await delay(50);
  for (const step of ["served", "unserved", "gone"] as const) {
    await install(step);
    const spec = { container };
    const own = { fieldManager: "operator", dryRun: true };
    // Older servers than 1.37 drop all owners when an update finds one in a version that is gone.
    if (step !== "gone") await note(sites.patch("removed", { type: "merge", body: { spec: { replicas: 7 } } }, own));
    await note(sites.apply({ metadata, spec: { ...spec, replicas: 2 } }, own));
    await note(sites.apply({ metadata, spec }, { ...own, fieldManager: "user" }));
  }
  return answers;
}
