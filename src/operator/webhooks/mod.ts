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
export type {
  ConfigurationOptions,
  HookOptions,
  MutateOptions,
  WebhookAddress,
  WebhookConfigurations,
} from "./configurations.ts";
export type { Conversion, Converted } from "./conversion.ts";
export { type InstalledWebhooks, installWebhooks, type InstallWebhooksOptions } from "./install_webhooks.ts";
export { roundTrips } from "./round_trips.ts";
export { type HandlerResult, Webhooks, type WebhooksOptions } from "./webhooks.ts";
