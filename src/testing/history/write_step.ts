/** A write that somebody makes. */
export type WriteStep =
  | {
    /** Somebody writes an object, new or not; `again` deletes it first, so that it is another one of that name. */
    readonly do: "write";
    /** Where. */
    readonly namespace: string;
    /** Which. */
    readonly name: string;
    /** The value of its label `tier`. */
    readonly tier: string;
    /** What it holds. */
    readonly value: number;
    /** Whether it is deleted first. */
    readonly again: boolean;
  }
  | {
    /** Somebody deletes an object, if it is there. */
    readonly do: "delete";
    /** Where. */
    readonly namespace: string;
    /** Which. */
    readonly name: string;
  };
