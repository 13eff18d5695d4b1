import type { Transport } from "@kube/informer";
import { isObject, type Json, type JsonObject } from "../../../src/engine/api/json.ts";
import { objectOr } from "../../../src/engine/api/members.ts";
import { overlaid } from "./drafts.ts";
import { type Case, MEDIA_TYPES, pathOf, type Step } from "./step.ts";

/** A server that takes requests as they are. */
export interface TwinServer extends Transport {
  /** Its address. */
  readonly server: URL;
}

/** An answer of a server. */
export interface Answer {
  readonly status: number;
  /** The object, or the text where it is no JSON. */
  readonly body: Json;
  readonly warnings: readonly string[];
}

/** The answers of two servers to one request. */
export interface Exchange {
  readonly step: Step;
  readonly real: Answer;
  readonly fake: Answer;
}

/** The time in which a server must answer. */
const SILENT_MS = 30_000;

/** Plays cases to two servers, each in a namespace of its own. */
export class TwinPlayer {
  readonly #real: TwinServer;
  readonly #fake: TwinServer;
  /** The beginning of the names of namespaces: no run has that of another. */
  readonly #run: string;
  readonly namespaces: string[] = [];

  constructor(real: TwinServer, fake: TwinServer, run: string) {
    this.#real = real;
    this.#fake = fake;
    this.#run = run;
  }

  /**
   * Plays a case to both, up to the first request that they answer with other status codes, which is the last exchange.
   */
  async play({ steps }: Pick<Case, "steps">): Promise<readonly Exchange[]> {
    const namespace = `twin-${this.#run}-${this.namespaces.length + 1}`;
    this.namespaces.push(namespace);
    const real = new Side(this.#real, namespace);
    const fake = new Side(this.#fake, namespace);
    await Promise.all([real.begin(), fake.begin()]);
    const exchanges: Exchange[] = [];
    for (const step of steps) {
      const answers = await Promise.all([real.send(step), fake.send(step)]);
      exchanges.push({ step, real: answers[0], fake: answers[1] });
      if (answers[0].status !== answers[1].status) break;
    }
    return exchanges;
  }
}

/** One of two servers in one case. */
class Side {
  readonly #server: TwinServer;
  readonly #namespace: string;
  /** The last and the first answer with an object, by its letter. */
  readonly #last = new Map<string, JsonObject>();
  readonly #first = new Map<string, JsonObject>();

  constructor(server: TwinServer, namespace: string) {
    this.#server = server;
    this.#namespace = namespace;
  }

  /** Creates the namespace. */
  async begin(): Promise<void> {
    const body = { apiVersion: "v1", kind: "Namespace", metadata: { name: this.#namespace } };
    const { status, body: answer } = await this.#ask("POST", "/api/v1/namespaces", "application/json", body);
    if (status !== 201) {
      const { server } = this.#server;
      throw new Error(
        `Cannot create namespace "${this.#namespace}" on "${server}": ${status} ${JSON.stringify(answer)}`,
      );
    }
  }

  async send(step: Step): Promise<Answer> {
    const { method, patch, object } = step;
    const last = this.#last.get(object);
    const laid = step.isOverlay && step.body !== undefined ? overlaid(last, step.body) : step.body;
    const media = patch === undefined ? "application/json" : MEDIA_TYPES[patch];
    const path = this.#filled(pathOf(step), object) as string;
    const answer = await this.#ask(method, path, media, laid === undefined ? undefined : this.#filled(laid, object));
    const { body, status } = answer;
    // What was a dry run has no version that a later request could be about.
    if (status < 300 && isObject(body) && body.kind !== "Status" && step.query.dryRun === undefined) {
      this.#last.set(object, body);
      if (!this.#first.has(object)) this.#first.set(object, body);
    }
    return answer;
  }

  /** Fills in what a text names. */
  #filled(value: Json, object: string): Json {
    if (typeof value === "string") return value.includes("${") ? this.#text(value, object) : value;
    if (Array.isArray(value)) return value.map((element) => this.#filled(element, object));
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, this.#filled(member!, object)]));
  }

  #text(value: string, object: string): string {
    const last = objectOr(this.#last.get(object)?.metadata);
    const first = objectOr(this.#first.get(object)?.metadata);
    const texts: Readonly<Record<string, unknown>> = {
      ns: this.#namespace,
      long: "x".repeat(64),
      name: last.name ?? "unknown",
      uid: last.uid ?? "6b2c1d3e-0000-4000-8000-00000000000e",
      version: last.resourceVersion ?? "1",
      stale: first.resourceVersion ?? "1",
    };
    return value.replace(/\$\{(\w+)\}/g, (_, name) => String(texts[name]));
  }

  async #ask(method: string, path: string, media: string, body: Json | undefined): Promise<Answer> {
    const request = new Request(new URL(path, this.#server.server), {
      method,
      headers: { accept: "application/json", "content-type": media, "user-agent": "twin/1" },
      ...body !== undefined && { body: JSON.stringify(body) },
      signal: AbortSignal.timeout(SILENT_MS),
    });
    const response = await this.#server.fetch(request).catch((error) => lost(error));
    const text = await response.text();
    const warnings = response.headers.get("warning")?.match(/"(?:[^"\\]|\\.)*"/g) ?? [];
    return { status: response.status, body: parsed(text), warnings };
  }
}

/** The answer of a server that breaks the connection off, as kube-apiserver does when a handler panics. */
function lost(error: unknown): Response {
  return new Response(`No answer: ${error instanceof Error ? error.message : error}`, { status: 599 });
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
