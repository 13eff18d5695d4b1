import { type Client, defineResource, type KubernetesObject, type Resource } from "@kube/informer";

/** Rights in one namespace. */
interface Role extends KubernetesObject {
  readonly rules: readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
  }[];
}

interface RoleBinding extends KubernetesObject {
  readonly subjects: readonly Readonly<Record<string, string>>[];
  readonly roleRef: Readonly<Record<string, string>>;
}

const group = "rbac.authorization.k8s.io";
const Role: Resource<Role> = defineResource<Role>({ group, version: "v1", plural: "roles", kind: "Role" });
const RoleBinding: Resource<RoleBinding> = defineResource<RoleBinding>({
  group,
  version: "v1",
  plural: "rolebindings",
  kind: "RoleBinding",
});

/** In whose name a program may come. */
const ServiceAccount: Resource<KubernetesObject> = defineResource<KubernetesObject>({
  version: "v1",
  plural: "serviceaccounts",
  kind: "ServiceAccount",
});

/** Somebody to give a right to. */
export interface Subject {
  readonly kind: "User" | "Group" | "ServiceAccount";
  readonly name: string;
}

/** Lets a subject list and watch `resource` of the core group in a namespace. */
export async function grantReading(
  client: Client,
  namespace: string,
  resource: string,
  subject: Subject,
): Promise<void> {
  await grant(client, namespace, resource, ["list", "watch"], subject);
}

/** Lets a subject do these things with `resource` of the core group in a namespace, and nothing else. */
export async function grant(
  client: Client,
  namespace: string,
  resource: string,
  verbs: readonly string[],
  { kind, name }: Subject,
): Promise<void> {
  const metadata = { name: `${name}-may-${verbs.join("-")}-${resource}` };
  await client.resource(Role, { namespace }).create({
    metadata,
    rules: [{ apiGroups: [""], resources: [resource], verbs }],
  });
  await client.resource(RoleBinding, { namespace }).create({
    metadata,
    subjects: [kind === "ServiceAccount" ? { kind, name, namespace } : { kind, name, apiGroup: group }],
    roleRef: { apiGroup: group, kind: "Role", name: metadata.name },
  });
}

/** Makes a service account, and a token for it that ends when the account is deleted. */
export async function newAccount(client: Client, namespace: string, name: string): Promise<string> {
  await client.resource(ServiceAccount, { namespace }).create({ metadata: { name } });
  return await tokenOf(client, namespace, name);
}

/** Returns a token of a service account, as the kubelet requests it. */
export async function tokenOf(client: Client, namespace: string, name: string): Promise<string> {
  const response = await client.fetch(`/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} }),
  });
  const { status } = await response.json() as { readonly status: { readonly token: string } };
  return status.token;
}

/** Deletes a service account: the server refuses its tokens as soon as it no longer remembers them, within 10 s. */
export async function deleteAccount(client: Client, namespace: string, name: string): Promise<void> {
  await client.resource(ServiceAccount, { namespace }).delete(name);
}
