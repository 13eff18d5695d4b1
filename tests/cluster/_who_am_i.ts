import type { Client } from "@kube/informer";

/** The user that a server identifies a client as. */
export interface UserInfo {
  readonly username: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Returns the user that the server identifies a client as, by a SelfSubjectReview, as `kubectl auth whoami` does. */
export async function whoAmI(client: Client): Promise<UserInfo> {
  const response = await client.fetch("/apis/authentication.k8s.io/v1/selfsubjectreviews", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" }),
  });
  const { status } = await response.json() as { readonly status: { readonly userInfo: UserInfo } };
  return status.userInfo;
}
