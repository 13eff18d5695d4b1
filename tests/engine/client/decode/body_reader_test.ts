import { assert, assertEquals, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import { DecodeError } from "../../../../src/engine/api/status.ts";
import { ByteBuffer, chunksOf, LineSplitter } from "../../../../src/engine/client/decode/body_reader.ts";
import { bodyOf, inChunksOf, Pod, readChanges, readList, utf8Of } from "../../../support/sources/bodies.ts";

const decoder = new TextDecoder();

function linesOf(chunks: readonly Uint8Array[], maxBytes?: number): string[] {
  const splitter = new LineSplitter(maxBytes);
  const lines: string[] = [];
  for (const chunk of chunks) {
    splitter.push(chunk, (bytes, start, end) => lines.push(decoder.decode(bytes.subarray(start, end))));
  }
  return lines;
}

Deno.test("LineSplitter trims CRLF and white space, and skips empty lines, for any chunks", () => {
  const bytes = utf8Of(`{"a":1}\r\n\r\n\n  {"ä":"日本"}\t\n \n{"b":2}\n{"unfinished":3}`);
  for (let size = 1; size <= bytes.length; size++) {
    assertEquals(linesOf(inChunksOf(bytes, size)), [`{"a":1}`, `{"ä":"日本"}`, `{"b":2}`]);
  }
});

Deno.test("LineSplitter keeps an unfinished line and reports its length", () => {
  const splitter = new LineSplitter();
  const seen: string[] = [];
  const line = (bytes: Uint8Array, start: number, end: number): void => {
    seen.push(decoder.decode(bytes.subarray(start, end)));
  };
  splitter.push(utf8Of("one\ntw"), line);
  assertEquals(splitter.pending, 2);
  splitter.push(new Uint8Array(0), line);
  splitter.push(utf8Of("o"), line);
  assertEquals(splitter.pending, 3);
  splitter.push(utf8Of("\n"), line);
  assertEquals(splitter.pending, 0);
  assertEquals(seen, ["one", "two"]);
});

Deno.test("LineSplitter limits a line's length in the same way for any chunks, after yielding the lines before it", () => {
  const bytes = utf8Of("12345\n123456\n1\n");
  for (let size = 1; size <= bytes.length; size++) {
    assertEquals(linesOf(inChunksOf(bytes, size), 6), ["12345", "123456", "1"]);
    const lines: string[] = [];
    const splitter = new LineSplitter(5);
    const error = assertThrows(() => {
      for (const chunk of inChunksOf(bytes, size)) {
        splitter.push(chunk, (bytes, start, end) => lines.push(decoder.decode(bytes.subarray(start, end))));
      }
    }, DecodeError);
    assertEquals(lines, ["12345"]);
    assertEquals(
      error.message,
      "Cannot read the watch: a line is longer than 5 bytes. Raise maxObjectBytes if your objects are that large",
    );
  }
});

Deno.test("LineSplitter refuses an endless line as soon as it is too long", () => {
  const splitter = new LineSplitter(100_000);
  const chunk = new Uint8Array(60_000).fill(97);
  const none = (): void => assert(false, "there is no line");
  splitter.push(chunk, none);
  assertThrows(() => splitter.push(chunk, none), DecodeError, "longer than 100000 bytes");
});

Deno.test("ByteBuffer grows as bytes are appended, and releases a large buffer", () => {
  const buffer = new ByteBuffer();
  const large = Uint8Array.from({ length: 1_500_000 }, (_, index) => index % 251);
  buffer.append(large, 10, 20);
  buffer.append(large, 0, large.length);
  assertEquals(buffer.length, large.length + 10);
  assertEquals(buffer.bytes.subarray(0, 10), large.subarray(10, 20));
  assertEquals(buffer.bytes.subarray(10, buffer.length), large);
  buffer.clear();
  assertEquals(buffer.length, 0);
  assert(buffer.bytes.length < 100_000);
});

for (const kind of ["bytes", "default"] as const) {
  Deno.test(`chunksOf reads a ${kind} stream to its end and releases it`, async () => {
    const { stream } = bodyOf(inChunksOf(utf8Of("hello, world"), 5), kind);
    let text = "";
    for await (const chunk of chunksOf(stream)) text += decoder.decode(chunk);
    assertEquals(text, "hello, world");
    assertEquals(stream.locked, false);
  });

  Deno.test(`chunksOf cancels a ${kind} stream when its loop is left early`, async () => {
    const body = bodyOf(inChunksOf(utf8Of("hello, world"), 5), kind);
    for await (const chunk of chunksOf(body.stream)) {
      assertEquals(decoder.decode(chunk), "hello");
      break;
    }
    assert(body.cancelled);
    assertEquals(body.stream.locked, false);
  });
}

Deno.test("chunksOf reads a byte stream into one reused buffer, also chunks larger than it", async () => {
  const body = bodyOf([new Uint8Array(150_000).fill(1), new Uint8Array(10).fill(2)], "bytes");
  const sizes: number[] = [];
  let sum = 0;
  let previous: Uint8Array | undefined;
  for await (const chunk of chunksOf(body.stream)) {
    assertEquals(previous?.byteLength ?? 0, 0, "the chunk before is gone");
    sizes.push(chunk.length);
    sum += chunk.reduce((total, byte) => total + byte, 0);
    previous = chunk;
  }
  assertEquals(sum, 150_020);
  assert(sizes.every((size) => size <= 65_536), sizes.join());
});

const OPTIONS = { resource: Pod, managedFields: "drop" } as const;
const OBJECT = `{"metadata":{"name":"a"}}`;
/** The readers, each with a body that has an object, one that it refuses, and its error for that. */
const READERS: Readonly<
  Record<string, {
    readonly read: (body: ReadableStream<Uint8Array>, options: typeof OPTIONS) => AsyncIterable<unknown>;
    readonly text: string;
    readonly refused: string;
    readonly error: string;
  }>
> = {
  ListReader: { read: readList, text: `{"items":[${OBJECT}`, refused: `{"items":[1`, error: "DecodeError" },
  WatchReader: {
    read: readChanges,
    text: `{"type":"ADDED","object":${OBJECT}}\n`,
    refused: `{"type":"ERROR","object":{"code":500}}\n`,
    error: "StatusError",
  },
};

for (const [name, { read, text, refused, error }] of Object.entries(READERS)) {
  for (const kind of ["bytes", "default"] as const) {
    Deno.test(`${name} cancels a body of the ${kind} reader when its loop is left early or what it says is refused`, async () => {
      const left = bodyOf([utf8Of(text), utf8Of("more")], kind);
      for await (const _ of read(left.stream, OPTIONS)) break;
      const bad = bodyOf([utf8Of(refused), utf8Of("more")], kind);
      const thrown = await assertRejects(() => Array.fromAsync(read(bad.stream, OPTIONS)), Error);
      assertEquals(thrown.name, error);
      for (const body of [left, bad]) assertEquals([body.cancelled, body.stream.locked], [true, false]);
    });

    Deno.test(`${name} rejects with the error of a body of the ${kind} reader that breaks, after what came before`, async () => {
      const reason = new Error("connection reset");
      let body!: ReadableStreamController<Uint8Array>;
      const stream = new ReadableStream<Uint8Array>({
        ...(kind === "bytes" ? { type: "bytes" } : {}),
        start(controller: ReadableStreamController<Uint8Array>): void {
          body = controller;
          controller.enqueue(utf8Of(text));
        },
      } as UnderlyingDefaultSource<Uint8Array>);
      const parts: unknown[] = [];
      const thrown = await assertRejects(async () => {
        for await (const part of read(stream, OPTIONS)) {
          parts.push(part);
          body.error(reason);
        }
      });
      assertStrictEquals(thrown, reason);
      assertEquals([parts.length, stream.locked], [1, false]);
    });
  }
}
