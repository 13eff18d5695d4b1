/**
 * A local stand-in for `@std/http`: what this repository uses of it, with the behaviour of release 1.1.3. See the
 * README of the folder above.
 *
 * ```ts
 * import { STATUS_CODE } from "@std/http/status";
 *
 * new Response(null, { status: STATUS_CODE.NoContent });
 * ```
 *
 * @module
 */

export * from "./etag.ts";
export * from "./server_sent_event_parse_stream.ts";
export * from "./server_sent_event_stream.ts";
export * from "./status.ts";
