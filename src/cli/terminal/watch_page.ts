import type { KubernetesObject } from "../../api/object.ts";
import type { Resource } from "../../api/resource.ts";
import type { HandlerRegistration } from "../../informer/events/handler.ts";
import type { SharedIndexInformer } from "../../informer/shared_index_informer.ts";
import { FramePainter } from "./page/frame_painter.ts";
import { ScrollPosition } from "./page/scroll_position.ts";
import { LiveTable } from "./table/live_table.ts";
import type { RowStyle } from "./table/row_cells.ts";
import { nothingFound } from "./text/nothing_found.ts";
import type { FullScreen, Terminal } from "./terminal.ts";

/** Lines around the rows: the status, and at the end a message or the keys. */
const AROUND = 2;

/**
 * The screen of `watch` on a terminal: the status of the informers, and their objects as a table that changes in place.
 *
 * The table follows the events at once; the screen follows when {@linkcode WatchPage.paint} is called, or a key scrolls.
 */
export class WatchPage implements Disposable {
  readonly #table: LiveTable;
  readonly #where: string;
  readonly #screen: FullScreen;
  readonly #painter = new FramePainter();
  readonly #scroll = new ScrollPosition();
  #status = "";
  #isSynced = false;

  /** Takes over the screen. `quit` is called when the key q is pressed. */
  constructor(
    resources: readonly Resource[],
    style: Pick<RowStyle, "wide" | "namespaces">,
    namespace: string | undefined,
    terminal: Terminal,
    quit: () => void,
  ) {
    this.#table = new LiveTable(resources, style);
    this.#where = nothingFound(resources, namespace);
    this.#screen = terminal.takeOver((key) => {
      if (key === "q") quit();
      else if (this.#scroll.press(key)) this.paint(this.#status);
    });
  }

  /** Shows the objects of an informer from now on. */
  follow(resource: Resource, informer: SharedIndexInformer<KubernetesObject>): HandlerRegistration {
    return informer.addEventHandler({
      onAdd: ({ key, object }) => this.#table.set(resource, key, object),
      onUpdate: ({ key, object }) => this.#table.set(resource, key, object),
      onDelete: ({ key }) => this.#table.delete(resource, key),
      onSynced: () => {
        this.#isSynced = true;
      },
    }, { name: "print" });
  }

  /** Draws what has changed; `status` is the first line. */
  paint(status: string): void {
    this.#status = status;
    const { size, messages } = this.#screen;
    const height = Math.max(0, size.rows - AROUND);
    const { length } = this.#table;
    const first = this.#scroll.within(length, height);
    const rows = this.#table.lines(first, height, Date.now());
    if (length === 0 && this.#isSynced && rows.length < height) rows.push(this.#where);
    while (rows.length < height) rows.push("");
    const hidden = length - height;
    const keys = hidden > 0
      ? `lines ${first + 1} to ${first + height} of ${length}; arrows, space, b, g, G; q ends`
      : "q ends";
    this.#screen.draw(this.#painter.paint([status, ...rows, messages.at(-1) ?? keys], size));
  }

  /** Gives the screen back. */
  [Symbol.dispose](): void {
    this.#screen[Symbol.dispose]();
  }
}
