import {
  type Attributes,
  context,
  ROOT_CONTEXT,
  type Span,
  SpanStatusCode,
  trace,
  type Tracer,
} from "@opentelemetry/api";
import { StatusError } from "../api/errors.ts";
import { errorLine } from "../errors/error_line.ts";

/**
 * A span without a parent, or below another one of these. The context in which it begins is not its parent: work of informers
 * and reconcilers outlives the request, handler or reconcile that it was begun by.
 */
export class RootSpan {
  readonly #tracer: Tracer;
  readonly #span: Span;

  /** Begins a span, below `parent` if there is one. */
  constructor(tracer: Tracer, name: string, attributes: Attributes, parent?: Span) {
    this.#tracer = tracer;
    const above = parent === undefined ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, parent);
    this.#span = tracer.startSpan(name, { attributes }, above);
  }

  /** Begins a span below this one. */
  below(name: string, attributes: Attributes = {}): RootSpan {
    return new RootSpan(this.#tracer, name, attributes, this.#span);
  }

  /** Calls `call` with this span as the active one, and nothing else of the active context. */
  run<R>(call: () => R): R {
    return context.with(trace.setSpan(ROOT_CONTEXT, this.#span), call);
  }

  /** Sets attributes. */
  set(attributes: Attributes): void {
    this.#span.setAttributes(attributes);
  }

  /** Ends the span: with status `ERROR` and an event `exception` where there is an error. */
  end(attributes: Attributes, error?: unknown): void {
    this.#span.setAttributes(attributes);
    if (error !== undefined) {
      const message = errorLine(error);
      this.#span.setStatus({ code: SpanStatusCode.ERROR, message });
      // Without the stack, which may name files of the machine.
      this.#span.recordException({ name: error instanceof Error ? error.name : "Error", message });
    }
    this.#span.end();
  }
}

/** The attribute `error.type` of an error: the status code of a refusal, else the error's name. None without an error. */
export function errorType(error: unknown): Attributes {
  if (error === undefined) return {};
  if (error instanceof StatusError) return { "error.type": String(error.status.code) };
  return { "error.type": error instanceof Error ? error.name : "_OTHER" };
}
