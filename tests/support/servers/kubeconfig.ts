import { dump } from "js-yaml";
import { type Kubeconfig, parseKubeconfig } from "../../../src/host/connect/kubeconfig/parse_kubeconfig.ts";

/** Fields of a cluster, of a user, and of the context that names both. Missing ones are filled in. */
export interface Parts {
  readonly file?: string;
  readonly cluster?: Record<string, unknown>;
  readonly user?: Record<string, unknown>;
  readonly context?: Record<string, unknown>;
  readonly currentContext?: string;
}

/** A kubeconfig with cluster "farm", user "ada" and context "home", as an object. */
export function kubeconfigObject(parts: Parts = {}): Record<string, unknown> {
  return {
    apiVersion: "v1",
    kind: "Config",
    "current-context": parts.currentContext ?? "home",
    clusters: [{ name: "farm", cluster: { server: "https://farm.example:6443", ...parts.cluster } }],
    users: [{ name: "ada", user: { ...parts.user } }],
    contexts: [{ name: "home", context: { cluster: "farm", user: "ada", ...parts.context } }],
  };
}

/** The same as a file. */
export function kubeconfigText(parts: Parts = {}): string {
  return dump(kubeconfigObject(parts));
}

/** The same, parsed. */
export function kubeconfig(parts: Parts = {}): Kubeconfig {
  return parseKubeconfig(kubeconfigText(parts), parts.file ?? "/etc/kube/config");
}

/** PEM that is whole in form: one ASN.1 sequence. No TLS stack takes it for a certificate. */
export function pem(label: string, length = 5): string {
  return `-----BEGIN ${label}-----\n${
    btoa(String.fromCharCode(0x30, length, ...new Array(length).fill(2)))
  }\n-----END ${label}-----\n`;
}

/** PEM as `-data` fields hold it. */
export function pemData(label: string): string {
  return btoa(pem(label));
}
