/** The environment variables in which Deno looks for a proxy for this server, in its order. */
function variablesFor(server: URL): readonly string[] {
  const scheme = server.protocol === "https:" ? "https_proxy" : "http_proxy";
  return ["ALL_PROXY", "all_proxy", scheme.toUpperCase(), scheme];
}

function mayRead(variable: string): boolean {
  return Deno.permissions.querySync({ name: "env", variable }).state === "granted";
}

/**
 * Returns the variable that names a proxy for this server, of those that the program may read. Never prompts for
 * permission.
 */
export function environmentProxy(server: URL): string | undefined {
  return variablesFor(server).find((variable) => mayRead(variable) && Deno.env.get(variable));
}

/** Returns `true` if the environment names a proxy for this server, or the program may not read the variables. */
export function mayHaveEnvironmentProxy(server: URL): boolean {
  return variablesFor(server).some((variable) => !mayRead(variable) || Deno.env.get(variable));
}
