import type { StartedProgram } from "./servers.ts";

/**
 * The path of the program `kine`, which the variable `KINE` names: control planes keep their data in its sqlite instead
 * of etcd then. `deno task test:versions --kine` sets it.
 */
export const KINE: string | undefined = Deno.env.get("KINE") || undefined;

/** kine's own parameters of sqlite, but that it does not wait for the disk: as etcd here. */
const PARAMETERS =
  "_journal_mode=WAL&_busy_timeout=30000&_synchronous=OFF&_txlock=immediate&_stmt_cache_size=20&cache=shared";

/** Starts the front, and becomes kine. */
const SCRIPT = `mkdir -p "$FOLDER" && rm -f "$FOLDER/kine.sock"
"$DENO" run --quiet --no-lock -A "$FRONT" "$PORT" "$FOLDER/kine.sock" "$FOLDER/front.sock" &
exec "$@"`;

/**
 * Returns what runs kine in place of etcd: at the same address, with its database in the folder of etcd's data. kine
 * answers by gRPC only; `kine_front.ts` has the rest.
 */
export function onKine({ args, ...program }: StartedProgram, command: string): StartedProgram {
  const value = (flag: string): string => {
    const found = args.find((it) => it.startsWith(`--${flag}=`));
    if (found === undefined) throw new Error(`Cannot run kine in place of etcd: its flags have no --${flag}`);
    return found.slice(flag.length + 3);
  };
  const folder = value("data-dir");
  return {
    ...program,
    env: {
      ...program.env,
      FOLDER: folder,
      DENO: Deno.execPath(),
      FRONT: new URL("./kine_front.ts", import.meta.url).pathname,
      PORT: new URL(value("listen-client-urls")).port,
    },
    command: "/bin/sh",
    args: [
      ...["-c", SCRIPT, "sh", command],
      `--endpoint=sqlite://${folder}/state.db?${PARAMETERS}`,
      `--listen-address=unix://${folder}/kine.sock`,
      "--metrics-bind-address=0",
      "--compact-min-retain=0", // otherwise the last 1,000 revisions survive each compaction
    ],
  };
}
