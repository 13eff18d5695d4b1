/** A position in the changes of one selection of one cache. */
export interface ResumeToken {
  /** The feed that the position belongs to: another one counts from another beginning. */
  readonly feed: string;
  /** A digest of the cluster, the collection and the selection. */
  readonly scope: string;
  /** The position in the feed. */
  readonly position: number;
  /** The versions of the cache at that position, one for each namespace of its own; `""` where they are not known. */
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
