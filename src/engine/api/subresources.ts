/**
 * Kinds that exist only as subresources: the scale of a workload, and the token of a service account.
 *
 * {@linkcode Scale} and {@linkcode TokenRequest} are what the server answers. They are written by hand, because
 * `src/engine/kinds` has only kinds with a collection. This file contains no code.
 *
 * @module
 */
import type { EphemeralObject, KubernetesObject, Time } from "./object.ts";

/** The desired and the present number of replicas, which the subresource `scale` of any scalable kind has. */
export interface Scale extends KubernetesObject {
  /** Group and version. */
  readonly apiVersion?: "autoscaling/v1";
  /** The kind. */
  readonly kind?: "Scale";
  /** The desired state. */
  readonly spec: {
    /** The desired number of replicas. The server leaves out 0. */
    readonly replicas?: number;
  };
  /** The present state. */
  readonly status?: {
    /** The number of replicas that exist. */
    readonly replicas: number;
    /** A label selector for the pods, as text. */
    readonly selector?: string;
  };
}

/** A token of a service account, which the subresource `token` of `ServiceAccount` returns. */
export interface TokenRequest extends EphemeralObject {
  /** Group and version. */
  readonly apiVersion?: "authentication.k8s.io/v1";
  /** The kind. */
  readonly kind?: "TokenRequest";
  /** What you asked for, with the values that the server chose. */
  readonly spec: {
    /** Who may accept the token. */
    readonly audiences: readonly string[];
    /** How long the token is valid, in seconds. The server may change it. */
    readonly expirationSeconds?: number;
    /** An object, such as a pod, with which the token becomes invalid. */
    readonly boundObjectRef?: { readonly [Name in "apiVersion" | "kind" | "name" | "uid"]?: string } | null;
  };
  /** The token. */
  readonly status: {
    /** The token itself. */
    readonly token: string;
    /** When the token expires. */
    readonly expirationTimestamp: Time;
  };
}
