/** Networking: services, endpoints, ingresses, policies and addresses. */
import { Endpoints, Service } from "../../src/kinds/core/v1.ts";
import { EndpointSlice } from "../../src/kinds/discovery/v1.ts";
import { Ingress, IngressClass, IPAddress, NetworkPolicy, ServiceCIDR } from "../../src/kinds/networking/v1.ts";
import { type Manifest, manifest } from "./_manifest.ts";

/** Objects that traffic flows through. */
export const network: readonly Manifest[] = [
  manifest(Service, {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "cart" },
    spec: { selector: { app: "cart" }, ports: [{ port: 80, targetPort: "http" }] },
  }),
  manifest(Service, {
    metadata: { name: "cart-headless" },
    spec: {
      clusterIP: "None",
      publishNotReadyAddresses: true,
      selector: { app: "cart" },
      ports: [{ name: "grpc", port: 9000, targetPort: 9000, protocol: "TCP", appProtocol: "kubernetes.io/h2c" }],
    },
  }),
  manifest(Service, {
    metadata: { name: "cart-node-port" },
    spec: {
      type: "NodePort",
      externalTrafficPolicy: "Local",
      internalTrafficPolicy: "Cluster",
      sessionAffinity: "ClientIP",
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 600 } },
      selector: { app: "cart" },
      ports: [
        { name: "http", port: 80, targetPort: 8080, nodePort: 30080 },
        { name: "dns", port: 53, protocol: "UDP" },
      ],
    },
  }),
  manifest(Service, {
    metadata: { name: "cart-balanced" },
    spec: {
      type: "LoadBalancer",
      loadBalancerClass: "example.com/internal",
      loadBalancerSourceRanges: ["10.0.0.0/8"],
      loadBalancerIP: "10.1.2.3",
      allocateLoadBalancerNodePorts: false,
      externalTrafficPolicy: "Local",
      healthCheckNodePort: 31234,
      externalIPs: ["198.51.100.7"],
      trafficDistribution: "PreferClose",
      selector: { app: "cart" },
      ports: [{ port: 443, targetPort: 8443 }],
    },
  }),
  manifest(Service, {
    metadata: { name: "legacy" },
    spec: { type: "ExternalName", externalName: "legacy.example.com" },
  }),
  manifest(Service, {
    metadata: { name: "cart-families" },
    spec: {
      ipFamilyPolicy: "SingleStack",
      ipFamilies: ["IPv4"],
      internalTrafficPolicy: "Local",
      clusterIP: "10.96.77.77",
      clusterIPs: ["10.96.77.77"],
      ports: [{ port: 3868, protocol: "SCTP" }],
    },
  }),
  manifest(Endpoints, {
    apiVersion: "v1",
    kind: "Endpoints",
    metadata: { name: "legacy" },
    subsets: [{
      addresses: [{
        ip: "10.0.0.7",
        hostname: "legacy-0",
        nodeName: "worker-1",
        targetRef: { kind: "Pod", name: "legacy-0", uid: "0b1b6b0a-9b1f-4a3b-8f39-1f0f4d0a0002" },
      }],
      notReadyAddresses: [{ ip: "10.0.0.8" }],
      ports: [{ name: "http", port: 80, protocol: "TCP", appProtocol: "http" }],
    }],
  }),
  manifest(Endpoints, { metadata: { name: "nothing" } }),
  manifest(EndpointSlice, {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name: "cart-x7k2p", labels: { "kubernetes.io/service-name": "cart" } },
    addressType: "IPv4",
    endpoints: [
      {
        addresses: ["10.244.1.17"],
        conditions: { ready: true, serving: true, terminating: false },
        hostname: "cart-0",
        nodeName: "worker-1",
        zone: "eu-central-1a",
        hints: { forZones: [{ name: "eu-central-1a" }], forNodes: [{ name: "worker-1" }] },
        targetRef: { kind: "Pod", name: "cart-0", namespace: "shop" },
        deprecatedTopology: { rack: "7" },
      },
      { addresses: ["10.244.1.18"], conditions: {} },
    ],
    ports: [{ name: "http", port: 8080, protocol: "TCP", appProtocol: "http" }],
  }),
  manifest(EndpointSlice, {
    metadata: { name: "by-name" },
    addressType: "FQDN",
    endpoints: [{ addresses: ["legacy.example.com"] }],
    ports: [{ name: "", port: 443 }],
  }),
  manifest(EndpointSlice, {
    metadata: { generateName: "ipv6-" },
    addressType: "IPv6",
    endpoints: [],
    ports: [],
  }),
  manifest(Ingress, {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { name: "shop", annotations: { "nginx.ingress.kubernetes.io/proxy-body-size": "8m" } },
    spec: {
      ingressClassName: "nginx",
      tls: [{ hosts: ["shop.example.com"], secretName: "cart-tls" }],
      rules: [{
        host: "shop.example.com",
        http: {
          paths: [
            { path: "/cart", pathType: "Prefix", backend: { service: { name: "cart", port: { number: 80 } } } },
            { path: "/pay", pathType: "Exact", backend: { service: { name: "pay", port: { name: "http" } } } },
          ],
        },
      }, { host: "*.shop.example.com" }],
    },
  }),
  manifest(Ingress, {
    metadata: { name: "default-backend" },
    spec: { defaultBackend: { service: { name: "cart", port: { number: 80 } } } },
  }),
  manifest(Ingress, {
    metadata: { name: "bucket" },
    spec: {
      rules: [{
        http: {
          paths: [{
            path: "/static",
            pathType: "ImplementationSpecific",
            backend: { resource: { apiGroup: "storage.example.com", kind: "Bucket", name: "static" } },
          }],
        },
      }],
    },
  }),
  manifest(IngressClass, {
    metadata: { name: "nginx", annotations: { "ingressclass.kubernetes.io/is-default-class": "true" } },
    spec: { controller: "k8s.io/ingress-nginx" },
  }),
  manifest(IngressClass, {
    metadata: { name: "per-namespace" },
    spec: {
      controller: "example.com/ingress",
      parameters: { apiGroup: "example.com", kind: "Parameters", name: "p", scope: "Namespace", namespace: "shop" },
    },
  }),
  manifest(IngressClass, {
    metadata: { name: "cluster-wide" },
    spec: { controller: "example.com/ingress", parameters: { kind: "Parameters", name: "p", scope: "Cluster" } },
  }),
  manifest(NetworkPolicy, {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: { name: "cart" },
    spec: {
      podSelector: { matchLabels: { app: "cart" } },
      policyTypes: ["Ingress", "Egress"],
      ingress: [{
        from: [
          { podSelector: { matchLabels: { app: "gateway" } } },
          { namespaceSelector: { matchLabels: { team: "checkout" } }, podSelector: {} },
          { ipBlock: { cidr: "10.0.0.0/8", except: ["10.1.0.0/16"] } },
        ],
        ports: [{ port: "http", protocol: "TCP" }, { port: 8000, endPort: 8999 }],
      }],
      egress: [{ to: [{ ipBlock: { cidr: "2001:db8::/32" } }], ports: [{ protocol: "UDP", port: 53 }] }, {}],
    },
  }),
  manifest(NetworkPolicy, { metadata: { name: "deny-all" }, spec: { podSelector: {}, policyTypes: ["Ingress"] } }),
  manifest(NetworkPolicy, {
    metadata: { name: "allow-all" },
    spec: { podSelector: { matchExpressions: [{ key: "app", operator: "Exists" }] }, ingress: [{}], egress: [{}] },
  }),
  manifest(IPAddress, {
    metadata: { name: "10.96.77.78" },
    spec: { parentRef: { group: "", resource: "services", namespace: "shop", name: "cart" } },
  }),
  manifest(ServiceCIDR, { metadata: { name: "more-addresses" }, spec: { cidrs: ["10.112.0.0/16"] } }),
];
