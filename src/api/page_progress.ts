import { DecodeError } from "./errors.ts";

/** The number of pages in a row that may have no object: a server that filters after its limit sends such pages. */
const EMPTY_PAGES = 100;
/** The length to which a token is cut in errors. */
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
  /** The token of page 1, 2, 4, 8 and so on, the latest of these; `undefined` if and only if there was no token. */
  #mark: string | undefined;
  /** The page whose token replaces `#mark`: a power of 2, and greater than `#pages` once a token was followed. */
  #nextMark = 1;
  /** The number of tokens followed. */
  #pages = 0;
  /** The number of pages without an object since the last one with an object. */
  #empty = 0;

  /** @param action The action, which follows "Cannot" in errors: `list "pods"`. */
  constructor(action: string) {
    this.#action = action;
  }

  /**
   * Checks the token of the next page.
   *
   * @throws {DecodeError} when the server has sent it before.
   */
  follow(token: string): void {
    this.#pages++;
    if (token === this.#mark) {
      const shown = token.length > SHOWN_CHARACTERS ? `${token.slice(0, SHOWN_CHARACTERS)}…` : token;
      throw new DecodeError(
        `Cannot ${this.#action}: page ${this.#pages} has the continue token ${JSON.stringify(shown)} of an ` +
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
