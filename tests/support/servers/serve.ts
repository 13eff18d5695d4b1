import { BrokenConnection } from "../../../src/testing/fake/wire/faults.ts";
import type { FakeApiServer } from "../../../src/testing/mod.ts";

/** A fake API server behind a port of this machine. */
export interface Served extends AsyncDisposable {
  readonly url: string;
}

/**
 * The `onError` of a fake behind `Deno.serve`, whose default prints a stack for each connection that the fake breaks.
 */
export function onServeError(error: unknown): Response {
  if (!(error instanceof BrokenConnection)) console.error(error);
  return new Response(null, { status: 500 });
}

/** Serves over HTTP, or HTTPS with a certificate, until disposed; the objects of the server stay. */
export async function serve(
  server: Pick<FakeApiServer, "fetch" | typeof Symbol.dispose>,
  options: { readonly cert?: string; readonly key?: string } = {},
): Promise<Served> {
  const { promise, resolve } = Promise.withResolvers<Deno.NetAddr>();
  const { cert, key } = options;
  const listen = { hostname: "127.0.0.1", port: 0, onListen: resolve, onError: onServeError };
  const handler = (request: Request, info: Deno.ServeHandlerInfo<Deno.NetAddr>): Promise<Response> =>
    server.fetch(request, info);
  const http = cert === undefined || key === undefined
    ? Deno.serve(listen, handler)
    : Deno.serve({ ...listen, cert, key }, handler);
  const { port } = await promise;
  return {
    url: `${cert === undefined ? "http" : "https"}://127.0.0.1:${port}`,
    async [Symbol.asyncDispose](): Promise<void> {
      server[Symbol.dispose]();
      await http.shutdown();
    },
  };
}

/** A fresh folder that is removed when disposed. */
export class Folder implements AsyncDisposable {
  readonly path: string = Deno.makeTempDirSync({ prefix: "informer-cli-" });

  /** The path of a file in it. */
  file(name: string): string {
    return `${this.path}/${name}`;
  }

  /** Writes a file and returns its path. */
  write(name: string, text: string): string {
    Deno.writeTextFileSync(this.file(name), text);
    return this.file(name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.path, { recursive: true });
  }
}
