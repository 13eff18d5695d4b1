/**
 * What an informer's lists, watches and waits do, as records for a log.
 *
 * {@linkcode InformerLog} is the entry point: `CollectionSync` writes the records of all parts to it. Errors that
 * nobody awaits go to `onError`, and not through this file.
 *
 * @module
 */
import { defined } from "../../api/json.ts";
import { callObserver } from "../../async/signals.ts";
import { errorLine } from "../../errors/errors.ts";
import type { ReflectorPhase } from "../../reflector/transition.ts";

/** One line of an informer's log, as the option `log` receives it. */
export interface LogRecord {
  /** `"warn"` for a wait after an error, `"info"` for lists, syncs, pauses and stops, `"debug"` for resumed watches. */
  readonly level: "debug" | "info" | "warn";
  /** The informer's name, such as `the informer of "pods"`. */
  readonly informer: string;
  /** The namespace, if the informer lists and watches several. */
  readonly namespace?: string;
  /** What it does, such as `"lists in pages"`. */
  readonly message: string;
  /** The version that the list or watch begins at. */
  readonly resourceVersion?: string;
  /** The number of cached objects, once it has synced. */
  readonly objects?: number;
  /** The wait in milliseconds. */
  readonly delayMs?: number;
  /** The reason for the wait. */
  readonly error?: unknown;
}

/** The place for records: `"console"`, or a function, which is called during the change. */
export type LogTarget = "console" | ((record: LogRecord) => unknown);

/** Writes what one informer does. */
export class InformerLog {
  readonly #informer: string;
  readonly #write: (record: LogRecord) => unknown;

  /** Writes nothing yet. */
  constructor(informer: string, target: LogTarget) {
    this.#informer = informer;
    this.#write = target === "console" ? print : target;
  }

  /** Writes that a part entered a phase. The phases of a request that has no response yet are not written. */
  entered(phase: ReflectorPhase, namespace: string | undefined): void {
    const record = recordOf(phase);
    if (record !== undefined) this.write({ ...defined({ namespace }), ...record });
  }

  /** Writes a record. */
  write(record: Omit<LogRecord, "informer">): void {
    callObserver(() => void this.#write({ informer: this.#informer, ...record }));
  }
}

function recordOf(phase: ReflectorPhase): Omit<LogRecord, "informer"> | undefined {
  switch (phase.name) {
    case "listing": {
      const { by, resourceVersion } = phase;
      return { level: "info", message: by === "stream" ? "lists in a stream" : "lists in pages", resourceVersion };
    }
    case "watching": {
      const { open, after, resourceVersion } = phase;
      if (!open) return undefined;
      return { level: "debug", message: after === "watch" ? "resumed the watch" : "watches", resourceVersion };
    }
    case "waiting": {
      const { delayMs, error } = phase;
      return { level: error === undefined ? "debug" : "warn", message: "waits", delayMs, ...defined({ error }) };
    }
    case "paused":
      return { level: "info", message: "is paused" };
    case "stopped":
      return { level: "info", message: "has stopped" };
  }
}

function print({ level, informer, message, ...fields }: LogRecord): void {
  const texts = Object.entries(fields).map(([name, value]) => {
    return `${name}=${JSON.stringify(name === "error" ? errorLine(value) : value)}`;
  });
  console[level]([`${informer}: ${message}`, ...texts].join(" "));
}
