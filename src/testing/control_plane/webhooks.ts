/**
 * Webhooks of a test that a real kube-apiserver calls over HTTPS.
 *
 * {@linkcode serveWebhooks} is the entry point. It serves them on 127.0.0.1, installs their configurations, and waits
 * until the server calls them. It answers nothing itself.
 *
 * @module
 */
import type { Abortable } from "../../engine/api/call_options.ts";
import type { Resource } from "../../engine/api/resource.ts";
import { StatusError } from "../../engine/api/status.ts";
import type { Apply, ObjectDraft } from "../../engine/api/written.ts";
import { sleep, timedController } from "../../engine/async/time.ts";
import type { Client } from "../../engine/client/client.ts";
import { FetchServer } from "../../host/connect/run_manager.ts";
import { isAbortOf } from "../../engine/async/signals.ts";
import { InformerError } from "../../engine/errors/informer_error.ts";
import {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from "../../engine/kinds/admissionregistration/v1.ts";
import type { CustomResourceDefinition } from "../../engine/kinds/apiextensions/v1.ts";
import { ConfigMap } from "../../engine/kinds/core/v1.ts";
import { installCrds } from "../../operator/schema/install_crds.ts";
import { makeCertificates } from "./certificates.ts";

/** What tells an API server which webhooks to call. */
export interface TestConfigurations {
  /** The validating webhooks. */
  readonly validating?: ObjectDraft<ValidatingWebhookConfiguration>;
  /** The mutating webhooks. */
  readonly mutating?: ObjectDraft<MutatingWebhookConfiguration>;
  /** CRDs with a conversion webhook. */
  readonly crds?: readonly ObjectDraft<CustomResourceDefinition>[];
}

/** Webhooks for `startControlPlane`, such as `Webhooks` from `@kube/informer/webhooks`. */
export interface TestWebhooks {
  /** Answers a review. */
  fetch(request: Request): Response | Promise<Response>;
  /** Returns the configurations for webhooks at a base URL, whose certificate the PEM text `caBundle` has signed. */
  configurations(where: { readonly url: string }, options: { readonly caBundle: string }): TestConfigurations;
}

/** How long the server may take to call webhooks after their installation, in milliseconds. It takes about 1 s. */
const ACTIVE_MS = 30_000;

/** The interval between dry runs, in milliseconds. */
const LOOK_MS = 100;

/** The label of the object in dry runs. Its value selects the webhooks that are called for it. */
const LABEL = "informer-webhooks-probe";

/**
 * Serves webhooks with a certificate for 127.0.0.1, installs their configurations, and resolves when the server calls
 * them. Dispose the result to close their port. The configurations stay then.
 *
 * A configuration becomes active as a whole. So it first has one more webhook, which the server calls for a ConfigMap
 * that is created as a dry run. Meanwhile, all webhooks allow this ConfigMap.
 *
 * @throws {StatusError} if the server refuses a configuration.
 * @throws {InformerError} if the server does not call them within 30 s. @throws the signal's reason.
 */
export async function serveWebhooks(client: Client, webhooks: TestWebhooks, options: Abortable): Promise<FetchServer> {
  const { signal } = options;
  const { ca, ...certificate } = await makeCertificates({ hosts: ["127.0.0.1"] });
  const id = crypto.randomUUID();
  const called = new Set<string>();
  let isActive = false;
  const server = await FetchServer.listen(
    async (request) => isActive ? await webhooks.fetch(request) : await allowProbe(request, webhooks, id, called),
    { port: 0, certificate },
  );
  try {
    const url = `https://127.0.0.1:${server.port}`;
    const { validating, mutating, crds = [] } = webhooks.configurations({ url }, { caBundle: ca });
    await installCrds(client, crds, { force: true, allowBreaking: true, signal });
    const install = async (withProbe: boolean): Promise<void> => {
      for (
        const [kind, draft] of [[ValidatingWebhookConfiguration, validating], [MutatingWebhookConfiguration, mutating]]
      ) {
        if (draft === undefined) continue;
        const { kind: name } = kind as Resource<ValidatingWebhookConfiguration>;
        const { metadata, webhooks: own = [] } = draft as ObjectDraft<ValidatingWebhookConfiguration>;
        const probes = withProbe ? [probeOf(`${url}/${id}/${name}`, ca, id)] : [];
        const body = { metadata, webhooks: [...probes, ...own] } as Apply<ValidatingWebhookConfiguration>;
        await client.resource(kind as Resource<ValidatingWebhookConfiguration>)
          .apply(body, { fieldManager: "kube-informer", force: true, signal });
      }
    };
    await install(true);
    const wanted = [validating, mutating].filter((draft) => draft !== undefined).length;
    await untilCalled(client, id, () => called.size === wanted, signal);
    await install(false); // they stay active, because the version before has them too
    isActive = true;
    return server;
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
}

/** Sends dry runs until `isCalled` returns `true`. */
async function untilCalled(client: Client, id: string, isCalled: () => boolean, signal?: AbortSignal): Promise<void> {
  using limit = timedController(ACTIVE_MS, "It did not call them in time", signal);
  const probe = { metadata: { name: `${LABEL}-${id}`, labels: { [LABEL]: id } } };
  let refusal: StatusError | undefined;
  try {
    for (; !isCalled(); await sleep(LOOK_MS, { signal: limit.signal })) {
      const request = { dryRun: true, signal: limit.signal };
      await client.resource(ConfigMap, { namespace: "default" }).create(probe, request).catch((error) => {
        if (!(error instanceof StatusError)) throw error;
        refusal = error; // by other admission
      });
    }
  } catch (error) {
    if (signal?.aborted || !isAbortOf(limit.signal, error)) throw error;
    throw new InformerError(`Cannot serve webhooks: the API server has not called them in ${ACTIVE_MS / 1_000} s`, {
      cause: refusal ?? error,
    });
  }
}

/** Returns a webhook for the object of the dry runs. */
function probeOf(url: string, ca: string, id: string): object {
  return {
    name: "probe.informer.test",
    admissionReviewVersions: ["v1"],
    clientConfig: { url, caBundle: btoa(ca) },
    failurePolicy: "Ignore",
    objectSelector: { matchLabels: { [LABEL]: id } },
    rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
    sideEffects: "None",
    timeoutSeconds: 5,
  };
}

/** Allows the object of the dry runs, and notes for which kind of configuration the server asked. */
async function allowProbe(
  request: Request,
  webhooks: TestWebhooks,
  id: string,
  called: Set<string>,
): Promise<Response> {
  const { pathname } = new URL(request.url);
  const body = await request.text();
  if (!body.includes(id)) return await webhooks.fetch(new Request(request, { body }));
  if (pathname.startsWith(`/${id}/`)) called.add(pathname);
  const { apiVersion, kind, request: { uid } } = JSON.parse(body);
  return Response.json({ apiVersion, kind, response: { uid, allowed: true } });
}
