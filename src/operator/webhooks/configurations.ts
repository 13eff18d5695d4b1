/**
 * The configuration of webhooks on the API server: objects that are made of handlers.
 *
 * {@linkcode configurationsOf} is the entry point. It makes no certificates, and sends nothing: `install_webhooks.ts`
 * does.
 *
 * @module
 */
import { defined } from "../../engine/api/json.ts";
import { base64Of } from "../../engine/api/object.ts";
import type { Resource } from "../../engine/api/resource.ts";
import type { ObjectDraft } from "../../engine/api/written.ts";
import { quoted } from "../../engine/errors/errors.ts";
import { checkNames } from "../../engine/errors/option_names.ts";
import type {
  MatchCondition,
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
  WebhookClientConfig,
} from "../../engine/kinds/admissionregistration/v1.ts";
import type { CustomResourceDefinition } from "../../engine/kinds/apiextensions/v1.ts";
import type { LabelSelector } from "../../engine/kinds/meta/v1.ts";
import { hasCertificate } from "../schema/values/client_config.ts";
import type { AdmissionOperation } from "./admission.ts";
import type { Converter } from "./conversion.ts";

/** When the API server calls a handler, and what follows if it cannot. */
export interface HookOptions<O extends AdmissionOperation = AdmissionOperation> {
  /**
   * The name, a domain with at least three parts. Users see it in refusals. Set it if a kind has several handlers.
   * @default {like "validate.v1.websites.example.com"}
   */
  readonly name?: string;
  /** The operations to review. @default {["CREATE", "UPDATE"]} */
  readonly operations?: readonly O[];
  /**
   * The subresources to review, `""` for the object itself. Some have objects of another kind: for `"scale"`, the
   * handler gets a `Scale`. @default {[""]}
   */
  readonly subresources?: readonly string[];
  /** What follows if the handler fails, or does not respond: the request is refused or allowed. @default {"Fail"} */
  readonly failurePolicy?: "Fail" | "Ignore";
  /** Whether requests through other versions of the kind are converted and reviewed too. @default {"Equivalent"} */
  readonly matchPolicy?: "Equivalent" | "Exact";
  /** Conditions in CEL, which all must be true. The API server checks them before it calls. @default {none} */
  readonly matchConditions?: readonly MatchCondition[];
  /** The labels of objects to review. A user may leave them out, so do not rely on them. @default {all objects} */
  readonly objectSelector?: LabelSelector;
  /** The labels of namespaces whose objects to review. @default {all namespaces} */
  readonly namespaceSelector?: LabelSelector;
  /** Whether the handler changes anything outside of the request, and also on a dry run. @default {"None"} */
  readonly sideEffects?: "None" | "NoneOnDryRun";
  /** How long the API server waits, in seconds, from 1 to 30. @default {10} */
  readonly timeoutSeconds?: number;
}

/** When the API server calls a handler that mutates. */
export interface MutateOptions<O extends AdmissionOperation = "CREATE" | "UPDATE"> extends HookOptions<O> {
  /** If `"IfNeeded"`, it is called again after another webhook has changed the object. @default {"Never"} */
  readonly reinvocationPolicy?: "Never" | "IfNeeded";
}

/** The address at which the API server reaches the webhooks. */
export type WebhookAddress =
  | {
    /** An address that begins with `https://`, for development or a server outside of the cluster. */
    readonly url: string;
  }
  | {
    /** The service. Its certificate must be for `NAME.NAMESPACE.svc`. The port is 443 if you leave it out. */
    readonly service: { readonly namespace: string; readonly name: string; readonly port?: number };
  };

/** Options for the configuration objects. */
export interface ConfigurationOptions {
  /**
   * The authorities that the API server trusts, as PEM: the text, not the path of its file.
   * @default {the system's, or what cert-manager injects}
   */
  readonly caBundle?: string;
  /** The name of the objects. @default {the service as "NAME.NAMESPACE", or the host of the URL} */
  readonly name?: string;
}

/** The objects that tell the API server about webhooks. */
export interface WebhookConfigurations {
  /** Calls the handlers that validate. Absent if there are none. */
  readonly validating?: ObjectDraft<ValidatingWebhookConfiguration>;
  /** Calls the handlers that mutate. Absent if there are none. */
  readonly mutating?: ObjectDraft<MutatingWebhookConfiguration>;
  /** The CRDs of kinds with conversions. */
  readonly crds: readonly ObjectDraft<CustomResourceDefinition>[];
}

/** The options of a handler that does not set them. */
export const HOOK_DEFAULTS = {
  operations: ["CREATE", "UPDATE"],
  subresources: [""],
  failurePolicy: "Fail",
  matchPolicy: "Equivalent",
  sideEffects: "None",
  timeoutSeconds: 10,
} as const satisfies HookOptions;

/** A webhook, for its configuration. */
export interface ConfiguredHook {
  /** Its type. */
  readonly verb: "validate" | "mutate" | "convert";
  /** Its name, which is unique in its type. */
  readonly name: string;
  /** What it reviews. */
  readonly kind: Resource;
  /** The path of its address. */
  readonly path: string;
  /** The options, with their defaults. */
  readonly options: MutateOptions<AdmissionOperation> & Required<Pick<HookOptions, keyof typeof HOOK_DEFAULTS>>;
  /** What converts objects, for conversions. */
  readonly converter?: Converter;
}

/**
 * Returns the objects that make the API server call these handlers.
 *
 * @throws {TypeError} if a version of a kind with conversions has none, the URL is not https, or `caBundle` is no PEM.
 */
export function configurationsOf(
  hooks: readonly ConfiguredHook[],
  where: WebhookAddress,
  options: ConfigurationOptions = {},
): WebhookConfigurations {
  checkNames("configure webhooks", options, "caBundle name");
  const { caBundle } = options;
  const refuse = (why: string): Error => new TypeError(`Cannot configure webhooks: ${why}`);
  if ("url" in where && !/^https:\/\/[^/?#]/i.test(where.url)) {
    throw refuse(`url must begin with https:// and a host, but it is "${quoted(where.url)}". The API server needs TLS`);
  }
  if (caBundle !== undefined && !hasCertificate(caBundle)) {
    // Only what may be a path is shown: other texts may be keys.
    const found = /^[\w./\\:~-]{0,100}$/.test(caBundle) ? `it is "${caBundle}"` : "it has none";
    throw refuse(`caBundle must be the PEM text of a certificate, but ${found}. Read its file, and pass the text`);
  }
  const { name = nameFor(where) } = options;
  const client = (path: string): WebhookClientConfig => ({
    ..."url" in where ? { url: `${where.url.replace(/\/$/, "")}${path}` } : { service: { ...where.service, path } },
    ...caBundle !== undefined && { caBundle: base64Of(caBundle) },
  });
  const configuration = (kind: string, verb: ConfiguredHook["verb"]): object | undefined => {
    const webhooks = hooks.filter((it) => it.verb === verb).map((it) => webhookOf(it, client(it.path)));
    if (webhooks.length === 0) return undefined;
    return { apiVersion: "admissionregistration.k8s.io/v1", kind, metadata: { name }, webhooks };
  };
  const crds = hooks.flatMap(({ converter, path }) => {
    if (converter === undefined) return [];
    const { hub: { crd }, versions } = converter;
    const missing = crd.spec.versions.find(({ name }) => name !== converter.hub.version && !versions.includes(name));
    if (missing !== undefined) {
      throw new TypeError(`Cannot configure ${crd.metadata.name}: version ${missing.name} has no conversion. Add one`);
    }
    const webhook = { clientConfig: client(path), conversionReviewVersions: ["v1"] };
    return [{ ...crd, spec: { ...crd.spec, conversion: { strategy: "Webhook", webhook } } }];
  });
  return defined({
    validating: configuration("ValidatingWebhookConfiguration", "validate"),
    mutating: configuration("MutatingWebhookConfiguration", "mutate"),
    crds,
  }) as WebhookConfigurations;
}

function webhookOf({ kind, name, options }: ConfiguredHook, clientConfig: WebhookClientConfig): object {
  const { operations, subresources, ...rest } = options;
  const resources = subresources.map((it) => it === "" ? kind.plural : `${kind.plural}/${it}`);
  const rule = { apiGroups: [kind.group], apiVersions: [kind.version], operations, resources, scope: kind.scope };
  return { ...rest, name, clientConfig, rules: [rule], admissionReviewVersions: ["v1"] };
}

function nameFor(where: WebhookAddress): string {
  if ("service" in where) return `${where.service.name}.${where.service.namespace}`;
  return new URL(where.url).hostname.replaceAll(/[^a-z0-9.]+/g, "-").replaceAll(/^-|-$/g, "");
}
