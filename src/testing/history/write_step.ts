/** A write to one object. */
export type WriteStep =
  | {
    /** Creates or updates an object; with `again`, deletes it first, so that it gets a new uid. */
    readonly do: "write";
    /** Namespace of the object. */
    readonly namespace: string;
    /** Name of the object. */
    readonly name: string;
    /** Value of the label `tier`. */
    readonly tier: string;
    /** Value written to the data. */
    readonly value: number;
    /** If true, the object is deleted and recreated. */
    readonly again: boolean;
  }
  | {
    /** Deletes an object, if it exists. */
    readonly do: "delete";
    /** Namespace of the object. */
    readonly namespace: string;
    /** Name of the object. */
    readonly name: string;
  };
