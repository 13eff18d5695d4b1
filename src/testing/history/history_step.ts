import type { ProtocolMoment } from "./protocol_moment.ts";
import type { WriteStep } from "./write_step.ts";

/** Something that happens to a server, as plain data: a history can be printed, cut down and played again. */
export type HistoryStep =
  | WriteStep
  | {
    /** Writes are made at the next such moment. */
    readonly do: "writeAt";
    /** When. */
    readonly moment: ProtocolMoment;
    /** What is written, in this order. */
    readonly writes: readonly WriteStep[];
  }
  | {
    /** Initial events of streaming lists come one at a time. */
    readonly do: "spread";
    /** Of so many streaming lists. */
    readonly times: number;
    /** Milliseconds between two events. */
    readonly everyMs: number;
  }
  | {
    /** Requests are refused. */
    readonly do: "refuse";
    /** With this code. */
    readonly code: number;
    /** So many. */
    readonly times: number;
    /** Which ones. */
    readonly verb: "list" | "watch";
    /** What the server asks for, in seconds. */
    readonly retryAfterSeconds?: number;
  }
  | {
    /** Connections break before there is an answer. */
    readonly do: "break";
    /** So many. */
    readonly times: number;
  }
  | {
    /** All watches end by an ERROR event. */
    readonly do: "failWatches";
    /** With this code. */
    readonly code: number;
  }
  | {
    /** All watches go silent for so long. */
    readonly do: "stall";
    /** Milliseconds. */
    readonly ms: number;
  }
  | {
    /** Answers are slow from now on. */
    readonly do: "latency";
    /** Milliseconds; 0 ends it. */
    readonly ms: number;
  }
  | {
    /** Answers stop behind their headers, or come in drops, for so long. */
    readonly do: "stallNext" | "drip";
    /** So many. */
    readonly times: number;
    /** To which requests. */
    readonly verb: "list" | "watch";
    /** Milliseconds. */
    readonly ms: number;
  }
  | {
    /** Requests get a web page, or nothing at all, or an answer that is compressed. */
    readonly do: "html" | "empty" | "gzip";
    /** So many. */
    readonly times: number;
    /** Which ones. */
    readonly verb: "list" | "watch";
  }
  | {
    /** History is forgotten at the next such moment. */
    readonly do: "compactAt";
    /** When. */
    readonly moment: ProtocolMoment;
  }
  | {
    /** The server remembers less from now on. */
    readonly do: "shortenHistory";
    /** So many writes. */
    readonly writes: number;
  }
  | {
    /** The server restarts. */
    readonly do: "restart";
    /** Whether it still knows what was. */
    readonly history: "kept" | "lost";
  }
  | {
    /** The version moves on without an event. */
    readonly do: "jump";
    /** So far. */
    readonly by: number;
  }
  | {
    /** The server has streaming lists from now on, or not; it sends bookmarks by itself, or not. */
    readonly do: "streamingList" | "bookmarks";
    /** Whether. */
    readonly on: boolean;
  }
  | {
    /** The server's clock is ahead from now on, or behind. */
    readonly do: "clockSkew";
    /** Milliseconds. */
    readonly ms: number;
  }
  | {
    /**
     * Connections break, watches end or are cut, their next events are told twice, out of order, as what is not JSON, or not
     * at all, history is forgotten, everybody is made to list anew, or the server says how far it is.
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
