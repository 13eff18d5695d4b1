import type { FoundConnection } from "../../../deno/found_connection.ts";
import type { ConnectOptions } from "../../../deno/connect_options.ts";
import { findConnection } from "../../../deno/find_connection.ts";
import type { Checkup, Finding } from "../checkup/checkup.ts";
import { EXIT_CODE } from "../../errors/exit_code.ts";
import { explainError } from "../../errors/explain_error.ts";
import { ServerAccess } from "./server_access.ts";

/** Finds the configuration; returns `undefined` if there is no usable one. @throws {TypeError} for invalid flags. */
export async function checkConfiguration(checkup: Checkup, options: ConnectOptions): Promise<ServerAccess | undefined> {
  let access: ServerAccess | undefined;
  let usage: unknown;
  await checkup.check(
    "configuration",
    {
      code: EXIT_CODE.connection,
      late: "check the disk or network share that holds the kubeconfig and what it names",
      advice: "correct it, or choose another with --kubeconfig or --context",
    },
    async () => {
      try {
        // Warnings, such as expired certificates, have checks of their own.
        const connection = await findConnection({ ...options, pluginTimeoutMs: checkup.limits.pluginMs });
        access = new ServerAccess(connection);
        return configurationFinding(connection);
      } catch (error) {
        // The command line is invalid, not the configuration.
        if (explainError(error).code === EXIT_CODE.usage) usage = error;
        throw error;
      }
    },
  );
  if (usage !== undefined) throw usage;
  return access;
}

function configurationFinding({ origin, namespace }: FoundConnection): Finding {
  const { source, files, context, user, actsAs, insecure } = origin;
  const parts = [
    source === "in-cluster"
      ? "the pod's service account"
      : source === "options"
      ? "the flags alone"
      : `kubeconfig ${files.map((file) => JSON.stringify(file)).join(", ")}`,
    ...(context === undefined ? [] : [`context ${JSON.stringify(context)}`]),
    ...(user === undefined ? [] : [`user ${JSON.stringify(user)}`]),
    ...(actsAs === undefined ? [] : [`acting as ${JSON.stringify(actsAs)}`]),
    `namespace ${JSON.stringify(namespace)}`,
  ];
  const what = parts.join(", ");
  if (!insecure) return { status: "ok", what };
  return {
    status: "warn",
    what: `${what}; insecure-skip-tls-verify lets anyone impersonate the server`,
    remedy: "put the authority's certificate into certificate-authority-data instead",
  };
}
