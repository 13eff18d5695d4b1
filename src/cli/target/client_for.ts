/**
 * Converts flags to a client, resources and selections, and validates them.
 *
 * {@linkcode clientFor}, `resourcesFor` and `selectionFor` are the entry points. This folder does not parse the command
 * line and prints only warnings.
 *
 * @module
 */
import { Client } from "../../client/client.ts";
import { connect } from "../../deno/connect.ts";
import { FakeApiServer } from "../../testing/mod.ts";
import { fillFakeServer } from "./fill_fake_server.ts";
import { SteadyChurn } from "./steady_churn.ts";
import { UsageError } from "../errors/usage_error.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** The flags that choose the server and the credentials. */
export interface ConnectionFlags {
  /** Path of a kubeconfig. */
  readonly kubeconfig?: string;
  /** Name of a context in it. */
  readonly context?: string;
  /** Address of the API server. */
  readonly server?: string;
  /** Path of a file with a bearer token. */
  readonly tokenFile?: string;
  /** If `true`, uses a fake server in this process. */
  readonly fake?: boolean;
}

/** Returns a client for the server that the flags name. Disposing it also disposes the fake server, if any. */
export async function clientFor(flags: ConnectionFlags, terminal: Terminal): Promise<Client> {
  const onWarning = (warning: string): void => terminal.say(`warning: ${warning}`);
  const { kubeconfig, context, server, tokenFile } = flags;
  if (!flags.fake) return await connect({ kubeconfig, context, server, tokenFile, onWarning });
  for (const [flag, value] of Object.entries({ kubeconfig, context, server, "token-file": tokenFile })) {
    if (value !== undefined) throw new UsageError(`--fake is a server of its own; leave out --${flag}`);
  }
  const fake = new FakeApiServer();
  await fillFakeServer(fake, { count: 100 });
  const churn = new SteadyChurn(fake, { perSecond: 5, mix: "all" });
  churn.start();
  const transport = {
    fetch: (request: Request) => fake.fetch(request),
    [Symbol.dispose]: () => {
      churn.stop();
      fake[Symbol.dispose]();
    },
  };
  return new Client({ server: "http://fake", namespace: "default", transport, onWarning });
}
