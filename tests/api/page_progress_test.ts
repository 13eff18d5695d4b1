import { assertEquals, assertThrows } from "@std/assert";
import { DecodeError } from "../../src/api/errors.ts";
import { PageProgress } from "../../src/api/page_progress.ts";

Deno.test("PageProgress fails on a token that is repeated, in a cycle of any length", () => {
  for (const before of [0, 1, 5]) {
    for (let length = 1; length <= 9; length++) {
      const progress = new PageProgress('list "pods"');
      let pages = 0;
      const error = assertThrows(() => {
        for (;; pages++) progress.follow(pages < before ? `before-${pages}` : `token-${(pages - before) % length}`);
      }, DecodeError);
      const token = /token-\d/.exec(error.message)?.[0];
      assertEquals(
        error.message,
        `Cannot list "pods": page ${pages + 1} has the continue token "${token}" of an earlier page, so the list ` +
          `has no end; set the page size (limit, or pageSize of an informer) above the number of objects to list them in ` +
          `one page`,
      );
      assertEquals(pages < 3 * (before + length), true, `found at page ${pages}, ${before} and ${length} tokens`);
    }
  }
});

Deno.test("PageProgress accepts any number of different tokens", () => {
  const progress = new PageProgress('list "pods"');
  for (let page = 0; page < 10_000; page++) progress.follow(`token-${page}`);
});

Deno.test("PageProgress shortens a long token in its error", () => {
  const progress = new PageProgress('list "pods"');
  const token = "t".repeat(1_000);
  progress.follow(token);
  assertThrows(() => progress.follow(token), DecodeError, `token "${"t".repeat(80)}…" of`);
});

Deno.test("PageProgress fails after 100 pages in a row without an object", () => {
  const progress = new PageProgress('list "pods"');
  for (const objects of [1, 2]) {
    for (let page = 0; page < 99; page++) progress.count(0);
    progress.count(objects);
  }
  for (let page = 0; page < 99; page++) progress.count(0);
  assertThrows(() => progress.count(0), DecodeError, 'Cannot list "pods": 100 pages in a row have no object; set the');
});
