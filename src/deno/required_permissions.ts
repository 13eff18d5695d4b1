import type { ConnectOptions } from "./connect_options.ts";
import { findConnection } from "./find_connection.ts";

/**
 * The flags that let a program {@linkcode connect} with these options and reach the server, and nothing more: `--allow-env`,
 * `--allow-read`, `--allow-run` and `--allow-net`, as far as they are needed, quoted for a shell where need be.
 *
 * It reads what `connect` reads, so it needs the first two of them itself; it sends and runs nothing. Files that turned out
 * not to exist are named too, because a program that may not look for them asks on a terminal.
 *
 * @throws what {@linkcode connect} throws; where a permission is missing, the error names the flag.
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
