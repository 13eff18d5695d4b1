/** A server-sent event. */
export interface ServerEvent {
  /** The name. */
  readonly event: string;
  /** The data; `""` for a comment with an id. */
  readonly data: string;
  /** The id that the client shall resume at, if the event has one. */
  readonly id: string | undefined;
}

/** Reads the text of an event stream, however it is split. Lines end with LF or CR LF, as those of relays do. */
export class ServerEvents {
  /** The text behind the last complete event. */
  #rest = "";

  /** Returns the events that this text completes. */
  push(text: string): ServerEvent[] {
    const blocks = (this.#rest + text).replaceAll("\r\n", "\n").split("\n\n");
    this.#rest = blocks.pop()!;
    return blocks.map(read);
  }
}

function read(block: string): ServerEvent {
  let event = "message";
  const data: string[] = [];
  let id: string | undefined;
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    if (colon < 1) continue; // a comment
    const value = line.slice(colon + (line[colon + 1] === " " ? 2 : 1));
    const field = line.slice(0, colon);
    if (field === "event") event = value;
    else if (field === "data") data.push(value);
    else if (field === "id") id = value;
  }
  return { event, data: data.join("\n"), id };
}
