/** A program that uses the kinds of `crontab.yaml`, rightly and wrongly, as the module `./kinds.ts`. */
export const CRONTAB_PROGRAM = `
import { type Apply, Client, copyOf, type ObjectDraft, type MergePatch, SharedInformerFactory } from "@kube/informer";
import { CronTab, CronTabV1beta1 } from "./kinds.ts";

export const least: ObjectDraft<CronTab> = { metadata: { name: "a" }, spec: { cronSpec: "* * * * *" } };
export const most: ObjectDraft<CronTab> = {
  apiVersion: "stable.example.com/v1",
  kind: "CronTab",
  metadata: { name: "a" },
  spec: {
    concurrency: "Forbid",
    cronSpec: "* * * * *",
    deadline: "2030-01-01T00:00:00Z",
    extra: [1, { a: null }],
    job: { apiVersion: "batch/v1", kind: "Job", metadata: { name: "b", labels: {} }, spec: { any: 1 } },
    labels: { a: "b" },
    maxReplicas: 3,
    note: null,
    port: "http",
    replicas: 2,
    settings: { mode: "fast", other: { deep: [1] } },
    steps: [{ name: "a", image: "b" }],
    times: [1, 2],
  },
};
export const applied: Apply<CronTab> = { metadata: { name: "a" }, spec: { steps: [{ name: "a", image: "c" }] } };
export const patch: MergePatch<CronTab> = { spec: { replicas: 3, deadline: null } };
export const older: ObjectDraft<CronTabV1beta1> = { metadata: { name: "a" }, spec: { schedule: "" } };

// @ts-expect-error cronSpec is required.
export const noSchedule: ObjectDraft<CronTab> = { metadata: { name: "a" }, spec: {} };
// @ts-expect-error spec is required.
export const noSpec: ObjectDraft<CronTab> = { metadata: { name: "a" } };
// @ts-expect-error there is no such field.
export const misspelt: ObjectDraft<CronTab> = { metadata: { name: "a" }, spec: { cronSpec: "", cornSpec: "" } };
// @ts-expect-error it is not one of the values.
export const wrong: ObjectDraft<CronTab> = { metadata: { name: "a" }, spec: { cronSpec: "", concurrency: "Replace" } };
// @ts-expect-error the server sets the status.
export const status: ObjectDraft<CronTab> = { metadata: { name: "a" }, spec: { cronSpec: "" }, status: { active: 1 } };
// @ts-expect-error an embedded object says of which kind it is.
export const embedded: ObjectDraft<CronTab> = { metadata: { name: "a" }, spec: { cronSpec: "", job: { kind: "Job" } } };
// @ts-expect-error the name identifies an item.
export const nameless: Apply<CronTab> = { metadata: { name: "a" }, spec: { steps: [{ image: "c" }] } };
// @ts-expect-error it is not nullable.
export const nothing: ObjectDraft<CronTab> = { metadata: { name: "a" }, spec: { cronSpec: null } };

export function read(tab: CronTab): readonly unknown[] {
  const concurrency: string | undefined = tab.spec.concurrency;
  const step: string | undefined = tab.spec.steps?.[0].name;
  const note: string | null | undefined = tab.spec.note;
  const port: string | number | undefined = tab.spec.port;
  const job: string | undefined = tab.spec.job?.metadata?.name;
  // @ts-expect-error what is read is read-only.
  tab.spec.cronSpec = "";
  return [concurrency, step, note, port, job, tab.spec.settings?.other, tab.status?.active];
}

export async function write(client: Client): Promise<void> {
  const copy = copyOf(await client.resource(CronTab).create(least));
  copy.spec.replicas = 2;
  copy.spec.steps = [{ name: "a", protocol: "UDP" }];
  await client.resource(CronTab).update(copy);
  await using informers = new SharedInformerFactory(client);
  const first: CronTab | undefined = informers.forResource(CronTab).lister.list()[0];
  console.log(first?.spec.cronSpec);
}
`;
