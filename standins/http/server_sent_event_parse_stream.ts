import type { ServerSentEventMessage } from "./server_sent_event_stream.ts";

/** One message as it was received. */
export interface ServerSentEventParsedMessage extends Omit<ServerSentEventMessage, "id"> {
  /** The value that the client would send as `Last-Event-ID`. */
  id?: string;
}

/** Options of {@linkcode ServerSentEventParseStream}. */
export interface ServerSentEventParseStreamOptions {
  /** Whether comments are left out of the messages, and messages of comments alone altogether. @default {false} */
  ignoreComments?: boolean;
}

/**
 * Turns the bytes of an event stream into messages.
 *
 * Unlike browsers it delivers messages without data, and one that the end of the stream cuts off.
 */
export class ServerSentEventParseStream extends TransformStream<Uint8Array, ServerSentEventParsedMessage> {
  /** A stream that has seen nothing yet. */
  constructor(options: ServerSentEventParseStreamOptions = {}) {
    const parser = new Parser(options.ignoreComments ?? false);
    const decoder = new TextDecoder();
    super({
      transform(chunk, controller): void {
        for (const message of parser.push(decoder.decode(chunk, { stream: true }))) controller.enqueue(message);
      },
      flush(controller): void {
        for (const message of parser.push(decoder.decode())) controller.enqueue(message);
        for (const message of parser.end()) controller.enqueue(message);
      },
    });
  }
}

class Parser {
  readonly #ignoreComments: boolean;
  /** The beginning of a line, or a line whose end may be the first half of `\r\n`. */
  #rest = "";
  #message: ServerSentEventParsedMessage = {};

  constructor(ignoreComments: boolean) {
    this.#ignoreComments = ignoreComments;
  }

  *push(text: string): Generator<ServerSentEventParsedMessage> {
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "") yield* this.#complete();
      else this.#field(line);
    }
  }

  *end(): Generator<ServerSentEventParsedMessage> {
    if (this.#rest !== "") this.#field(this.#rest.replace(/\r$/, ""));
    this.#rest = "";
    yield* this.#complete();
  }

  *#complete(): Generator<ServerSentEventParsedMessage> {
    const message = this.#message;
    this.#message = {};
    if (Object.keys(message).length > 0) yield message;
  }

  #field(line: string): void {
    const message = this.#message;
    const [, name, value] = /^([^:]*)(?:: ?)?(.*)$/s.exec(line)!;
    if (line.startsWith(":")) {
      // A comment keeps the space that a value loses.
      if (!this.#ignoreComments) message.comment = joined(message.comment, line.slice(1));
    } else if (name === "event") message.event = value;
    else if (name === "data") message.data = joined(message.data, value);
    else if (name === "id" && !value.includes("\0")) message.id = value;
    else if (name === "retry" && /^\d+$/.test(value)) message.retry = Number(value);
  }
}

function joined(before: string | undefined, line: string): string {
  return before === undefined ? line : `${before}\n${line}`;
}
