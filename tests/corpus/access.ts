/** Rights: rbac, authentication, authorization and certificates. */
import { SelfSubjectReview, TokenReview } from "../../src/kinds/authentication/v1.ts";
import {
  LocalSubjectAccessReview,
  SelfSubjectAccessReview,
  SelfSubjectRulesReview,
  SubjectAccessReview,
} from "../../src/kinds/authorization/v1.ts";
import { CertificateSigningRequest } from "../../src/kinds/certificates/v1.ts";
import { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from "../../src/kinds/rbac/v1.ts";
import { CLIENT_REQUEST, NODE_REQUEST, NODE_SERVING_REQUEST } from "./_certificates.ts";
import { type Manifest, manifest } from "./_manifest.ts";

/** Rights, questions about rights, and requests for certificates. */
export const access: readonly Manifest[] = [
  manifest(Role, {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "Role",
    metadata: { name: "cart" },
    rules: [
      { apiGroups: [""], resources: ["configmaps", "pods/log"], verbs: ["get", "list", "watch"] },
      { apiGroups: [""], resources: ["secrets"], resourceNames: ["cart-db"], verbs: ["get"] },
      { apiGroups: ["apps", "batch"], resources: ["*"], verbs: ["*"] },
    ],
  }),
  manifest(Role, { metadata: { name: "no-rights" }, rules: [] }),
  manifest(ClusterRole, {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: "metrics-reader", labels: { "rbac.authorization.k8s.io/aggregate-to-view": "true" } },
    rules: [
      { nonResourceURLs: ["/metrics", "/healthz/*"], verbs: ["get"] },
      { apiGroups: ["metrics.k8s.io"], resources: ["nodes", "pods"], verbs: ["get", "list"] },
    ],
  }),
  manifest(ClusterRole, {
    metadata: { name: "aggregated" },
    aggregationRule: {
      clusterRoleSelectors: [
        { matchLabels: { "shop.example.com/aggregate": "true" } },
        { matchExpressions: [{ key: "team", operator: "In", values: ["checkout"] }] },
      ],
    },
    rules: [],
  }),
  manifest(RoleBinding, {
    metadata: { name: "cart" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "cart" },
    subjects: [
      { kind: "ServiceAccount", name: "cart", namespace: "shop" },
      { kind: "User", name: "ada", apiGroup: "rbac.authorization.k8s.io" },
      { kind: "Group", name: "checkout", apiGroup: "rbac.authorization.k8s.io" },
    ],
  }),
  manifest(RoleBinding, {
    metadata: { name: "of-a-cluster-role" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" },
  }),
  manifest(ClusterRoleBinding, {
    metadata: { name: "metrics-reader" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "metrics-reader" },
    subjects: [{ kind: "Group", name: "system:serviceaccounts:monitoring", apiGroup: "rbac.authorization.k8s.io" }],
  }),
  manifest(SelfSubjectReview, { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" }),
  manifest(TokenReview, {
    spec: { token: "not-a-token", audiences: ["https://kubernetes.default.svc", "vault"] },
  }),
  manifest(SubjectAccessReview, {
    metadata: {},
    spec: {
      user: "ada",
      uid: "42",
      groups: ["checkout", "system:authenticated"],
      extra: { "example.com/tenant": ["shop"] },
      resourceAttributes: {
        namespace: "shop",
        verb: "list",
        group: "apps",
        version: "v1",
        resource: "deployments",
        subresource: "scale",
        name: "cart",
      },
    },
  }),
  manifest(SubjectAccessReview, {
    metadata: {},
    spec: {
      groups: ["system:masters"],
      resourceAttributes: {
        verb: "list",
        resource: "pods",
        fieldSelector: { requirements: [{ key: "spec.nodeName", operator: "In", values: ["worker-1"] }] },
        labelSelector: { requirements: [{ key: "app", operator: "Exists" }] },
      },
    },
  }),
  manifest(SelfSubjectAccessReview, {
    metadata: {},
    spec: { nonResourceAttributes: { path: "/metrics", verb: "get" } },
  }),
  manifest(SelfSubjectAccessReview, {
    metadata: {},
    spec: { resourceAttributes: { verb: "watch", resource: "pods", labelSelector: { rawSelector: "app=cart" } } },
  }),
  manifest(LocalSubjectAccessReview, {
    metadata: {},
    spec: { user: "ada", resourceAttributes: { namespace: "shop", verb: "get", resource: "secrets", name: "cart-db" } },
  }),
  manifest(SelfSubjectRulesReview, { spec: { namespace: "shop" } }),
  manifest(CertificateSigningRequest, {
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    metadata: { name: "cart-client" },
    spec: {
      request: CLIENT_REQUEST,
      signerName: "kubernetes.io/kube-apiserver-client",
      usages: ["client auth", "digital signature"],
      expirationSeconds: 86_400,
    },
  }),
  manifest(CertificateSigningRequest, {
    metadata: { name: "kubelet-client" },
    spec: {
      request: NODE_REQUEST,
      signerName: "kubernetes.io/kube-apiserver-client-kubelet",
      usages: ["digital signature", "key encipherment", "client auth"],
    },
  }),
  manifest(CertificateSigningRequest, {
    metadata: { generateName: "kubelet-serving-" },
    spec: {
      request: NODE_SERVING_REQUEST,
      signerName: "kubernetes.io/kubelet-serving",
      usages: ["digital signature", "key encipherment", "server auth"],
      username: "system:node:worker-1",
      groups: ["system:nodes"],
      uid: "7",
      extra: { "example.com/host": ["worker-1"] },
    },
  }),
  manifest(SubjectAccessReview, {
    metadata: {},
    spec: { user: "ada", nonResourceAttributes: { path: "/readyz", verb: "get" } },
  }),
  manifest(SelfSubjectAccessReview, {
    metadata: {},
    spec: {
      resourceAttributes: {
        namespace: "shop",
        verb: "list",
        group: "*",
        version: "*",
        resource: "*",
        fieldSelector: { rawSelector: "metadata.name=cart" },
        labelSelector: { requirements: [{ key: "app", operator: "NotIn", values: ["cart", "pay"] }] },
      },
    },
  }),
];
