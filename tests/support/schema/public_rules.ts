/**
 * Rules like the rules in public CRDs, in small schemas of our own, with objects that they accept and refuse.
 *
 * The facts come from Gateway API, Cluster API, Karpenter, cert-manager and Crossplane; schemas, names and messages
 * are written again. {@linkcode RULED_KINDS} is the entry point.
 *
 * @module
 */
import type { JsonObject } from "../../../src/engine/api/json.ts";

/** A kind with rules, and objects that show each of them. */
export interface RuledKind {
  /** The project whose rules these are like. */
  readonly kind: string;
  /** The schema of `spec`. */
  readonly spec: JsonObject;
  /** Rules of the whole object. */
  readonly rules?: readonly JsonObject[];
  /** A `spec` that all rules accept. */
  readonly valid: JsonObject;
  /** What is merged into `valid`: lists are replaced, and null removes a member. */
  readonly changes: readonly JsonObject[];
  /** Updates: what is merged into `valid` before and after. */
  readonly updates: readonly (readonly [before: JsonObject, after: JsonObject])[];
}

const text = (maxLength = 63, more: JsonObject = {}): JsonObject => ({ type: "string", maxLength, ...more });
const int: JsonObject = { type: "integer" };
const bool: JsonObject = { type: "boolean" };
const list = (items: JsonObject, maxItems: number, more: JsonObject = {}): JsonObject => ({
  type: "array",
  items,
  maxItems,
  ...more,
});
const mapList = (items: JsonObject, maxItems: number, ...keys: string[]): JsonObject =>
  list(items, maxItems, { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys });
const map = (additionalProperties: JsonObject, maxProperties: number, more: JsonObject = {}): JsonObject => ({
  type: "object",
  additionalProperties,
  maxProperties,
  ...more,
});
const object = (properties: JsonObject, required: string[] = [], more: JsonObject = {}): JsonObject => ({
  type: "object",
  properties,
  ...required.length === 0 ? {} : { required },
  ...more,
});
/** The members of a schema that have its rules. Each rule is an expression, or an expression with members. */
const rules = (...all: (string | JsonObject)[]): JsonObject => ({
  "x-kubernetes-validations": all.map((rule) => typeof rule === "string" ? { rule } : rule),
});
const ruled = (schema: JsonObject, ...all: (string | JsonObject)[]): JsonObject => ({ ...schema, ...rules(...all) });

const GATEWAY: RuledKind = {
  kind: "Gateway",
  spec: object({
    listeners: ruled(
      mapList(
        object({
          name: text(253),
          hostname: text(253),
          port: int,
          protocol: text(32),
          tls: ruled(
            object({
              mode: text(16, { default: "Terminate" }),
              certificateRefs: list(object({ name: text() }), 8),
              options: map(text(), 4),
            }),
            {
              rule: "self.mode == 'Terminate' ? size(self.certificateRefs) > 0 || size(self.options) > 0 : true",
              message: "certificates or options are needed to terminate",
            },
          ),
        }, ["name", "port", "protocol"]),
        16,
        "name",
      ),
      {
        rule: "self.all(l, l.protocol in ['HTTP', 'TCP', 'UDP'] ? !has(l.tls) : true)",
        message: "no tls for HTTP, TCP and UDP",
      },
      {
        rule:
          "self.all(l, (l.protocol == 'HTTPS' && has(l.tls)) ? (l.tls.mode == '' || l.tls.mode == 'Terminate') : true)",
        message: "tls must be terminated for HTTPS",
      },
      {
        rule: "self.all(l, (l.protocol == 'TLS' ? has(l.tls) && has(l.tls.mode) && l.tls.mode != '' : true))",
        message: "TLS needs a mode",
      },
      {
        rule: "self.all(l, l.protocol in ['TCP', 'UDP'] ? (!has(l.hostname) || l.hostname == '') : true)",
        message: "no hostname for TCP and UDP",
      },
      { rule: "self.all(l1, self.exists_one(l2, l1.name == l2.name))", message: "names must be unique" },
      {
        rule:
          "self.all(l1, self.exists_one(l2, l1.port == l2.port && l1.protocol == l2.protocol && (has(l1.hostname) && has(l2.hostname) ? l1.hostname == l2.hostname : !has(l1.hostname) && !has(l2.hostname))))",
        messageExpression: "'ports of listeners like ' + self[0].name + ' collide'",
        reason: "FieldValueDuplicate",
      },
    ),
    addresses: ruled(
      list(
        ruled(
          object({ type: text(253, { default: "IPAddress" }), value: text(253) }),
          {
            rule:
              'self.type == \'Hostname\' ? (!has(self.value) || self.value.matches(r"""^(\\*\\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$""")): true',
            message: "this is no hostname",
          },
          "self.type == 'IPAddress' && has(self.value) ? isIP(self.value) : true",
        ),
        16,
      ),
      {
        rule:
          "self.all(a1, a1.type == 'IPAddress' && has(a1.value) ? self.exists_one(a2, a2.type == a1.type && has(a2.value) && a2.value == a1.value) : true )",
        message: "addresses must be unique",
      },
      {
        rule:
          "self.all(a1, a1.type == 'Hostname' && has(a1.value) ? self.exists_one(a2, a2.type == a1.type && has(a2.value) && a2.value == a1.value) : true )",
        message: "hostnames must be unique",
      },
    ),
    gatewayClassName: ruled(text(253), { rule: "self == oldSelf", message: "the class cannot change" }),
  }, ["gatewayClassName", "listeners"]),
  valid: { gatewayClassName: "c", listeners: [{ name: "http", port: 80, protocol: "HTTP" }] },
  changes: [
    { listeners: [{ name: "a", port: 80, protocol: "HTTP", tls: { options: { a: "b" } } }] },
    { listeners: [{ name: "a", port: 443, protocol: "HTTPS", tls: { mode: "Passthrough" } }] },
    { listeners: [{ name: "a", port: 443, protocol: "HTTPS", tls: { options: {} } }] },
    { listeners: [{ name: "a", port: 443, protocol: "HTTPS", tls: { certificateRefs: [{ name: "c" }] } }] },
    { listeners: [{ name: "a", port: 443, protocol: "TLS" }] },
    {
      listeners: [{ name: "a", port: 443, protocol: "TCP", hostname: "h" }, { name: "b", port: 443, protocol: "UDP" }],
    },
    { listeners: [{ name: "a", port: 80, protocol: "HTTP" }, { name: "b", port: 80, protocol: "HTTP" }] },
    {
      listeners: [{ name: "a", port: 80, protocol: "HTTP", hostname: "x" }, { name: "b", port: 80, protocol: "HTTP" }],
    },
    {
      listeners: [
        { name: "a", port: 80, protocol: "HTTP", hostname: "x" },
        { name: "b", port: 80, protocol: "HTTP", hostname: "x" },
        { name: "c", port: 81, protocol: "TLS" },
      ],
    },
    { addresses: [{ value: "10.0.0.1" }, { value: "10.0.0.1" }] },
    { addresses: [{ value: "10.0.0.1" }, { value: "::1" }, { type: "Hostname", value: "*.a.b" }] },
    {
      addresses: [{ type: "Hostname", value: "A_b" }, { type: "Hostname", value: "x" }, {
        type: "Hostname",
        value: "x",
      }],
    },
    {
      addresses: [{ value: "10.0.0.256" }, { value: "010.0.0.1" }, { value: "::ffff:1.2.3.4" }, {
        type: "Other",
        value: "?",
      }],
    },
    { addresses: [{}, { type: "Hostname" }] },
  ],
  updates: [
    [{}, { gatewayClassName: "d" }],
    [{}, { addresses: [{ value: "10.0.0.1" }] }],
    [{ addresses: [{ value: "10.0.0.1" }] }, { addresses: [{ value: "x" }] }],
  ],
};

const PATH_RULES = ["//", "/./", "/../", "%2f", "%2F", "#"].map((part) => ({
  rule: `(self.type in ['Exact','PathPrefix']) ? !self.value.contains('${part}') : true`,
  message: `a path must not contain '${part}'`,
}));
const FILTERS = {
  requestHeaderModifier: "RequestHeaderModifier",
  requestRedirect: "RequestRedirect",
  urlRewrite: "URLRewrite",
};
const FILTER_RULES = Object.entries(FILTERS).flatMap(([field, type]) => [
  {
    rule: `!(has(self.${field}) && self.type != '${type}')`,
    message: `no ${field} for another type`,
    fieldPath: `.${field}`,
  },
  {
    rule: `!(!has(self.${field}) && self.type == '${type}')`,
    message: `${field} is needed for its type`,
    fieldPath: `.${field}`,
    reason: "FieldValueRequired",
  },
]);

const ROUTE: RuledKind = {
  kind: "Route",
  spec: object({
    parentRefs: ruled(
      list(object({ group: text(253, { default: "g" }), name: text(), sectionName: text(), port: int }, ["name"]), 8),
      {
        rule:
          "self.all(p1, self.all(p2, p1.group == p2.group && p1.name == p2.name ? ((!has(p1.sectionName) || p1.sectionName == '') == (!has(p2.sectionName) || p2.sectionName == '')) : true))",
        message: "sections are needed for several references to a parent",
      },
      {
        rule:
          "self.all(p1, self.exists_one(p2, p1.group == p2.group && p1.name == p2.name && ((!has(p1.sectionName) && !has(p2.sectionName)) || (has(p1.sectionName) && has(p2.sectionName) && p1.sectionName == p2.sectionName))))",
        message: "sections must be unique",
      },
    ),
    rules: ruled(
      list(
        ruled(
          object({
            matches: list(
              object({
                path: ruled(
                  object({ type: text(32, { default: "PathPrefix" }), value: text(1024, { default: "/" }) }),
                  {
                    rule: "(self.type in ['Exact','PathPrefix']) ? self.value.startsWith('/') : true",
                    message: "a path begins with /",
                  },
                  ...PATH_RULES,
                  {
                    rule: "(self.type in ['Exact','PathPrefix']) ? !self.value.endsWith('/..') : true",
                    message: "no /.. at the end",
                  },
                  {
                    rule: "(self.type in ['Exact','PathPrefix']) ? !self.value.endsWith('/.') : true",
                    message: "no /. at the end",
                  },
                  {
                    rule: "self.type in ['Exact','PathPrefix'] || self.type == 'RegularExpression'",
                    message: "unknown type",
                    fieldPath: ".type",
                  },
                  {
                    rule:
                      '(self.type in [\'Exact\',\'PathPrefix\']) ? self.value.matches(r"""^(?:[-A-Za-z0-9/._~!$&\'()*+,;=:@]|[%][0-9a-fA-F]{2})+$""") : true',
                    message: "wrong characters in the path",
                  },
                ),
                method: text(16),
              }),
              8,
              { default: [{ path: { type: "PathPrefix", value: "/" } }] },
            ),
            filters: ruled(
              list(
                ruled(
                  object({
                    type: text(32),
                    requestHeaderModifier: object({ set: map(text(), 4) }),
                    requestRedirect: object({
                      path: ruled(
                        object({ type: text(32), replaceFullPath: text(), replacePrefixMatch: text() }, ["type"]),
                        "self.type == 'ReplaceFullPath' ? has(self.replaceFullPath) : true",
                        "has(self.replaceFullPath) ? self.type == 'ReplaceFullPath' : true",
                        "self.type == 'ReplacePrefixMatch' ? has(self.replacePrefixMatch) : true",
                        "has(self.replacePrefixMatch) ? self.type == 'ReplacePrefixMatch' : true",
                      ),
                      statusCode: int,
                    }),
                    urlRewrite: object({ hostname: text(253) }),
                  }, ["type"]),
                  ...FILTER_RULES,
                ),
                8,
              ),
              {
                rule: "!(self.exists(f, f.type == 'RequestRedirect') && self.exists(f, f.type == 'URLRewrite'))",
                message: "redirect or rewrite, not both",
              },
              ...Object.values(FILTERS).map((type) => ({
                rule: `self.filter(f, f.type == '${type}').size() <= 1`,
                message: `${type} cannot be repeated`,
              })),
            ),
            backendRefs: list(
              ruled(
                object({
                  group: text(253, { default: "" }),
                  kind: text(63, { default: "Service" }),
                  name: text(),
                  port: int,
                  weight: int,
                }, ["name"]),
                {
                  rule: "(size(self.group) == 0 && self.kind == 'Service') ? has(self.port) : true",
                  message: "a Service needs a port",
                },
              ),
              8,
            ),
            timeouts: ruled(
              object({ request: text(16), backendRequest: text(16) }),
              {
                rule:
                  "!(has(self.request) && has(self.backendRequest) && duration(self.request) != duration('0s') && duration(self.backendRequest) > duration(self.request))",
                message: "a backend may not take longer",
              },
            ),
            sessionPersistence: ruled(
              object({ type: text(16), absoluteTimeout: text(16), cookieConfig: object({ lifetimeType: text(16) }) }),
              {
                rule:
                  "!has(self.cookieConfig) || !has(self.cookieConfig.lifetimeType) || self.cookieConfig.lifetimeType != 'Permanent' || has(self.absoluteTimeout)",
                message: "permanent cookies need a timeout",
              },
            ),
          }),
          {
            rule:
              "(has(self.backendRefs) && size(self.backendRefs) > 0) ? (!has(self.filters) || self.filters.all(f, !has(f.requestRedirect))): true",
            message: "no redirect with backends",
          },
          {
            rule:
              "(has(self.filters) && self.filters.exists_one(f, has(f.requestRedirect) && has(f.requestRedirect.path) && f.requestRedirect.path.type == 'ReplacePrefixMatch' && has(f.requestRedirect.path.replacePrefixMatch))) ? ((size(self.matches) != 1 || !has(self.matches[0].path) || self.matches[0].path.type != 'PathPrefix') ? false : true) : true",
            message: "a prefix is replaced where exactly one matches",
          },
        ),
        4,
      ),
      {
        rule: "(self.size() > 0 ? self[0].matches.size() : 0) + (self.size() > 1 ? self[1].matches.size() : 0) <= 8",
        message: "too many matches",
      },
    ),
    tlsPolicy: ruled(
      object({ caCertificateRefs: list(object({ name: text() }), 8), wellKnown: text(16), hostname: text(253) }),
      {
        rule:
          'has(self.caCertificateRefs) && size(self.caCertificateRefs) > 0 || has(self.wellKnown) && self.wellKnown != ""',
        message: "certificates are needed",
      },
      {
        rule:
          '!(has(self.caCertificateRefs) && size(self.caCertificateRefs) > 0 && has(self.wellKnown) && self.wellKnown != "")',
        message: "certificates of one kind",
      },
    ),
  }),
  valid: { rules: [{ backendRefs: [{ name: "s", port: 80 }] }] },
  changes: [
    ...["a", "/a//b", "/./x", "/../x", "/%2f", "/%2F", "/#", "/x/..", "/x/.", "/[", "/ok%20", "/é"].map((value) => ({
      rules: [{ matches: [{ path: { value } }] }],
    })),
    {
      rules: [{
        matches: [{ path: { type: "Other", value: "x" } }, { path: { type: "RegularExpression", value: "//" } }],
      }],
    },
    {
      rules: [{ filters: [{ type: "URLRewrite" }, { type: "Other", requestRedirect: {}, requestHeaderModifier: {} }] }],
    },
    {
      rules: [{ filters: [{ type: "URLRewrite", urlRewrite: {} }, { type: "RequestRedirect", requestRedirect: {} }] }],
    },
    { rules: [{ filters: [1, 2].map(() => ({ type: "RequestHeaderModifier", requestHeaderModifier: {} })) }] },
    { rules: [{ filters: [{ type: "RequestRedirect", requestRedirect: { path: { type: "ReplaceFullPath" } } }] }] },
    {
      rules: [{
        filters: [{
          type: "RequestRedirect",
          requestRedirect: { path: { type: "X", replaceFullPath: "a", replacePrefixMatch: "b" } },
        }],
      }],
    },
    {
      rules: [{
        matches: [{ path: { type: "Exact" } }],
        filters: [{
          type: "RequestRedirect",
          requestRedirect: { path: { type: "ReplacePrefixMatch", replacePrefixMatch: "/" } },
        }],
      }],
    },
    {
      rules: [{
        filters: [{
          type: "RequestRedirect",
          requestRedirect: { path: { type: "ReplacePrefixMatch", replacePrefixMatch: "/" } },
        }],
      }],
    },
    { rules: [{ backendRefs: [{ name: "s" }, { name: "o", kind: "Other" }] }] },
    { rules: [{ backendRefs: [{ name: "s", port: 1 }], filters: [{ type: "RequestRedirect", requestRedirect: {} }] }] },
    { rules: [{ timeouts: { request: "1s", backendRequest: "2s" } }] },
    {
      rules: [{ timeouts: { request: "0s", backendRequest: "2s" } }, {
        timeouts: { request: "1m", backendRequest: "60s" },
      }],
    },
    { rules: [{ timeouts: { request: "never", backendRequest: "2s" } }] },
    { rules: [{ sessionPersistence: { cookieConfig: { lifetimeType: "Permanent" } } }] },
    { rules: [{ matches: [1, 2, 3, 4, 5].map(() => ({})) }, { matches: [1, 2, 3, 4].map(() => ({})) }] },
    { parentRefs: [{ name: "a" }, { name: "a" }] },
    { parentRefs: [{ name: "a" }, { name: "a", sectionName: "s" }] },
    { parentRefs: [{ name: "a", sectionName: "t" }, { name: "a", sectionName: "s" }, { name: "b" }] },
    { tlsPolicy: {} },
    { tlsPolicy: { wellKnown: "System", caCertificateRefs: [{ name: "c" }] } },
    { tlsPolicy: { wellKnown: "System", caCertificateRefs: [] } },
  ],
  updates: [
    [{}, { tlsPolicy: { hostname: "h" } }],
    [{}, { rules: [{ backendRefs: [{ name: "s" }] }] }],
  ],
};

const DOMAIN = (domain: string, ...allowed: string[]): JsonObject => ({
  rule: `self in ${
    JSON.stringify(allowed)
  } || self.find("^([^/]+)").endsWith("node.${domain}") || !self.find("^([^/]+)").endsWith("${domain}")`,
  message: `the domain ${domain} is restricted`,
});
const KEY_RULES = [
  DOMAIN("kubernetes.io", "kubernetes.io/arch", "kubernetes.io/os"),
  DOMAIN("k8s.io"),
  { rule: 'self != "karpenter.example/nodepool"', message: "this label is restricted" },
];

const POOL: RuledKind = {
  kind: "Pool",
  spec: object(
    {
      requirements: ruled(
        list(
          object(
            { key: ruled(text(316), ...KEY_RULES), operator: text(16), values: list(text(), 16), minValues: int },
            ["key", "operator"],
          ),
          16,
        ),
        { rule: "self.all(x, x.operator == 'In' ? x.values.size() != 0 : true)", message: "In needs values" },
        {
          rule:
            "self.all(x, (x.operator == 'Gt' || x.operator == 'Lt') ? (x.values.size() == 1 && int(x.values[0]) >= 0) : true)",
          message: "Gt and Lt need one number",
        },
        {
          rule: "self.all(x, (x.operator == 'In' && has(x.minValues)) ? x.values.size() >= x.minValues : true)",
          message: "fewer values than minValues",
        },
      ),
      labels: ruled(
        map(text(), 16),
        {
          rule: "self.all(x, x in ['a/b'] || !x.find('^([^/]+)').endsWith('kubernetes.io'))",
          message: "restricted domain",
        },
        {
          rule: "self.all(x, x != 'kubernetes.io/hostname')",
          message: "restricted name",
          fieldPath: "['kubernetes.io/hostname']",
        },
        {
          rule: "self.all(k, !k.startsWith('aws:')) && self.all(k, self[k] != '')",
          message: "empty or restricted tags",
        },
      ),
      nodeClassRef: ruled(
        object({ group: text(), kind: text(), name: text() }),
        { rule: "self.group != ''", message: "group is empty" },
        { rule: "self.group == oldSelf.group", message: "group is immutable" },
        {
          rule: "self.kind == oldSelf.kind",
          message: "kind is immutable",
          reason: "FieldValueForbidden",
          fieldPath: ".kind",
        },
      ),
      budgets: ruled(
        list(object({ nodes: text(10), schedule: text(64), duration: text(16) }), 16),
        { rule: "self.all(x, has(x.schedule) == has(x.duration))", message: "schedule and duration together" },
        "self.all(x, !has(x.nodes) || x.nodes.matches('^((100|[0-9]{1,2})%|[0-9]+)$'))",
      ),
      limits: ruled(
        map({ "x-kubernetes-int-or-string": true, maxLength: 16 }, 8),
        "self.all(k, type(self[k]) == int || isQuantity(self[k]))",
        "!('cpu' in self) || type(self['cpu']) == int || quantity(self['cpu']).isGreaterThan(quantity('0'))",
      ),
      amiFamily: text(16),
      amiSelectorTerms: ruled(
        list(
          object({
            id: text(),
            name: text(),
            tags: ruled(map(text(), 8), "self.all(k, k != '' && self[k] != '')"),
            alias: ruled(
              text(30),
              { rule: "self.matches('^[a-zA-Z0-9]+@.+$')", message: "an alias is family@version" },
              {
                rule: "self.split('@')[0] in ['al2','al2023','bottlerocket','windows2022']",
                message: "unknown family",
              },
              {
                rule: "self.split('@')[0] == 'windows2022' ? self.split('@')[1] == 'latest' : true",
                message: "only latest",
              },
            ),
          }),
          8,
          { minItems: 1 },
        ),
        { rule: "self.all(x, has(x.tags) || has(x.id) || has(x.name) || has(x.alias))", message: "a term is empty" },
        {
          rule: "!self.exists(x, has(x.id) && (has(x.alias) || has(x.tags) || has(x.name)))",
          message: "id is exclusive",
        },
        { rule: "!(self.exists(x, has(x.alias)) && self.size() != 1)", message: "alias is exclusive" },
      ),
      blockDeviceMappings: ruled(
        list(
          object({
            rootVolume: bool,
            ebs: ruled(
              object({ snapshotID: text(), volumeSize: text(16) }),
              { rule: "has(self.snapshotID) || has(self.volumeSize)", message: "a snapshot or a size" },
            ),
          }),
          8,
        ),
        { rule: "self.filter(x, has(x.rootVolume)?x.rootVolume==true:false).size() <= 1", message: "one root volume" },
      ),
      kubelet: ruled(
        object({
          evictionSoft: ruled(
            map(text(8), 8),
            {
              rule: "self.all(x, x in ['memory.available','nodefs.available','pid.available'])",
              message: "unknown signal",
            },
          ),
          evictionSoftGracePeriod: map(text(16), 8),
          imageGCHigh: int,
          imageGCLow: int,
        }),
        {
          rule: "has(self.imageGCHigh) && has(self.imageGCLow) ?  self.imageGCHigh > self.imageGCLow  : true",
          message: "high must be above low",
        },
        {
          rule: "has(self.evictionSoft) ? self.evictionSoft.all(e, (e in self.evictionSoftGracePeriod)):true",
          message: "a signal without a grace period",
        },
        {
          rule:
            "has(self.evictionSoftGracePeriod) ? self.evictionSoftGracePeriod.all(e, (e in self.evictionSoft)):true",
          message: "a grace period without a signal",
        },
      ),
      role: ruled(text(), { rule: "self != ''", message: "role is empty" }),
      instanceProfile: text(),
    },
    [],
    rules(
      {
        rule: "(has(self.role) && !has(self.instanceProfile)) || (!has(self.role) && has(self.instanceProfile))",
        message: "exactly one of role and instanceProfile",
      },
      {
        rule: "(has(oldSelf.role) && has(self.role)) || (has(oldSelf.instanceProfile) && has(self.instanceProfile))",
        message: "role and instanceProfile cannot be exchanged",
      },
      {
        rule: "!has(self.amiSelectorTerms) || self.amiSelectorTerms.exists(x, has(x.alias)) || has(self.amiFamily)",
        message: "a family is needed without an alias",
      },
    ),
  ),
  valid: { role: "r" },
  changes: [
    { role: null },
    { role: "" },
    { instanceProfile: "p" },
    { role: null, instanceProfile: "p" },
    {
      requirements: [{ key: "kubernetes.io/arch", operator: "In", values: ["a"] }, {
        key: "x.kubernetes.io/y",
        operator: "In",
        values: [],
      }],
    },
    {
      requirements: [{ key: "node.kubernetes.io/y", operator: "Gt", values: ["1"] }, {
        key: "a.k8s.io/y",
        operator: "Lt",
        values: ["-1"],
      }],
    },
    { requirements: [{ key: "karpenter.example/nodepool", operator: "Gt", values: ["x"] }] },
    { requirements: [{ key: "a", operator: "In", values: ["x"], minValues: 2 }] },
    { requirements: [{ key: "a", operator: "In" }] },
    { requirements: [{ key: "a", operator: "Exists" }] },
    { labels: { "kubernetes.io/hostname": "a" } },
    { labels: { "aws:x": "a", "a/b": "c" } },
    { labels: { x: "" } },
    { nodeClassRef: { group: "" } },
    { nodeClassRef: {} },
    { budgets: [{ schedule: "* * * * *" }, { nodes: "101%" }] },
    { budgets: [{ nodes: "10%" }, { nodes: "5", schedule: "@daily", duration: "1h" }] },
    { limits: { cpu: "0", memory: "1Gi" } },
    { limits: { cpu: 4, memory: "1Zi" } },
    { limits: { cpu: "100m" } },
    { amiSelectorTerms: [{}] },
    { amiSelectorTerms: [{ id: "a", name: "b" }], amiFamily: "f" },
    { amiSelectorTerms: [{ alias: "al2@latest" }, { id: "b" }] },
    { amiSelectorTerms: [{ alias: "al2@latest" }] },
    { amiSelectorTerms: [{ alias: "al2" }] },
    { amiSelectorTerms: [{ alias: "windows2022@1" }] },
    { amiSelectorTerms: [{ alias: "nope@1" }] },
    { amiSelectorTerms: [{ tags: { a: "" } }] },
    { blockDeviceMappings: [{ rootVolume: true }, { rootVolume: true, ebs: {} }] },
    { blockDeviceMappings: [{ rootVolume: true }, { rootVolume: false, ebs: { volumeSize: "1Gi" } }] },
    { kubelet: { imageGCHigh: 5, imageGCLow: 5 } },
    { kubelet: { evictionSoft: { "memory.available": "5%" }, evictionSoftGracePeriod: { "memory.available": "1m" } } },
    { kubelet: { evictionSoft: { x: "5%" }, evictionSoftGracePeriod: {} } },
    { kubelet: { evictionSoft: { "pid.available": "5%" } } },
    { kubelet: { evictionSoftGracePeriod: { "pid.available": "5%" } } },
  ],
  updates: [
    [{}, { role: null, instanceProfile: "p" }],
    [{}, { role: "other" }],
    [{ nodeClassRef: { group: "a", kind: "b" } }, { nodeClassRef: { group: "c", kind: "d" } }],
    [{ nodeClassRef: { group: "a" } }, { nodeClassRef: { group: "a", kind: "d" } }],
    [{}, { nodeClassRef: { group: "a" } }],
  ],
};

const CLUSTER: RuledKind = {
  kind: "Topology",
  spec: object(
    {
      clusterNetwork: object({
        pods: object({
          cidrBlocks: ruled(
            list(text(43), 4),
            "self.all(c, isCIDR(c))",
            "self.all(c, !isCIDR(c) || cidr(c).prefixLength() <= 28)",
          ),
        }),
        apiServerPort: ruled(int, { rule: "self >= 1 && self <= 65535", message: "no port" }),
      }),
      controlPlaneEndpoint: ruled(
        object({ host: text(512), port: int }, ["host"]),
        {
          rule: "oldSelf.host == '' || self == oldSelf",
          message: "the endpoint cannot change",
          reason: "FieldValueForbidden",
        },
      ),
      paused: bool,
      variables: mapList(
        object(
          { name: ruled(text(256), "self != 'builtin'"), value: { "x-kubernetes-preserve-unknown-fields": true } },
          ["name"],
        ),
        32,
        "name",
      ),
      workers: object({
        machineDeployments: ruled(
          mapList(
            ruled(
              object({
                name: text(63),
                class: text(256),
                replicas: { type: "integer", format: "int32" },
                strategy: ruled(
                  object({
                    type: text(32, { enum: ["RollingUpdate", "OnDelete"] }),
                    rollingUpdate: object({ maxSurge: { "x-kubernetes-int-or-string": true, maxLength: 8 } }),
                  }),
                  {
                    rule: "self.type == 'RollingUpdate' || !has(self.rollingUpdate)",
                    message: "rollingUpdate is for its type",
                  },
                  "!has(self.rollingUpdate) || !has(self.rollingUpdate.maxSurge) || (type(self.rollingUpdate.maxSurge) == int ? self.rollingUpdate.maxSurge >= 0 : self.rollingUpdate.maxSurge.matches('^(100|[0-9]{1,2})%$'))",
                ),
                failureDomain: text(256),
              }, ["name", "class"]),
              { rule: "self.class == oldSelf.class", message: "class is immutable", fieldPath: ".class" },
              { rule: "!has(self.replicas) || self.replicas >= 0" },
            ),
            64,
            "name",
          ),
          {
            rule: "self.all(m, oldSelf.all(o, o.name != m.name || has(o.failureDomain) == has(m.failureDomain)))",
            message: "failure domains stay",
          },
        ),
      }),
      unhealthyRange: ruled(text(32), "self.matches('^\\\\[[0-9]+-[0-9]+\\\\]$')"),
      version: ruled(
        text(256),
        "isSemver(self, true)",
        {
          rule: "semver(self, true).compareTo(semver(oldSelf, true)) >= 0",
          message: "no downgrades",
          optionalOldSelf: false,
        },
      ),
      taints: ruled(
        list(object({ key: text(), effect: text(32), propagation: text(16) }, ["key", "effect"]), 16, {
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["key", "effect"],
        }),
        "self.all(t, t.key != 'node.cluster.example/uninitialized')",
        { rule: "oldSelf.hasValue() ? oldSelf.value() == self : true", optionalOldSelf: true, message: "?" },
      ),
      addons: ruled(
        list(text(32), 8, { "x-kubernetes-list-type": "set" }),
        { rule: "self == oldSelf", message: "addons are immutable" },
        { rule: "sets.contains(self + ['dns'], ['dns'])" },
      ),
      files: ruled(
        list(object({ path: text(256), content: text(1024), contentFrom: object({ secret: text() }) }, ["path"]), 16),
        { rule: "self.all(f, has(f.content) != has(f.contentFrom))", message: "content or contentFrom" },
      ),
      days: int,
      labels: map(ruled(text(63), "format.labelValue().validate(self).hasValue() == false"), 16),
      bootstrap: ruled(
        object({ dataSecretName: text(), configRef: object({ name: text() }) }),
        {
          rule: "has(self.dataSecretName) || has(self.configRef)",
          messageExpression: "'nothing of ' + self.configRef.name",
        },
      ),
    },
    [],
    rules(
      {
        rule: "!has(self.days) || (self.days > 0 && self.days <= 3650)",
        messageExpression: "has(self.unhealthyRange) ? self.unhealthyRange + ' days' : 'wrong days'",
        fieldPath: ".days",
      },
      {
        rule: "oldSelf.hasValue() || !has(self.paused) || !self.paused",
        optionalOldSelf: true,
        message: "do not create it paused",
      },
    ),
  ),
  valid: {},
  changes: [
    { clusterNetwork: { pods: { cidrBlocks: ["10.0.0.0/8", "x", "10.0.0.0/30"] }, apiServerPort: 0 } },
    { clusterNetwork: { pods: { cidrBlocks: ["10.0.0.0/8", "fd00::/8"] }, apiServerPort: 6443 } },
    { paused: true },
    { variables: [{ name: "builtin" }, { name: "x", value: { y: 1 } }] },
    { workers: { machineDeployments: [{ name: "a", class: "c", replicas: -1 }, { name: "b", class: "c" }] } },
    {
      workers: {
        machineDeployments: [{ name: "a", class: "c", strategy: { type: "OnDelete", rollingUpdate: { maxSurge: 1 } } }],
      },
    },
    {
      workers: {
        machineDeployments: [{
          name: "a",
          class: "c",
          strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "101%" } },
        }],
      },
    },
    {
      workers: {
        machineDeployments: [{
          name: "a",
          class: "c",
          strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: -1 } },
        }],
      },
    },
    { workers: { machineDeployments: [{ name: "a", class: "c", strategy: { rollingUpdate: {} } }] } },
    { unhealthyRange: "[1-3]" },
    { unhealthyRange: "1-3" },
    { version: "v1.30" },
    { version: "x" },
    { taints: [{ key: "node.cluster.example/uninitialized", effect: "NoSchedule" }] },
    { addons: ["a", "b"] },
    { files: [{ path: "a" }, { path: "b", content: "" }] },
    { files: [{ path: "b", content: "", contentFrom: {} }] },
    { days: 0 },
    { days: 4000 },
    { days: 365 },
    { labels: { a: "ok", b: "-no" } },
    { bootstrap: { dataSecretName: "d" } },
  ],
  updates: [
    [{}, { paused: true }],
    [{ controlPlaneEndpoint: { host: "" } }, { controlPlaneEndpoint: { host: "h", port: 1 } }],
    [{ controlPlaneEndpoint: { host: "h" } }, { controlPlaneEndpoint: { host: "h", port: 1 } }],
    [{ workers: { machineDeployments: [{ name: "a", class: "c" }, { name: "b", class: "d" }] } }, {
      workers: { machineDeployments: [{ name: "b", class: "c" }, { name: "a", class: "c", failureDomain: "f" }] },
    }],
    [{ version: "1.31.2" }, { version: "1.31.1" }],
    [{ version: "1.31.2" }, { version: "v1.31.10" }],
    [{ addons: ["a", "b"] }, { addons: ["b", "a"] }],
    [{ addons: ["a", "b"] }, { addons: ["a"] }],
    [{ taints: [{ key: "a", effect: "x" }] }, { taints: [{ key: "b", effect: "x" }] }],
  ],
};

const CERTIFICATE: RuledKind = {
  kind: "Certificate",
  spec: object(
    {
      secretName: ruled(text(253), "!format.dns1123Subdomain().validate(self).hasValue()"),
      dnsNames: ruled(list(text(253), 16), {
        rule: "self.all(d, !format.dns1123Subdomain().validate(d.startsWith('*.') ? d.substring(2) : d).hasValue())",
        message: "these are no names",
      }),
      ipAddresses: ruled(list(text(45), 16), "self.all(i, isIP(i))", "self.all(i, !isIP(i) || ip.isCanonical(i))"),
      uris: ruled(
        list(text(256), 16),
        "self.all(u, isURL(u))",
        "self.all(u, !isURL(u) || url(u).getScheme() in ['spiffe', 'https'])",
      ),
      duration: { type: "string", format: "duration" },
      renewBefore: { type: "string", format: "duration" },
      renewBeforePercentage: int,
      notAfter: { type: "string", format: "date-time" },
      notBefore: { type: "string", format: "date-time" },
      issuerRef: ruled(
        object({ name: text(), kind: text(63, { default: "Issuer" }) }, ["name"]),
        { rule: "self == oldSelf", messageExpression: "'issuer changed from ' + oldSelf.name + ' to ' + self.name" },
      ),
      privateKey: ruled(
        object({ algorithm: text(16, { default: "RSA" }), size: int, rotationPolicy: text(16) }),
        {
          rule: "!has(self.size) || self.algorithm != 'RSA' || self.size in [2048, 4096, 8192]",
          message: "wrong size for RSA",
        },
        {
          rule: "!has(self.size) || self.algorithm != 'ECDSA' || self.size in [256, 384, 521]",
          message: "wrong size for ECDSA",
        },
        { rule: "self.algorithm != 'Ed25519' || !has(self.size)", message: "Ed25519 has no size", fieldPath: ".size" },
      ),
      usages: ruled(
        list(text(32), 16, { "x-kubernetes-list-type": "set" }),
        { rule: "!('any' in self && self.size() > 1)", message: "any is exclusive" },
        { rule: "self.filter(u, u.endsWith(' auth')).size() <= 2" },
      ),
      keystores: object({
        jks: ruled(
          object({ create: bool, password: text(128), passwordSecretRef: object({ name: text() }) }),
          { rule: "!self.create || has(self.password) != has(self.passwordSecretRef)", message: "one password" },
        ),
      }),
      solvers: list(
        ruled(
          object({
            http01: object({ ingressClass: text() }),
            dns01: object({ provider: text() }),
            selector: map(text(), 4),
          }),
          { rule: "[has(self.http01), has(self.dns01)].filter(x, x).size() == 1", message: "exactly one solver" },
        ),
        8,
      ),
      acme: ruled(
        object({ server: text(512), email: text(254), disableKey: bool }),
        "url(self.server).getHostname().endsWith('.example') && url(self.server).getPort() in ['', '443']",
        "!has(self.email) || self.email.split('@').size() == 2",
      ),
      token: {
        type: "string",
        format: "byte",
        maxLength: 64,
        ...rules("size(self) >= 4", "string(self).startsWith('tok')"),
      },
    },
    ["secretName"],
    rules(
      { rule: "!(has(self.renewBefore) && has(self.renewBeforePercentage))", message: "one way to renew" },
      { rule: "!has(self.duration) || self.duration >= duration('1h')", message: "too short", fieldPath: ".duration" },
      {
        rule: "!has(self.duration) || !has(self.renewBefore) || self.renewBefore < self.duration",
        message: "renewed too early",
      },
      { rule: "!has(self.notAfter) || !has(self.notBefore) || self.notAfter - self.notBefore > duration('24h')" },
      { rule: "!has(self.notBefore) || self.notBefore.getFullYear() >= 2020" },
      {
        rule: "has(self.dnsNames) || has(self.ipAddresses) || has(self.uris)",
        message: "a name is needed",
        reason: "FieldValueRequired",
        fieldPath: ".dnsNames",
      },
    ),
  ),
  valid: { secretName: "s", dnsNames: ["a.b", "*.c"] },
  changes: [
    { secretName: "S" },
    { dnsNames: null },
    { dnsNames: ["a", "B"] },
    { ipAddresses: ["10.0.0.1", "::1", "x"] },
    { ipAddresses: ["0:0::1", "2001:DB8::1"] },
    { uris: ["spiffe://a/b", "https://x"] },
    { uris: ["a", "ftp://x"] },
    { duration: "59m", renewBefore: "2h" },
    { duration: "2h", renewBefore: "1h", renewBeforePercentage: 5 },
    { notBefore: "2024-01-01T00:00:00Z", notAfter: "2024-01-01T12:00:00+00:00" },
    { notBefore: "2019-01-01T00:00:00Z", notAfter: "2024-01-01T12:00:00.5Z" },
    { privateKey: { size: 1024 } },
    { privateKey: { algorithm: "ECDSA", size: 2048 } },
    { privateKey: { algorithm: "Ed25519", size: 1 } },
    { privateKey: { algorithm: "ECDSA", size: 256 } },
    { usages: ["any", "x"] },
    { usages: ["a auth", "b auth", "c auth"] },
    { keystores: { jks: { create: true } } },
    { keystores: { jks: { create: true, password: "p" } } },
    { keystores: { jks: {} } },
    { solvers: [{}, { http01: {} }, { http01: {}, dns01: {} }] },
    { acme: { server: "https://acme.example/dir", email: "a@b" } },
    { acme: { server: "https://acme.example:80/dir", email: "a" } },
    { acme: { server: "acme" } },
    { acme: {} },
    { token: "dG9rZW4=" },
    { token: "YWI=" },
  ],
  updates: [
    [{ issuerRef: { name: "a" } }, { issuerRef: { name: "b" } }],
    [{ issuerRef: { name: "a" } }, { issuerRef: { name: "a", kind: "Issuer" } }],
    [{}, { issuerRef: { name: "a" } }],
  ],
};

const RESOURCE_RULE =
  "!('*' in self.managementPolicies || 'Create' in self.managementPolicies || 'Update' in self.managementPolicies) || has(self.forProvider.region) || (has(self.initProvider) && has(self.initProvider.region))";

const COMPOSITE: RuledKind = {
  kind: "Composite",
  spec: object(
    {
      group: text(253),
      names: object({ plural: text(), kind: text() }),
      claimNames: object({ plural: text(), kind: text() }),
      scope: ruled(text(16, { default: "Namespaced" }), { rule: "self == oldSelf", message: "scope is immutable" }),
      versions: ruled(
        mapList(object({ name: text(), referenceable: bool, served: bool }, ["name"]), 8, "name"),
        {
          rule: "self.size() == 0 || self.exists_one(v, has(v.referenceable) && v.referenceable)",
          message: "one version is referenceable",
        },
        { rule: "self.all(v, v.name.matches('^v[0-9]+((alpha|beta)[0-9]+)?$'))" },
      ),
      mode: text(16, { enum: ["Resources", "Pipeline"], default: "Pipeline" }),
      pipeline: ruled(
        mapList(
          object({
            step: text(),
            functionRef: object({ name: text() }),
            input: {
              type: "object",
              "x-kubernetes-preserve-unknown-fields": true,
              "x-kubernetes-embedded-resource": true,
              ...rules(
                "self.kind != 'Secret'",
                "self.apiVersion.contains('/')",
                "!has(self.metadata.name) || self.metadata.name != 'x'",
              ),
            },
          }, ["step"]),
          16,
          "step",
        ),
        { rule: "self.map(s, s.step).all(n, !n.contains(' '))", message: "no blanks in steps" },
      ),
      compositeTypeRef: ruled(object({ apiVersion: text(), kind: text() }), {
        rule: "self == oldSelf",
        message: "Value is immutable",
      }),
      managementPolicies: list(text(16, { enum: ["*", "Create", "Update", "Observe"] }), 4, { default: ["*"] }),
      forProvider: object({ region: text(), size: int }),
      initProvider: object({ region: text() }),
      connectionDetails: list(
        ruled(
          object({ type: text(32), name: text(), fromFieldPath: text(), value: text() }, ["type"]),
          {
            rule: "self.type == 'FromFieldPath' ? has(self.fromFieldPath) : true",
            reason: "FieldValueRequired",
            fieldPath: ".fromFieldPath",
            message: "a path is needed",
          },
          {
            rule: "self.type == 'FromValue' ? has(self.value) : !has(self.value)",
            message: "value is for FromValue",
            reason: "FieldValueForbidden",
            fieldPath: ".value",
          },
        ),
        8,
      ),
      of: object(
        { resourceRef: object({ name: text() }), resourceSelector: object({ matchLabels: map(text(), 4) }) },
        [],
        rules({
          rule: "has(self.resourceRef) || has(self.resourceSelector)",
          message: "a reference or a selector is needed",
        }),
      ),
      by: object({ kind: text() }),
      reason: text(256),
      patches: list(
        ruled(
          object({
            type: text(32, { default: "FromCompositeFieldPath" }),
            fromFieldPath: text(),
            patchSetName: text(),
            transforms: list(
              object(
                { type: text(16), math: object({ multiply: int }), map: map(text(), 8) },
                ["type"],
                rules({ rule: "self.type == 'math' ? has(self.math) : self.type == 'map' ? has(self.map) : true" }),
              ),
              4,
            ),
          }),
          { rule: "self.type != 'PatchSet' || has(self.patchSetName)" },
          { rule: "!has(self.transforms) || self.transforms.size() == 0 || has(self.fromFieldPath)" },
        ),
        8,
      ),
      package: ruled(text(256), {
        rule: "self.matches('^[a-z0-9./_-]+(:[0-9]+)?/[a-z0-9./_-]+(:[A-Za-z0-9_.-]+|@sha256:[a-f0-9]{64})?$')",
        message: "no image",
      }),
      env: ruled(map(text(64), 8), { rule: "self.all(k, v, k != v)", message: "a name is its value" }, {
        rule: "self.transformList(k, v, k + '=' + v).all(e, e.size() < 10)",
      }),
      maybe: text(16, { nullable: true }),
      "dashed-name": ruled(
        object({ "a.b/c": text(8), "in": text(8) }),
        "self.a__dot__b__slash__c == 'x' || self.__in__ == 'y'",
      ),
    },
    [],
    rules(
      {
        rule: RESOURCE_RULE,
        message: "region is needed",
        fieldPath: ".forProvider.region",
        reason: "FieldValueRequired",
      },
      { rule: "self.mode != 'Pipeline' || !has(self.of) || has(self.pipeline)" },
      { rule: "!has(self.of) || has(self.by) || has(self.reason)", message: "by or reason is needed" },
      {
        rule: "!has(self.claimNames) || !has(self.names) || self.claimNames.kind != self.names.kind",
      },
      { rule: "!has(self.maybe) || self.maybe != 'none'" },
      { rule: "self.?forProvider.?size.orValue(1) > 0", message: "the size is 0" },
    ),
  ),
  rules: [
    {
      rule: "!has(self.spec.group) || self.metadata.name == self.spec.names.plural + '.' + self.spec.group",
      message: "the name is plural.group",
    },
    { rule: "self.metadata.name.size() <= 40", fieldPath: ".spec.names['plural']" },
  ].slice(0, 1),
  valid: { forProvider: { region: "r" } },
  changes: [
    { group: "g", names: { plural: "n" } },
    { group: "g" },
    { names: { plural: "n", kind: "K" }, claimNames: { kind: "K" } },
    { names: { plural: "n", kind: "K" }, claimNames: { plural: "n", kind: "K" } },
    { names: { plural: "n", kind: "K" }, claimNames: { kind: "L" } },
    { versions: [{ name: "v1" }] },
    { versions: [{ name: "v1", referenceable: true }, { name: "v1beta1", referenceable: false }] },
    { versions: [{ name: "x", referenceable: true }, { name: "v1beta1", referenceable: true }] },
    { versions: [] },
    { pipeline: [{ step: "a b" }] },
    { pipeline: [{ step: "a", input: { apiVersion: "v1", kind: "Secret", metadata: { name: "x" }, data: { q: 1 } } }] },
    { pipeline: [{ step: "a", input: { apiVersion: "a/v1", kind: "Input" } }] },
    { managementPolicies: ["Observe"], forProvider: null },
    { managementPolicies: ["Create"], forProvider: { region: null } },
    { forProvider: null },
    { forProvider: { region: null }, initProvider: { region: "i" } },
    { forProvider: { size: 0 } },
    { connectionDetails: [{ type: "FromFieldPath" }, { type: "FromValue" }, { type: "Other", value: "v" }] },
    { connectionDetails: [{ type: "FromFieldPath", fromFieldPath: "f" }, { type: "FromValue", value: "v" }] },
    { of: {} },
    { of: { resourceRef: {} }, reason: "r" },
    { of: { resourceRef: {} }, reason: "r", mode: "Resources" },
    { of: { resourceSelector: {} }, by: {}, pipeline: [] },
    { patches: [{ type: "PatchSet" }, { transforms: [{ type: "math" }] }, { transforms: [] }] },
    {
      patches: [{ type: "PatchSet", patchSetName: "p" }, {
        fromFieldPath: "f",
        transforms: [{ type: "map", map: {} }],
      }],
    },
    { package: "xpkg.example:443/a/b:v1" },
    { package: "b" },
    { env: { a: "b", c: "d" } },
    { env: { a: "a" } },
    { env: { a: "123456789" } },
    { maybe: null },
    { maybe: "none" },
    { "dashed-name": { "a.b/c": "x" } },
    { "dashed-name": { "a.b/c": "z", "in": "y" } },
    { "dashed-name": { "a.b/c": "z" } },
  ],
  updates: [
    [{}, { scope: "Cluster" }],
    [{ compositeTypeRef: { kind: "a" } }, { compositeTypeRef: { kind: "b" } }],
    [{ compositeTypeRef: { kind: "a" } }, { compositeTypeRef: { kind: "a", apiVersion: "v1" } }],
    [{ compositeTypeRef: { kind: "a" } }, { reason: "r" }],
  ],
};

/** Kinds with rules like the rules in public CRDs. */
export const RULED_KINDS: readonly RuledKind[] = [GATEWAY, ROUTE, POOL, CLUSTER, CERTIFICATE, COMPOSITE];

/** Returns the schema of a kind's objects. */
export function schemaOfRuled({ spec, rules: whole }: RuledKind): JsonObject {
  return object({ spec }, ["spec"], whole === undefined ? {} : rules(...whole));
}
