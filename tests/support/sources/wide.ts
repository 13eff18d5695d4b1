import type { Transport } from "../../../src/engine/api/lister_watcher.ts";
import { defineKind } from "../../../src/operator/schema/mod.ts";
import type { FakeApiServer } from "../../../src/testing/mod.ts";

/** Integers that JavaScript rounds: to one number, the first two. */
export const WIDE = ["9007199254740993", "9007199254740992", "-9007199254740995", "9223372036854775807"] as const;

/** The numbers that a fake server has in the place of {@linkcode WIDE}, which it would round too. */
export const NARROW = [70_000_001, 70_000_002, 70_000_003, 70_000_004] as const;

const number = { type: "integer", format: "int64" } as const;
const item = { type: "object", properties: { id: number, note: { type: "string" } } } as const;

/** A kind with integers that may be wide. */
export const Big = defineKind({
  group: "example.com",
  version: "v1",
  kind: "Big",
  plural: "bigs",
  spec: {
    type: "object",
    properties: {
      id: number,
      note: { type: "string" },
      list: { type: "array", items: item },
      ids: { type: "array", items: number },
    },
  },
  columns: [{ name: "Id", type: "integer", jsonPath: ".spec.id" }],
  status: { type: "object", properties: { seen: number, note: { type: "string" } } },
});

/** A fake server whose texts have {@linkcode WIDE} integers in place of its {@linkcode NARROW} ones. */
export function wide(server: FakeApiServer): Transport & Disposable & { readonly bodies: string[] } {
  const bodies: string[] = [];
  const swap = (text: string, from: readonly unknown[], to: readonly unknown[]): string =>
    from.reduce<string>((swapped, it, at) => swapped.replaceAll(`${it}`, `${to[at]}`), text);
  return {
    bodies,
    [Symbol.dispose]: () => server[Symbol.dispose](),
    fetch: async (request) => {
      const body = await request.text();
      if (body !== "") bodies.push(body);
      const narrow = new Request(request, request.method === "GET" ? {} : { body: swap(body, WIDE, NARROW) });
      const { body: answer, status, headers } = await server.fetch(narrow);
      const [decoder, encoder] = [new TextDecoder(), new TextEncoder()];
      const widened = answer?.pipeThrough(
        new TransformStream<Uint8Array, Uint8Array>({
          transform: (chunk, controller) => {
            controller.enqueue(encoder.encode(swap(decoder.decode(chunk, { stream: true }), NARROW, WIDE)));
          },
        }),
      );
      return new Response(widened, {
        status,
        headers: new Headers([...headers].filter(([name]) => name !== "content-length")),
      });
    },
  };
}
