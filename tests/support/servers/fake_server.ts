import type { KubernetesObject } from "../../../src/engine/api/object.ts";
import { defineResource, type Resource } from "../../../src/engine/api/resource.ts";
import type { FakeApiServer } from "../../../src/testing/mod.ts";

/** The schema of a custom kind that keeps all fields. */
export const OPEN_SCHEMA = {
  openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
} as const;

/** The containers that a pod needs at least. */
export const CONTAINERS = [{ name: "web", image: "web:1" }] as const;

/** The least that a workload needs: a selector, and the template of its pods. */
export const WORKLOAD = {
  selector: { matchLabels: { app: "web" } },
  template: { metadata: { labels: { app: "web" } }, spec: { containers: CONTAINERS } },
} as const;

/** A config map, loosely. */
export interface ConfigMap extends KubernetesObject {
  readonly data?: Readonly<Record<string, string>>;
}
/** Config maps. */
export const ConfigMap: Resource<ConfigMap> = defineResource<ConfigMap>({
  version: "v1",
  plural: "configmaps",
  kind: "ConfigMap",
});
/** A pod, loosely. */
export interface Pod extends KubernetesObject {
  readonly spec?: {
    readonly nodeName?: string;
    readonly containers?: readonly { readonly name: string; readonly image?: string }[];
  };
  readonly status?: { readonly phase?: string };
}
/** Pods. */
export const Pod: Resource<Pod> = defineResource<Pod>({ version: "v1", plural: "pods", kind: "Pod" });
/** A custom resource. */
export interface Widget extends KubernetesObject {
  readonly spec?: { readonly size: number };
}
/** Widgets. */
export const Widget: Resource<Widget> = defineResource<Widget>({
  group: "example.com",
  version: "v1",
  plural: "widgets",
  kind: "Widget",
});

/** The path of config maps in the namespace of the recorded answers. */
export const MAPS = "/api/v1/namespaces/answers/configmaps";

/** The answer to a request. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // deno-lint-ignore no-explicit-any -- tests look into answers freely
  readonly json: any;
}

/** Asks, with a body as JSON where there is one. */
export async function ask(
  server: Pick<FakeApiServer, "fetch">,
  path: string,
  options: { method?: string; headers?: Record<string, string>; body?: unknown } = {},
): Promise<Answer> {
  const { method = "GET", headers = {}, body } = options;
  const response = await server.fetch(
    new Request(`http://fake${path}`, {
      method,
      headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    }),
  );
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json") === true && text !== "";
  return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined };
}

/** Sends a patch. */
export function patch(
  server: Pick<FakeApiServer, "fetch">,
  path: string,
  type: string,
  body: unknown,
): Promise<Answer> {
  const media = type === "apply" ? "application/apply-patch+yaml" : `application/${type}+json`;
  return ask(server, path, { method: "PATCH", headers: { "content-type": media }, body });
}

/** A watch that is read line by line. */
export class Lines implements AsyncDisposable {
  readonly response: Response;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  readonly #controller: AbortController;
  #rest = "";
  #done = false;

  private constructor(response: Response, controller: AbortController) {
    this.response = response;
    this.#controller = controller;
    this.#reader = response.body!.getReader();
  }

  static async open(
    server: Pick<FakeApiServer, "fetch">,
    path: string,
    headers: Record<string, string> = {},
  ): Promise<Lines> {
    const controller = new AbortController();
    const request = new Request(`http://fake${path}`, { headers, signal: controller.signal });
    return new Lines(await server.fetch(request), controller);
  }

  /** The next line, parsed; undefined at the end. What stands behind the last line feed is in `rest`. */
  // deno-lint-ignore no-explicit-any -- tests look into events freely
  async next(): Promise<any> {
    for (;;) {
      const end = this.#rest.indexOf("\n");
      if (end >= 0) {
        const line = this.#rest.slice(0, end);
        this.#rest = this.#rest.slice(end + 1);
        return JSON.parse(line);
      }
      if (this.#done) return undefined;
      const { done, value } = await this.#reader.read();
      if (done) this.#done = true;
      else this.#rest += this.#decoder.decode(value, { stream: true });
    }
  }

  /** The next so many lines. */
  // deno-lint-ignore no-explicit-any -- tests look into events freely
  async take(count: number): Promise<any[]> {
    const lines = [];
    for (let taken = 0; taken < count; taken++) lines.push(await this.next());
    return lines;
  }

  /** All lines up to the end. */
  // deno-lint-ignore no-explicit-any -- tests look into events freely
  async all(): Promise<any[]> {
    const lines = [];
    for (let line = await this.next(); line !== undefined; line = await this.next()) lines.push(line);
    return lines;
  }

  /** The text after the last line feed. */
  get rest(): string {
    return this.#rest;
  }

  /** Aborts the request. */
  abort(reason?: unknown): void {
    this.#controller.abort(reason);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reader.cancel();
  }
}

/** `ADDED map-1@3`: an event in a few words. */
// deno-lint-ignore no-explicit-any -- any event
export function brief(event: any): string {
  const { name = "", resourceVersion } = event.object.metadata ?? {};
  return `${event.type} ${name}@${resourceVersion}`;
}

/** Five config maps, red and blue in turn, as the recorded answers have them; versions 2 to 6. */
export function fiveMaps(server: FakeApiServer): void {
  for (let index = 0; index < 5; index++) {
    server.create(ConfigMap, {
      metadata: { namespace: "answers", name: `map-${index}`, labels: { colour: index % 2 === 0 ? "red" : "blue" } },
      data: { k: "0" },
    });
  }
}
