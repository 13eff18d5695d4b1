/**
 * The command `informer logs`: prints the logs of pods, merged by time.
 *
 * {@linkcode logs} is the entry point. `src/operator/logs` follows and merges; a workload's pods are found by its
 * selector.
 *
 * @module
 */
import type { Selection } from "../engine/api/call_options.ts";
import { defined } from "../engine/api/json.ts";
import type { KubernetesObject } from "../engine/api/object.ts";
import { resourceName } from "../engine/api/resource.ts";
import { LabelSelector, type LabelSelectorFields } from "../engine/api/selector.ts";
import { isAbortOf } from "../engine/async/signals.ts";
import type { Client } from "../engine/client/client.ts";
import { SharedIndexInformer } from "../engine/informer/shared_index_informer.ts";
import { WaitError } from "../engine/informer/status.ts";
import { Pod } from "../engine/kinds/core/v1.ts";
import { permittedEnv } from "../host/connect/runtime/permissions.ts";
import { followLogs, type LogStreamEvent, type PodLogLine } from "../operator/logs/follow_logs.ts";
import { clientFor, type ConnectionFlags } from "./shared/connect.ts";
import { checkNumbers, durationMs } from "./shared/flag_values.ts";
import {
  checkSelection,
  collectionsOf,
  explainRefusal,
  type FoundTarget,
  getTargets,
  readableSelection,
  type SelectionFlags,
  targetsFor,
} from "./shared/targets.ts";
import { EXIT_CODE, UsageError } from "./shared/usage.ts";
import {
  type CommandContext,
  escaped,
  FailureReporter,
  jsonText,
  nothingFound,
  plain,
  qualifiedName,
  type Terminal,
  UNPRINTABLE,
} from "./terminal/terminal.ts";

interface LogsFlags extends ConnectionFlags, SelectionFlags {
  /** If `true`, waits for more lines and pods. */
  readonly follow?: boolean;
  /** Age of the first line, as a duration. */
  readonly since?: string;
  /** Number of last lines of each container. */
  readonly tail?: number;
  /** The only container to read. */
  readonly container?: string;
  /** If `true`, reads the containers before their last restarts. */
  readonly previous?: boolean;
  /** If `true`, prints times. */
  readonly timestamps?: boolean;
  /** Regular expression that printed lines match. */
  readonly include?: string;
  /** Regular expression that printed lines do not match. */
  readonly exclude?: string;
  readonly output: "text" | "raw" | "json";
}

/** Prints the logs of the pods that the arguments and flags choose. Returns 1 if one could not be read. */
export async function logs(flags: LogsFlags, args: readonly string[], context: CommandContext): Promise<number> {
  const { terminal, signal, backoff } = context;
  const { follow = false, previous, container, tail: tailLines, since } = flags;
  checkSelection(flags, args);
  if (args.length === 0 && flags.selector === undefined && flags.fieldSelector === undefined) {
    throw new UsageError("name a pod or a workload, such as deploy/web, or choose pods with -l or --field-selector");
  }
  if (follow && previous) throw new UsageError("a previous container is over; leave out --follow or --previous");
  checkNumbers(defined({ tail: tailLines }) as Record<string, number>);
  const sinceMs = since === undefined ? undefined : durationMs(since, "since");
  const named = args.map((arg) => arg.includes("/") ? arg : `pod/${arg}`);
  const targets = args.length === 0 ? [] : getTargets(named, flags);
  const { nameOf, print } = printerOf(flags, terminal);
  using client = await clientFor(flags, terminal);
  const found = await targetsFor(targets, "list", { form: "object", terminal }, client, signal);
  const selection = await readableSelection(flags, client, [Pod], { terminal, signal });
  const chosen = await choose(client, found, selection, signal);
  const failures = new FailureReporter("logs", (line) => terminal.say(line));
  const sources = collectionsOf(client, Pod, { ...selection, ...chosen.selection });
  await using pods: SharedIndexInformer<Pod> = new SharedIndexInformer<Pod>(
    sources[1] ? sources : sources[0].source,
    { reflector: { backoff }, onError: (error) => failures.report(error, pods.status().cause === error) },
  );
  void pods.run();
  const count = { began: 0, failed: 0 };
  const onStream = (event: LogStreamEvent): void => {
    if (event.type === "failed" || event.type === "began") count[event.type]++;
    if ("error" in event) failures.report(event.error, event.type === "interrupted");
    else if (follow && event.type !== "waiting") terminal.say(`${event.type === "began" ? "+" : "-"} ${nameOf(event)}`);
  };
  try {
    await pods.waitForCacheSync({ signal });
    const isNone = !pods.lister.list().some(chosen.filter);
    if (isNone) terminal.say(nothingFound([Pod], selection.namespace));
    const containers = container === undefined ? undefined : [container];
    const options = defined({ containers, previous, tailLines, sinceMs, backoff });
    for await (
      const line of followLogs(client, pods, { ...options, follow, filter: chosen.filter, signal, onStream })
    ) {
      print(line);
      await terminal.room;
    }
    if (count.began === 0 && !isNone && !follow) terminal.say("no logs yet: none of the containers has started");
  } catch (error) {
    if (isAbortOf(signal, error)) return EXIT_CODE.done;
    throw error instanceof WaitError ? explainRefusal(error.cause, flags) : error;
  }
  return count.failed > 0 && !follow ? EXIT_CODE.failed : EXIT_CODE.done;
}

/** The chosen pods: a function, and what the server can select of them. */
interface Chosen {
  readonly selection: Selection;
  readonly filter: (pod: Pod) => boolean;
}

/** Finds the pods of targets: named pods, and the pods that the selectors of workloads select. */
async function choose(
  client: Client,
  targets: readonly FoundTarget[],
  { namespace }: Selection,
  signal: AbortSignal,
): Promise<Chosen> {
  const found: Chosen[] = [];
  for (const { resource, names } of targets) {
    for (const name of names) {
      const object = await client.resource(resource, defined({ namespace })).get(name, { signal });
      if (resourceName(resource) === "pods") {
        const selection = { fieldSelector: `metadata.name=${name}` };
        found.push({ selection, filter: ({ metadata }) => metadata.name === name });
        continue;
      }
      const labels = selectorOf(object);
      if (labels === undefined) throw new UsageError(`${qualifiedName(resource, name)} has no selector of pods`);
      const selection = { labelSelector: String(labels) };
      found.push({ selection, filter: ({ metadata }) => labels.matches(metadata.labels) });
    }
  }
  if (found.length === 1) return found[0];
  return { selection: {}, filter: (pod) => found.length === 0 || found.some(({ filter }) => filter(pod)) };
}

/** Returns the selector of a workload, or of a Service. */
function selectorOf(object: KubernetesObject): LabelSelector | undefined {
  const { selector } = (object as { readonly spec?: { readonly selector?: object } }).spec ?? {};
  if (selector === undefined) return undefined;
  const isWorkload = "matchLabels" in selector || "matchExpressions" in selector;
  return LabelSelector.from((isWorkload ? selector : { matchLabels: selector }) as LabelSelectorFields);
}

/** Colours of names, by their codes in terminals. */
const COLOURS = [36, 32, 33, 35, 34, 96, 92, 93, 95, 94];

/** Returns functions that name a container, and print a line that is not filtered out. */
function printerOf(flags: LogsFlags, terminal: Terminal): {
  readonly nameOf: (source: Pick<PodLogLine, "pod" | "container">) => string;
  readonly print: (line: PodLogLine) => void;
} {
  const [include, exclude] = (["include", "exclude"] as const).map((flag) => expression(flags[flag], flag));
  const { output, timestamps, allNamespaces } = flags;
  const colours = new Map<string, number>();
  const isColoured = terminal.hasFullScreen && !permittedEnv("NO_COLOR");
  const nameOf = ({ pod, container }: Pick<PodLogLine, "pod" | "container">): string =>
    plain(`${allNamespaces ? pod : pod.slice(pod.indexOf("/") + 1)} ${container}`);
  const coloured = (name: string, pod: string): string => {
    if (!isColoured) return name;
    if (!colours.has(pod)) colours.set(pod, COLOURS[colours.size % COLOURS.length]);
    return `\x1b[${colours.get(pod)}m${name}\x1b[0m`;
  };
  const print = (line: PodLogLine): void => {
    const { pod, text, time, gap, truncated } = line;
    const isEnd = gap && text === "";
    const isText = output !== "json";
    if (gap && isText) terminal.say(`${nameOf(line)}: lines may be missing ${isEnd ? "at the end" : `before ${time}`}`);
    if ((isEnd && isText) || include?.test(text) === false || exclude?.test(text)) return;
    if (!isText) return terminal.result(jsonText(line));
    const shown = `${terminal.hasFullScreen ? safe(text) : text}${truncated ? "…" : ""}`;
    const name = output === "raw" ? [] : [coloured(nameOf(line), pod)];
    terminal.result([...name, ...(timestamps ? [time] : []), shown].join(" "));
  };
  return { nameOf, print };
}

/** Returns the text without what could control a terminal, apart from colours. */
function safe(text: string): string {
  // deno-lint-ignore no-control-regex -- colours are what is looked for
  const parts = text.split(/(\x1b\[[\d;]*m|\t)/);
  const shown = parts.map((part, i) => i % 2 === 1 ? part : part.replace(UNPRINTABLE, escaped)).join("");
  return parts.length > 1 ? `${shown}\x1b[0m` : shown;
}

/** @throws {UsageError} that names the flag. */
function expression(text: string | undefined, flag: string): RegExp | undefined {
  try {
    return text === undefined ? undefined : new RegExp(text, "u");
  } catch (cause) {
    throw new UsageError(`--${flag} must be a regular expression, but it is "${text}"`, { cause });
  }
}
