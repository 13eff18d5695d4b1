import { run } from "../../peers/child.ts";
import { pathOf } from "../../peers/peer.ts";
import { type Field, POD, type Schema } from "../schema.ts";
import type { PlainPod } from "./decoder.ts";

const decoder = new TextDecoder();
/** Not a dependency of anything: fetched when it is first measured, and so imported by a name that no tool resolves. */
const PACKAGE: string = "npm:protobufjs@8.8.1";

/** What is used of protobufjs. */
interface Library {
  readonly Root: new () => Root;
}

interface Root {
  resolvePath(origin: string, target: string): string;
  load(file: string, options: { readonly keepCase: boolean }): Promise<Root>;
  lookupType(name: string): Type;
}

interface Type {
  decode(bytes: Uint8Array): Message;
}

type Message = Record<string, unknown>;

/** Decodes pods by protobufjs, from the .proto files of the Go modules. */
export class LibraryDecoder {
  readonly #schema: Schema;
  readonly #pod: Type;

  private constructor(schema: Schema, pod: Type) {
    this.#schema = schema;
    this.#pod = pod;
  }

  /** Reads the .proto files where Go has put them. */
  static async load(schema: Schema): Promise<LibraryDecoder> {
    const modules = await run(["go", "list", "-m", "-f", "{{.Path}}={{.Dir}}", "k8s.io/api", "k8s.io/apimachinery"], {
      cwd: pathOf("go"),
    });
    const folders = modules.trim().split("\n").map((line) => line.split("="));
    const { default: { Root } } = await import(PACKAGE) as { readonly default: Library };
    const root = new Root();
    root.resolvePath = (_origin: string, target: string): string => {
      const folder = folders.find(([path]) => target.startsWith(`${path}/`));
      return folder === undefined ? target : folder[1] + target.slice(folder[0].length);
    };
    await root.load("k8s.io/api/core/v1/generated.proto", { keepCase: true });
    return new LibraryDecoder(schema, root.lookupType(POD));
  }

  /** What the library makes of the bytes: its own objects, which are not what JSON has. */
  message(bytes: Uint8Array): object {
    return this.#pod.decode(bytes);
  }

  /** The pod as JSON has it. */
  decode(bytes: Uint8Array): PlainPod {
    return this.#fill({ kind: "Pod", apiVersion: "v1" }, POD, this.#pod.decode(bytes));
  }

  #fill(object: PlainPod, name: string, message: Message | undefined): PlainPod {
    for (const field of this.#schema[name]) {
      const key = field.proto ?? field.name;
      const found = message !== undefined && Object.hasOwn(message, key) ? message[key] : undefined;
      if (field.inline) this.#fill(object, field.of!, found as Message | undefined);
      else {
        const value = this.#member(field, found);
        if (value !== undefined) object[field.name] = value;
      }
    }
    return object;
  }

  #member(field: Field, found: unknown): unknown {
    const { card, presence, type } = field;
    if (card === "list") {
      const list = (found ?? []) as unknown[];
      return list.length > 0
        ? list.map((value) => this.#value(field, value))
        : presence === "always"
        ? null
        : undefined;
    }
    if (card === "map") {
      const entries = Object.entries((found ?? {}) as Message);
      return entries.length > 0
        ? Object.fromEntries(entries.map(([key, value]) => [key, this.#value(field, value)]))
        : presence === "always"
        ? null
        : undefined;
    }
    if (found === undefined && presence !== "always") return presence === "null" ? null : undefined;
    const value = this.#value(field, found ?? (type === "message" ? undefined : ZEROS[type]));
    if (presence === "omitempty" && (value === "" || value === 0 || value === false)) return undefined;
    return presence === "omitzero" && value === null ? undefined : value;
  }

  #value({ type, of }: Field, found: unknown): unknown {
    switch (type) {
      case "message":
        return this.#fill({}, of!, found as Message | undefined);
      case "int64":
        return Number(found);
      case "time": {
        const { seconds } = found as { seconds?: unknown };
        return Object.hasOwn(found as object, "seconds")
          ? new Date(Number(seconds) * 1_000).toISOString().replace(".000", "")
          : null;
      }
      case "quantity":
        return (found as { string: string }).string || "0";
      case "intOrString": {
        const { type, intVal, strVal } = found as { type: unknown; intVal: number; strVal: string };
        return Number(type) === 0 ? intVal : strVal;
      }
      case "fieldsV1":
        return JSON.parse(decoder.decode((found as { Raw: Uint8Array }).Raw));
      default:
        return found;
    }
  }
}

const ZEROS: Partial<Record<Field["type"], unknown>> = {
  string: "",
  bool: false,
  int32: 0,
  int64: 0,
  time: {},
  quantity: { string: "" },
  intOrString: { type: 0, intVal: 0, strVal: "" },
};
