import { nextTurn } from "../../async/next_turn.ts";
import { LongTimer } from "../../async/time/long_timer.ts";
import type { ObjectSelection } from "../objects/object_selection.ts";
import { objectTexts } from "../objects/object_texts.ts";
import type { ShownObject } from "../objects/shown_object.ts";

const encoder = new TextEncoder();

/** Options of a {@linkcode ListBody}. */
export interface ListBodyOptions {
  /** The members beside the objects. */
  readonly head: object;
  /** The objects and fields of them. */
  readonly selection: ObjectSelection;
  /** The time for which a client may leave unread what there is to read, in milliseconds. */
  readonly stallMs: number;
  /** Called once, when nothing more is written. */
  readonly onEnd: () => void;
}

/** The members of an object and a list, `items`, as a body of JSON that is made while it is read. */
export class ListBody {
  /** The bytes of the response. */
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly #selection: ObjectSelection;
  readonly #stallMs: number;
  readonly #onEnd: () => void;
  readonly #stall = new LongTimer(() => this.cut("The client does not read"));
  #controller!: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>;
  /** Empty once the body has ended. */
  #objects: readonly ShownObject[];
  #index = 0;
  /** The text before the first object; `""` once it was written. */
  #head: string;
  /** The text before the next object. */
  #comma = "";
  #isOver = false;

  /** Begins when the body is first read. */
  constructor(objects: readonly ShownObject[], { head, selection, stallMs, onEnd }: ListBodyOptions) {
    this.#objects = objects;
    this.#selection = selection;
    this.#stallMs = stallMs;
    this.#onEnd = onEnd;
    this.#head = `${JSON.stringify(head).slice(0, -1)},"items":[`;
    this.stream = new ReadableStream({
      start: (controller): void => void (this.#controller = controller),
      pull: (): Promise<void> => this.#write(),
      cancel: (): void => this.#end(),
    }, { highWaterMark: 0 });
    this.#stall.arm(stallMs);
  }

  /** Breaks the body, which is not complete. */
  cut(reason: string): void {
    if (this.#isOver) return;
    this.#end();
    this.#controller.error(new Error(reason));
  }

  async #write(): Promise<void> {
    this.#stall[Symbol.dispose]();
    while (!this.#isOver) {
      const { texts, to } = objectTexts(this.#objects, this.#index, this.#selection);
      this.#index = to;
      const isLast = to === this.#objects.length;
      if (texts.length > 0 || isLast) {
        const comma = texts.length > 0 ? this.#comma : "";
        this.#controller.enqueue(encoder.encode(`${this.#head}${comma}${texts.join(",")}${isLast ? "]}" : ""}`));
        this.#head = "";
        if (texts.length > 0) this.#comma = ",";
        if (!isLast) return this.#stall.arm(this.#stallMs);
        this.#end();
        return this.#controller.close();
      }
      await nextTurn();
    }
  }

  #end(): void {
    this.#stall[Symbol.dispose]();
    if (this.#isOver) return;
    this.#isOver = true;
    this.#objects = [];
    this.#onEnd();
  }
}
