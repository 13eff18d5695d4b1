import { type ConnectAttempt, ConnectError } from "./connect_error.ts";
import type { FoundConnection } from "./found_connection.ts";
import type { ConnectOptions, InClusterOptions } from "./connect_options.ts";
import { planFromKubeconfig } from "./plan_from_kubeconfig.ts";
import { denoHost, type Host } from "./host/host.ts";
import { RecordingHost } from "./host/recording_host.ts";
import { planInCluster } from "./plan_in_cluster.ts";
import { checkOptions, givenCa, givenLogin } from "./check_options.ts";
import { executePlan, type Plan } from "./plan.ts";

/**
 * Finds the configuration as {@linkcode connect} documents it, reads its files and sets up the transport. No request is
 * sent.
 *
 * @throws {ConnectError} when there is no configuration.
 * @throws {KubeconfigError} when there is a kubeconfig and it cannot be used.
 * @throws {TypeError} when the options cannot be used.
 */
export async function findConnection(options: ConnectOptions = {}, machine: Host = denoHost): Promise<FoundConnection> {
  checkOptions(options);
  const host = new RecordingHost(machine);
  return await executePlan(await choosePlan(options, host), options, host);
}

/**
 * As {@linkcode findConnection}, from the pod's service account only.
 *
 * @throws {ConnectError} outside a pod, or in one without a service account.
 */
export async function findInClusterConnection(
  options: InClusterOptions = {},
  machine: Host = denoHost,
): Promise<FoundConnection> {
  const host = new RecordingHost(machine);
  const plan = await planInCluster(options, host);
  if (isAttempt(plan)) throw new ConnectError("Cannot connect from inside a cluster:", [plan]);
  return await executePlan(plan, options, host);
}

async function choosePlan(options: ConnectOptions, host: Host): Promise<Plan> {
  const { server, context, kubeconfig } = options;
  if (server !== undefined && context === undefined && kubeconfig === undefined) return planFromOptions(options, host);
  const attempts: ConnectAttempt[] = [];
  const outside = await planFromKubeconfig(options, host);
  if (!isAttempt(outside)) return outside;
  attempts.push(outside);
  if (context !== undefined) {
    throw new ConnectError(`Cannot connect to context ${JSON.stringify(context)}: found no kubeconfig`, attempts);
  }
  const inside = await planInCluster(options, host);
  if (!isAttempt(inside)) return inside;
  attempts.push(inside);
  throw new ConnectError(
    `Cannot connect: found no configuration; pass "server" or "kubeconfig", or set KUBECONFIG`,
    attempts,
  );
}

function planFromOptions(options: ConnectOptions, host: Host): Plan {
  const server = new URL(options.server!);
  const ca = givenCa(options, server, host);
  const login = givenLogin(options, { server }, host);
  return {
    server,
    ...(ca && { ca }),
    ...(login && { login }),
    origin: { source: "options", files: [] },
  };
}

function isAttempt(value: Plan | ConnectAttempt): value is ConnectAttempt {
  return "problem" in value;
}
