/** Reasons that are about the test: a program meets nothing of them. */
const CERTIFICATE = "the server of the test: Bun's TLS server does not have the client's certificate";
const PROXY = "the proxy of the test: Bun's TLS server opens no connection for it; a client on Bun uses such a proxy";
const FAKE_TIME = "Bun's node:http and node:net use the timers of the program, which the test replaces";
const MEMORY = "asks the garbage collector of V8";
const FLAGS = "runs its program by Node's flags";

/** Reasons that programs meet, in the words of the section "On Bun" of the page. */
const TEXTS = "Causes of errors and stack frames have the texts of another engine";
const CANCELLED = "A cancelled response body has no reason";
const CHARSET = "`Response.json()` adds a charset";
const METHODS = "A `Request` with an unknown method is a GET";

/** The reasons that only tests have, and the reasons that the page names. */
export const REASONS = {
  ofTests: [CERTIFICATE, PROXY, FAKE_TIME, MEMORY, FLAGS],
  onPage: [TEXTS, CANCELLED, CHARSET, METHODS],
};

/** Tests that fail on Bun 1.4, by file: each with its name, or the beginning of it, and the reason. */
export const FAILS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "engine/client/http/connection_request_log_test.ts": { "logRequests": CANCELLED },
  "host/connect/connect_test.ts": {
    "connect makes a client from a kubeconfig, which sends each impersonated group": CERTIFICATE,
    "the stacks of errors of connect": TEXTS,
  },
  "host/connect/file_stores_test.ts": {
    "FileSnapshots leaves the old file when the process is killed": FLAGS,
  },
  "host/connect/kubeconfig_login_test.ts": {
    "KubeconfigLogin": FAKE_TIME,
    "SharedIndexInformer": FAKE_TIME,
    "(file)": FAKE_TIME,
  },
  "host/connect/plan_test.ts": {
    "connect presents a client certificate": CERTIFICATE,
    "connect follows the rotation of token and CA in a pod": FAKE_TIME,
  },
  "host/connect/runtime/connections_test.ts": {
    "connect uses the proxy of proxy-url": PROXY,
  },
  "host/connect/runtime/node_connections_test.ts": {
    "connect verifies the certificate against tls-server-name": CERTIFICATE,
    "connect uses a CA file that changes": FAKE_TIME,
    "httpTransport with tlsServerName sends bodies": PROXY,
  },
  "host/connect/connect_secrets_test.ts": { "connect and SharedIndexInformer never show a secret": CERTIFICATE },
  "host/connect/tls_files_test.ts": { "connect accepts client keys of every form": CERTIFICATE },
  "host/connect/transport_test.ts": {
    "httpTransport gives up after 65 s": FAKE_TIME,
    "httpTransport sets no time limit on a response's body": FAKE_TIME,
    "httpTransport has no deadline for logs": FAKE_TIME,
    "httpTransport can wait for a response longer": FAKE_TIME,
    "httpTransport presents its client certificate": CERTIFICATE,
    "HttpTransport": FAKE_TIME,
  },
  "engine/entry/entry_json_test.ts": { "an object that JSON does not have": TEXTS },
  "engine/errors/informer_error_test.ts": { "InformerError is printed with the frames": TEXTS },
  "engine/informer/cache/compaction_test.ts": { "The values of deleted and changed objects": MEMORY },
  "engine/informer/shared_index_informer_cache_test.ts": {
    "SharedIndexInformer quarantines an object that cannot be frozen": TEXTS,
  },
  "engine/informer/events/processor_test.ts": { "Processor keeps nothing of a handler that was removed": MEMORY },
  "engine/informer/shared_informer_factory_frames_test.ts": { "From": TEXTS },
  "engine/reflector/reflector_watch_test.ts": { "Reflector keeps no memory of a watch that has ended": MEMORY },
  "relay/server/collections_test.ts": {
    "a stream does not begin where its relay is disposed": CHARSET,
  },
  "relay/server/guard_test.ts": { "what is longer than its bound": METHODS },
  "testing/control_plane/mod_test.ts": {
    "the servers of a program that is killed": FLAGS,
  },
};

/** All reasons for which tests fail on Bun. */
export function reasonsOnBun(): readonly string[] {
  return [...new Set(Object.values(FAILS).flatMap((tests) => Object.values(tests)))].sort();
}

/** Returns the reason why a test of a file fails on Bun; `undefined` if it must pass. */
export function failsOnBun(file: string, name: string): string | undefined {
  return Object.entries(FAILS[file] ?? {}).find(([known]) => name.startsWith(known))?.[1];
}
