import type { KubernetesObject } from "../../api/object.ts";
import type { Resource } from "../../api/resource.ts";
import type { SharedIndexInformer } from "../../informer/shared_index_informer.ts";
import type { InformerStatus } from "../../informer/status.ts";
import { ageOf } from "./text/age_of.ts";
import type { Terminal } from "./terminal.ts";

const PERIOD_MS = 250;
/** Period of the event rate, in milliseconds. */
const RATE_MS = 1_000;

interface Viewed {
  readonly resource: Resource;
  readonly informer: Pick<SharedIndexInformer<KubernetesObject>, "status">;
}

/** Shows the status of informers, four times a second, if standard error is a terminal. */
export class LiveView implements Disposable {
  readonly #viewed: readonly Viewed[];
  readonly #terminal: Terminal;
  readonly #onLine: (line: string) => void;
  readonly #timer: ReturnType<typeof setInterval> | undefined;
  /** Number of events at the time `#at`. */
  #events = 0;
  /** Time of the last change of `#perSecond`, by the monotonic clock. */
  #at = performance.now();
  /** The event rate of the last period; 0 during the first. */
  #perSecond = 0;

  /** `onLine` shows the line. @default {as the live line of the terminal} */
  constructor(
    viewed: readonly Viewed[],
    terminal: Terminal,
    onLine: (line: string) => void = (line) => terminal.live(line),
  ) {
    this.#viewed = viewed;
    this.#terminal = terminal;
    this.#onLine = onLine;
    this.#timer = terminal.interactive ? setInterval(() => this.#show(), PERIOD_MS) : undefined;
  }

  /** Removes the line. */
  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#terminal.live("");
  }

  #show(): void {
    const all = this.#viewed.map(({ resource, informer }) => ({ resource, status: informer.status() }));
    const now = performance.now();
    if (now - this.#at >= RATE_MS) {
      const events = all.reduce((sum, { status }) => sum + status.events, 0);
      this.#perSecond = Math.round(((events - this.#events) * 1_000) / (now - this.#at));
      this.#events = events;
      this.#at = now;
    }
    const parts = all.map(({ resource, status }) => `${resource.plural}: ${partsOf(status).join(", ")}`);
    this.#onLine(`${parts.join(" · ")} · ${this.#perSecond} events/s`);
  }
}

function partsOf({ state, since, objects, listing, lastBookmarkAt, handlers }: InformerStatus): string[] {
  const behind = handlers.reduce((sum, handler) => sum + handler.pending, 0);
  const well = state === "live" || state === "listing";
  return [
    well ? state : `${state} for ${ageOf(since.toISOString())}`,
    listing === undefined || !well ? `${objects} objects` : progressOf(listing),
    ...(behind > 0 ? [`${behind} behind`] : []),
    ...(lastBookmarkAt === undefined ? [] : [`bookmark ${ageOf(lastBookmarkAt.toISOString())} ago`]),
  ];
}

function progressOf({ objects, remaining }: { readonly objects: number; readonly remaining?: number }): string {
  return remaining === undefined ? `${objects} listed` : `${objects} of ${objects + remaining} listed`;
}
