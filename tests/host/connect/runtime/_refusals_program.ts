/**
 * Every kind of server of this package, over HTTP and HTTPS, in a process of its own. It prints their ports and the
 * certificate's authority as JSON, and answers on the port `told` with the errors that it has reported.
 */
import { Client } from "../../../../src/engine/client/client.ts";
import { FetchServer } from "../../../../src/host/connect/run_manager.ts";
import { SharedInformerFactory } from "../../../../src/engine/informer/shared_informer_factory.ts";
import { ConfigMap, Pod } from "../../../../src/engine/kinds/core/v1.ts";
import { Manager } from "../../../../src/operator/controllers/reconcile/mod.ts";
import { InformerRelay } from "../../../../src/relay/server/mod.ts";
import { makeCertificates } from "../../../../src/testing/control_plane/mod.ts";
import { FakeApiServer, pod } from "../../../../src/testing/mod.ts";
import { refuse, Webhooks } from "../../../../src/operator/webhooks/mod.ts";

const told: string[] = [];
const telling = (server: string) => (error: unknown): void => {
  const { message, cause } = error as Error;
  told.push(`${server}: ${message}${cause === undefined ? "" : ` / ${(cause as Error).message}`}`);
};

const webhooks = new Webhooks({ onError: telling("webhooks") })
  .validate(Pod, () => {}, { name: "good.pods.test" })
  .validate(Pod, () => refuse("never"), { name: "refuses.pods.test" })
  .validate(Pod, () => {
    throw new Error("a mistake");
  }, { name: "throws.pods.test" })
  .validate(Pod, () => new Promise(() => {}), { name: "late.pods.test", timeoutSeconds: 1 });

const server = new FakeApiServer();
server.create(Pod, pod({ name: "a", namespace: "shop" }));
const client = new Client({ server: "http://fake", transport: server });
const informers = new SharedInformerFactory(client);
const relay = new InformerRelay(informers, {
  collections: { pods: Pod, maps: ConfigMap },
  authorize: ({ headers }) => {
    if (headers.get("authorization") === "mistake") throw new Error("a mistake");
    if (headers.get("authorization") === "expired") return { expiresAt: new Date(0) };
    return headers.get("authorization") !== "none";
  },
  onError: telling("relay"),
});
const local = new InformerRelay(informers, { collections: { pods: Pod }, onError: telling("local") });
const manager = new Manager({ reconcilers: [] });
const fake = new FakeApiServer({ tokens: { good: "ada" } });
const handlers = {
  webhooks: webhooks.fetch,
  relay: relay.fetch,
  local: local.fetch,
  manager: manager.fetch,
  fake: fake.fetch,
  own: async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    if (pathname === "/throws") throw new Error("a mistake");
    if (pathname === "/first") { // a handler that reads a part
      const reader = request.body?.getReader();
      await reader?.read();
      await reader?.cancel();
    }
    return new Response(pathname === "/text" ? await request.text() : "ok", { status: pathname === "/no" ? 403 : 200 });
  },
};
const { ca, ...certificate } = await makeCertificates({ hosts: ["127.0.0.1"] });
const ports: Record<string, number> = {};
for (const [name, handler] of Object.entries(handlers)) {
  const options = { port: 0, onError: telling(`server of ${name}`) };
  ports[`http ${name}`] = (await FetchServer.listen(handler, options)).port;
  ports[`https ${name}`] = (await FetchServer.listen(handler, { ...options, certificate })).port;
}
ports["told"] = (await FetchServer.listen(() => Response.json(told), { port: 0 })).port;
console.log(JSON.stringify({ ports, ca }));
