import { assertEquals } from "@std/assert";
import { ServerEvents } from "../../src/subscribe/follow_relay.ts";
import fc from "fast-check";

const TEXT =
  'retry:2000\nevent:state\ndata:{"state":"live"}\n\n:\nid:1\n\nevent: added\ndata: a\ndata: b\nid: 2\n\n:\n\nid:\n\nid:x';

Deno.test("events are read from text however it is split, with either kind of line end", () => {
  const expected = [
    { event: "state", data: '{"state":"live"}', id: undefined },
    { event: "message", data: "", id: "1" },
    { event: "added", data: "a\nb", id: "2" },
    { event: "message", data: "", id: undefined },
    { event: "message", data: "", id: "" },
  ];
  fc.assert(fc.property(fc.array(fc.nat(TEXT.length + 12), { maxLength: 6 }), fc.boolean(), (cuts, crlf) => {
    const text = crlf ? TEXT.replaceAll("\n", "\r\n") : TEXT;
    const events = new ServerEvents();
    const places = [0, ...cuts.sort((a, b) => a - b), text.length];
    assertEquals(places.slice(1).flatMap((end, i) => events.push(text.slice(places[i], end))), expected);
  }));
});
