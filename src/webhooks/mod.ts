/**
 * Admission and conversion webhooks, as one function from `Request` to `Response`.
 *
 * {@linkcode Webhooks} is the entry point. {@linkcode installWebhooks} configures the API server to call them, and
 * {@linkcode roundTrips} checks conversions in tests.
 *
 * @module
 */
export {
  AdmissionError,
  type AdmissionObjects,
  type AdmissionOperation,
  type AdmissionUser,
  type MutateRequest,
  refuse,
  type RefuseOptions,
  type ReviewRequest,
  type ValidateRequest,
} from "./admission.ts";
export {
  type ConfigurationOptions,
  type HookOptions,
  type InstalledWebhooks,
  installWebhooks,
  type InstallWebhooksOptions,
  type MutateOptions,
  type WebhookAddress,
  type WebhookConfigurations,
} from "./configurations.ts";
export { type Conversion, type Converted, roundTrips } from "./conversion.ts";
export { Webhooks, type WebhooksOptions } from "./webhooks.ts";
