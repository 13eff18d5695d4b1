/**
 * A local stand-in for `@std/http`: what this repository uses of it, with the behaviour of release 1.1.3. See the
 * README of the folder above.
 *
 * ```ts
 * import { eTag } from "@std/http/etag";
 *
 * new Response("pods", { headers: { etag: await eTag("pods") } });
 * ```
 *
 * @module
 */

export * from "./etag.ts";
export * from "./negotiation.ts";
export * from "./server_sent_event_parse_stream.ts";
export * from "./server_sent_event_stream.ts";
