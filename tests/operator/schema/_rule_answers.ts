/**
 * The answers of kube-apiserver 1.37.2: field and reason of the causes by what was sent.
 *
 * {@linkcode ANSWERS} is the entry point. `tests/cluster/rules_test.ts` compares a server with what is computed.
 *
 * @module
 */

/** Causes, each as `"field: reason"`. The keys are the keys of `RULE_SCHEMAS`, and changes of `RULED_KINDS`. */
export const ANSWERS: Readonly<Record<string, readonly string[]>> = {
  "self.nope == 1": [
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: FieldValueInvalid",
  ],
  "self.text": ["spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: FieldValueInvalid"],
  "self.number + 'a' == 'b'": [
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: FieldValueInvalid",
  ],
  "1 +": ["spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: FieldValueInvalid"],
  "self.text.matches('[')": [
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: FieldValueInvalid",
  ],
  "self.text.matches('(?=a)')": [
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: FieldValueInvalid",
  ],
  "has(self.nope)": [
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: FieldValueInvalid",
  ],
  "has(self.open)": [
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: FieldValueInvalid",
  ],
  "self.object == self.other": [
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: FieldValueInvalid",
  ],
  "self.port > 5": [],
  "self.text == null": [
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: FieldValueInvalid",
  ],
  "unknown(self.text)": [
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: FieldValueInvalid",
  ],
  "self.text.unknown()": [
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: FieldValueInvalid",
  ],
  "self.list.all(x, x > 5)": [
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: FieldValueInvalid",
  ],
  "self.list.all(x, y)": [
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: FieldValueInvalid",
  ],
  "[1, 'a'].size() > 0": [
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: FieldValueInvalid",
  ],
  "duration('1x') > duration('1s')": [
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: FieldValueInvalid",
  ],
  "timestamp('x') > timestamp('2024-01-01T00:00:00Z')": [
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: FieldValueInvalid",
  ],
  "int('x') == 1": [
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: FieldValueInvalid",
  ],
  "'%d'.format(['a', 'b']) == ''": [
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: FieldValueInvalid",
  ],
  "self.list.all(x, self.list.all(y, x == y))": [
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: FieldValueForbidden",
    "spec.validation.openAPIV3Schema: FieldValueForbidden",
  ],
  "self.text.contains(self.text)": [
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: FieldValueForbidden",
    "spec.validation.openAPIV3Schema: FieldValueForbidden",
  ],
  "self.text.matches('a.*b')": [],
  "self.list.all(x, x.matches('^a+$'))": [
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: FieldValueForbidden",
    "spec.validation.openAPIV3Schema: FieldValueForbidden",
  ],
  "self.names.all(x, self.names.all(y, x == y))": [],
  "self.items.all(x, self.items.exists_one(y, x == y))": [],
  "self.items.all(x, self.items.all(y, self.items.all(z, x.name == y.name && y.name == z.name)))": [
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: FieldValueForbidden",
  ],
  "self.map.all(k, self.map[k] != '')": [],
  "self.sizes.all(k, isQuantity(string(self.sizes[k])))": [],
  "self.sizes.all(k, type(self.sizes[k]) == int || quantity(self.sizes[k]).isGreaterThan(quantity('1')))": [],
  "self.text + self.text != 'x'": [],
  "self.map.size() > 0 && self.list.size() > 0": [],
  "self.text.split(',').all(p, p.size() > 0)": [
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: FieldValueForbidden",
  ],
  "self.names.map(n, n.split('.')).all(p, p.size() < 5)": [],
  "self.names.join(',').size() < 50": [],
  "self.names.map(n, n + n).all(p, p.matches('^a'))": [],
  "sets.contains(self.list, self.list)": [
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: FieldValueForbidden",
    "spec.validation.openAPIV3Schema: FieldValueForbidden",
  ],
  "self.list == self.list": [],
  "self.map == self.map": [],
  "'a' in self.list": [],
  "!('a' in self.sizes) || quantity(self.sizes.a).isGreaterThan(quantity('0'))": [
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: FieldValueForbidden",
    "spec.validation.openAPIV3Schema: FieldValueForbidden",
  ],
  "!('a' in self.sizes) || quantity(self.sizes['a']).isGreaterThan(quantity('0'))": [],
  "self.text.replace('a', 'bbbb').contains('c')": [],
  "self.text.find('[0-9]+') == ''": [],
  "isIP(self.text) && isURL(self.text)": [],
  "cel.bind(x, self.text, x == '')": [
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: FieldValueInvalid",
  ],
  "math.greatest(1, 2) == 2": [
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: FieldValueInvalid",
  ],
  "self.names.sort() == self.names": [],
  "self.names.includes('a')": [
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: FieldValueInvalid",
  ],
  "self.text.reverse() == ''": [
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: FieldValueInvalid",
  ],
  "self.?text.orValue('') == '' && self.?nope.hasValue()": [
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: FieldValueInvalid",
  ],
  "oldSelf.number <= self.number": [],
  "self.kind == 'a' && self.short.size() > 2": [],
  "string(self.number) + self.short == ''": [
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: FieldValueForbidden",
    "spec.validation.openAPIV3Schema: FieldValueForbidden",
  ],
  "self.short.upperAscii() == self.kind": [],
  "no rule": ["spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: FieldValueRequired"],
  "an empty message": [
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].message: FieldValueInvalid",
  ],
  "a message of two lines": [
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].message: FieldValueInvalid",
  ],
  "a rule of two lines without a message": [
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].message: FieldValueRequired",
  ],
  "a rule of two lines": [],
  "an empty messageExpression": [
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].messageExpression: FieldValueRequired",
  ],
  "a messageExpression of another type": [
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].messageExpression: FieldValueInvalid",
  ],
  "a messageExpression with an unknown field": [
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].messageExpression: FieldValueInvalid",
  ],
  "an expensive messageExpression": [],
  "a messageExpression with the text of a number": [
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].messageExpression: FieldValueForbidden",
    "spec.validation.openAPIV3Schema: FieldValueForbidden",
  ],
  "an unknown reason": [
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].reason: FieldValueNotSupported",
  ],
  "a reason": [],
  "an unknown fieldPath": [
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].fieldPath: FieldValueInvalid",
  ],
  "a fieldPath without a point": [
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].fieldPath: FieldValueInvalid",
  ],
  "a fieldPath with an index": [
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].fieldPath: FieldValueInvalid",
  ],
  "a fieldPath with a key": [],
  "a fieldPath below a key": [
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].fieldPath: FieldValueInvalid",
  ],
  "a blank fieldPath": [
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].fieldPath: FieldValueInvalid",
  ],
  "oldSelf in an atomic list": [
    "spec.validation.openAPIV3Schema.properties[spec].properties[list].items.x-kubernetes-validations[0].rule: FieldValueInvalid",
  ],
  "oldSelf in a map": [],
  "optionalOldSelf without oldSelf": [
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].optionalOldSelf: FieldValueInvalid",
  ],
  "optionalOldSelf: false without oldSelf": [
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].optionalOldSelf: FieldValueInvalid",
  ],
  "optionalOldSelf": [],
  "oldSelf that is optional and read": [
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].optionalOldSelf: FieldValueInvalid",
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: FieldValueInvalid",
  ],
  "oldSelf that is optional and compared": [
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].optionalOldSelf: FieldValueInvalid",
    "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: FieldValueInvalid",
  ],
  "a rule in a list without maxItems": [],
  "a cheap rule in a list without maxItems": [],
  "a rule in a list": [],
  "a text below a map": [
    "spec.validation.openAPIV3Schema.properties[spec].properties[map].additionalProperties.x-kubernetes-validations[0].rule: FieldValueForbidden",
    "spec.validation.openAPIV3Schema: FieldValueForbidden",
  ],
  "a text below a bounded map": [],
  "a name that rules cannot say": [],
  "a rule of unknown fields": [
    "spec.validation.openAPIV3Schema.properties[spec].properties[open].x-kubernetes-validations: InternalError",
  ],
  "a rule of an object with unknown fields": [],
  "many rules near the limit": [],
  "an embedded object": [
    "spec.validation.openAPIV3Schema.properties[spec].properties[object].x-kubernetes-validations[0].rule: FieldValueInvalid",
  ],
  "Gateway {}": [],
  'Gateway {"listeners":[{"name":"a","port":80,"protocol":"HTTP","tls":{"options":{"a":"b"}}}]}': [
    "spec.listeners: FieldValueInvalid",
  ],
  'Gateway {"listeners":[{"name":"a","port":443,"protocol":"HTTPS","tls":{"mode":"Passthrough"}}]}': [
    "spec.listeners: FieldValueInvalid",
  ],
  'Gateway {"listeners":[{"name":"a","port":443,"protocol":"HTTPS","tls":{"options":{}}}]}': [
    "spec.listeners[0].tls: FieldValueInvalid",
  ],
  'Gateway {"listeners":[{"name":"a","port":443,"protocol":"HTTPS","tls":{"certificateRefs":[{"name":"c"}]}}]}': [],
  'Gateway {"listeners":[{"name":"a","port":443,"protocol":"TLS"}]}': ["spec.listeners: FieldValueInvalid"],
  'Gateway {"listeners":[{"name":"a","port":443,"protocol":"TCP","hostname":"h"},{"name":"b","port":443,"protocol":"UDP"}]}':
    ["spec.listeners: FieldValueInvalid"],
  'Gateway {"listeners":[{"name":"a","port":80,"protocol":"HTTP"},{"name":"b","port":80,"protocol":"HTTP"}]}': [
    "spec.listeners: FieldValueDuplicate",
  ],
  'Gateway {"listeners":[{"name":"a","port":80,"protocol":"HTTP","hostname":"x"},{"name":"b","port":80,"protocol":"HTTP"}]}':
    [],
  'Gateway {"listeners":[{"name":"a","port":80,"protocol":"HTTP","hostname":"x"},{"name":"b","port":80,"protocol":"HTTP","hostname":"x"},{"name":"c","port":81,"protocol":"TLS"}]}':
    ["spec.listeners: FieldValueDuplicate", "spec.listeners: FieldValueInvalid"],
  'Gateway {"addresses":[{"value":"10.0.0.1"},{"value":"10.0.0.1"}]}': ["spec.addresses: FieldValueInvalid"],
  'Gateway {"addresses":[{"value":"10.0.0.1"},{"value":"::1"},{"type":"Hostname","value":"*.a.b"}]}': [],
  'Gateway {"addresses":[{"type":"Hostname","value":"A_b"},{"type":"Hostname","value":"x"},{"type":"Hostname","value":"x"}]}':
    ["spec.addresses: FieldValueInvalid", "spec.addresses[0]: FieldValueInvalid"],
  'Gateway {"addresses":[{"value":"10.0.0.256"},{"value":"010.0.0.1"},{"value":"::ffff:1.2.3.4"},{"type":"Other","value":"?"}]}':
    [
      "spec.addresses[0]: FieldValueInvalid",
      "spec.addresses[1]: FieldValueInvalid",
      "spec.addresses[2]: FieldValueInvalid",
    ],
  'Gateway {"addresses":[{},{"type":"Hostname"}]}': [],
  'Gateway [{},{"gatewayClassName":"d"}]': ["spec.gatewayClassName: FieldValueInvalid"],
  'Gateway [{},{"addresses":[{"value":"10.0.0.1"}]}]': [],
  'Gateway [{"addresses":[{"value":"10.0.0.1"}]},{"addresses":[{"value":"x"}]}]': [
    "spec.addresses[0]: FieldValueInvalid",
  ],
  "Route {}": [],
  'Route {"rules":[{"matches":[{"path":{"value":"a"}}]}]}': ["spec.rules[0].matches[0].path: FieldValueInvalid"],
  'Route {"rules":[{"matches":[{"path":{"value":"/a//b"}}]}]}': ["spec.rules[0].matches[0].path: FieldValueInvalid"],
  'Route {"rules":[{"matches":[{"path":{"value":"/./x"}}]}]}': ["spec.rules[0].matches[0].path: FieldValueInvalid"],
  'Route {"rules":[{"matches":[{"path":{"value":"/../x"}}]}]}': ["spec.rules[0].matches[0].path: FieldValueInvalid"],
  'Route {"rules":[{"matches":[{"path":{"value":"/%2f"}}]}]}': ["spec.rules[0].matches[0].path: FieldValueInvalid"],
  'Route {"rules":[{"matches":[{"path":{"value":"/%2F"}}]}]}': ["spec.rules[0].matches[0].path: FieldValueInvalid"],
  'Route {"rules":[{"matches":[{"path":{"value":"/#"}}]}]}': ["spec.rules[0].matches[0].path: FieldValueInvalid"],
  'Route {"rules":[{"matches":[{"path":{"value":"/x/.."}}]}]}': ["spec.rules[0].matches[0].path: FieldValueInvalid"],
  'Route {"rules":[{"matches":[{"path":{"value":"/x/."}}]}]}': ["spec.rules[0].matches[0].path: FieldValueInvalid"],
  'Route {"rules":[{"matches":[{"path":{"value":"/["}}]}]}': ["spec.rules[0].matches[0].path: FieldValueInvalid"],
  'Route {"rules":[{"matches":[{"path":{"value":"/ok%20"}}]}]}': [],
  'Route {"rules":[{"matches":[{"path":{"value":"/é"}}]}]}': ["spec.rules[0].matches[0].path: FieldValueInvalid"],
  'Route {"rules":[{"matches":[{"path":{"type":"Other","value":"x"}},{"path":{"type":"RegularExpression","value":"//"}}]}]}':
    ["spec.rules[0].matches[0].path.type: FieldValueInvalid"],
  'Route {"rules":[{"filters":[{"type":"URLRewrite"},{"type":"Other","requestRedirect":{},"requestHeaderModifier":{}}]}]}':
    [
      "spec.rules[0].filters[0].urlRewrite: FieldValueRequired",
      "spec.rules[0].filters[1].requestHeaderModifier: FieldValueInvalid",
      "spec.rules[0].filters[1].requestRedirect: FieldValueInvalid",
    ],
  'Route {"rules":[{"filters":[{"type":"URLRewrite","urlRewrite":{}},{"type":"RequestRedirect","requestRedirect":{}}]}]}':
    ["spec.rules[0].filters: FieldValueInvalid"],
  'Route {"rules":[{"filters":[{"type":"RequestHeaderModifier","requestHeaderModifier":{}},{"type":"RequestHeaderModifier","requestHeaderModifier":{}}]}]}':
    ["spec.rules[0].filters: FieldValueInvalid"],
  'Route {"rules":[{"filters":[{"type":"RequestRedirect","requestRedirect":{"path":{"type":"ReplaceFullPath"}}}]}]}': [
    "spec.rules[0].filters[0].requestRedirect.path: FieldValueInvalid",
  ],
  'Route {"rules":[{"filters":[{"type":"RequestRedirect","requestRedirect":{"path":{"type":"X","replaceFullPath":"a","replacePrefixMatch":"b"}}}]}]}':
    ["spec.rules[0].filters[0].requestRedirect.path: FieldValueInvalid"],
  'Route {"rules":[{"matches":[{"path":{"type":"Exact"}}],"filters":[{"type":"RequestRedirect","requestRedirect":{"path":{"type":"ReplacePrefixMatch","replacePrefixMatch":"/"}}}]}]}':
    ["spec.rules[0]: FieldValueInvalid"],
  'Route {"rules":[{"filters":[{"type":"RequestRedirect","requestRedirect":{"path":{"type":"ReplacePrefixMatch","replacePrefixMatch":"/"}}}]}]}':
    [],
  'Route {"rules":[{"backendRefs":[{"name":"s"},{"name":"o","kind":"Other"}]}]}': [
    "spec.rules[0].backendRefs[0]: FieldValueInvalid",
  ],
  'Route {"rules":[{"backendRefs":[{"name":"s","port":1}],"filters":[{"type":"RequestRedirect","requestRedirect":{}}]}]}':
    ["spec.rules[0]: FieldValueInvalid"],
  'Route {"rules":[{"timeouts":{"request":"1s","backendRequest":"2s"}}]}': [
    "spec.rules[0].timeouts: FieldValueInvalid",
  ],
  'Route {"rules":[{"timeouts":{"request":"0s","backendRequest":"2s"}},{"timeouts":{"request":"1m","backendRequest":"60s"}}]}':
    [],
  'Route {"rules":[{"timeouts":{"request":"never","backendRequest":"2s"}}]}': [
    "spec.rules[0].timeouts: FieldValueInvalid",
  ],
  'Route {"rules":[{"sessionPersistence":{"cookieConfig":{"lifetimeType":"Permanent"}}}]}': [
    "spec.rules[0].sessionPersistence: FieldValueInvalid",
  ],
  'Route {"rules":[{"matches":[{},{},{},{},{}]},{"matches":[{},{},{},{}]}]}': ["spec.rules: FieldValueInvalid"],
  'Route {"parentRefs":[{"name":"a"},{"name":"a"}]}': ["spec.parentRefs: FieldValueInvalid"],
  'Route {"parentRefs":[{"name":"a"},{"name":"a","sectionName":"s"}]}': ["spec.parentRefs: FieldValueInvalid"],
  'Route {"parentRefs":[{"name":"a","sectionName":"t"},{"name":"a","sectionName":"s"},{"name":"b"}]}': [],
  'Route {"tlsPolicy":{}}': ["spec.tlsPolicy: FieldValueInvalid"],
  'Route {"tlsPolicy":{"wellKnown":"System","caCertificateRefs":[{"name":"c"}]}}': [
    "spec.tlsPolicy: FieldValueInvalid",
  ],
  'Route {"tlsPolicy":{"wellKnown":"System","caCertificateRefs":[]}}': [],
  'Route [{},{"tlsPolicy":{"hostname":"h"}}]': ["spec.tlsPolicy: FieldValueInvalid"],
  'Route [{},{"rules":[{"backendRefs":[{"name":"s"}]}]}]': ["spec.rules[0].backendRefs[0]: FieldValueInvalid"],
  "Pool {}": [],
  'Pool {"role":null}': ["spec: FieldValueInvalid"],
  'Pool {"role":""}': ["spec.role: FieldValueInvalid"],
  'Pool {"instanceProfile":"p"}': ["spec: FieldValueInvalid"],
  'Pool {"role":null,"instanceProfile":"p"}': [],
  'Pool {"requirements":[{"key":"kubernetes.io/arch","operator":"In","values":["a"]},{"key":"x.kubernetes.io/y","operator":"In","values":[]}]}':
    ["spec.requirements: FieldValueInvalid", "spec.requirements[1].key: FieldValueInvalid"],
  'Pool {"requirements":[{"key":"node.kubernetes.io/y","operator":"Gt","values":["1"]},{"key":"a.k8s.io/y","operator":"Lt","values":["-1"]}]}':
    ["spec.requirements: FieldValueInvalid", "spec.requirements[1].key: FieldValueInvalid"],
  'Pool {"requirements":[{"key":"karpenter.example/nodepool","operator":"Gt","values":["x"]}]}': [
    "spec.requirements: FieldValueInvalid",
    "spec.requirements[0].key: FieldValueInvalid",
  ],
  'Pool {"requirements":[{"key":"a","operator":"In","values":["x"],"minValues":2}]}': [
    "spec.requirements: FieldValueInvalid",
  ],
  'Pool {"requirements":[{"key":"a","operator":"In"}]}': ["spec.requirements: FieldValueInvalid"],
  'Pool {"requirements":[{"key":"a","operator":"Exists"}]}': [],
  'Pool {"labels":{"kubernetes.io/hostname":"a"}}': [
    "spec.labels.[kubernetes.io/hostname]: FieldValueInvalid",
    "spec.labels: FieldValueInvalid",
  ],
  'Pool {"labels":{"aws:x":"a","a/b":"c"}}': ["spec.labels: FieldValueInvalid"],
  'Pool {"labels":{"x":""}}': ["spec.labels: FieldValueInvalid"],
  'Pool {"nodeClassRef":{"group":""}}': ["spec.nodeClassRef: FieldValueInvalid"],
  'Pool {"nodeClassRef":{}}': ["spec.nodeClassRef: FieldValueInvalid"],
  'Pool {"budgets":[{"schedule":"* * * * *"},{"nodes":"101%"}]}': ["spec.budgets: FieldValueInvalid"],
  'Pool {"budgets":[{"nodes":"10%"},{"nodes":"5","schedule":"@daily","duration":"1h"}]}': [],
  'Pool {"limits":{"cpu":"0","memory":"1Gi"}}': ["spec.limits: FieldValueInvalid"],
  'Pool {"limits":{"cpu":4,"memory":"1Zi"}}': ["spec.limits: FieldValueInvalid"],
  'Pool {"limits":{"cpu":"100m"}}': [],
  'Pool {"amiSelectorTerms":[{}]}': ["spec.amiSelectorTerms: FieldValueInvalid", "spec: FieldValueInvalid"],
  'Pool {"amiSelectorTerms":[{"id":"a","name":"b"}],"amiFamily":"f"}': ["spec.amiSelectorTerms: FieldValueInvalid"],
  'Pool {"amiSelectorTerms":[{"alias":"al2@latest"},{"id":"b"}]}': ["spec.amiSelectorTerms: FieldValueInvalid"],
  'Pool {"amiSelectorTerms":[{"alias":"al2@latest"}]}': [],
  'Pool {"amiSelectorTerms":[{"alias":"al2"}]}': ["spec.amiSelectorTerms[0].alias: FieldValueInvalid"],
  'Pool {"amiSelectorTerms":[{"alias":"windows2022@1"}]}': ["spec.amiSelectorTerms[0].alias: FieldValueInvalid"],
  'Pool {"amiSelectorTerms":[{"alias":"nope@1"}]}': ["spec.amiSelectorTerms[0].alias: FieldValueInvalid"],
  'Pool {"amiSelectorTerms":[{"tags":{"a":""}}]}': [
    "spec.amiSelectorTerms[0].tags: FieldValueInvalid",
    "spec: FieldValueInvalid",
  ],
  'Pool {"blockDeviceMappings":[{"rootVolume":true},{"rootVolume":true,"ebs":{}}]}': [
    "spec.blockDeviceMappings: FieldValueInvalid",
    "spec.blockDeviceMappings[1].ebs: FieldValueInvalid",
  ],
  'Pool {"blockDeviceMappings":[{"rootVolume":true},{"rootVolume":false,"ebs":{"volumeSize":"1Gi"}}]}': [],
  'Pool {"kubelet":{"imageGCHigh":5,"imageGCLow":5}}': ["spec.kubelet: FieldValueInvalid"],
  'Pool {"kubelet":{"evictionSoft":{"memory.available":"5%"},"evictionSoftGracePeriod":{"memory.available":"1m"}}}': [],
  'Pool {"kubelet":{"evictionSoft":{"x":"5%"},"evictionSoftGracePeriod":{}}}': [
    "spec.kubelet.evictionSoft: FieldValueInvalid",
    "spec.kubelet: FieldValueInvalid",
  ],
  'Pool {"kubelet":{"evictionSoft":{"pid.available":"5%"}}}': ["spec.kubelet: FieldValueInvalid"],
  'Pool {"kubelet":{"evictionSoftGracePeriod":{"pid.available":"5%"}}}': ["spec.kubelet: FieldValueInvalid"],
  'Pool [{},{"role":null,"instanceProfile":"p"}]': ["spec: FieldValueInvalid"],
  'Pool [{},{"role":"other"}]': [],
  'Pool [{"nodeClassRef":{"group":"a","kind":"b"}},{"nodeClassRef":{"group":"c","kind":"d"}}]': [
    "spec.nodeClassRef.kind: FieldValueForbidden",
    "spec.nodeClassRef: FieldValueInvalid",
  ],
  'Pool [{"nodeClassRef":{"group":"a"}},{"nodeClassRef":{"group":"a","kind":"d"}}]': [
    "spec.nodeClassRef: FieldValueInvalid",
  ],
  'Pool [{},{"nodeClassRef":{"group":"a"}}]': [],
  "Topology {}": [],
  'Topology {"clusterNetwork":{"pods":{"cidrBlocks":["10.0.0.0/8","x","10.0.0.0/30"]},"apiServerPort":0}}': [
    "spec.clusterNetwork.apiServerPort: FieldValueInvalid",
    "spec.clusterNetwork.pods.cidrBlocks: FieldValueInvalid",
  ],
  'Topology {"clusterNetwork":{"pods":{"cidrBlocks":["10.0.0.0/8","fd00::/8"]},"apiServerPort":6443}}': [],
  'Topology {"paused":true}': ["spec: FieldValueInvalid"],
  'Topology {"variables":[{"name":"builtin"},{"name":"x","value":{"y":1}}]}': [
    "spec.variables[0].name: FieldValueInvalid",
  ],
  'Topology {"workers":{"machineDeployments":[{"name":"a","class":"c","replicas":-1},{"name":"b","class":"c"}]}}': [
    "spec.workers.machineDeployments[0]: FieldValueInvalid",
  ],
  'Topology {"workers":{"machineDeployments":[{"name":"a","class":"c","strategy":{"type":"OnDelete","rollingUpdate":{"maxSurge":1}}}]}}':
    ["spec.workers.machineDeployments[0].strategy: FieldValueInvalid"],
  'Topology {"workers":{"machineDeployments":[{"name":"a","class":"c","strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":"101%"}}}]}}':
    ["spec.workers.machineDeployments[0].strategy: FieldValueInvalid"],
  'Topology {"workers":{"machineDeployments":[{"name":"a","class":"c","strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":-1}}}]}}':
    ["spec.workers.machineDeployments[0].strategy: FieldValueInvalid"],
  'Topology {"workers":{"machineDeployments":[{"name":"a","class":"c","strategy":{"rollingUpdate":{}}}]}}': [
    "spec.workers.machineDeployments[0].strategy: FieldValueInvalid",
  ],
  'Topology {"unhealthyRange":"[1-3]"}': [],
  'Topology {"unhealthyRange":"1-3"}': ["spec.unhealthyRange: FieldValueInvalid"],
  'Topology {"version":"v1.30"}': [],
  'Topology {"version":"x"}': ["spec.version: FieldValueInvalid"],
  'Topology {"taints":[{"key":"node.cluster.example/uninitialized","effect":"NoSchedule"}]}': [
    "spec.taints: FieldValueInvalid",
  ],
  'Topology {"addons":["a","b"]}': [],
  'Topology {"files":[{"path":"a"},{"path":"b","content":""}]}': ["spec.files: FieldValueInvalid"],
  'Topology {"files":[{"path":"b","content":"","contentFrom":{}}]}': ["spec.files: FieldValueInvalid"],
  'Topology {"days":0}': ["spec.days: FieldValueInvalid"],
  'Topology {"days":4000}': ["spec.days: FieldValueInvalid"],
  'Topology {"days":365}': [],
  'Topology {"labels":{"a":"ok","b":"-no"}}': ["spec.labels[b]: FieldValueInvalid"],
  'Topology {"bootstrap":{"dataSecretName":"d"}}': [],
  'Topology [{},{"paused":true}]': [],
  'Topology [{"controlPlaneEndpoint":{"host":""}},{"controlPlaneEndpoint":{"host":"h","port":1}}]': [],
  'Topology [{"controlPlaneEndpoint":{"host":"h"}},{"controlPlaneEndpoint":{"host":"h","port":1}}]': [
    "spec.controlPlaneEndpoint: FieldValueForbidden",
  ],
  'Topology [{"workers":{"machineDeployments":[{"name":"a","class":"c"},{"name":"b","class":"d"}]}},{"workers":{"machineDeployments":[{"name":"b","class":"c"},{"name":"a","class":"c","failureDomain":"f"}]}}]':
    [
      "spec.workers.machineDeployments: FieldValueInvalid",
      "spec.workers.machineDeployments[0].class: FieldValueInvalid",
    ],
  'Topology [{"version":"1.31.2"},{"version":"1.31.1"}]': ["spec.version: FieldValueInvalid"],
  'Topology [{"version":"1.31.2"},{"version":"v1.31.10"}]': [],
  'Topology [{"addons":["a","b"]},{"addons":["b","a"]}]': [],
  'Topology [{"addons":["a","b"]},{"addons":["a"]}]': ["spec.addons: FieldValueInvalid"],
  'Topology [{"taints":[{"key":"a","effect":"x"}]},{"taints":[{"key":"b","effect":"x"}]}]': [
    "spec.taints: FieldValueInvalid",
  ],
  "Certificate {}": [],
  'Certificate {"secretName":"S"}': ["spec.secretName: FieldValueInvalid"],
  'Certificate {"dnsNames":null}': ["spec.dnsNames: FieldValueRequired"],
  'Certificate {"dnsNames":["a","B"]}': ["spec.dnsNames: FieldValueInvalid"],
  'Certificate {"ipAddresses":["10.0.0.1","::1","x"]}': ["spec.ipAddresses: FieldValueInvalid"],
  'Certificate {"ipAddresses":["0:0::1","2001:DB8::1"]}': ["spec.ipAddresses: FieldValueInvalid"],
  'Certificate {"uris":["spiffe://a/b","https://x"]}': [],
  'Certificate {"uris":["a","ftp://x"]}': ["spec.uris: FieldValueInvalid"],
  'Certificate {"duration":"59m","renewBefore":"2h"}': ["spec.duration: FieldValueInvalid", "spec: FieldValueInvalid"],
  'Certificate {"duration":"2h","renewBefore":"1h","renewBeforePercentage":5}': ["spec: FieldValueInvalid"],
  'Certificate {"notBefore":"2024-01-01T00:00:00Z","notAfter":"2024-01-01T12:00:00+00:00"}': [
    "spec: FieldValueInvalid",
  ],
  'Certificate {"notBefore":"2019-01-01T00:00:00Z","notAfter":"2024-01-01T12:00:00.5Z"}': ["spec: FieldValueInvalid"],
  'Certificate {"privateKey":{"size":1024}}': ["spec.privateKey: FieldValueInvalid"],
  'Certificate {"privateKey":{"algorithm":"ECDSA","size":2048}}': ["spec.privateKey: FieldValueInvalid"],
  'Certificate {"privateKey":{"algorithm":"Ed25519","size":1}}': ["spec.privateKey.size: FieldValueInvalid"],
  'Certificate {"privateKey":{"algorithm":"ECDSA","size":256}}': [],
  'Certificate {"usages":["any","x"]}': ["spec.usages: FieldValueInvalid"],
  'Certificate {"usages":["a auth","b auth","c auth"]}': ["spec.usages: FieldValueInvalid"],
  'Certificate {"keystores":{"jks":{"create":true}}}': ["spec.keystores.jks: FieldValueInvalid"],
  'Certificate {"keystores":{"jks":{"create":true,"password":"p"}}}': [],
  'Certificate {"keystores":{"jks":{}}}': ["spec.keystores.jks: FieldValueInvalid"],
  'Certificate {"solvers":[{},{"http01":{}},{"http01":{},"dns01":{}}]}': [
    "spec.solvers[0]: FieldValueInvalid",
    "spec.solvers[2]: FieldValueInvalid",
  ],
  'Certificate {"acme":{"server":"https://acme.example/dir","email":"a@b"}}': [],
  'Certificate {"acme":{"server":"https://acme.example:80/dir","email":"a"}}': ["spec.acme: FieldValueInvalid"],
  'Certificate {"acme":{"server":"acme"}}': ["spec.acme: FieldValueInvalid"],
  'Certificate {"acme":{}}': ["spec.acme: FieldValueInvalid"],
  'Certificate {"token":"dG9rZW4="}': [],
  'Certificate {"token":"YWI="}': ["spec.token: FieldValueInvalid"],
  'Certificate [{"issuerRef":{"name":"a"}},{"issuerRef":{"name":"b"}}]': ["spec.issuerRef: FieldValueInvalid"],
  'Certificate [{"issuerRef":{"name":"a"}},{"issuerRef":{"name":"a","kind":"Issuer"}}]': [],
  'Certificate [{},{"issuerRef":{"name":"a"}}]': [],
  "Composite {}": [],
  'Composite {"group":"g","names":{"plural":"n"}}': ["<nil>: FieldValueInvalid"],
  'Composite {"group":"g"}': ["<nil>: FieldValueInvalid"],
  'Composite {"names":{"plural":"n","kind":"K"},"claimNames":{"kind":"K"}}': ["spec: FieldValueInvalid"],
  'Composite {"names":{"plural":"n","kind":"K"},"claimNames":{"plural":"n","kind":"K"}}': ["spec: FieldValueInvalid"],
  'Composite {"names":{"plural":"n","kind":"K"},"claimNames":{"kind":"L"}}': [],
  'Composite {"versions":[{"name":"v1"}]}': ["spec.versions: FieldValueInvalid"],
  'Composite {"versions":[{"name":"v1","referenceable":true},{"name":"v1beta1","referenceable":false}]}': [],
  'Composite {"versions":[{"name":"x","referenceable":true},{"name":"v1beta1","referenceable":true}]}': [
    "spec.versions: FieldValueInvalid",
  ],
  'Composite {"versions":[]}': [],
  'Composite {"pipeline":[{"step":"a b"}]}': ["spec.pipeline: FieldValueInvalid"],
  'Composite {"pipeline":[{"step":"a","input":{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"},"data":{"q":1}}}]}':
    ["spec.pipeline[0].input: FieldValueInvalid"],
  'Composite {"pipeline":[{"step":"a","input":{"apiVersion":"a/v1","kind":"Input"}}]}': [
    "spec.pipeline[0].input: FieldValueInvalid",
  ],
  'Composite {"managementPolicies":["Observe"],"forProvider":null}': [],
  'Composite {"managementPolicies":["Create"],"forProvider":{"region":null}}': [
    "spec.forProvider.region: FieldValueRequired",
  ],
  'Composite {"forProvider":null}': ["spec: FieldValueInvalid"],
  'Composite {"forProvider":{"region":null},"initProvider":{"region":"i"}}': [],
  'Composite {"forProvider":{"size":0}}': ["spec: FieldValueInvalid"],
  'Composite {"connectionDetails":[{"type":"FromFieldPath"},{"type":"FromValue"},{"type":"Other","value":"v"}]}': [
    "spec.connectionDetails[0].fromFieldPath: FieldValueRequired",
    "spec.connectionDetails[1].value: FieldValueForbidden",
    "spec.connectionDetails[2].value: FieldValueForbidden",
  ],
  'Composite {"connectionDetails":[{"type":"FromFieldPath","fromFieldPath":"f"},{"type":"FromValue","value":"v"}]}': [],
  'Composite {"of":{}}': ["spec.of: FieldValueInvalid", "spec: FieldValueInvalid"],
  'Composite {"of":{"resourceRef":{}},"reason":"r"}': ["spec: FieldValueInvalid"],
  'Composite {"of":{"resourceRef":{}},"reason":"r","mode":"Resources"}': [],
  'Composite {"of":{"resourceSelector":{}},"by":{},"pipeline":[]}': [],
  'Composite {"patches":[{"type":"PatchSet"},{"transforms":[{"type":"math"}]},{"transforms":[]}]}': [
    "spec.patches[0]: FieldValueInvalid",
    "spec.patches[1].transforms[0]: FieldValueInvalid",
    "spec.patches[1]: FieldValueInvalid",
  ],
  'Composite {"patches":[{"type":"PatchSet","patchSetName":"p"},{"fromFieldPath":"f","transforms":[{"type":"map","map":{}}]}]}':
    [],
  'Composite {"package":"xpkg.example:443/a/b:v1"}': [],
  'Composite {"package":"b"}': ["spec.package: FieldValueInvalid"],
  'Composite {"env":{"a":"b","c":"d"}}': [],
  'Composite {"env":{"a":"a"}}': ["spec.env: FieldValueInvalid"],
  'Composite {"env":{"a":"123456789"}}': ["spec.env: FieldValueInvalid"],
  'Composite {"maybe":null}': [],
  'Composite {"maybe":"none"}': ["spec: FieldValueInvalid"],
  'Composite {"dashed-name":{"a.b/c":"x"}}': [],
  'Composite {"dashed-name":{"a.b/c":"z","in":"y"}}': [],
  'Composite {"dashed-name":{"a.b/c":"z"}}': ["spec.dashed-name: FieldValueInvalid"],
  'Composite [{},{"scope":"Cluster"}]': ["spec.scope: FieldValueInvalid"],
  'Composite [{"compositeTypeRef":{"kind":"a"}},{"compositeTypeRef":{"kind":"b"}}]': [
    "spec.compositeTypeRef: FieldValueInvalid",
  ],
  'Composite [{"compositeTypeRef":{"kind":"a"}},{"compositeTypeRef":{"kind":"a","apiVersion":"v1"}}]': [
    "spec.compositeTypeRef: FieldValueInvalid",
  ],
  'Composite [{"compositeTypeRef":{"kind":"a"}},{"reason":"r"}]': [],
};
