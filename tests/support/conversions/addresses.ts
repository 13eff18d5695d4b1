/** Addresses and authorities of webhooks, and what servers answer to them. */
import { type Client, StatusError } from "@kube/informer";
import { ValidatingWebhookConfiguration } from "@kube/informer/kinds/admissionregistration/v1";
import { CustomResourceDefinition } from "@kube/informer/kinds/apiextensions/v1";
import { installCrds } from "@kube/informer/schema";
import { Site } from "./play.ts";

const service = { namespace: "n", name: "s" };
const CONFIGS: readonly object[] = [
  { url: "http://127.0.0.1:9443" },
  { url: "127.0.0.1" },
  { url: "https://" },
  { url: "https://host/path?query=1#part" },
  { url: "https://ada:secret@host" },
  { url: "HTTPS://host:9443/path" },
  { url: "https://host", service },
  {},
  { service: { ...service, port: 70_000, path: "path" } },
  { service: { ...service, name: "" } },
  { url: "https://host", caBundle: btoa("/tls/ca.crt") },
];

/** Returns what a server says to configurations and CRDs with these addresses. */
export async function answersToAddresses(client: Client): Promise<string[]> {
  const answers: string[] = [];
  const note = async (attempt: Promise<unknown>): Promise<void> => {
    answers.push(
      await attempt.then(() => "taken", (error) => {
        if (error instanceof StatusError) return `${error.status.code} ${error.status.message}`;
        throw error;
      }),
    );
  };
  const dryRun = true;
  for (const clientConfig of CONFIGS) {
    const hook = { name: "a.example.com", clientConfig, sideEffects: "None", admissionReviewVersions: ["v1"] } as const;
    const draft = { metadata: { name: "addresses" }, webhooks: [hook] };
    await note(client.resource(ValidatingWebhookConfiguration).create(draft as never, { dryRun }));
  }
  await installCrds(client, [Site], { signal: AbortSignal.timeout(30_000) });
  const crds = client.resource(CustomResourceDefinition);
  const name = Site.crd.metadata.name!;
  for (const clientConfig of CONFIGS) {
    const conversion = { strategy: "Webhook", webhook: { clientConfig, conversionReviewVersions: ["v1"] } };
    await note(crds.patch(name, { type: "merge", body: { spec: { conversion } } } as never, { dryRun }));
  }
  return answers;
}
