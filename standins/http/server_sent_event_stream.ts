/** One message of an event stream; what is undefined is left out. */
export interface ServerSentEventMessage {
  /** Read by nobody, but it keeps the connection busy. */
  comment?: string;
  /** The type of the event; without one it is a `"message"`. */
  event?: string;
  /** The text of the event; may have several lines. */
  data?: string;
  /** What the client sends as `Last-Event-ID` when it reconnects. */
  id?: string | number;
  /** How long the client should wait before it reconnects, in milliseconds. */
  retry?: number;
}

const LINE_END = /\r\n|\r|\n/;

/**
 * Turns messages into the bytes of an event stream, a chunk each.
 *
 * The stream fails with a `SyntaxError` when `event` or `id` has a line end in it.
 */
export class ServerSentEventStream extends TransformStream<ServerSentEventMessage, Uint8Array> {
  /** A stream without options. */
  constructor() {
    const encoder = new TextEncoder();
    super({
      transform(message, controller): void {
        controller.enqueue(encoder.encode(serialize(message)));
      },
    });
  }
}

function serialize({ comment, event, data, id, retry }: ServerSentEventMessage): string {
  const lines = [
    ...severalLines("", comment),
    ...oneLine("event", event),
    ...severalLines("data", data),
    ...oneLine("id", id),
    ...oneLine("retry", retry),
  ];
  return `${lines.join("\n")}\n\n`;
}

function severalLines(field: string, text: string | undefined): string[] {
  return text === undefined ? [] : text.split(LINE_END).map((line) => `${field}:${line}`);
}

function oneLine(field: string, value: string | number | undefined): string[] {
  if (value === undefined) return [];
  const text = String(value);
  if (LINE_END.test(text)) {
    throw new SyntaxError(`Cannot serialize message: \`message.${field}\` cannot contain a newline`);
  }
  return [`${field}:${text}`];
}
