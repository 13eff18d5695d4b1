import { nextTurn } from "../../async/next_turn.ts";

const encoder = new TextEncoder();

/** Returns the members of `head`, and the objects as `items`, as a body of JSON that is made while it is read. */
export function listBody(
  head: object,
  texts: Generator<string[], void, undefined>,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let before = `${JSON.stringify(head).slice(0, -1)},"items":[`;
  let isFirst = true;
  return new ReadableStream({
    pull: async (controller): Promise<void> => {
      for (;;) {
        const { value = [], done } = texts.next();
        if (value.length > 0) {
          const text = before + value.join(",");
          before = ",";
          isFirst = false;
          return controller.enqueue(encoder.encode(text));
        }
        if (done) {
          controller.enqueue(encoder.encode(isFirst ? `${before}]}` : "]}"));
          return controller.close();
        }
        await nextTurn();
      }
    },
    cancel: (): void => void texts.return(),
  }, { highWaterMark: 0 });
}
