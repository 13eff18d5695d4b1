import type { ConnectionInfo, RelayOptions } from "../../../src/relay/server/options.ts";
import { LOCAL, Relayed } from "../../support/servers/relayed.ts";

/** A request, by default a GET of a list from this machine. */
export interface Sent {
  readonly url?: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly info?: ConnectionInfo;
}

/** Sends a request to a relay with these options, and returns the status code of the answer. */
export async function statusOf(options: Partial<RelayOptions>, sent: Sent): Promise<number> {
  return (await answerOf(options, sent)).status;
}

/** Sends a request to a relay with these options, and returns the answer. */
export async function answerOf(options: Partial<RelayOptions>, sent: Sent): Promise<Response> {
  await using relayed = new Relayed(options);
  const { url = "http://localhost/api/pods", method, headers } = sent;
  const info = "info" in sent ? sent.info : LOCAL;
  const response = await relayed.relay.fetch(new Request(url, { method, headers }), info);
  return new Response(await response.text() || null, response);
}
