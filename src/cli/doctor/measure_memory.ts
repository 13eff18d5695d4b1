import { jsonText } from "../terminal/text/plain.ts";
import { readPages } from "../../api/pager.ts";
import type { KubernetesObject } from "../../api/object.ts";
import { type Resource, resourceName } from "../../api/resource.ts";
import { ReadAhead } from "../../async/read_ahead.ts";
import type { Client } from "../../client/client.ts";
import { errorLine } from "../../errors/error_line.ts";
import { MemoryMeter, type MemoryReport } from "../../informer/cache/memory_report.ts";
import { EXIT_CODE } from "../errors/exit_code.ts";
import { tableLines } from "../terminal/table/growing_table.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** The number of objects to a page. */
const PAGE = 500;

/** Options for {@linkcode measureMemory}. */
export interface MeasureMemoryOptions {
  /** The namespace; `undefined` for all. */
  readonly namespace: string | undefined;
  /** Lines for people, or a JSON object. */
  readonly output: "table" | "json";
  /** Ends the lists. */
  readonly signal: AbortSignal;
}

/** The sizes of the objects of a kind. */
interface Measured {
  readonly resource: string;
  readonly memory: MemoryReport;
}

/**
 * Lists kinds in pages, one after the other, and prints the sizes of their objects, as informers would cache them unread. It
 * keeps sizes alone. Kinds that cannot be listed are reported. Returns the exit code.
 *
 * @throws the error of the first kind, if no kind can be listed.
 */
export async function measureMemory(
  client: Client,
  resources: readonly Resource<KubernetesObject>[],
  options: MeasureMemoryOptions,
  terminal: Terminal,
): Promise<number> {
  const measured: Measured[] = [];
  const failures: { readonly resource: string; readonly error: unknown }[] = [];
  for (const kind of resources) {
    const resource = resourceName(kind);
    try {
      measured.push({ resource, memory: await measure(client, kind, options, terminal) });
    } catch (error) {
      options.signal.throwIfAborted();
      failures.push({ resource, error });
    }
  }
  terminal.live("");
  if (measured.length === 0 && failures.length > 0) throw failures[0].error;
  for (const { resource, error } of failures) terminal.say(`error: ${resource} is left out: ${errorLine(error)}`);
  measured.sort((a, b) => b.memory.unreadBytes - a.memory.unreadBytes);
  if (options.output === "json") terminal.result(jsonText({ resources: measured }, 2));
  else for (const line of lines(measured)) terminal.result(line);
  return failures.length === 0 ? EXIT_CODE.done : EXIT_CODE.failed;
}

async function measure(
  client: Client,
  resource: Resource<KubernetesObject>,
  { namespace, signal }: MeasureMemoryOptions,
  terminal: Terminal,
): Promise<MemoryReport> {
  const collection = client.resource(resource, { namespace });
  const name = resourceName(resource);
  let meter = new MemoryMeter();
  const parts = readPages({
    action: `measure "${name}"`,
    list: { limit: PAGE },
    open: (list) =>
      new ReadAhead((signal) => collection.listEntries({ ...list, managedFields: "drop", signal }), signal),
    sizeOf: ({ entries }) => entries.length,
    restart: true,
  });
  terminal.live(`measuring ${name} ...`);
  for await (const { part, restarted } of parts) {
    if (restarted) meter = new MemoryMeter();
    for (const entry of part.entries) meter.add(entry);
    const { objects } = meter;
    const of = part.remainingItemCount === undefined ? "" : ` of ${objects + part.remainingItemCount}`;
    if (part.entries.length > 0) terminal.live(`measuring ${name}: ${objects}${of} objects, ${size(meter.bytes)} ...`);
  }
  return meter.report;
}

function lines(measured: readonly Measured[]): string[] {
  const total = { objects: 0, bytes: 0 };
  const kinds: string[][] = [["RESOURCE", "OBJECTS", "TEXT", "MEAN", "LARGEST"]];
  const namespaces = new Map<string, { objects: number; bytes: number }>();
  for (const { resource, memory: { objects, unreadBytes, largest: [first], ...memory } } of measured) {
    if (objects === 0) continue;
    total.objects += objects;
    total.bytes += unreadBytes;
    const largest = first === undefined ? "" : `${size(first.bytes)} ${first.key}`;
    kinds.push([resource, String(objects), size(unreadBytes), size(unreadBytes / objects), largest]);
    for (const { namespace, objects, bytes } of memory.namespaces) {
      const sum = namespaces.get(namespace) ?? { objects: 0, bytes: 0 };
      namespaces.set(namespace, { objects: sum.objects + objects, bytes: sum.bytes + bytes });
    }
  }
  const largest = measured.flatMap(({ resource, memory }) => memory.largest.map((it) => ({ resource, ...it })))
    .sort((a, b) => b.bytes - a.bytes).slice(0, 10);
  const spaces = [...namespaces].sort(([, a], [, b]) => b.bytes - a.bytes).slice(0, 10);
  return [
    ...tableLines([...kinds, ["all", String(total.objects), size(total.bytes), "", ""]]),
    "",
    ...tableLines([
      ["NAMESPACE", "OBJECTS", "TEXT"],
      ...spaces.map(([name, { objects, bytes }]) => [name || "(none)", String(objects), size(bytes)]),
    ]),
    "",
    ...tableLines([
      ["LARGEST", "TEXT"],
      ...largest.map(({ resource, key, bytes }) => [`${resource} ${key}`, size(bytes)]),
    ]),
  ];
}

/** Returns a size for people: `"5.7 kB"`. */
function size(bytes: number): string {
  const units = ["B", "kB", "MB", "GB"];
  let unit = 0;
  for (; bytes >= 999.5 && unit < units.length - 1; unit++) bytes /= 1_000;
  return `${unit === 0 || bytes >= 99.5 ? Math.round(bytes) : bytes.toFixed(1)} ${units[unit]}`;
}
