import type { ListPart } from "../../../src/api/change.ts";
import type { Entry } from "../../../src/api/entry.ts";
import type { KnownEntries } from "../../../src/api/options.ts";
import { statusFrom } from "../../../src/api/status.ts";
import type { Pod } from "../../../src/kinds/core/v1.ts";
import { BytesEntry, type Decode } from "../bytes_entry.ts";
import { eventType, type Format, type WatchFrame } from "../format.ts";
import { IdentityReader, isSame } from "../identity.ts";
import { CborDecoder } from "./decoder.ts";
import { CborWalker, endOfItem } from "./walker.ts";

/** Pods in CBOR, as the API server writes them with its feature gate `CBORServingAndStorage`. */
export class CborFormat implements Format {
  /** As in `Format.accept`; a watch is then answered in `application/cbor-seq`. */
  readonly accept = "application/cbor";
  readonly #walker = new CborWalker();
  readonly #identities = new IdentityReader();
  readonly #decoder = new CborDecoder();
  readonly #decode: Decode = (bytes) => {
    const pod = this.#decoder.decode(bytes) as Pod;
    return pod.kind === undefined ? { kind: "Pod", apiVersion: "v1", ...pod } : pod; // items of a list lack it
  };

  /** As in `Format.endOfFrame`: nothing says how long a frame is, so that it is walked to its end. */
  readonly endOfFrame = endOfItem;

  /** As in `Format.readFrame`. */
  readFrame(bytes: Uint8Array, start: number, _end: number, known: KnownEntries["known"]): WatchFrame {
    this.#walker.walkEvent(bytes, start);
    const type = eventType(bytes[this.#walker.typeStart]);
    if (type !== "ERROR") return { type, entry: this.#entry(bytes, known) };
    const { objectStart, objectEnd } = this.#walker;
    return { type, status: statusFrom(this.#decoder.decode(bytes.subarray(objectStart, objectEnd))) };
  }

  /** As in `Format.readList`, but in one part: keys stand in any order, so that the version may be the last one. */
  async *readList(
    body: ReadableStream<Uint8Array>,
    known: KnownEntries["known"],
  ): AsyncGenerator<ListPart<Pod>, void, undefined> {
    const bytes = await new Response(body).bytes();
    const { start, count, version } = this.#walker.walkList(bytes);
    const entries: Entry<Pod>[] = [];
    for (let at = start; entries.length < count; at = this.#walker.objectEnd) {
      this.#walker.walk(bytes, at);
      entries.push(this.#entry(bytes, known));
    }
    yield { entries, resourceVersion: version };
  }

  #entry(bytes: Uint8Array, known: KnownEntries["known"]): Entry<Pod> {
    const identity = this.#identities.read(bytes, this.#walker);
    const before = known?.(identity.key);
    if (isSame(before, identity)) return before as Entry<Pod>;
    return new BytesEntry(identity, this.#walker.strip(bytes), this.#decode);
  }
}
