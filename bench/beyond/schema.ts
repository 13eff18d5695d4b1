import { run } from "../peers/child.ts";
import { pathOf } from "../peers/peer.ts";

/** How one field of a message stands in protobuf and in JSON. */
export interface Field {
  /** Its number in protobuf. */
  readonly number: number;
  /** Its name in JSON; `""` where its members stand among those of the message that has it. */
  readonly name: string;
  /** Its name in the .proto files. @default {its name in JSON} */
  readonly proto?: string;
  /** What one value of it is. */
  readonly type: "string" | "bool" | "int32" | "int64" | "time" | "quantity" | "intOrString" | "fieldsV1" | "message";
  /** The message's name, where it is one. */
  readonly of?: string;
  /** How many values it has; the keys of a map are strings. */
  readonly card: "one" | "list" | "map";
  /**
   * When it is in JSON: `pointer`, when it is in protobuf; `null`, always, then as null where it is not in protobuf; `always`,
   * then as its zero; `omitempty` and `omitzero`, when it is not zero.
   */
  readonly presence: "pointer" | "null" | "always" | "omitempty" | "omitzero";
  /** Whether its members stand among those of the message that has it. @default {false} */
  readonly inline?: boolean;
}

/** The fields of each message by its name, in the order in which JSON has them. */
export type Schema = Readonly<Record<string, readonly Field[]>>;

/** The message that is decoded. */
export const POD = "k8s.io.api.core.v1.Pod";

const FILE = pathOf("build/pod_schema.json");

/** Asks the Go types for the schema, and leaves it in a file for {@linkcode readSchema}. */
export async function writeSchema(): Promise<void> {
  const printed = await run(["go", "run", "../../beyond/schema/main.go"], { cwd: pathOf("go") });
  await Deno.writeTextFile(FILE, printed);
}

/** The schema that {@linkcode writeSchema} has left. */
export async function readSchema(): Promise<Schema> {
  return JSON.parse(await Deno.readTextFile(FILE)) as Schema;
}
