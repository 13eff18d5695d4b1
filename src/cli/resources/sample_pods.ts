/**
 * The pods with which `informer demo` and `informer fake` fill a fake API server.
 *
 * {@linkcode samplePod} is the entry point. The pods look like those of a small company: teams, applications of four
 * pods, and nodes of 30. They are not as large as real ones.
 *
 * @module
 */
import { type BuiltPod, pod } from "../../testing/mod.ts";

const TEAMS = ["billing", "catalog", "checkout", "identity", "ingest", "mail", "media", "orders", "search", "shop"];
const STAGES = ["prod", "staging", "canary"];

/** Builds the pod of an index; the same index and seed give the same pod, and no two indexes give the same name. */
export function samplePod(index: number, seed = 1): BuiltPod {
  const application = Math.floor(index / 4);
  const [team, stage] = [TEAMS[application % TEAMS.length], STAGES[application % STAGES.length]];
  const app = `${team}-api-${application}`;
  const image = `registry.example.com/${team}/api:v1.${application % 30}`;
  const host = Math.floor(index / 30);
  const suffix = (Math.imul(index + 1, 0x9e3779b1) ^ Math.imul(seed, 0x85ebca6b)) >>> 0;
  const startedAt = new Date(Date.UTC(2026, 0, 1) + (index % 500_000) * 7_000).toISOString().replace(".000", "");
  return pod({
    name: `${app}-${suffix.toString(36)}`,
    namespace: `${team}-${stage}`,
    labels: { app, team, stage },
    node: `ip-10-0-${host >>> 8}-${host & 255}.example.internal`,
    image,
    spec: { serviceAccountName: app },
    status: {
      podIP: `10.${42 + (index >>> 16)}.${(index >>> 8) & 255}.${index & 255}`,
      startTime: startedAt,
      containerStatuses: [{
        name: "app",
        image,
        imageID: "",
        ready: true,
        started: true,
        restartCount: suffix % 3,
        state: { running: { startedAt } },
      }],
    },
  });
}
