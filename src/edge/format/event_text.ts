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

/** Returns a comment, and an id if there is one: browsers remember it, and dispatch no event. */
export function heartbeatText(id?: string): string {
  return id === undefined ? ":\n\n" : `:\nid:${id}\n\n`;
}
