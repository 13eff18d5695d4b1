import type { KubernetesObject } from "../../api/object.ts";
import { sleep } from "../../async/time/sleep.ts";
import type { ViewUpdates } from "../../informer/view/view_reader.ts";
import type { RowChange, ViewRow, ViewUpdate } from "../../informer/view/view_update.ts";
import { eventText, heartbeatText } from "../format/event_text.ts";
import type { EndData } from "../format/relay_events.ts";
import { EventBody } from "../http/event_body.ts";
import type { Show } from "../objects/show.ts";
import type { ViewSelection } from "./view_selection.ts";

/** The time between two updates of a view, in milliseconds: changes in between come together. */
const INTERVAL_MS = 50;

/** A view that a stream reads. */
export interface ViewLease extends Disposable {
  /** The updates of the window. */
  readonly updates: ViewUpdates<KubernetesObject>;
  /** Returns what the client may see of an object. */
  readonly show: Show;
}

interface OpenView {
  readonly selection: ViewSelection;
  readonly lease: ViewLease;
  readonly job: AbortController;
}

const encoder = new TextEncoder();

/**
 * The updates of views for one client.
 *
 * At most one text for each view and each collection waits for the client; the next update of a view is made when the last one was
 * taken, of what has changed until then.
 */
export class ViewStream {
  /** The name of the stream, a secret of its client. */
  readonly id: string = crypto.randomUUID();
  readonly #body: EventBody;
  readonly #lease: (selection: ViewSelection) => ViewLease;
  readonly #views = new Map<string, OpenView>();
  /** The texts that wait for the client, by what they are about. */
  readonly #pending = new Map<string, string>();
  /** Called when the client has taken the texts. */
  #taken: (() => void)[] = [];

  /** A stream without views. `lease` opens one; `onEnd` is called once, when the stream has ended. */
  constructor(lease: (selection: ViewSelection) => ViewLease, onEnd: () => void) {
    this.#lease = lease;
    this.#body = new EventBody({
      onRead: () => this.#flush(),
      onEnd: () => {
        for (const name of [...this.#views.keys()]) this.#close(name);
        onEnd();
      },
    });
    this.offer("stream", eventText("stream", JSON.stringify({ id: this.id })));
  }

  /** The body of the response. */
  get body(): ReadableStream<Uint8Array<ArrayBuffer>> {
    return this.#body.stream;
  }

  /** The names of the collections that views are of. */
  get collections(): ReadonlySet<string> {
    return new Set([...this.#views.values()].map(({ selection }) => selection.of));
  }

  /** Replaces the views: those that differ in the window alone are moved, others are opened and closed. */
  replace(selections: ReadonlyMap<string, ViewSelection>): void {
    for (const [name, { selection }] of this.#views) {
      if (selections.get(name)?.id !== selection.id) this.#close(name);
    }
    for (const [name, selection] of selections) {
      const known = this.#views.get(name);
      if (known === undefined) this.#open(name, selection);
      else if (JSON.stringify(known.selection.window) !== JSON.stringify(selection.window)) {
        known.lease.updates.moveTo(selection.window);
        this.#views.set(name, { ...known, selection });
      }
    }
  }

  /** Writes a text when the client reads; a later one about the same replaces it until then. */
  offer(about: string, text: string): void {
    this.#pending.set(about, text);
    this.#flush();
  }

  /** Ends the stream if the client has not read for `stallMs`, and writes a comment if nothing was written for `heartbeatMs`. */
  check({ stallMs, heartbeatMs }: { readonly stallMs: number; readonly heartbeatMs: number }): void {
    this.#body.check(stallMs);
    if (this.#body.isReading && this.#body.idleMs >= heartbeatMs) this.offer("heartbeat", heartbeatText());
  }

  /** Ends the stream at a time; `undefined` is never. */
  expireAt(at: Date | undefined): void {
    this.#body.expireAt(at);
  }

  /** Ends the stream. The client has 5 s to read the reason. */
  end(reason: EndData["reason"]): void {
    this.#body.end(reason);
  }

  #flush(): void {
    if (!this.#body.isReading || this.#pending.size === 0) return;
    const text = [...this.#pending.values()].join("");
    this.#pending.clear();
    this.#body.write(encoder.encode(text));
    for (const taken of this.#taken.splice(0)) taken();
  }

  #open(name: string, selection: ViewSelection): void {
    const view = { selection, lease: this.#lease(selection), job: new AbortController() };
    this.#views.set(name, view);
    void this.#follow(name, view);
  }

  #close(name: string): void {
    const view = this.#views.get(name)!;
    this.#views.delete(name);
    this.#pending.delete(`view ${name}`);
    view.job.abort();
    view.lease[Symbol.dispose]();
  }

  async #follow(name: string, { selection, lease, job: { signal } }: OpenView): Promise<void> {
    for await (const update of lease.updates) {
      if (signal.aborted) return;
      const taken = new Promise<void>((resolve) => this.#taken.push(resolve));
      this.offer(`view ${name}`, eventText("view", updateText(name, update, selection, lease.show)));
      try {
        await Promise.all([taken, sleep(INTERVAL_MS, { signal })]);
      } catch {
        return; // the view was closed
      }
    }
    if (!signal.aborted) this.end("closed"); // its informer has stopped
  }
}

/** Returns an update as JSON, with what `selection` keeps of what may be shown. */
function updateText(
  view: string,
  { total, offset, rows, changes }: ViewUpdate<KubernetesObject>,
  selection: ViewSelection,
  show: Show,
): string {
  const rowText = (row: ViewRow<KubernetesObject>): string => {
    const shown = show(row);
    return `{"key":${JSON.stringify(row.key)},"object":${shown === undefined ? null : selection.json(shown)}}`;
  };
  const changeText = (change: RowChange<KubernetesObject>): string => {
    if (change.type === "left") return JSON.stringify(change);
    const { row, ...rest } = change;
    return `${JSON.stringify(rest).slice(0, -1)},"row":${rowText(row)}}`;
  };
  const head = JSON.stringify({ view, total, offset }).slice(0, -1);
  const all = rows === undefined ? "" : `,"rows":[${rows.map(rowText).join(",")}]`;
  return `${head}${all},"changes":[${changes.map(changeText).join(",")}]}`;
}
