import { assertEquals } from "@std/assert";
import type { TwinServer } from "./play.ts";

/** Limits, and what kube-apiserver 1.37 fills in: `default` and `defaultRequest`. */
const LIMITS: readonly (readonly [given: object, filled: object])[] = [
  [{ type: "Container" }, {}],
  [{ type: "Pod", max: { cpu: "2" } }, {}],
  [{ type: "Container", max: { cpu: "2" } }, { default: { cpu: "2" }, defaultRequest: { cpu: "2" } }],
  [{ type: "Container", max: { cpu: "2" }, default: { cpu: "500m" } }, { defaultRequest: { cpu: "500m" } }],
  [{ type: "Container", min: { cpu: "1" } }, { defaultRequest: { cpu: "1" } }],
  [
    { type: "Container", max: { cpu: "2" }, min: { cpu: "1", memory: "1Mi" } },
    { default: { cpu: "2" }, defaultRequest: { cpu: "2", memory: "1Mi" } },
  ],
  [
    { type: "Container", max: { memory: "2Gi", cpu: "2" }, default: { memory: "1Gi" }, defaultRequest: { cpu: "1" } },
    { default: { cpu: "2", memory: "1Gi" }, defaultRequest: { cpu: "1", memory: "1Gi" } },
  ],
];

/** Checks what a server fills in where a LimitRange has limits. */
export async function checkLimits(server: TwinServer, namespace: string): Promise<void> {
  const url = new URL(`/api/v1/namespaces/${namespace}/limitranges?dryRun=All`, server.server);
  const headers = { "content-type": "application/json" };
  for (const [given, filled] of LIMITS) {
    const body = JSON.stringify({ metadata: { name: "limits" }, spec: { limits: [given] } });
    const response = await server.fetch(new Request(url, { method: "POST", headers, body }));
    const { spec, message } = await response.json();
    assertEquals(spec?.limits, [{ ...given, ...filled }], `${JSON.stringify(given)}: ${message}`);
  }
}
