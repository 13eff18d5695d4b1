import type { Client } from "@kube/informer";

/** Whom a server takes a client for. */
export interface UserInfo {
  readonly username: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Asks the server whom it takes a client for: a SelfSubjectReview, as `kubectl auth whoami` does. */
export async function whoAmI(client: Client): Promise<UserInfo> {
  const response = await client.fetch("/apis/authentication.k8s.io/v1/selfsubjectreviews", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" }),
  });
  const { status } = await response.json() as { readonly status: { readonly userInfo: UserInfo } };
  return status.userInfo;
}
