/** Extensions and protection of the API server: admission, custom resources, aggregation, priority and fairness. */
import {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  MutatingWebhookConfiguration,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingWebhookConfiguration,
} from "../../src/kinds/admissionregistration/v1.ts";
import { CustomResourceDefinition } from "../../src/kinds/apiextensions/v1.ts";
import { APIService } from "../../src/kinds/apiregistration/v1.ts";
import { FlowSchema, PriorityLevelConfiguration } from "../../src/kinds/flowcontrol/v1.ts";
import { AUTHORITY } from "./_certificates.ts";
import { type Manifest, manifest } from "./_manifest.ts";

/** Objects that change what the API server does. */
export const extension: readonly Manifest[] = [
  manifest(ValidatingWebhookConfiguration, {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingWebhookConfiguration",
    metadata: { name: "shop" },
    webhooks: [{
      name: "carts.shop.example.com",
      admissionReviewVersions: ["v1", "v1beta1"],
      sideEffects: "None",
      failurePolicy: "Fail",
      matchPolicy: "Equivalent",
      timeoutSeconds: 5,
      clientConfig: {
        service: { namespace: "shop", name: "admission", path: "/validate", port: 8443 },
        caBundle: AUTHORITY,
      },
      rules: [{
        apiGroups: ["shop.example.com"],
        apiVersions: ["v1", "v1beta1"],
        resources: ["carts", "carts/status"],
        operations: ["CREATE", "UPDATE", "DELETE", "CONNECT"],
        scope: "Namespaced",
      }],
      namespaceSelector: { matchLabels: { team: "checkout" } },
      objectSelector: { matchExpressions: [{ key: "unchecked", operator: "DoesNotExist" }] },
      matchConditions: [{ name: "not-a-node", expression: "!('system:nodes' in request.userInfo.groups)" }],
    }],
  }),
  manifest(ValidatingWebhookConfiguration, {
    metadata: { name: "by-url" },
    webhooks: [{
      name: "audit.example.com",
      admissionReviewVersions: ["v1"],
      sideEffects: "NoneOnDryRun",
      clientConfig: { url: "https://audit.example.com/validate" },
      failurePolicy: "Ignore",
      matchPolicy: "Exact",
    }],
  }),
  manifest(ValidatingWebhookConfiguration, { metadata: { name: "no-webhooks" } }),
  manifest(MutatingWebhookConfiguration, {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingWebhookConfiguration",
    metadata: { name: "sidecars" },
    webhooks: [{
      name: "sidecars.shop.example.com",
      admissionReviewVersions: ["v1"],
      sideEffects: "None",
      reinvocationPolicy: "IfNeeded",
      failurePolicy: "Ignore",
      clientConfig: { service: { namespace: "shop", name: "admission" }, caBundle: AUTHORITY },
      rules: [{ apiGroups: [""], apiVersions: ["v1"], resources: ["pods"], operations: ["CREATE"], scope: "*" }],
      objectSelector: { matchLabels: { sidecar: "true" } },
      namespaceSelector: {},
      matchPolicy: "Equivalent",
      timeoutSeconds: 10,
      matchConditions: [{ name: "small", expression: "size(object.spec.containers) < 5" }],
    }],
  }),
  manifest(ValidatingAdmissionPolicy, {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicy",
    metadata: { name: "replica-limit" },
    spec: {
      failurePolicy: "Fail",
      paramKind: { apiVersion: "v1", kind: "ConfigMap" },
      matchConstraints: {
        matchPolicy: "Equivalent",
        resourceRules: [{
          apiGroups: ["apps"],
          apiVersions: ["v1"],
          operations: ["CREATE", "UPDATE"],
          resources: ["deployments"],
          resourceNames: ["cart"],
          scope: "Namespaced",
        }],
        excludeResourceRules: [{
          apiGroups: ["apps"],
          apiVersions: ["v1"],
          operations: ["*"],
          resources: ["replicasets"],
        }],
        namespaceSelector: { matchLabels: { team: "checkout" } },
        objectSelector: {},
      },
      variables: [{ name: "replicas", expression: "object.spec.replicas" }],
      validations: [{
        expression: "variables.replicas <= int(params.data.max)",
        message: "too many replicas",
        messageExpression: "'at most ' + params.data.max",
        reason: "Invalid",
      }],
      auditAnnotations: [{ key: "replicas", valueExpression: "string(variables.replicas)" }],
      matchConditions: [{ name: "not-paused", expression: "!has(object.spec.paused) || !object.spec.paused" }],
    },
  }),
  manifest(ValidatingAdmissionPolicy, {
    metadata: { name: "no-latest" },
    spec: {
      failurePolicy: "Ignore",
      matchConstraints: {
        resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }],
      },
      validations: [{ expression: "object.spec.containers.all(c, !c.image.endsWith(':latest'))" }],
    },
  }),
  manifest(ValidatingAdmissionPolicyBinding, {
    metadata: { name: "replica-limit" },
    spec: {
      policyName: "replica-limit",
      validationActions: ["Warn", "Audit"],
      paramRef: { name: "limits", namespace: "shop", parameterNotFoundAction: "Deny" },
      matchResources: {
        namespaceSelector: { matchExpressions: [{ key: "team", operator: "Exists" }] },
        resourceRules: [{ apiGroups: ["apps"], apiVersions: ["v1"], operations: ["*"], resources: ["deployments"] }],
      },
    },
  }),
  manifest(ValidatingAdmissionPolicyBinding, {
    metadata: { name: "replica-limit-by-label" },
    spec: {
      policyName: "replica-limit",
      validationActions: ["Deny"],
      paramRef: { selector: { matchLabels: { limits: "true" } }, parameterNotFoundAction: "Allow" },
    },
  }),
  manifest(MutatingAdmissionPolicy, {
    metadata: { name: "default-owner" },
    spec: {
      reinvocationPolicy: "IfNeeded",
      failurePolicy: "Fail",
      matchConstraints: {
        resourceRules: [{
          apiGroups: ["apps"],
          apiVersions: ["v1"],
          operations: ["CREATE"],
          resources: ["deployments"],
        }],
      },
      matchConditions: [{ name: "no-owner", expression: "!has(object.metadata.annotations)" }],
      variables: [{ name: "owner", expression: "'checkout'" }],
      mutations: [{
        patchType: "ApplyConfiguration",
        applyConfiguration: {
          expression: "Object{metadata: Object.metadata{annotations: {'owner': variables.owner}}}",
        },
      }],
    },
  }),
  manifest(MutatingAdmissionPolicy, {
    metadata: { name: "json-patch" },
    spec: {
      reinvocationPolicy: "Never",
      paramKind: { apiVersion: "v1", kind: "ConfigMap" },
      matchConstraints: {
        resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }],
      },
      mutations: [{
        patchType: "JSONPatch",
        jsonPatch: { expression: "[JSONPatch{op: 'add', path: '/metadata/labels/seen', value: 'true'}]" },
      }],
    },
  }),
  manifest(MutatingAdmissionPolicyBinding, {
    metadata: { name: "default-owner" },
    spec: {
      policyName: "default-owner",
      matchResources: { namespaceSelector: { matchLabels: { team: "checkout" } }, matchPolicy: "Exact" },
      paramRef: { name: "owner", parameterNotFoundAction: "Allow" },
    },
  }),
  manifest(CustomResourceDefinition, {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "carts.shop.example.com" },
    spec: {
      group: "shop.example.com",
      scope: "Namespaced",
      names: {
        plural: "carts",
        singular: "cart",
        kind: "Cart",
        listKind: "CartList",
        shortNames: ["ct"],
        categories: ["all", "shop"],
      },
      versions: [{
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            description: "A cart.",
            type: "object",
            required: ["spec"],
            properties: {
              spec: {
                type: "object",
                required: ["owner", "items"],
                properties: {
                  owner: { type: "string", minLength: 1, maxLength: 63, pattern: "^[a-z]+$" },
                  discount: { type: "number", minimum: 0, maximum: 1, exclusiveMaximum: true, default: 0 },
                  state: { type: "string", enum: ["open", "paid"], default: "open", nullable: true },
                  expires: { type: "string", format: "date-time" },
                  price: {
                    "x-kubernetes-int-or-string": true,
                    anyOf: [{ type: "integer" }, { type: "string" }],
                    pattern: "^[0-9]+$",
                  },
                  items: {
                    type: "array",
                    minItems: 1,
                    maxItems: 100,
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["sku"],
                    items: {
                      type: "object",
                      required: ["sku"],
                      properties: {
                        sku: { type: "string" },
                        count: { type: "integer", format: "int32", minimum: 1, multipleOf: 1 },
                      },
                      "x-kubernetes-map-type": "atomic",
                    },
                  },
                  tags: {
                    type: "array",
                    items: { type: "string", maxLength: 32 },
                    "x-kubernetes-list-type": "set",
                  },
                  labels: { type: "object", additionalProperties: { type: "string" }, maxProperties: 10 },
                  raw: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
                  template: {
                    type: "object",
                    "x-kubernetes-embedded-resource": true,
                    "x-kubernetes-preserve-unknown-fields": true,
                  },
                },
                "x-kubernetes-validations": [{
                  rule: "self.discount <= 0.5 || self.state == 'open'",
                  message: "only open carts have large discounts",
                  reason: "FieldValueForbidden",
                  fieldPath: ".discount",
                }],
              },
              status: {
                type: "object",
                properties: { replicas: { type: "integer" }, selector: { type: "string" } },
              },
            },
          },
        },
        subresources: {
          status: {},
          scale: {
            specReplicasPath: ".spec.replicas",
            statusReplicasPath: ".status.replicas",
            labelSelectorPath: ".status.selector",
          },
        },
        additionalPrinterColumns: [
          { name: "Owner", type: "string", jsonPath: ".spec.owner", description: "The customer.", priority: 0 },
          { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
        ],
        selectableFields: [{ jsonPath: ".spec.owner" }],
      }],
    },
  }),
  manifest(CustomResourceDefinition, {
    metadata: { name: "baskets.shop.example.com" },
    spec: {
      group: "shop.example.com",
      scope: "Cluster",
      names: { plural: "baskets", kind: "Basket" },
      preserveUnknownFields: false,
      conversion: {
        strategy: "Webhook",
        webhook: {
          conversionReviewVersions: ["v1"],
          clientConfig: {
            service: { namespace: "shop", name: "conversion", path: "/convert", port: 443 },
            caBundle: AUTHORITY,
          },
        },
      },
      versions: [
        {
          name: "v1beta1",
          served: true,
          storage: false,
          deprecated: true,
          deprecationWarning: "use v1",
          schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
        },
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
        },
      ],
    },
  }),
  manifest(CustomResourceDefinition, {
    metadata: { name: "logics.shop.example.com" },
    spec: {
      group: "shop.example.com",
      scope: "Namespaced",
      names: { plural: "logics", kind: "Logic" },
      conversion: { strategy: "None" },
      versions: [{
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                title: "Logic",
                minProperties: 1,
                properties: { a: { type: "string" }, b: { type: "integer" }, c: { type: "boolean", example: true } },
                oneOf: [{ required: ["a"] }, { required: ["b"] }],
                allOf: [{ not: { required: ["a", "b"] } }],
                externalDocs: { url: "https://shop.example.com/logic", description: "More." },
              },
            },
          },
        },
      }],
    },
  }),
  manifest(APIService, {
    apiVersion: "apiregistration.k8s.io/v1",
    kind: "APIService",
    metadata: { name: "v1beta1.metrics.shop.example.com" },
    spec: {
      group: "metrics.shop.example.com",
      version: "v1beta1",
      groupPriorityMinimum: 100,
      versionPriority: 100,
      service: { namespace: "kube-system", name: "metrics-server", port: 443 },
      caBundle: AUTHORITY,
    },
  }),
  manifest(APIService, {
    metadata: { name: "v1.insecure.example.com" },
    spec: {
      group: "insecure.example.com",
      version: "v1",
      groupPriorityMinimum: 1000,
      versionPriority: 15,
      insecureSkipTLSVerify: true,
      service: { namespace: "shop", name: "api" },
    },
  }),
  manifest(FlowSchema, {
    apiVersion: "flowcontrol.apiserver.k8s.io/v1",
    kind: "FlowSchema",
    metadata: { name: "shop-controllers" },
    spec: {
      priorityLevelConfiguration: { name: "workload-high" },
      matchingPrecedence: 1000,
      distinguisherMethod: { type: "ByUser" },
      rules: [{
        subjects: [
          { kind: "ServiceAccount", serviceAccount: { namespace: "shop", name: "controller" } },
          { kind: "User", user: { name: "ada" } },
          { kind: "Group", group: { name: "checkout" } },
        ],
        resourceRules: [{
          verbs: ["*"],
          apiGroups: ["shop.example.com"],
          resources: ["carts"],
          namespaces: ["shop"],
          clusterScope: true,
        }],
        nonResourceRules: [{ verbs: ["get"], nonResourceURLs: ["/healthz"] }],
      }],
    },
  }),
  manifest(FlowSchema, {
    metadata: { name: "by-namespace" },
    spec: {
      priorityLevelConfiguration: { name: "workload-low" },
      distinguisherMethod: { type: "ByNamespace" },
      rules: [{
        subjects: [{ kind: "Group", group: { name: "system:authenticated" } }],
        resourceRules: [{ verbs: ["list"], apiGroups: ["*"], resources: ["*"], namespaces: ["*"] }],
      }],
    },
  }),
  manifest(PriorityLevelConfiguration, {
    apiVersion: "flowcontrol.apiserver.k8s.io/v1",
    kind: "PriorityLevelConfiguration",
    metadata: { name: "shop" },
    spec: {
      type: "Limited",
      limited: {
        nominalConcurrencyShares: 30,
        lendablePercent: 50,
        borrowingLimitPercent: 100,
        limitResponse: { type: "Queue", queuing: { queues: 64, handSize: 6, queueLengthLimit: 50 } },
      },
    },
  }),
  manifest(PriorityLevelConfiguration, {
    metadata: { name: "rejecting" },
    spec: { type: "Limited", limited: { nominalConcurrencyShares: 0, limitResponse: { type: "Reject" } } },
  }),
  manifest(CustomResourceDefinition, {
    metadata: { name: "urls.shop.example.com" },
    spec: {
      group: "shop.example.com",
      scope: "Cluster",
      names: { plural: "urls", kind: "Url" },
      conversion: {
        strategy: "Webhook",
        webhook: {
          conversionReviewVersions: ["v1", "v1beta1"],
          clientConfig: { url: "https://shop.example.com/convert" },
        },
      },
      versions: [{
        name: "v1alpha1",
        served: false,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              matrix: { type: "array", items: { type: "array", items: { type: "number", format: "double" } } },
              any: { "x-kubernetes-preserve-unknown-fields": true },
              nested: {
                type: "object",
                additionalProperties: { type: "object", additionalProperties: { type: "boolean" } },
              },
              limits: {
                type: "object",
                default: { max: 5 },
                properties: { max: { type: "integer", exclusiveMinimum: true, minimum: 0, format: "int64" } },
              },
            },
          },
        },
        additionalPrinterColumns: [{
          name: "Max",
          type: "integer",
          format: "int32",
          jsonPath: ".limits.max",
          priority: 1,
        }],
      }],
    },
  }),
];
