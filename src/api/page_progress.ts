import { DecodeError } from "./errors.ts";

/** How many pages in a row may bring no object, as those of a server that filters behind its limit do. */
const EMPTY_PAGES = 100;
/** How much of a token an error shows. */
const SHOWN_CHARACTERS = 80;
const REMEDY =
  "set the page size (limit, or pageSize of an informer) above the number of objects to list them in one page";

/**
 * Checks that a list in pages comes closer to its end: fails when the server repeats a continue token, or sends many pages in
 * a row without an object.
 *
 * It keeps one token, whatever the number of pages, and compares each with it. The token is replaced at pages 1, 2, 4, 8 and
 * so on, so that a cycle of any length is found (Brent's algorithm).
 */
export class PageProgress {
  readonly #action: string;
  #mark: string | undefined;
  #nextMark = 1;
  #pages = 0;
  #empty = 0;

  /** @param action What is done, to follow "Cannot": `list "pods"`. */
  constructor(action: string) {
    this.#action = action;
  }

  /**
   * Checks the token of the next page.
   *
   * @throws {DecodeError} when it led to a page before.
   */
  follow(token: string): void {
    this.#pages++;
    if (token === this.#mark) {
      const shown = token.length > SHOWN_CHARACTERS ? `${token.slice(0, SHOWN_CHARACTERS)}…` : token;
      throw new DecodeError(
        `Cannot ${this.#action}: page ${this.#pages} goes on with the continue token ${JSON.stringify(shown)} of an ` +
          `earlier page, so the list has no end; ${REMEDY}`,
      );
    }
    if (this.#pages < this.#nextMark) return;
    this.#mark = token;
    this.#nextMark *= 2;
  }

  /**
   * Counts the objects of a page that is not the last.
   *
   * @throws {DecodeError} when it is one of too many in a row that have none.
   */
  count(objects: number): void {
    this.#empty = objects > 0 ? 0 : this.#empty + 1;
    if (this.#empty < EMPTY_PAGES) return;
    throw new DecodeError(`Cannot ${this.#action}: ${EMPTY_PAGES} pages in a row have no object; ${REMEDY}`);
  }
}
