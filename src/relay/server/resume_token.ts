/**
 * The text of an event's id: where a client resumes, and which versions its state has.
 *
 * {@linkcode parseToken} and {@linkcode tokenText} are the entry points. Whether a relay still has the changes since
 * then is not decided here, but in `event_feed.ts`.
 *
 * @module
 */
import { isResourceVersion } from "../../engine/api/status.ts";
import type { VersionRange } from "./change_log.ts";

/** A position in the changes of one selection of one cache. */
export interface ResumeToken {
  /** The feed that the position belongs to: another one counts from another beginning. */
  readonly feed: string;
  /** The hash of the selection, as `SelectionEvents` has it. */
  readonly scope: string;
  /** The position in the feed. */
  readonly position: number;
  /** The cache's versions at the position, as `versionsText` writes them. */
  readonly versions: string;
}

/** The longest text of a token. */
const MAX_LENGTH = 1_000;

/** The text of a token: feed, scope, position and versions. */
const PATTERN = /^([\w-]+)\.([\w-]+)\.(\d{1,15})\.([\w~-]*)$/;

/** Returns a token as text, which has no character that headers or addresses would have to escape. */
export function tokenText({ feed, scope, position, versions }: ResumeToken): string {
  const text = `${feed}.${scope}.${position}.${versions}`;
  return text.length <= MAX_LENGTH && PATTERN.test(text) ? text : `${feed}.${scope}.${position}.`;
}

/** Reads the text of a token; `undefined` if it is none. */
export function parseToken(text: string): ResumeToken | undefined {
  const match = text.length > MAX_LENGTH ? null : PATTERN.exec(text);
  if (match === null) return undefined;
  const [, feed, scope, position, versions] = match;
  return { feed, scope, position: Number(position), versions };
}

/** Returns the text of the versions of a cache, one range for each namespace of its own; `""` if one is not known. */
export function versionsText(ranges: readonly VersionRange[]): string {
  const isKnown = ranges.every(({ first }) => isResourceVersion(first));
  return isKnown ? ranges.map(({ first, last }) => `${first}-${last}`).join("~") : "";
}

/** Reads the text of versions; none where they are not known. */
export function parseVersions(text: string): VersionRange[] {
  const ranges = text.split("~").map((range) => {
    const [first, last = ""] = range.split("-");
    return { first, last };
  });
  const isKnown = ranges.every(({ first, last }) =>
    isResourceVersion(first) && (last === "" || isResourceVersion(last))
  );
  return isKnown ? ranges : [];
}

/** Returns an id without a position, whose versions no later snapshot may be older than; `""` if they are not known. */
export function boundOf(scope: string, id: string): string {
  const token = parseToken(id);
  const ranges = token?.scope === scope ? parseVersions(token.versions) : [];
  if (ranges.length === 0) return "";
  const versions = versionsText(ranges.map(({ first }) => ({ first, last: "" })));
  return tokenText({ feed: "0", scope, position: 0, versions });
}
