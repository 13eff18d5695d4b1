/**
 * Our webhooks as a process: FOLDER RELOAD_MS, where the folder has tls.crt and tls.key. It prints its URL, and ends
 * with its standard input. The work is the same as in `../go/webhooks`.
 */
import process from "node:process";
import { runManager } from "@kube/informer/connect";
import { Pod } from "@kube/informer/kinds/core/v1";
import { refuse, Webhooks } from "@kube/informer/webhooks";

const [folder, reloadMs] = process.argv.slice(2);
const webhooks = new Webhooks()
  .validate(Pod, ({ object, old }) => {
    if (
      object.spec.nodeName === old?.spec.nodeName && object.spec.serviceAccountName === old?.spec.serviceAccountName
    ) {
      return;
    }
    throw refuse("the node and the service account cannot change");
  }, { operations: ["UPDATE"] })
  .mutate(Pod, ({ draft }) => {
    if (!draft.spec.nodeName || !draft.spec.serviceAccountName) return;
    draft.metadata.labels = { ...draft.metadata.labels, "bench.example.com/reviewed": "true" };
  }, { operations: ["UPDATE"] });
const manager = {
  run: ({ signal }: { readonly signal?: AbortSignal }): Promise<void> =>
    new Promise((resolve) => signal?.addEventListener("abort", () => resolve(), { once: true })),
  fetch: (): Response => new Response("ok"),
};
const stop = new AbortController();
process.stdin.resume().once("end", () => stop.abort());
await runManager(manager, {
  port: 0,
  hostname: "127.0.0.1",
  signal: stop.signal,
  webhooks: {
    handler: { fetch: webhooks.fetch },
    port: 0,
    hostname: "127.0.0.1",
    certificate: { certFile: `${folder}/tls.crt`, keyFile: `${folder}/tls.key`, reloadMs: Number(reloadMs) },
    onListen: (port) => process.stdout.write(`https://127.0.0.1:${port}\n`),
  },
});
process.exit(0);
