import type { CheckedServer } from "./server_access.ts";
import type { ApiResource } from "../../../api/api_resource.ts";
import { apiVersionOf } from "../../../api/resource.ts";
import type { Checkup } from "../checkup/checkup.ts";
import { reasonFor } from "../checkup/reason_for.ts";
import { SLOW_SERVER_ADVICE } from "./check_server.ts";

/** Discovers the resources of the server; returns `undefined` if that fails. */
export async function checkDiscovery(checkup: Checkup, { client }: CheckedServer): Promise<ApiResource[] | undefined> {
  let resources: ApiResource[] | undefined;
  const options = {
    late: SLOW_SERVER_ADVICE,
    advice: "ask for the right to read /api and /apis (ClusterRole system:discovery)",
  };
  await checkup.check("discovery", options, async (signal) => {
    const failed: string[] = [];
    const found = await client.discover({
      signal,
      onError: (error, groupVersion) => failed.push(`${groupVersion} (${reasonFor(error).what})`),
    });
    resources = found;
    const groups = new Set(found.map(apiVersionOf)).size;
    const what = `${found.length} resources of ${groups} API versions`;
    if (failed.length === 0) return { status: "ok", what };
    const remedy = "look at the APIService objects: the servers behind some of them are down";
    return { status: "warn", what: `${what}; without ${failed.slice(0, 3).join(", ")}`, remedy };
  });
  return resources;
}
