import type { ConnectOptions } from "./connect_options.ts";
import { findConnection } from "./find_connection.ts";

/**
 * Returns the minimal Deno flags with which a program can {@linkcode connect} with these options and reach the server:
 * `--allow-env`, `--allow-read`, `--allow-run` and `--allow-net`, quoted for a shell if necessary.
 *
 * It reads the same files as `connect`, so it needs the first two flags itself. It sends no request and runs no plugin.
 * Files that do not exist are included, because a program without the permission to look for them prompts on a
 * terminal.
 *
 * @throws the errors of {@linkcode connect}; if a permission is missing, the error names the flag.
 *
 * @example
 * ```ts ignore
 * import { requiredPermissions } from "@kube/informer/deno";
 *
 * console.log(`deno run ${(await requiredPermissions()).join(" ")} main.ts`);
 * ```
 */
export async function requiredPermissions(options: ConnectOptions = {}): Promise<readonly string[]> {
  const { origin, transport } = await findConnection(options);
  transport[Symbol.dispose]();
  return origin.permissions;
}
