import { UnreachableError } from "../../../src/engine/api/status.ts";
import type { ReflectorOptions } from "../../../src/engine/reflector/reflector.ts";
import {
  added,
  bookmark,
  deleted,
  endBookmark,
  entry,
  expired,
  modified,
  part,
  refused,
} from "../../support/sources/fixtures.ts";
import { PAGES } from "../../support/sources/followed_source.ts";
import { END, ScriptedSource } from "../../support/sources/scripted_source.ts";

/** Options, and answers with batches, errors and ends of every sort, for each way of listing. */
export const SCRIPTS: Readonly<Record<string, readonly [ReflectorOptions, () => ScriptedSource]>> = {
  "in pages": [PAGES, () =>
    new ScriptedSource()
      .list(refused(500))
      .list({ entries: [entry("a", 1)] }, part(9, [entry("b", 1)], { continue: "t" }), END).list(expired())
      .list(part(10, [entry("a", 1)]), END)
      .watch([], [added("b", 11), deleted("b", 12)], [bookmark(20)], expired())
      .list(expired())
      .list(part(30, []), END)
      .watch([], refused(429))
      .watch([], END)
      .watch([], refused(500))
      .list()],
  "by a stream": [{}, () =>
    new ScriptedSource()
      .watch(new UnreachableError("nobody there"))
      .watch([], [added("a", 1)], [modified("a", 2), endBookmark(5), added("b", 6)], [bookmark(9)], END)
      .watch([], expired())
      .watch([], [added("a", 2)], END)
      .watch([], [added("a", 2)], refused(500))
      .list({ entries: [] }, part(12, []), END)
      .watch([bookmark(13)])],
};
