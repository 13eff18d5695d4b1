/** How deep an object may lie inside others and still be shown. */
const MAX_DEPTH = 12;

/**
 * A value as text for messages: like source code, keys sorted, cycles cut.
 *
 * What fits into `width` characters stands in one line, the rest is indented line by line.
 */
export function inspect(value: unknown, width: number = 72): string {
  return new Inspector(width).show(value, 0);
}

class Inspector {
  readonly #width: number;
  readonly #above: Set<object> = new Set();

  constructor(width: number) {
    this.#width = width;
  }

  show(value: unknown, depth: number): string {
    if (typeof value === "string") return JSON.stringify(value);
    if (typeof value === "bigint") return `${value}n`;
    if (Object.is(value, -0)) return "-0";
    if (typeof value === "function") return `[Function ${value.name || "(anonymous)"}]`;
    if (typeof value !== "object" || value === null) return String(value);
    if (this.#above.has(value)) return "[Circular]";
    if (depth > MAX_DEPTH) return `[${nameOf(value) || "Object"}]`;
    this.#above.add(value);
    try {
      return this.#object(value, depth);
    } finally {
      this.#above.delete(value);
    }
  }

  #object(value: object, depth: number): string {
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
    if (value instanceof RegExp) return String(value);
    if (value instanceof URL) return `URL ${JSON.stringify(value.href)}`;
    if (value instanceof Error) return this.#error(value, depth);
    if (Array.isArray(value)) return this.#block("", "[", this.#array(value, depth), "]", depth);
    if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
      const items = Array.from(value as unknown as ArrayLike<unknown>, (item) => this.show(item, depth + 1));
      return this.#block(`${nameOf(value)}(${items.length}) `, "[", items, "]", depth);
    }
    if (value instanceof Set) {
      const items = Array.from(value, (item) => this.show(item, depth + 1));
      return this.#block(`Set(${value.size}) `, "{", items, "}", depth);
    }
    if (value instanceof Map) {
      const items = Array.from(value, ([key, item]) => `${this.show(key, depth + 1)} => ${this.show(item, depth + 1)}`);
      return this.#block(`Map(${value.size}) `, "{", items, "}", depth);
    }
    const name = nameOf(value);
    return this.#block(name === "" ? "" : `${name} `, "{", this.#properties(value, depth), "}", depth);
  }

  #error(error: Error, depth: number): string {
    const head = `${error.name}: ${error.message}`;
    return error.cause === undefined ? head : `${head} (cause: ${this.show(error.cause, depth + 1)})`;
  }

  #array(values: unknown[], depth: number): string[] {
    return Array.from(values, (item, index) => index in values ? this.show(item, depth + 1) : "<empty>");
  }

  #properties(value: object, depth: number): string[] {
    const keys = Reflect.ownKeys(value).filter((key) => Object.prototype.propertyIsEnumerable.call(value, key));
    keys.sort((a, b) => String(a) < String(b) ? -1 : 1);
    return keys.map((key) => {
      const name = typeof key === "symbol"
        ? `[${String(key)}]`
        : /^[A-Za-z_$][\w$]*$/.test(key)
        ? key
        : JSON.stringify(key);
      return `${name}: ${this.show((value as Record<PropertyKey, unknown>)[key], depth + 1)}`;
    });
  }

  #block(name: string, open: string, items: string[], close: string, depth: number): string {
    if (items.length === 0) return `${name}${open}${close}`;
    const line = open === "[" ? `${name}[${items.join(", ")}]` : `${name}${open} ${items.join(", ")} ${close}`;
    if (line.length <= this.#width && !line.includes("\n")) return line;
    const indent = "  ".repeat(depth);
    return `${name}${open}\n${items.map((item) => `${indent}  ${item},\n`).join("")}${indent}${close}`;
  }
}

/** The name of an object's class; empty for plain objects and for those without one. */
function nameOf(value: object): string {
  const prototype = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) return "";
  const name: unknown = prototype.constructor?.name;
  return typeof name === "string" ? name : "";
}
