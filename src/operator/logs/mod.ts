/**
 * Follows the logs of many pods, which come and go, in the order of time.
 *
 * {@linkcode followLogs} takes the pods from an informer, and continues after restarts of your program with a
 * checkpoint. For the log of one container, use the method `logs` of a client for pods.
 *
 * Read the guide: [Logs](../../../docs/guides/logs.md).
 *
 * @example
 * ```ts
 * import { Client, SharedIndexInformer } from "@kube/informer";
 * import { Pod } from "@kube/informer/kinds/core/v1";
 * import { followLogs } from "@kube/informer/logs";
 * import { FakeApiServer, pod } from "@kube/informer/testing";
 *
 * using server = new FakeApiServer();
 * server.create(Pod, pod({ name: "web-0", namespace: "shop" }));
 * server.writeLog("shop/web-0", "ready");
 * using client = new Client({ server: server.url, transport: server });
 * await using pods = new SharedIndexInformer(client.resource(Pod, { namespace: "shop" }));
 * pods.run();
 * for await (const { time, pod, text } of followLogs(client, pods)) {
 *   console.log(time, pod, text);
 *   break;
 * }
 * ```
 *
 * @module
 */
export type { LogLine, LogOptions } from "../../engine/client/logs.ts";
export {
  type FollowedPods,
  followLogs,
  type FollowLogsOptions,
  type LogStreamEvent,
  type PodLogLine,
} from "./follow_logs.ts";
