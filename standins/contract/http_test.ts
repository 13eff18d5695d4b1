import { eTag, ifMatch, ifNoneMatch } from "@std/http/etag";
import { accepts } from "@std/http/negotiation";
import {
  ServerSentEventParseStream,
  type ServerSentEventParseStreamOptions,
} from "@std/http/server-sent-event-parse-stream";
import { type ServerSentEventMessage, ServerSentEventStream } from "@std/http/server-sent-event-stream";
import * as everything from "@std/http";
import { assert, assertEquals, assertFalse, assertMatch, assertRejects, assertStrictEquals } from "@std/assert";

/** The chunks of an event stream as text. */
async function wire(...messages: ServerSentEventMessage[]): Promise<string[]> {
  const stream = ReadableStream.from(messages).pipeThrough(new ServerSentEventStream());
  const decoder = new TextDecoder();
  return await Array.fromAsync(stream, (chunk) => decoder.decode(chunk));
}

/** The messages in the chunks of an event stream. */
async function parse(chunks: (string | Uint8Array)[], options?: ServerSentEventParseStreamOptions): Promise<unknown[]> {
  const bytes = chunks.map((chunk) => typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk);
  return await Array.fromAsync(ReadableStream.from(bytes).pipeThrough(new ServerSentEventParseStream(options)));
}

Deno.test("http's main entry has everything the others have", () => {
  assertStrictEquals(everything.accepts, accepts);
  assertStrictEquals(everything.eTag, eTag);
  assertStrictEquals(everything.ServerSentEventParseStream, ServerSentEventParseStream);
  assertStrictEquals(everything.ServerSentEventStream, ServerSentEventStream);
});

Deno.test("ServerSentEventStream writes the fields in its order, without a space after the colon", async () => {
  assertEquals(await wire({ retry: 10, id: 5, data: "", event: "e", comment: "c" }), [
    ":c\nevent:e\ndata:\nid:5\nretry:10\n\n",
  ]);
  assertEquals(await wire({ data: "a" }, {}, { id: "x" }), ["data:a\n\n", "\n\n", "id:x\n\n"]);
});

Deno.test("ServerSentEventStream makes a field of every line of data and comment", async () => {
  assertEquals(await wire({ data: "a\nb\r\nc\rd", comment: "x\ny" }), [
    ":x\n:y\ndata:a\ndata:b\ndata:c\ndata:d\n\n",
  ]);
});

Deno.test("ServerSentEventStream refuses line ends in event and id", async () => {
  await assertRejects(
    () => wire({ event: "a\nb" }),
    SyntaxError,
    "Cannot serialize message: `message.event` cannot contain a newline",
  );
  await assertRejects(
    () => wire({ id: "a\rb" }),
    SyntaxError,
    "Cannot serialize message: `message.id` cannot contain a newline",
  );
});

Deno.test("ServerSentEventStream cancels its source when its reader leaves", async () => {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const source = new ReadableStream<ServerSentEventMessage>({ cancel: resolve });
  await source.pipeThrough(new ServerSentEventStream()).cancel("gone");
  assertEquals(await promise, "gone");
});

Deno.test("ServerSentEventParseStream reads what ServerSentEventStream writes", async () => {
  const messages = [
    { comment: " hello", event: "e", data: "a\nb", id: "5", retry: 10 },
    { data: "" },
    { event: "ü€😀", data: "{}" },
  ];
  assertEquals(await parse(await wire(...messages)), messages);
});

Deno.test("ServerSentEventParseStream puts together what chunks have cut, at any place", async () => {
  const text = "event:ü\r\ndata: a\r\ndata:b\r\n\r\ndata:c\n\nid:1\r\rdata:😀\n\n";
  const expected = [{ event: "ü", data: "a\nb" }, { data: "c" }, { id: "1" }, { data: "😀" }];
  const bytes = new TextEncoder().encode(text);
  assertEquals(await parse([bytes]), expected);
  for (let cut = 1; cut < bytes.length; cut++) {
    assertEquals(await parse([bytes.slice(0, cut), bytes.slice(cut)]), expected);
  }
  assertEquals(await parse(Array.from(bytes, (byte) => Uint8Array.of(byte))), expected);
});

Deno.test("ServerSentEventParseStream drops a byte order mark and one space after the colon", async () => {
  assertEquals(await parse(["\ufeffdata:  a\nevent\n\n"]), [{ data: " a", event: "" }]);
  assertEquals(await parse(["data:a:b\n\n"]), [{ data: "a:b" }]);
});

Deno.test("ServerSentEventParseStream keeps comments, or leaves them out", async () => {
  const text = ": ping\n\n:a\n:b\ndata:1\n\n";
  assertEquals(await parse([text]), [{ comment: " ping" }, { comment: "a\nb", data: "1" }]);
  assertEquals(await parse([text], { ignoreComments: true }), [{ data: "1" }]);
});

Deno.test("ServerSentEventParseStream ignores what it does not know or cannot use", async () => {
  assertEquals(await parse(["retry:1x\n\nid:a\0b\n\nother:1\n\n\n\ndata:1\n\n"]), [{ data: "1" }]);
  assertEquals(await parse(["retry:250\n\n"]), [{ retry: 250 }]);
});

Deno.test("ServerSentEventParseStream delivers a message that the end cuts off", async () => {
  assertEquals(await parse(["data:1\n\ndata:2"]), [{ data: "1" }, { data: "2" }]);
  assertEquals(await parse(["data:1\r"]), [{ data: "1" }]);
  assertEquals(await parse(["data:1\n"]), [{ data: "1" }]);
  assertEquals(await parse([]), []);
});

Deno.test("eTag is the length and a part of the digest", async () => {
  assertEquals(await eTag(""), `"0-47DEQpj8HBSa+/TImW+5JCeuQeR"`);
  assertEquals(await eTag("hello"), `"5-LPJNul+wow4m6DsqxbninhsWHlw"`);
  assertEquals(await eTag(new TextEncoder().encode("hello")), await eTag("hello"));
  assertMatch(await eTag("ä".repeat(16)), /^"20-[A-Za-z0-9+/]{27}"$/);
  assertMatch(await eTag("hello", { algorithm: "SHA-1" }), /^"5-[A-Za-z0-9+/]{27}"$/);
  assertEquals(await eTag("hello", { weak: true }), `W/${await eTag("hello")}`);
});

Deno.test("eTag of a file is weak, and there is none without a time", async () => {
  const mtime = new Date(0);
  const tag = await eTag({ mtime, size: 255 });
  assertMatch(tag ?? "", /^W\/"ff-[A-Za-z0-9+/]{27}"$/);
  assertFalse((await eTag({ mtime: new Date(1), size: 255 })) === tag);
  assertEquals(`W/${await eTag({ mtime, size: 255 }, { weak: false })}`, tag);
  assertEquals(await eTag({ mtime: null, size: 255 }), undefined);
});

Deno.test("ifMatch compares strongly", () => {
  assert(ifMatch(`"a"`, `"a"`));
  assert(ifMatch(`"b", "a"`, `"a"`));
  assert(ifMatch(` * `, `"a"`));
  assertFalse(ifMatch(`"b"`, `"a"`));
  assertFalse(ifMatch(`W/"a"`, `W/"a"`));
  assertFalse(ifMatch(null, `"a"`));
  assertFalse(ifMatch(`"a"`, undefined));
});

Deno.test("ifNoneMatch compares weakly", () => {
  assertFalse(ifNoneMatch(`"a"`, `"a"`));
  assertFalse(ifNoneMatch(`"b" , W/"a"`, `"a"`));
  assertFalse(ifNoneMatch(`"a"`, `W/"a"`));
  assertFalse(ifNoneMatch(`*`, `"a"`));
  assert(ifNoneMatch(`"b"`, `"a"`));
  assert(ifNoneMatch(null, `"a"`));
  assert(ifNoneMatch(`"a"`, undefined));
});

Deno.test("accepts returns the first type where the request has no Accept header", () => {
  assertEquals(accepts({ headers: new Headers() }, "application/json", "text/html"), "application/json");
});

Deno.test("accepts returns the type with the highest quality, and then the most closely named one", () => {
  const of = (accept: string): string | undefined =>
    accepts({ headers: new Headers({ accept }) }, "application/json", "text/html");
  assertEquals(of("text/html, application/json;q=0.9"), "text/html");
  assertEquals(of("text/html;q=0.5, */*;q=0.8"), "application/json");
  assertEquals(of("*/*, text/html"), "text/html");
  assertEquals(of("*/*"), "application/json");
  assertEquals(of("text/html, application/json"), "application/json");
  assertEquals(of("Text/*"), "text/html");
});

Deno.test("accepts returns undefined where the request accepts none of the types", () => {
  const of = (accept: string): string | undefined => accepts({ headers: new Headers({ accept }) }, "application/json");
  assertEquals(of("text/html"), undefined);
  assertEquals(of("application/json;q=0, */*"), undefined);
  assertEquals(of("nonsense"), undefined);
});
