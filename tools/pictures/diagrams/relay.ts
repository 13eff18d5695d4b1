/**
 * One watch of a cluster, a relay, and its many clients; and a client that resumes.
 *
 * @module
 */
import { Drawing, type Words } from "../drawing.ts";
import type { Theme } from "../theme.ts";

const CLIENTS: readonly (readonly [title: string, line: string, label: string])[] = [
  ["browser", "`new EventSource()`", "event stream"],
  ["React app", "`subscribeViews()`", "rows it shows"],
  ["shell", "`curl -N …/events/pods`", "event stream"],
  ["kubectl, client-go", "`--server …/kubernetes`", "list, watch"],
];

/** The lanes of the relay and of a browser. */
const [RELAY, BROWSER] = [366, 446];

/** Changes that the relay sends, by their ids: where, and the text. */
const SENT: readonly (readonly [x: number, id: string])[] = [[150, "41"], [200, "42"], [545, "43"], [595, "44"], [
  690,
  "45",
]];

export function relay(theme: Theme, words: Words): string {
  const drawing = new Drawing(theme, 536);
  drawing.box([14, 96, 130, 96], "server", "API server", ["serves one client"]);
  drawing.box([270, 20, 176, 248], "client", "relay", [
    "caches each kind once",
    "",
    "shows each user only",
    "what they may see",
    "",
    "keeps the last changes,",
    "so that clients resume",
  ]);
  drawing.arrow([[144, 144], [270, 144]], { tone: "server", width: 3, label: "one watch" });
  for (const [i, [title, line, label]] of CLIENTS.entries()) {
    const y = 20 + i * 65;
    drawing.box([560, y, 186, 53], "yours", title, [line]);
    drawing.arrow([[446, y + 26], [560, y + 26]], { tone: "client", label, at: [500, y + 20] });
  }
  drawing.text(653, 292, "… and hundreds more", { anchor: "middle", tone: "muted" });

  drawing.text(14, 326, "A browser loses its connection, and resumes", { bold: true, size: 14 });
  drawing.text(14, RELAY + 5, "relay", { tone: "client", bold: true });
  drawing.text(14, BROWSER + 5, "browser", { tone: "yours", bold: true });
  drawing.line([[84, RELAY], [746, RELAY]], { tone: "client" });
  drawing.line([[84, BROWSER], [266, BROWSER]], { tone: "yours" });
  drawing.line([[266, BROWSER], [440, BROWSER]], { tone: "bad", dashed: true });
  drawing.line([[440, BROWSER], [746, BROWSER]], { tone: "yours" });
  drawing.arrow([[100, RELAY], [100, BROWSER]], { tone: "client", label: "all", at: [106, 410], anchor: "start" });
  for (const [x, id] of SENT) {
    drawing.arrow([[x, RELAY], [x, BROWSER]], { tone: "client", label: id, at: [x + 6, 410], anchor: "start" });
  }
  drawing.cross(266, BROWSER);
  drawing.text(350, 412, "43 and 44 happen", { anchor: "middle", tone: "muted" });
  drawing.arrow([[440, BROWSER], [440, RELAY]], {
    tone: "yours",
    label: ["Last-Event-ID:", "42"],
    at: [446, 402],
    anchor: "start",
  });
  const [connects, lost, resumed, live] = [100, 266, 570, 690].map((x) => [x, BROWSER + 24] as const);
  drawing.text(84, connects[1], "snapshot, then changes");
  drawing.text(...lost, "cut", { anchor: "middle", tone: "bad" });
  drawing.text(...resumed, "what it missed", { anchor: "middle" });
  drawing.text(...live, "live", { anchor: "middle" });
  drawing.text(
    14,
    500,
    ["If the relay no longer has these changes, the browser receives `reset` and a new snapshot."],
    {
      tone: "muted",
    },
  );
  drawing.text(14, 520, "Relays with the same `cluster` resume each other's streams.", { tone: "muted" });
  return drawing.svg(words);
}
