#!/usr/bin/env bash
# Deno 2.9.6: a request of node:https without the option "ca" asks for the permission sys=ca, which no flag can give.
# A guess would be: a request needs --allow-net, as that of fetch() does, or the flag that the error names.
# Seen on 2026-11-29 with --allow-net: https.get() throws NotCapable, "Requires sys access to "ca"", before it connects.
# --allow-sys=ca is refused by the command line itself, "unknown sys descriptor: 'ca'". With all of --allow-sys it asks
# for the environment, too. With both, or with `ca: null` in the options, the request is sent. Here nothing listens, so
# it ends in ECONNREFUSED.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent deno@2.9.6
cat >get.mjs <<'JS'
import https from "node:https";
const options = { host: "127.0.0.1", port: 1, ...Deno.args[0] === "null" ? { ca: null } : {} };
try {
  https.get(options).on("error", (error) => console.log(error.code));
} catch (error) {
  console.log(error.name, error.message);
}
JS
export NO_COLOR=1 DENO_NO_UPDATE_CHECK=1
{
  for flags in "" --allow-sys=ca --allow-sys "--allow-sys --allow-env"; do
    echo "--allow-net $flags: $(npx deno run --no-prompt --allow-net $flags get.mjs 2>&1 | grep -m 1 .)"
  done
  echo "--allow-net, with ca: null: $(npx deno run --no-prompt --allow-net get.mjs null 2>&1 | grep -m 1 .)"
} | tee seen
diff seen - <<'EXPECTED'
--allow-net : NotCapable Requires sys access to "ca", run again with the --allow-sys flag
--allow-net --allow-sys=ca: error: unknown sys descriptor: 'ca'
--allow-net --allow-sys: NotCapable Requires env access to "NODE_USE_SYSTEM_CA", run again with the --allow-env flag
--allow-net --allow-sys --allow-env: ECONNREFUSED
--allow-net, with ca: null: ECONNREFUSED
EXPECTED
