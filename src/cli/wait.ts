/**
 * The command `informer wait`: waits until objects reach a state.
 *
 * {@linkcode wait} is the entry point. Readiness is judged by `controllers/readiness`; the wait reads caches, and does
 * not poll.
 *
 * @module
 */
import { abortable } from "@std/async/abortable";
import type { Selection } from "../engine/api/call_options.ts";
import { defined, isObject } from "../engine/api/json.ts";
import type { KubernetesObject } from "../engine/api/object.ts";
import { onlyMetadata, type Resource, resourceName } from "../engine/api/resource.ts";
import { parseFieldPath } from "../engine/api/selector.ts";
import { isAbortOf } from "../engine/async/signals.ts";
import { humanDuration, monotonicMs, timedController } from "../engine/async/time.ts";
import type { Client } from "../engine/client/client.ts";
import { field } from "../engine/entry/path.ts";
import { errorLine, nearest } from "../engine/errors/errors.ts";
import { SharedIndexInformer } from "../engine/informer/shared_index_informer.ts";
import { WaitError } from "../engine/informer/status.ts";
import { Pod } from "../engine/kinds/core/v1.ts";
import {
  conditionsOf,
  type Readiness,
  readiness,
  type ReadinessRules,
  unobserved,
} from "../operator/controllers/readiness/readiness.ts";
import { clientFor, type ConnectionFlags } from "./shared/connect.ts";
import { durationMs } from "./shared/flag_values.ts";
import {
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
  FailureReporter,
  nothingFound,
  qualifiedName,
  type Terminal,
} from "./terminal/terminal.ts";

interface WaitFlags extends ConnectionFlags, SelectionFlags {
  /** The awaited state, see {@linkcode goalOf}. */
  readonly for: string;
  /** Expression in CEL that is true for an object that is ready, in place of the rules. */
  readonly readyIf?: string;
  /** Time limit, as a duration. */
  readonly timeout: string;
  /** If `true`, waits for all objects of the kinds. */
  readonly all?: boolean;
  /** If `true`, ends when an object has failed. */
  readonly failFast?: boolean;
}

/** The state that is waited for. */
interface Goal {
  /** After "is not": `ready`. */
  readonly name: string;
  /** `true` if it is that an object is gone. */
  readonly isDeletion?: boolean;
  /** Judges an object that is there; `own` is its readiness. */
  judge(object: KubernetesObject, own: Readiness): { readonly met: boolean; readonly text: string };
}

/** An object, and what is known of it. */
interface Verdict {
  /** The name for people: `deployment.apps/web`. */
  readonly name: string;
  readonly met: boolean;
  /** The state, and its reason. */
  readonly text: string;
  /** Set if the object has failed, and that ends the wait. */
  readonly failure?: Readiness;
}

/**
 * Waits until all objects have reached a state, and returns 0. `args` are the arguments of {@linkcode getTargets}.
 *
 * @throws {Error} if the time is over, the wait is interrupted, or an object has failed with `--fail-fast`.
 */
export async function wait(flags: WaitFlags, args: readonly string[], context: CommandContext): Promise<number> {
  const { terminal, signal, backoff } = context;
  const targets = getTargets(args, flags);
  const isSelected = flags.selector !== undefined || flags.fieldSelector !== undefined || flags.all;
  if (!isSelected && targets.every(({ names }) => names.length === 0)) {
    throw new UsageError("name objects, such as deploy/web, or choose them with -l, --field-selector or --all");
  }
  const goal = goalOf(flags.for);
  if (flags.readyIf !== undefined && goal.name !== "ready") throw new UsageError("--ready-if needs --for ready");
  const rules = flags.readyIf === undefined
    ? undefined
    : await (await import("../operator/schema/readiness_rules.ts")).readinessRules([{ ready: flags.readyIf }]);
  const timeoutMs = durationMs(flags.timeout, "timeout");
  if (timeoutMs === 0) throw new UsageError("--timeout must be longer than 0");
  using job = timedController(timeoutMs, `the time of --timeout ${flags.timeout} is over`, signal);
  let unmet: readonly Verdict[] = [];
  try {
    using client = await clientFor(flags, terminal);
    const found = await targetsFor(targets, "watch", { form: "object", terminal }, client, job.signal);
    const resources = found.map(({ resource }) => resource);
    const selection = await readableSelection(flags, client, resources, { terminal, signal: job.signal });
    await using waiting = new Waiting(client, found, goal, { ...flags, rules, selection, backoff }, terminal);
    for await (const verdicts of waiting.verdicts(job.signal)) {
      for (const { name, failure } of verdicts) {
        if (failure !== undefined) throw new Error(`${name} has failed: ${failure.reason}: ${failure.message}`);
      }
      unmet = verdicts.filter(({ met }) => !met);
      if (unmet.length > 0) continue;
      for (const { name, text } of verdicts) terminal.result(`${name}: ${text}`);
      return EXIT_CODE.done;
    }
  } catch (error) {
    if (!isAbortOf(job.signal, error)) throw error;
    if (unmet.length === 0) unmet = [{ name: args.join(" "), met: false, text: errorLine(error) }];
  }
  const isInterrupted = job.signal.reason === signal.reason;
  const ended = isInterrupted ? "yet, because the wait was interrupted" : `within --timeout ${flags.timeout}`;
  throw new Error(`not ${goal.name} ${ended}: ${linesOf(unmet)}`);
}

/** The largest number of objects that one line names. */
const SHOWN = 3;

function readinessText({ state, reason, message }: Readiness): string {
  return `${state}, ${reason}: ${message}`;
}

function linesOf(verdicts: readonly Verdict[]): string {
  const more = verdicts.length > SHOWN ? `; and ${verdicts.length - SHOWN} more` : "";
  return verdicts.slice(0, SHOWN).map(({ name, text }) => `${name}: ${text}`).join("; ") + more;
}

/** Objects whose state changes only with time are looked at so often; so often the live line changes, too. */
const PERIOD_MS = 1_000;

/** The largest number of objects whose names are compared with a name that is not found. */
const NAMES = 500;

const TYPO = " (is there a typo?)";

/** Returns ` (did you mean "web"?)` if one of the names is similar, by at most so many edits, else an empty text. */
function meant(name: string, names: readonly string[], edits?: number): string {
  const near = nearest(name, names, edits);
  return near === undefined ? "" : ` (did you mean "${near}"?)`;
}

interface Watched {
  readonly resource: Resource;
  /** The name of the only object, if there is one. */
  readonly name: string | undefined;
  readonly informer: SharedIndexInformer<KubernetesObject>;
  /** The words after the name while no object has had it. */
  doubt?: string;
  /** The uids of the objects whose deletion is waited for: those that are there at first. */
  doomed?: ReadonlySet<string>;
}

type WaitingFlags = WaitFlags & Pick<CommandContext, "backoff"> & { readonly rules: ReadinessRules | undefined };

/** The informers on the objects that are waited for, and what they show. */
class Waiting implements AsyncDisposable {
  readonly #client: Client;
  readonly #goal: Goal;
  readonly #flags: WaitingFlags;
  readonly #terminal: Terminal;
  readonly #selection: Selection;
  /** By kind and name: an object that is named twice is one. */
  readonly #watched = new Map<string, Watched>();
  /** The pods of workloads. */
  readonly #pods: SharedIndexInformer<Pod> | undefined;
  /** Resolves at the next change. */
  #change = Promise.withResolvers<void>();
  /** The text last said of each object. */
  readonly #said = new Map<string, string>();
  readonly #beganMs = monotonicMs();

  constructor(
    client: Client,
    targets: readonly FoundTarget[],
    goal: Goal,
    flags: WaitingFlags & { readonly selection: Selection },
    terminal: Terminal,
  ) {
    this.#client = client;
    this.#goal = goal;
    this.#flags = flags;
    this.#terminal = terminal;
    const { selection } = flags;
    this.#selection = selection;
    for (const { resource, names } of targets) {
      for (const name of names.length === 0 ? [undefined] : names) {
        const key = `${resourceName(resource)}/${name}`;
        if (this.#watched.has(key)) continue;
        const one = name === undefined ? selection : { ...selection, fieldSelector: `metadata.name=${name}` };
        this.#watched.set(key, { resource, name, informer: this.#follow(resource, one) });
      }
    }
    if (flags.failFast && targets.some(({ resource }) => resource.group !== "")) {
      const { namespace, namespaces } = selection;
      this.#pods = this.#follow(Pod, defined({ namespace, namespaces }));
    }
  }

  #follow<T extends KubernetesObject>(resource: Resource<T>, selection: Selection): SharedIndexInformer<T> {
    const failures = new FailureReporter(resourceName(resource), (line) => this.#terminal.say(line));
    const sources = collectionsOf(this.#client, resource, selection);
    const informer: SharedIndexInformer<T> = new SharedIndexInformer<T>(sources[1] ? sources : sources[0].source, {
      reflector: { backoff: this.#flags.backoff },
      onError: (error) => failures.report(error, informer.status().cause === error),
    });
    const changed = (): void => this.#change.resolve();
    informer.addEventHandler({ onAdd: changed, onUpdate: changed, onDelete: changed }, { name: "wait" });
    informer.run();
    return informer;
  }

  /** Yields a verdict of each object, once they are listed and after each change, and shows them. */
  async *verdicts(signal: AbortSignal): AsyncGenerator<readonly Verdict[]> {
    try {
      for (const watched of this.#watched.values()) {
        await watched.informer.waitForCacheSync({ signal });
        if (watched.informer.lister.list().length === 0) watched.doubt = await this.#doubtOf(watched, signal);
      }
    } catch (error) {
      if (isAbortOf(signal, error) || !(error instanceof WaitError)) throw error;
      throw explainRefusal(error.cause, this.#flags);
    }
    // Their reasons are part of a failure's message. If they cannot be listed, that has been said.
    await this.#pods?.waitForCacheSync({ signal }).catch(() => signal.throwIfAborted());
    const timer = setInterval(() => this.#change.resolve(), PERIOD_MS);
    try {
      for (;;) {
        this.#change = Promise.withResolvers();
        const verdicts = [...this.#watched.values()].flatMap((watched) => this.#judge(watched));
        this.#show(verdicts);
        yield verdicts;
        await abortable(this.#change.promise, signal);
      }
    } finally {
      clearInterval(timer);
    }
  }

  /** Asks for similar names if no object has the name. Without an answer, the wait goes on as well. */
  async #doubtOf({ resource, name }: Watched, signal: AbortSignal): Promise<string | undefined> {
    if (name === undefined || this.#goal.isDeletion) return undefined;
    const sources = collectionsOf(this.#client, onlyMetadata(resource), this.#selection);
    const lists = await Promise.allSettled(sources.map(({ source }) => source.list({ limit: NAMES, signal })));
    const items = lists.flatMap((list) => list.status === "fulfilled" ? list.value.items : []);
    return meant(name, items.map(({ metadata }) => metadata.name)) || TYPO;
  }

  #judge(watched: Watched): Verdict[] {
    const { resource, name, informer } = watched;
    const { isDeletion = false } = this.#goal;
    const { namespace } = this.#selection;
    const found = informer.lister.list();
    if (isDeletion) watched.doomed ??= new Set(found.map(({ metadata }) => metadata.uid));
    const objects = found.filter(({ metadata }) => watched.doomed?.has(metadata.uid) ?? true);
    if (objects.length > 0) {
      watched.doubt = undefined;
      return objects.map((object) => this.#judgeObject(resource, object));
    }
    const shown = name === undefined ? resource.plural : qualifiedName(resource, name);
    const nothing = isDeletion ? "deleted" : name === undefined ? nothingFound([resource], namespace) : "absent";
    return [{ name: shown, met: isDeletion, text: nothing + (watched.doubt ?? "") }];
  }

  #judgeObject(resource: Resource, object: KubernetesObject): Verdict {
    const { name, namespace } = object.metadata;
    const { rules } = this.#flags;
    // A workload's pods keep the rules for pods.
    const own = readiness(object, { pods: this.#pods, rules: (it) => it === object ? rules?.(it) : undefined });
    const { met, text } = this.#goal.judge(object, own);
    const failure = !met && this.#flags.failFast && own.state === "failed" ? own : undefined;
    const where = this.#selection.namespace === undefined && namespace !== undefined ? ` in ${namespace}` : "";
    return { name: qualifiedName(resource, name) + where, met, text, failure };
  }

  /** On a terminal, the first objects in one line; else a line for each change of an object. */
  #show(verdicts: readonly Verdict[]): void {
    const unmet = verdicts.filter(({ met }) => !met);
    const done = `${verdicts.length - unmet.length} of ${verdicts.length} ${this.#goal.name}`;
    this.#terminal.live(`${humanDuration(monotonicMs() - this.#beganMs)}, ${done}: ${linesOf(unmet)}`);
    if (this.#terminal.interactive) return;
    for (const { name, text } of unmet) {
      if (this.#said.get(name) !== text) this.#terminal.say(`${name}: ${text}`);
      this.#said.set(name, text);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#terminal.live("");
    for (const { informer } of this.#watched.values()) await informer[Symbol.asyncDispose]();
    await this.#pods?.[Symbol.asyncDispose]();
  }
}

/** A path of fields, and the value behind `=`; a key in brackets may have one. */
const FIELD = /^((?:[^=["]|\["(?:[^"\\]|\\.)*"\])+)(?:=(.*))?$/s;

/**
 * Reads `ready`, `deleted`, `condition=TYPE`, `condition=TYPE=STATUS`, `PATH` or `PATH=VALUE`.
 *
 * @throws {UsageError} when it is none of these.
 * @throws {SyntaxError} when the path is none.
 */
function goalOf(text: string): Goal {
  if (text === "ready") {
    return { name: text, judge: (_, own) => ({ met: own.state === text, text: readinessText(own) }) };
  }
  if (text === "deleted") {
    const here = (own: Readiness): string => own.state === "terminating" ? own.message : "is there";
    return { name: text, isDeletion: true, judge: (_, own) => ({ met: false, text: here(own) }) };
  }
  const [, type, status = "True"] = /^condition=([^=]+)(?:=(.+))?$/.exec(text) ?? [];
  if (type !== undefined) return { name: `${type}=${status}`, judge: (it) => ofCondition(it, type, status) };
  const [, named = text, value] = FIELD.exec(text) ?? [];
  if (["condition", "jsonpath"].includes(named) || (value === undefined && /^\w*$/.test(named))) {
    throw new UsageError(
      `--for must be ready, deleted, condition=TYPE, condition=TYPE=STATUS, PATH=VALUE, or the PATH of a field, but it is "${text}"`,
    );
  }
  const at = field(named as string);
  const there = at.exists();
  const holds = value === undefined ? there : at.equals(value);
  const shown = (object: never): string =>
    at(object).join(", ") || (there(object) ? "there" : `not there${typoIn(object, parseFieldPath(named))}`);
  return { name: text, judge: (it) => ({ met: holds(it as never), text: `${named} is ${shown(it as never)}` }) };
}

/** Returns what to say of the first key that an object does not have. Below its top, most keys come later. */
function typoIn(object: Readonly<Record<string, unknown>>, [key, ...keys]: readonly string[], isTop = true): string {
  if (!Object.hasOwn(object, key)) {
    const known = [...Object.keys(object), ...isTop ? ["condition", "spec", "status"] : []];
    // One edit at most below the top: unavailableReplicas is no typo of availableReplicas.
    return known.includes(key) ? "" : meant(key, known, isTop ? undefined : 1) || (isTop ? TYPO : "");
  }
  const inner = object[key];
  return isObject(inner) && keys.length > 0 ? typoIn(inner, keys, false) : "";
}

/** Types and states are compared as kubectl does: in any case, and only if they are about the present generation. */
function ofCondition(object: KubernetesObject, type: string, status: string): ReturnType<Goal["judge"]> {
  const is = (a: string | undefined, b: string): boolean => a?.toLowerCase() === b.toLowerCase();
  const types = conditionsOf(object).flatMap((it) => it.type ?? []);
  const found = conditionsOf(object).find((it) => is(it.type, type));
  if (found === undefined) {
    const others = meant(type, types) || (types.length > 0 ? ` (it has ${types.join(", ")})` : "");
    return { met: false, text: `it has no condition ${type}${others}` };
  }
  const late = unobserved(object, found.observedGeneration) ?? unobserved(object);
  if (late !== undefined) return { met: false, text: late.message };
  const why = [found.reason, found.message].filter((part) => part).join(": ");
  return { met: is(found.status, status), text: `${found.type} is ${found.status}${why === "" ? "" : `, ${why}`}` };
}
