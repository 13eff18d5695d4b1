import { Client } from "../../../client/client.ts";
import type { FoundConnection } from "../../../deno/found_connection.ts";

/** A way to the server as the configuration says, and who goes it. Disposing it ends what is under way. */
export class ServerAccess implements Disposable {
  /** Where it leads, and where that is written. */
  readonly connection: FoundConnection;
  /** The same by the library's own client, which repeats nothing. */
  readonly client: Client;
  #authorization: string | undefined;

  /** Nothing is sent yet. */
  constructor(connection: FoundConnection) {
    this.connection = connection;
    this.client = new Client({ ...connection, retries: 0 });
  }

  /** What to send as `Authorization`; a plugin runs for it. */
  async login(signal: AbortSignal): Promise<string | undefined> {
    const headers = new Headers();
    await this.connection.credentials?.apply(headers, { refresh: false, signal });
    this.#authorization = headers.get("authorization") ?? undefined;
    return this.#authorization;
  }

  /** Sends a request once; whatever the status, the answer is an answer. Without a login that has been made, nobody asks. */
  async ask(path: string, init: RequestInit & { readonly signal: AbortSignal }): Promise<Response> {
    const { server, transport } = this.connection;
    const headers = new Headers(init.headers);
    if (this.#authorization !== undefined) headers.set("authorization", this.#authorization);
    const url = `${server.origin}${server.pathname.replace(/\/+$/, "")}${path}`;
    return await transport.fetch(new Request(url, { redirect: "manual", ...init, headers }));
  }

  /** Ends what is under way. */
  [Symbol.dispose](): void {
    this.client[Symbol.dispose]();
  }
}

/** What the checks of a server need. */
export interface CheckedServer {
  /** The library's own client. */
  readonly client: Client;
  /** Sends one request; whatever the status, the answer is an answer. */
  ask(path: string, init: RequestInit & { readonly signal: AbortSignal }): Promise<Response>;
}
