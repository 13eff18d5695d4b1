import { type Client, isNotFound } from "@kube/informer";
import { Node, Pod } from "@kube/informer/kinds/core/v1";
import { FakeApiServer, pod } from "@kube/informer/testing";
import { makeCertificates } from "../support/servers/certificates.ts";

/** A body that ends where another one breaks: kube-apiserver passes on both ends in the same way. */
function endedByErrors(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream({
    pull: async (controller): Promise<void> => {
      const { value } = await reader.read().catch(() => ({ value: undefined }));
      if (value === undefined) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason): Promise<void> => reader.cancel(reason),
  }, { highWaterMark: 0 });
}

/**
 * The node of a real kube-apiserver, and the part of its kubelet that serves logs. A fake server, which its test writes
 * to, keeps the logs, and what it says about a pod is written to the real pod.
 */
export class LogKubelet implements AsyncDisposable {
  /** Has the logs, and the pods as the kubelet sees them. */
  readonly fake: FakeApiServer = new FakeApiServer();
  /** The name of the node. */
  readonly node: string;
  /** The paths and queries of the requests from kube-apiserver. */
  readonly asked: string[] = [];
  readonly #client: Client;
  #server: Deno.HttpServer<Deno.NetAddr> | undefined;
  #port = 0;

  private constructor(client: Client, node: string) {
    this.#client = client;
    this.node = node;
  }

  /** Starts one, and registers its node. */
  static async start(client: Client, node: string): Promise<LogKubelet> {
    const kubelet = new LogKubelet(client, node);
    await kubelet.serve();
    const status = {
      addresses: [{ type: "InternalIP", address: "127.0.0.1" }],
      daemonEndpoints: { kubeletEndpoint: { Port: kubelet.#port } },
    };
    const nodes = client.resource(Node);
    await nodes.create({ metadata: { name: node } });
    await nodes.patch(node, { type: "merge", body: { status } }, { subresource: "status" });
    return kubelet;
  }

  /** Serves, again on the same port after {@linkcode kill}. */
  async serve(): Promise<void> {
    await using certificates = await makeCertificates();
    this.#server = Deno.serve({
      hostname: "127.0.0.1",
      port: this.#port,
      cert: certificates.text("server.crt"),
      key: certificates.text("server.key"),
      onListen: () => {},
    }, (request, info) => this.#answer(request, info));
    this.#port = this.#server.addr.port;
  }

  /** Ends all responses where they are, and stops serving, as a kubelet that is restarted. */
  async kill(): Promise<void> {
    this.fake.restart();
    await this.#server?.shutdown();
    this.#server = undefined;
  }

  /** Creates a pod on the node. */
  async add(namespace: string, name: string): Promise<string> {
    const { spec } = pod({ name, namespace, node: this.node });
    await this.#client.resource(Pod, { namespace }).create({ metadata: { name }, spec });
    this.fake.create(Pod, pod({ name, namespace, node: this.node }));
    return `${namespace}/${name}`;
  }

  /** Writes the status that the kubelet knows to the real pod. */
  async report(key: string): Promise<void> {
    const [namespace, name] = key.split("/");
    const { phase, containerStatuses } = this.fake.get(Pod, key)!.status!;
    const body = { status: { phase, containerStatuses } } as never;
    await this.#client.resource(Pod, { namespace }).patch(name, { type: "merge", body }, { subresource: "status" });
  }

  async #answer(request: Request, info: Deno.ServeHandlerInfo): Promise<Response> {
    const url = new URL(request.url);
    this.asked.push(url.pathname + url.search);
    const [, path, namespace, name, container] = url.pathname.split("/");
    if (path !== "containerLogs") return new Response("404 page not found", { status: 404 });
    url.searchParams.set("container", container);
    const log = `http://fake/api/v1/namespaces/${namespace}/pods/${name}/log?${url.searchParams}`;
    const response = await this.fake.fetch(new Request(log), info);
    if (response.ok) return new Response(endedByErrors(response.body!), response);
    return new Response((await response.json()).message, { status: response.status });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    try {
      await this.#client.resource(Node).delete(this.node);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}
