/** The variables by which Deno finds a proxy for this server, those that it prefers first. */
function variablesFor(server: URL): readonly string[] {
  const scheme = server.protocol === "https:" ? "https_proxy" : "http_proxy";
  return ["ALL_PROXY", "all_proxy", scheme.toUpperCase(), scheme];
}

function mayRead(variable: string): boolean {
  return Deno.permissions.querySync({ name: "env", variable }).state === "granted";
}

/** The variable that names a proxy for this server, among those that the program may read; it never asks for permission. */
export function environmentProxy(server: URL): string | undefined {
  return variablesFor(server).find((variable) => mayRead(variable) && Deno.env.get(variable));
}

/** Whether the environment may name a proxy for this server: it does, or the program may not read the variables. */
export function mayHaveEnvironmentProxy(server: URL): boolean {
  return variablesFor(server).some((variable) => !mayRead(variable) || Deno.env.get(variable));
}
