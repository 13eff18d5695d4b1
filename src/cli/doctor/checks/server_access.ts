/**
 * The checks of `informer doctor`, one file each.
 *
 * {@linkcode ServerAccess} is the connection that they share. Each check records its findings in a `Checkup`.
 * This folder does not decide the order of the checks; `doctor` does.
 *
 * @module
 */
import { Client } from "../../../client/client.ts";
import type { FoundConnection } from "../../../deno/found_connection.ts";

/**
 * Sends requests to the server with the connection and credentials of the configuration. Disposing it aborts running
 * requests.
 */
export class ServerAccess implements Disposable {
  /** The connection and its origin. */
  readonly connection: FoundConnection;
  /** A client on this connection, without retries. */
  readonly client: Client;
  /** The header of the last login; `undefined` before it, and if the credentials set none. */
  #authorization: string | undefined;

  /** No request is sent yet. */
  constructor(connection: FoundConnection) {
    this.connection = connection;
    this.client = new Client({ ...connection, retries: 0 });
  }

  /** Returns the `Authorization` header; runs the plugin if there is one. */
  async login(signal: AbortSignal): Promise<string | undefined> {
    const headers = new Headers();
    await this.connection.credentials?.apply(headers, { refresh: false, signal });
    this.#authorization = headers.get("authorization") ?? undefined;
    return this.#authorization;
  }

  /**
   * Sends one request, without retries; an error status is a response, too. Sends credentials only after {@linkcode
   * ServerAccess.login}.
   */
  async ask(path: string, init: RequestInit & { readonly signal: AbortSignal }): Promise<Response> {
    const { server, transport } = this.connection;
    const headers = new Headers(init.headers);
    if (this.#authorization !== undefined) headers.set("authorization", this.#authorization);
    const url = `${server.origin}${server.pathname.replace(/\/+$/, "")}${path}`;
    return await transport.fetch(new Request(url, { redirect: "manual", ...init, headers }));
  }

  /** Aborts running requests. */
  [Symbol.dispose](): void {
    this.client[Symbol.dispose]();
  }
}

/** The server under check. */
export interface CheckedServer {
  /** A client of the library. */
  readonly client: Client;
  /** Sends one request; an error status is a response, too. */
  ask(path: string, init: RequestInit & { readonly signal: AbortSignal }): Promise<Response>;
}
