/** Answers of broken conversion webhooks, and conversions that take objects as complete: what servers make of them. */
import { type Client, StatusError } from "@kube/informer";
import { installWebhooks, type WebhookAddress, Webhooks } from "@kube/informer/webhooks";
import { OldSite, Site } from "./play.ts";

// deno-lint-ignore no-explicit-any -- JSON that is changed freely
type Loose = any;

/** Changes the answer of a webhook, which is right. */
const BROKEN: readonly ((review: Loose, converted: Loose) => unknown)[] = [
  (review) => review.response.result = { status: "Failure", message: "no such site" },
  (review) => review.response.result = { status: "Failure" },
  (review) => delete review.response.result,
  (review) => review.response.uid = "other",
  (review) => delete review.response,
  (review) => review.apiVersion = "apiextensions.k8s.io/v2",
  (review) => review.kind = "AdmissionReview",
  (review) => review.response.convertedObjects = [],
  (_, converted) => converted.apiVersion = "example.com/v2",
  (_, converted) => converted.kind = "Other",
  (_, converted) => converted.metadata.name = "other",
  (_, converted) => converted.metadata.namespace = "other",
  (_, converted) => converted.metadata.uid = "other",
  (_, converted) => delete converted.metadata,
  (_, converted) => converted.spec.unknown = "dropped",
  (_, converted) => converted.metadata.labels = { from: "webhook" },
  (_, converted) => converted.metadata.finalizers = ["example.com/ignored"],
  (_, converted) => delete converted.spec.container,
];

/** A webhook whose answers are wrong, and the answers of a server that asks it. */
export class BrokenWebhook {
  readonly #webhooks = new Webhooks({ onError: () => {} }).convert(Site, OldSite, {
    // Without knowing of parts.
    toHub: ({ spec: { image, ...rest }, status }) => ({ spec: { container: { image }, ...rest }, status }),
    fromHub: ({ spec: { container: { image }, ...rest }, status }) => ({ spec: { image, ...rest }, status }),
  });
  #breaks: typeof BROKEN[number] = () => {};

  readonly fetch = async (request: Request): Promise<Response> => {
    const review = await (await this.#webhooks.fetch(request)).json();
    this.#breaks(review, review.response.convertedObjects?.[0]);
    return Response.json(review);
  };

  /** Returns what a server says to writes whose conversion fails. */
  async answers(client: Client, where: WebhookAddress, caBundle?: string): Promise<unknown[]> {
    await installWebhooks(client, this.#webhooks, where, { ...caBundle !== undefined && { caBundle }, force: true });
    const [old, sites] = [client.resource(OldSite), client.resource(Site)];
    const answers: unknown[] = [];
    const note = async (attempt: Promise<{ metadata: Loose; spec: Loose }>): Promise<void> => {
      const answer = await attempt.then(
        ({ metadata: { labels, finalizers }, spec }) => ({ labels, finalizers, spec }),
        (error) => {
          if (error instanceof StatusError) {
            return [
              error.status.code,
              error.status.reason,
              error.status.message?.replace(/[\da-f]{8}-[\da-f-]{27}/g, "UID"),
            ];
          }
          throw error;
        },
      );
      answers.push(answer);
    };
    // The server uses the webhook a moment later.
    for (let ready = false; !ready;) {
      ready = await old.create({ metadata: { name: "probe" }, spec: { image: "a" } }, { dryRun: true })
        .then(() => sites.list()).then(() => true, () => false);
    }
    for (const [at, breaks] of BROKEN.entries()) {
      this.#breaks = (review, converted) => {
        if (converted?.apiVersion === "example.com/v1") breaks(review, converted);
      };
      await note(old.create({ metadata: { name: `broken-${at}` }, spec: { image: "a" } }));
    }
    this.#breaks = () => {};
    const [metadata, options] = [{ name: "parts", labels: { tier: "web" } }, { fieldManager: "operator", force: true }];
    await note(sites.apply({ metadata, spec: { container: { image: "a" } } }, options));
    await note(
      sites.apply({ metadata: { name: "parts" }, status: { ready: true } }, { ...options, subresource: "status" }),
    );
    await note(old.apply({ metadata, spec: { image: "a" } }, options));
    return answers;
  }
}
