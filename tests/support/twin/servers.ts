import { FakeApiServer } from "@kube/informer/testing";
import { delay } from "@std/async";
import { findConnection } from "../../../src/host/connect/connect.ts";
import type { JsonObject } from "../../../src/engine/api/json.ts";
import { customKinds, type Draft } from "./drafts.ts";
import type { TwinServer } from "./play.ts";
import { Types } from "./types.ts";

/** Connects to the server of a kubeconfig, as it is: no retries, and errors are answers. */
export async function realServer(kubeconfig: string): Promise<TwinServer & Disposable> {
  const { server, transport, credentials } = await findConnection({ kubeconfig });
  return {
    server,
    async fetch(request): Promise<Response> {
      await credentials?.apply(request.headers, { refresh: false });
      return await transport.fetch(request);
    },
    [Symbol.dispose]: () => transport[Symbol.dispose](),
  };
}

/** A fake server that is asked as if over the network. */
export function fakeServer(): TwinServer & Disposable {
  const fake = new FakeApiServer({ namespaces: "real" });
  return { server: new URL("http://fake"), fetch: fake.fetch, [Symbol.dispose]: () => fake[Symbol.dispose]() };
}

/** Gives a server the two custom kinds, and waits until it serves them. */
export async function defineCustomKinds(server: TwinServer): Promise<void> {
  for (const definition of customKinds()) {
    const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    const { status, text } = await ask(server, path, definition);
    if (status !== 201 && status !== 409) {
      throw new Error(`Cannot define a custom kind on "${server.server}": ${status} ${text}`);
    }
    const { group, names } = definition.spec as { readonly group: string; readonly names: { readonly plural: string } };
    for (let tries = 0; (await ask(server, `/apis/${group}/v1/${names.plural}`)).status !== 200; tries++) {
      if (tries === 100) throw new Error(`Cannot list "${names.plural}" on "${server.server}" within 10 s`);
      await delay(100);
    }
  }
}

/** Reads the types of the drafts' kinds, and waits for those of custom kinds, which follow their definition. */
export async function typesOf(server: TwinServer, drafts: readonly Draft[]): Promise<Types> {
  const paths = [
    ...new Set(drafts.map(({ apiVersion }) => apiVersion.includes("/") ? `apis/${apiVersion}` : `api/${apiVersion}`)),
  ];
  for (let tries = 0;; tries++) {
    const documents = await Promise.all(paths.map((path) => document(server, path)));
    const types = new Types(documents.filter((document) => document !== undefined));
    const missing = drafts.filter(({ apiVersion, kind }) => types.of(apiVersion, kind).properties === undefined);
    if (missing.length === 0) return types;
    if (tries === 100) {
      throw new Error(`Cannot read the types of ${missing.map(({ kind }) => kind).join(", ")} from "${server.server}"`);
    }
    await delay(200);
  }
}

/** The version of a server, `v1.36.3`. */
export async function versionOf(server: TwinServer): Promise<string> {
  return JSON.parse((await ask(server, "/version")).text).gitVersion;
}

async function document(server: TwinServer, path: string): Promise<JsonObject | undefined> {
  const { status, text } = await ask(server, `/openapi/v3/${path}`);
  return status === 200 ? JSON.parse(text) : undefined;
}

async function ask(server: TwinServer, path: string, body?: JsonObject): Promise<{ status: number; text: string }> {
  const response = await server.fetch(
    new Request(new URL(path, server.server), {
      method: body === undefined ? "GET" : "POST",
      headers: { accept: "application/json", "content-type": "application/json" },
      ...body !== undefined && { body: JSON.stringify(body) },
    }),
  );
  return { status: response.status, text: await response.text() };
}
