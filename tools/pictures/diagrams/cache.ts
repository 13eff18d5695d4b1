/**
 * The parts of an informer, and what stands around it, from the API server to a reconciler.
 *
 * @module
 */
import { Drawing, type Words } from "../drawing.ts";
import type { Theme } from "../theme.ts";

/** The left edges of the three columns, and their width. */
const [LEFT, MIDDLE, RIGHT] = [50, 301, 552];
const BOX = 188;
/** The middles of the columns. */
const [FIRST, SECOND, THIRD] = [LEFT, MIDDLE, RIGHT].map((x) => x + BOX / 2);

export function cache(theme: Theme, words: Words): string {
  const drawing = new Drawing(theme, 556);

  drawing.box([LEFT, 16, BOX, 80], "client", "client", ["sends the requests;", "one for all informers"]);
  drawing.box([MIDDLE, 16, RIGHT - MIDDLE + BOX, 80], "server", "API server", ["has all objects, each with a version"]);
  drawing.arrow([[LEFT + BOX, 40], [MIDDLE, 40]], { tone: "client", label: "asks" });
  drawing.arrow([[MIDDLE, 76], [LEFT + BOX, 76]], { tone: "server", label: "sends" });

  drawing.panel(36, 136, 718, 142);
  drawing.text(RIGHT + BOX, 158, "informer: a local copy of one kind", {
    bold: true,
    tone: "client",
    anchor: "end",
    size: 14,
  });
  drawing.box([LEFT, 172, BOX, 88], "client", "reflector", [
    "lists, then watches;",
    "resumes or relists",
    "after a failure",
  ]);
  drawing.box([MIDDLE, 172, BOX, 88], "queue", "queue", ["keeps the changes in", "the server's order"]);
  drawing.box([RIGHT, 172, BOX, 88], "client", "store", ["has the objects by", "key and by index"]);
  drawing.arrow([[FIRST, 96], [FIRST, 172]], {
    tone: "server",
    label: "lists and changes",
    at: [FIRST + 10, 121],
    anchor: "start",
  });
  drawing.arrow([[LEFT + BOX, 216], [MIDDLE, 216]], { tone: "client" });
  drawing.arrow([[MIDDLE + BOX, 216], [RIGHT, 216]], { tone: "client" });

  drawing.box([LEFT, 326, BOX, 88], "queue", "work queue", [
    "holds each key once;",
    "retries it after a",
    "failure, later",
  ]);
  drawing.box([MIDDLE, 326, BOX, 88], "yours", "handlers", [
    "added, updated,",
    "deleted, synced:",
    "one event at a time",
  ]);
  drawing.box([RIGHT, 326, BOX, 88], "yours", "listers and views", ["read the store,", "without a request"]);
  for (const [x, label] of [[FIRST, "keys"], [SECOND, "events"], [THIRD, "objects"]] as const) {
    drawing.arrow([[x, 278], [x, 326]], { tone: "client", label, at: [x + 10, 306], anchor: "start" });
  }

  const acts = ["compares what is there with what should be there,", "and writes the difference"];
  drawing.box([LEFT, 454, MIDDLE - LEFT + BOX, 64], "yours", "reconciler", acts);
  drawing.arrow([[FIRST, 414], [FIRST, 454]], {
    tone: "queue",
    label: "a key: one call at a time",
    at: [FIRST + 10, 438],
    anchor: "start",
  });
  drawing.arrow([[THIRD, 414], [THIRD, 486], [MIDDLE + BOX, 486]], { tone: "yours", label: "reads", at: [568, 479] });
  drawing.arrow([[FIRST, 518], [FIRST, 540], [20, 540], [20, 56], [LEFT, 56]], {
    tone: "yours",
    label: "writes: create, update, patch, apply, delete",
    at: [FIRST + 10, 545],
    anchor: "start",
  });
  return drawing.svg(words);
}
