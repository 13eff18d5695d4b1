/**
 * The loop of a reconciler: event, key, queue, reconcile, write, and the event of its own write.
 *
 * @module
 */
import { Drawing, type Words } from "../drawing.ts";
import type { Theme, Tone } from "../theme.ts";

/** The steps in words, below the drawing. */
const STEPS: readonly (readonly [number: number, tone: Tone, text: string])[] = [
  [1, "server", "Somebody changes the object `shop/blog`. The watch brings the event to the cache."],
  [2, "client", "The event is a trigger: the key `shop/blog` enters the queue. Ten events of an object are one key."],
  [3, "queue", "The queue passes the key to your function: one call per key at a time. A call that throws is retried."],
  [4, "yours", "Your function reads the object and what belongs to it. Its own writes are on top of the cache."],
  [5, "yours", "It writes the difference: here a Deployment, then the object's status."],
  [6, "server", "The server's response is on top of the cache immediately, before the watch brings the write."],
  [
    7,
    "server",
    "The watch brings your own writes. The Deployment's event triggers another call, which may wait for it.",
  ],
  [8, "bad", "The event of the object's own status triggers nothing, so the loop comes to rest."],
];

export function reconcileLoop(theme: Theme, words: Words): string {
  const drawing = new Drawing(theme, 562);
  drawing.box([14, 16, 140, 350], "server", "API server", ["has `shop/blog`", "and its Deployment"]);

  drawing.panel(268, 16, 196, 270);
  drawing.text(366, 38, "what your function reads", { anchor: "middle", tone: "muted" });
  drawing.box([282, 52, 168, 100], "client", "cache", ["what the watch", "has brought"]);
  drawing.box([282, 184, 168, 88], "yours", "own writes", ["responses, until the", "watch brings them"], {
    dashed: true,
  });
  drawing.arrow([[366, 184], [366, 152]], { tone: "yours", label: "on top", at: [376, 173], anchor: "start" });

  drawing.box([580, 52, 166, 100], "queue", "work queue", ["each key once"]);
  drawing.box([580, 204, 166, 68], "yours", "your function", ["reconcile(key)"]);

  drawing.arrow([[154, 78], [282, 78]], { tone: "server", label: "event", at: [226, 71] });
  drawing.step(184, 78, 1, "server");
  drawing.arrow([[154, 126], [282, 126]], { tone: "server", label: "own event", at: [233, 119] });
  drawing.step(184, 126, 7, "server");

  drawing.arrow([[450, 78], [580, 78]], { tone: "client", label: "key", at: [540, 71] });
  drawing.step(500, 78, 2, "client");
  drawing.line([[450, 126], [548, 126]], { tone: "bad", dashed: true });
  drawing.cross(556, 126);
  drawing.step(500, 126, 8, "bad");
  drawing.text(524, 145, "own status", { tone: "bad", anchor: "middle", halo: true });

  drawing.arrow([[663, 152], [663, 204]], { tone: "queue" });
  drawing.step(663, 174, 3, "queue");
  drawing.arrow([[464, 238], [580, 238]], { tone: "yours", label: "read", at: [545, 231] });
  drawing.step(500, 238, 4, "yours");
  drawing.arrow([[663, 272], [663, 330], [154, 330]], {
    tone: "yours",
    label: "write: Deployment, then status",
    at: [420, 322],
  });
  drawing.step(663, 312, 5, "yours");
  drawing.arrow([[154, 228], [282, 228]], { tone: "server", label: "response", at: [232, 221] });
  drawing.step(184, 228, 6, "server");

  for (const [i, [number, tone, text]] of STEPS.entries()) {
    const y = 396 + i * 22;
    drawing.step(26, y, number, tone);
    drawing.text(44, y + 5, text);
  }
  return drawing.svg(words);
}
