/**
 * Tests a controller with random changes and faults, to find bugs that your own tests do not think of.
 *
 * {@linkcode chaos} runs your controller on a fake API server in fake time, once per seed. A seed decides which changes
 * users make and which faults occur: crashes before, during and after writes, stale caches, missed states, conflicts,
 * lost responses, refused requests, broken watches, clock skew, and a second process.
 *
 * You state how the cluster must look in the end. `chaos` also checks rules that hold for every controller, and prints
 * the shortest failing steps. It needs no cluster, no sockets and no files.
 *
 * {@linkcode upgrade} does the same with two releases of an operator: the new one is installed, rolled back and
 * installed again, while users write at each version. {@linkcode upgradeOn} plays it on a real API server.
 *
 * Read the guides: [Test a controller](../../../docs/controllers/test.md) and
 * [Upgrade an operator](../../../docs/controllers/upgrade.md).
 *
 * @example
 * ```ts
 * import { ConfigMap } from "@kube/informer/kinds/core/v1";
 * import { Reconciler } from "@kube/informer/reconcile";
 * import { chaos } from "@kube/informer/testing/chaos";
 *
 * await chaos({
 *   seeds: 3,
 *   // Labels each ConfigMap with its colour.
 *   controller: async ({ client, signal }) => {
 *     await using reconciler = new Reconciler(client, ConfigMap, async ({ object, client }) => {
 *       const colour = object?.data?.colour;
 *       if (object === undefined || colour === undefined || object.metadata.labels?.colour === colour) return;
 *       const maps = client.resource(ConfigMap, { namespace: object.metadata.namespace });
 *       await maps.patch(object.metadata.name, { type: "merge", body: { metadata: { labels: { colour } } } });
 *     });
 *     await reconciler.run({ signal });
 *   },
 *   changes: {
 *     paint: (server, random) => {
 *       const metadata = { namespace: "shop", name: random.pick(["cart", "till"]) };
 *       const data = { colour: random.pick(["red", "green"]) };
 *       const isThere = server.get(ConfigMap, `shop/${metadata.name}`) !== undefined;
 *       if (isThere) server.patch(ConfigMap, `shop/${metadata.name}`, { data });
 *       else server.create(ConfigMap, { metadata, data });
 *     },
 *   },
 *   converges: (server) =>
 *     server.list(ConfigMap).every(({ metadata, data }) => metadata.labels?.colour === data?.colour),
 * });
 * ```
 *
 * @module
 */
export { chaos, ChaosError, type ChaosFailure, type ChaosReport } from "./chaos.ts";
export type {
  ChaosOptions,
  ChaosStep,
  ControllerFunction,
  Fault,
  PlannedChange,
  ProcessContext,
  Statement,
  UserChange,
} from "./plan.ts";
export { type Release, upgrade, type UpgradeOptions, type UpgradePhase } from "./upgrade.ts";
export { type ServerUpgradeOptions, upgradeOn } from "./upgrade_server.ts";
export type { ReleaseDefinitions, UpgradeChange, UpgradeUser } from "./upgrade_requests.ts";
export type { FakeApiServer } from "../fake/fake_api_server.ts";
export type { Random } from "../fake/random.ts";
export type { ResourceDefinition } from "../fake/storage/definition.ts";
