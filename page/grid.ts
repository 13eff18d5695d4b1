import type { ViewRow } from "../src/engine/informer/cache_view.ts";

/** The height of a row in pixels, as the style sheet has it. */
const ROW_HEIGHT = 28;

/** The number of rows beyond those that are visible, at either end. */
const MARGIN = 20;

/** A column of a grid. */
export interface Column<T> {
  /** The title. */
  readonly title: string;
  /** Returns the text of a cell. */
  readonly textOf: (object: T) => string;
  /** The sort key of the first direction, and of the second. */
  readonly sortKeys: readonly [string, string];
}

/** The parts of the page that a grid fills. */
export interface GridElements {
  readonly scroller: HTMLElement;
  readonly table: HTMLTableElement;
  readonly heads: HTMLTableRowElement;
  readonly before: HTMLElement;
  readonly rows: HTMLTableSectionElement;
  readonly after: HTMLElement;
}

/** The calls of a grid. */
export interface GridCalls {
  /** Other rows are needed. */
  readonly onWindow: (window: { readonly offset: number; readonly limit: number }) => void;
  /** Another order is asked for; `""` is that of the keys. */
  readonly onSort: (key: string) => void;
  /** A row is opened. */
  readonly onOpen: (key: string) => void;
}

/** A table that has elements for the visible rows alone, and is used by keyboard and pointer. */
export class Grid<T> {
  readonly #elements: GridElements;
  readonly #calls: GridCalls;
  #columns: readonly Column<T>[] = [];
  #sortKey = "";
  /** The rows that are there, and the position of the first. */
  #rows: readonly ViewRow<T>[] = [];
  #offset = 0;
  #total = 0;
  /** The row that the keyboard is at: its key and its position; the position leads while the row is not there. */
  #active: { readonly key: string | undefined; readonly index: number } = { key: undefined, index: 0 };
  /** `true` until the active row, which was not there, has got the focus. */
  #needsFocus = false;

  constructor(elements: GridElements, calls: GridCalls) {
    this.#elements = elements;
    this.#calls = calls;
    const { scroller, rows } = elements;
    scroller.addEventListener("scroll", () => this.#need());
    const sizes = new ResizeObserver(() => this.#need());
    for (const element of [scroller, elements.table]) sizes.observe(element);
    scroller.addEventListener("keydown", (event) => this.#press(event));
    rows.addEventListener("pointerover", ({ target }) => {
      const cell = (target as Element).closest("td");
      if (cell !== null) cell.title = cell.textContent; // it may be cut
    });
    rows.addEventListener("click", (event) => {
      const index = [...rows.rows].findIndex((row) => row.contains(event.target as Node));
      if (index >= 0) this.#open(this.#offset + index);
    });
  }

  /** The number of rows that fit. */
  get #page(): number {
    return Math.max(1, Math.floor(this.#elements.scroller.clientHeight / ROW_HEIGHT) - 1);
  }

  /** Replaces the columns, forgets the rows, and begins at the first one, or that of a key once it is there. */
  reset(columns: readonly Column<T>[], sortKey: string, key?: string): void {
    this.#columns = columns;
    this.#elements.table.setAttribute("aria-colcount", String(columns.length));
    this.#elements.heads.replaceChildren(...columns.map((column) => this.#head(column)));
    this.order(sortKey);
    this.toTop();
    this.#active = { key, index: 0 };
    this.show([], 0, 0);
  }

  /** Shows by which column the rows are sorted. */
  order(sortKey: string): void {
    this.#sortKey = sortKey;
    this.#columns.forEach(({ sortKeys }, i) => {
      const direction = ["ascending", "descending"][sortKeys.indexOf(sortKey)];
      if (direction === undefined) this.#elements.heads.cells[i].removeAttribute("aria-sort");
      else this.#elements.heads.cells[i].setAttribute("aria-sort", direction);
    });
  }

  /** Goes to the first row, because others are shown. */
  toTop(): void {
    this.#active = { key: undefined, index: 0 };
    this.#elements.scroller.scrollTop = 0;
    this.#need();
  }

  /** Shows the rows as old while others are waited for; those are not opened. */
  wait(isBusy: boolean): void {
    set(this.#elements.table, "aria-busy", String(isBusy));
  }

  /** Moves the focus to the active row. */
  focus(): void {
    this.#go(this.#active.index);
  }

  /** Shows rows, the first of which is at `offset` of `total`. */
  show(rows: readonly ViewRow<T>[], offset: number, total: number): void {
    this.#rows = rows;
    this.#offset = offset;
    this.#total = total;
    const { scroller, table, before, after, rows: body } = this.#elements;
    // The focus follows the active row, not its element; while that row is not there, the scroller has it.
    const hasFocus = document.activeElement === scroller || body.contains(document.activeElement);
    table.setAttribute("aria-rowcount", String(total + 1));
    before.style.height = `${offset * ROW_HEIGHT}px`;
    after.style.height = `${Math.max(0, total - offset - rows.length) * ROW_HEIGHT}px`;
    const found = rows.findIndex(({ key }) => key === this.#active.key);
    if (found >= 0) this.#active = { key: this.#active.key, index: offset + found };
    this.#active = { ...this.#active, index: Math.max(0, Math.min(this.#active.index, total - 1)) };
    while (body.rows.length > rows.length) body.deleteRow(-1);
    rows.forEach((row, i) => this.#fill(body.rows[i] ?? body.insertRow(), row, offset + i));
    if (this.#needsFocus || hasFocus) this.#focusRow();
  }

  /** Writes the cells again: ages have changed. */
  refresh(): void {
    this.show(this.#rows, this.#offset, this.#total);
  }

  #fill(element: HTMLTableRowElement, { object }: ViewRow<T>, index: number): void {
    const isActive = index === this.#active.index;
    set(element, "aria-rowindex", String(index + 2));
    set(element, "aria-selected", String(isActive));
    set(element, "tabindex", isActive ? "0" : "-1");
    while (element.cells.length > this.#columns.length) element.deleteCell(-1);
    this.#columns.forEach(({ textOf }, i) => {
      const cell = element.cells[i] ?? element.insertCell();
      const text = object === null ? "" : textOf(object);
      if (cell.textContent === text) return;
      const isBad = text.startsWith("⚠");
      const lines = document.createElement("span"); // two at most, where the table is narrow
      lines.textContent = text; // never HTML
      cell.replaceChildren(isBad ? lines : text);
      cell.className = isBad ? "bad" : "";
    });
  }

  #head({ title, sortKeys }: Column<T>): HTMLTableCellElement {
    const head = document.createElement("th");
    head.scope = "col";
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = title;
    button.addEventListener("click", () => {
      const [first, second] = sortKeys;
      this.#calls.onSort(this.#sortKey === first ? second : this.#sortKey === second ? "" : first);
    });
    head.append(button);
    return head;
  }

  /** Asks for the rows that are visible, unless they are there, and marks columns that are cut off at the right. */
  #need(): void {
    const { scroller } = this.#elements;
    const beyond = scroller.scrollWidth - scroller.clientWidth - scroller.scrollLeft;
    scroller.classList.toggle("cut", beyond > 1);
    const first = Math.floor(scroller.scrollTop / ROW_HEIGHT);
    const offset = Math.max(0, Math.floor((first - MARGIN) / MARGIN) * MARGIN);
    const limit = Math.ceil((this.#page + 4 * MARGIN) / MARGIN) * MARGIN;
    this.#calls.onWindow({ offset, limit });
  }

  #press(event: KeyboardEvent): void {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target instanceof HTMLButtonElement) return;
    const { index } = this.#active;
    const targets: Readonly<Record<string, number>> = {
      ArrowDown: index + 1,
      ArrowUp: index - 1,
      PageDown: index + this.#page,
      PageUp: index - this.#page,
      Home: 0,
      End: this.#total - 1,
    };
    if (event.key === "Enter") this.#open(index);
    else if (Object.hasOwn(targets, event.key)) this.#go(targets[event.key]);
    else return;
    event.preventDefault();
  }

  #open(index: number): void {
    const row = this.#rows[index - this.#offset];
    if (row === undefined || this.#elements.table.getAttribute("aria-busy") === "true") return;
    this.#go(index);
    this.#calls.onOpen(row.key);
  }

  /** Makes a row the active one, visible and focused, as soon as it is there. */
  #go(target: number): void {
    const index = Math.max(0, Math.min(target, this.#total - 1));
    this.#active = { key: this.#rows[index - this.#offset]?.key, index };
    const { scroller } = this.#elements;
    const top = index * ROW_HEIGHT;
    const height = scroller.clientHeight - 2 * ROW_HEIGHT; // without the heads
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    else if (top > scroller.scrollTop + height) scroller.scrollTop = top - height;
    this.#needsFocus = true;
    this.refresh();
  }

  #focusRow(): void {
    const element = this.#elements.rows.rows[this.#active.index - this.#offset];
    if (element === undefined) return this.#elements.scroller.focus({ preventScroll: true });
    this.#needsFocus = false;
    this.#active = { ...this.#active, key: this.#rows[this.#active.index - this.#offset].key };
    element.focus({ preventScroll: true });
  }
}

function set(element: Element, name: string, value: string): void {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}
