/** Tests that do not run on Node, by file: each with its name, or the beginning of it, and the reason. */
export const LEFT_OUT: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "engine/client/decode/body_reader_text_test.ts": {
    "WatchReader keeps no memory of a chunk except its entries, parsed later, managedFields drop":
      "weighs objects by the heap of V8 as Deno collects it",
  },
  "cluster/snapshots_test.ts": { "examples/deno_deploy": "Deno Deploy" },
  "host/connect/file_stores_test.ts": { "FileSnapshots names the flags of Deno that are missing": "flags of Deno" },
  "host/connect/kv_store_test.ts": {
    "KvSnapshots and KvCheckpoints name the flag that they need": "Deno KV",
    "KvSnapshots switches snapshots in one step": "Deno KV",
    "KvCheckpoints keeps what was written": "Deno KV",
  },
  "host/connect/connect_process_test.ts": {
    "requiredPermissions lists": "flags of Deno",
    "connect trusts public authorities besides the kubeconfig's": "Node trusts only the kubeconfig's authority",
    "connect with insecure-skip-tls-verify verifies certificates": "Node needs no flag",
    "connect uses the proxy of the environment": "asks for this machine, for which Node uses no proxy",
    "connect uses no proxy of the environment": "flags of Deno",
  },
  "host/connect/run_manager_test.ts": {
    "a FetchServer that fails closes its connections": "replaces Deno.serve",
    "runManager goes on and answers probes again after idle": "Node's server does not end where no file is left",
    [`httpTransport carries 20 watches and 200 lists at once over HTTP/2`]: "node:https has no HTTP/2",
  },
  "host/connect/transport_test.ts": {
    "httpTransport offers HTTP/2 only when that is enabled": "node:https has no HTTP/2",
    "httpTransport never runs out of streams over HTTP/2": "node:https has no HTTP/2",
  },
  "engine/errors/errors_on_console_test.ts": {
    "every declaration of": "reads the sources, as on Deno",
    "without onError each new cause is written to the console once, with it never: host/connect/run_manager.ts":
      "replaces Deno.serve",
  },
  "engine/errors/option_names_of_all_test.ts": { "options: every function": "runs deno doc" },
  "engine/reflector/requests_test.ts": {
    "WatchStream passes a chunk from the body's reader to the reflector in two promises": "counts promises of Deno",
  },
  "relay/client/mod_size_test.ts": { "the client of a relay has at most 8 kB": "runs deno bundle" },
};
