const LINE_END = 10;
const ID: readonly number[] = [..."id:"].map((character) => character.charCodeAt(0));

/**
 * Returns an event as text. `ServerSentEventStream` of `@std/http` would write the same bytes, but for one stream alone; these are
 * shared by all clients.
 *
 * @param json The data, as JSON text without line ends.
 * @param id What the client sends as `Last-Event-ID` when it reconnects. `""` makes it forget an earlier one.
 */
export function eventText(event: string, json: string, id?: string): string {
  return id === undefined ? `event:${event}\ndata:${json}\n\n` : `event:${event}\ndata:${json}\nid:${id}\n\n`;
}

/** Returns the bytes of events without the id of the last one, if that has one. */
export function withoutId(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const line = bytes.lastIndexOf(LINE_END, bytes.length - 3) + 1;
  if (!ID.every((code, index) => bytes[line + index] === code)) return bytes;
  const rest = bytes.slice(0, line + 1);
  rest[line] = LINE_END;
  return rest;
}

/** Returns a comment, and an id if there is one: browsers remember it, and dispatch no event. */
export function heartbeatText(id?: string): string {
  return id === undefined ? ":\n\n" : `:\nid:${id}\n\n`;
}
