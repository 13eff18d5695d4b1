import type { ProtocolMoment } from "./protocol_moment.ts";
import type { WriteStep } from "./write_step.ts";

/** A step of a history, as plain data: a history can be printed, shrunk and replayed. */
export type HistoryStep =
  | WriteStep
  | {
    /** Makes writes at the next such moment. */
    readonly do: "writeAt";
    /** The moment. */
    readonly moment: ProtocolMoment;
    /** The writes, in order. */
    readonly writes: readonly WriteStep[];
  }
  | {
    /** Sends the initial events of streaming lists one at a time. */
    readonly do: "spread";
    /** Number of streaming lists. */
    readonly times: number;
    /** Milliseconds between two events. */
    readonly everyMs: number;
  }
  | {
    /** Fails requests. */
    readonly do: "refuse";
    /** HTTP status code. */
    readonly code: number;
    /** Number of requests. */
    readonly times: number;
    /** Verb of the requests. */
    readonly verb: "list" | "watch";
    /** Value of `Retry-After`, in seconds. */
    readonly retryAfterSeconds?: number;
  }
  | {
    /** Breaks connections before a response. */
    readonly do: "break";
    /** Number of requests. */
    readonly times: number;
  }
  | {
    /** Ends all watches with an ERROR event. */
    readonly do: "failWatches";
    /** HTTP status code in the event. */
    readonly code: number;
  }
  | {
    /** Stalls all watches. */
    readonly do: "stall";
    /** Duration in milliseconds. */
    readonly ms: number;
  }
  | {
    /** Delays all responses. */
    readonly do: "latency";
    /** Delay in milliseconds; 0 ends it. */
    readonly ms: number;
  }
  | {
    /** Stalls responses after their headers, or slows them down. */
    readonly do: "stallNext" | "drip";
    /** Number of responses. */
    readonly times: number;
    /** Verb of the requests. */
    readonly verb: "list" | "watch";
    /** Duration in milliseconds. */
    readonly ms: number;
  }
  | {
    /** Answers with an HTML page, an empty body, or compressed. */
    readonly do: "html" | "empty" | "gzip";
    /** Number of requests. */
    readonly times: number;
    /** Verb of the requests. */
    readonly verb: "list" | "watch";
  }
  | {
    /** Compacts the history at the next such moment. */
    readonly do: "compactAt";
    /** The moment. */
    readonly moment: ProtocolMoment;
  }
  | {
    /** Shortens the watch history. */
    readonly do: "shortenHistory";
    /** Number of writes to keep. */
    readonly writes: number;
  }
  | {
    /** Restarts the server. */
    readonly do: "restart";
    /** `"lost"` compacts the history. */
    readonly history: "kept" | "lost";
  }
  | {
    /** Moves the version on without an event. */
    readonly do: "jump";
    /** Number of versions. */
    readonly by: number;
  }
  | {
    /** Switches support for streaming lists, or automatic bookmarks. */
    readonly do: "streamingList" | "bookmarks";
    /** The new setting. */
    readonly on: boolean;
  }
  | {
    /** Skews the server's clock. */
    readonly do: "clockSkew";
    /** Milliseconds ahead; negative values are behind. */
    readonly ms: number;
  }
  | {
    /**
     * Breaks or ends connections, truncates, splits, duplicates, reorders, corrupts or loses the next events of
     * watches, compacts the history, forces a relist, or sends a bookmark.
     */
    readonly do:
      | "drop"
      | "end"
      | "truncate"
      | "truncateNext"
      | "cutInCharacter"
      | "duplicate"
      | "reorder"
      | "corrupt"
      | "lose"
      | "compact"
      | "forceRelist"
      | "bookmark";
  };
