import type { ObjectKey } from "../../api/key.ts";
import type { KubernetesObject } from "../../api/object.ts";
import type { Cursor, CursorSelection, CursorStart } from "./cursor.ts";
import type { BacklogPolicy } from "./handler.ts";
import { KeyCursor } from "./key_cursor.ts";
import { LatestPerKeyCursor } from "./latest_per_key_cursor.ts";
import { LogCursor } from "./log_cursor.ts";

/** The options of a cursor. */
export interface CursorOptions<T> extends CursorSelection<T> {
  /** Reads the events of this object alone, and `synced`, whatever `backlog` is. */
  readonly key?: ObjectKey;
  /** @default {"keep"} */
  readonly backlog?: BacklogPolicy;
  /** Called when the reader is further behind than the `{ max }` of `backlog`, with an error that says how far. */
  readonly onOverrun: (error: Error) => void;
}

/** Opens the cursor that the backlog policy asks for. */
export function openCursor<T extends KubernetesObject>(start: CursorStart<T>, options: CursorOptions<T>): Cursor<T> {
  const { key, backlog = "keep", onOverrun } = options;
  if (key !== undefined) return new KeyCursor(start, options, key);
  if (backlog === "latestPerKey") return new LatestPerKeyCursor(start, options);
  return new LogCursor(start, options, backlog === "keep" ? undefined : { max: backlog.max, onOverrun });
}
