/**
 * Runs the checks of `informer doctor`, within limits of time, and records findings with their remedies.
 *
 * {@linkcode Checkup} is the entry point. {@linkcode reasonFor} has plain reasons for errors of connections. This file
 * checks nothing itself.
 *
 * @module
 */
import { abortable } from "@std/async/abortable";
import {
  CredentialsError,
  DecodeError,
  isForbidden,
  isUnauthorized,
  StatusError,
  UnreachableError,
} from "../../engine/api/status.ts";
import { timedController } from "../../engine/async/time.ts";
import { ConnectError } from "../../host/connect/connect_options.ts";
import { KubeconfigError } from "../../host/connect/kubeconfig/parse_kubeconfig.ts";
import type { termOfToken } from "../../host/connect/kubeconfig/secrets.ts";
import { withoutAddress, withoutSecrets } from "../../engine/errors/errors.ts";
import { explainError } from "../shared/explain_error.ts";
import { EXIT_CODE } from "../shared/usage.ts";
import { plain } from "../terminal/terminal.ts";

/** A problem and its remedy. */
interface ReasonAndRemedy {
  /** The problem, or the result of a successful check. */
  readonly what: string;
  /** The remedy, if known. */
  readonly remedy?: string;
}

/** Plain reasons and remedies for the connection errors of Deno, rustls and hyper; the first match applies. */
const CONNECTING: readonly (readonly [says: RegExp, what: string | undefined, remedy: string])[] = [
  [
    /UnknownIssuer|CaUsedAsEndEntity/,
    "the certificate is not signed by a CA that this configuration trusts",
    "put the CA's certificate into certificate-authority-data of the cluster entry; if it is there, find out which " +
    "server answers at this address",
  ],
  [
    /certificate not valid for name|does not match certificate/,
    undefined,
    "use one of these names as the address, or set tls-server-name to one of them",
  ],
  [
    /certificate expired/,
    "the server's certificate has expired",
    "renew the server's certificate, or correct this machine's clock if it is wrong",
  ],
  [
    /certificate not valid yet/,
    "the server's certificate is not valid yet",
    "correct this machine's clock, or the clock of the machine that made the certificate",
  ],
  [/invalid peer certificate/, undefined, "renew the server's certificate"],
  [
    /received fatal alert: (CertificateRequired|BadCertificate|UnknownCA|CertificateExpired|CertificateRevoked|CertificateUnknown)/,
    "the server refuses connections without a client certificate that it accepts",
    "renew client-certificate-data and client-key-data of the user entry",
  ],
  [/InvalidContentType/, "the server does not speak TLS", `write "http://" instead of "https://", or check the port`],
  [
    /invalid HTTP version|HTTP request to an HTTPS server/,
    "the server does not speak plain HTTP",
    `write "https://" instead of "http://"`,
  ],
  [
    /proxy authentication required/,
    "the proxy asks for a login",
    `put it into the proxy's address, "http://user:password@host:port"`,
  ],
  [
    /unsuccessful tunnel/,
    "the proxy does not forward the connection to the server",
    "ask the people who run the proxy to allow this address, or put the address into NO_PROXY",
  ],
  [
    /ENOTFOUND|EAI_AGAIN|dns error|failed to lookup|Name or service not known|nodename nor servname|No such host|Temporary failure in name/,
    "the host does not exist",
    "check the address for typos, and whether its name needs a VPN",
  ],
  [
    /[Rr]efused|ECONNREFUSED/,
    "the connection was refused",
    "check the port, and whether the server, or the tunnel to it, is running",
  ],
  [
    /E(?:NET|HOST)UNREACH|[Nn]etwork is unreachable|No route to host|NetworkUnreachable|HostUnreachable/,
    "there is no route to the server",
    "check the network, and whether the server needs a VPN",
  ],
  [
    /ECONNRESET|connection closed|[Cc]onnection reset|close_notify|unexpected end of file|broken pipe/,
    "the connection broke off",
    "check everything between this machine and the server: a firewall, a proxy, a load balancer without a working server",
  ],
];

/** Matches a message that recommends a Deno flag, and the text before it. */
const FLAG = /^(.*?)[,;:]? *(?:run it|run this program|is started) with (--[\w-]+=(?:"[^"]*"|[^\s;)]+))/s;

/** Matches what separates the sentence about a problem from its remedies. */
const ADVICE = /[;.] (?=(?:ask|check|choose|correct|install|log in|pass|renew|run|set|use|write) )/i;

/** Returns the reason, remedy and exit code of an error. */
export function reasonFor(error: unknown): ReasonAndRemedy & { readonly code: number } {
  const flag = error instanceof Error ? FLAG.exec(error.message) : null;
  if (flag !== null) {
    const [, before, name] = flag;
    const insecure = before.includes("insecure-skip-tls-verify");
    const what = insecure
      ? "the certificate is not trusted, and Deno checks it in spite of insecure-skip-tls-verify"
      : before;
    return { what, remedy: `run Deno with ${name}`, code: EXIT_CODE.connection };
  }
  if (error instanceof StatusError) {
    const { code, reason, message } = error.status;
    const refused = isUnauthorized(error) || isForbidden(error);
    return {
      what: `${code} ${reason}: ${message}`,
      remedy: refused ? "ask for this permission" : "look in the server's log",
      code: refused ? EXIT_CODE.connection : EXIT_CODE.failed,
    };
  }
  const connecting = connectingReason(error);
  if (connecting !== undefined) return { ...connecting, code: EXIT_CODE.connection };
  const { code, message } = explainError(error);
  const [what, ...advice] = message.split(ADVICE);
  const remedy = advice.map((text) => text.replace(/^[A-Z](?=[a-z])/, (first) => first.toLowerCase())).join("; ");
  return { what, ...(remedy !== "" && { remedy }), code };
}

/** Returns the reason of a connection error; `undefined` for other errors. */
function connectingReason(error: unknown): ReasonAndRemedy | undefined {
  const isOther = [KubeconfigError, ConnectError, CredentialsError, DecodeError].some((kind) => error instanceof kind);
  if (isOther) return undefined;
  const said = saidBy(error);
  const known = CONNECTING.find(([says]) => says.test(said));
  if (known !== undefined) {
    const [, what, remedy] = known;
    const found = what ?? said.replace(/^.*invalid peer certificate: /, "");
    const proxy = /\(through (proxy "[^"]*")\)/.exec(said)?.[1];
    return { what: proxy === undefined ? found : `${found} (through ${proxy})`, remedy };
  }
  const unknown = error instanceof UnreachableError || (error instanceof TypeError && error.cause !== undefined);
  return unknown ? { what: said, remedy: "check the address, and whether the server is running" } : undefined;
}

/** Joins the messages of the innermost causes, without the address. */
export function saidBy(error: unknown): string {
  const said: string[] = [];
  for (let inner: unknown = error; inner instanceof Error; inner = inner.cause) {
    const text = withoutAddress(inner.message);
    if (text !== "fetch failed" && !said.some((other) => other.includes(text))) said.push(text);
  }
  return said.join(": ");
}

/** Result of a check; `skip` if there was nothing to check, or it was not possible. */
export type StepStatus = "ok" | "warn" | "fail" | "skip";

/** One line of the report. Holds no secrets and no control characters. */
export interface Step {
  /** Name of the check: `"address"`, `"watch pods"`. */
  readonly name: string;
  /** Its result. */
  readonly status: StepStatus;
  /** The finding. */
  readonly what: string;
  /** Remedy, if the status is not `ok`. */
  readonly remedy?: string;
  /** Duration, in milliseconds. */
  readonly ms: number;
}

/** The finding of a check. */
export interface Finding extends ReasonAndRemedy {
  /** Its result. */
  readonly status: StepStatus;
  /** Exit code of a failure. @default {1, unless the check says otherwise} */
  readonly code?: number;
}

/** Time limits, in milliseconds. */
export interface CheckupLimits {
  /** One check. */
  readonly stepMs: number;
  /** A credential plugin, which may prompt. */
  readonly pluginMs: number;
  /** All checks together; the remaining ones are skipped. */
  readonly totalMs: number;
}

/** Default time limits. */
export const CHECKUP_LIMITS: CheckupLimits = { stepMs: 3_000, pluginMs: 5_000, totalMs: 14_000 };

interface CheckOptions {
  /** Time limit, in milliseconds. @default {the limit of one check} */
  readonly limitMs?: number;
  /** Remedy for a timeout, which is a failure; or the finding to report instead. */
  readonly late: string | Finding;
  /** Remedy for a failure that has none of its own. */
  readonly advice: string;
  /** The exit code of a failure that has none of its own. @default {1} */
  readonly code?: number;
}

/**
 * Runs checks one after the other and records their findings.
 *
 * - Each check ends in time: after its limit it is aborted and not awaited.
 * - An error of a check is recorded as a failure; only an interrupt ends the checkup.
 * - Secrets passed to {@linkcode Checkup.hide} are redacted in all steps.
 */
export class Checkup {
  /** The findings, in the order of the checks. */
  readonly steps: Step[] = [];
  /** Time limits. */
  readonly limits: CheckupLimits;
  readonly #signal: AbortSignal;
  readonly #onCheck: (name: string) => void;
  /** Texts to redact, shared with the checkups that run beside this one; it only grows. */
  readonly #secrets: Set<string>;
  readonly #endsAt: number;
  /** Exit codes of the failures so far; it only grows. */
  readonly #codes = new Set<number>();

  /**
   * The total time starts now. `signal` ends the checkup; `onCheck` is called with the name of each check that starts.
   */
  constructor(signal: AbortSignal, limits: CheckupLimits, onCheck: (name: string) => void, parent?: Checkup) {
    this.#signal = signal;
    this.limits = limits;
    this.#onCheck = onCheck;
    this.#secrets = parent === undefined ? new Set() : parent.#secrets;
    this.#endsAt = parent === undefined ? performance.now() + limits.totalMs : parent.#endsAt;
  }

  /** Redacts a secret in all steps. */
  hide(secret: string): void {
    this.#secrets.add(secret);
  }

  /**
   * Runs a check; returns `false` if it failed, so that dependent checks can be left out.
   *
   * @throws the reason of an interrupt.
   */
  async check(name: string, options: CheckOptions, look: (signal: AbortSignal) => Promise<Finding>): Promise<boolean> {
    this.#signal.throwIfAborted();
    const startedAt = performance.now();
    const leftMs = this.#endsAt - startedAt;
    if (leftMs <= 0) {
      const what = `not checked, ${seconds(this.limits.totalMs)} are over`;
      this.note(name, { status: "skip", what });
      return false;
    }
    this.#onCheck(name);
    const limitMs = Math.min(options.limitMs ?? this.limits.stepMs, leftMs);
    const over = `no response within ${seconds(limitMs)}`;
    using controller = timedController(limitMs, over, this.#signal);
    const { signal } = controller;
    let finding: Finding;
    try {
      finding = await abortable(look(signal), signal);
    } catch (error) {
      this.#signal.throwIfAborted();
      const { late, advice } = options;
      finding = error === signal.reason
        ? typeof late === "string" ? { status: "fail", what: over, remedy: late } : late
        : { status: "fail", remedy: advice, ...reasonFor(error) };
    }
    this.note(name, { ...options.code !== undefined && { code: options.code }, ...finding }, startedAt);
    return finding.status !== "fail";
  }

  /** Records a finding that needs no check. */
  note(name: string, finding: Finding, startedAt: number = performance.now()): void {
    const { status, what, remedy, code = EXIT_CODE.failed } = finding;
    if (status === "fail") this.#codes.add(code);
    this.steps.push({
      name: this.#clean(name),
      status,
      what: this.#clean(what),
      ...(remedy !== undefined && status !== "ok" && { remedy: this.#clean(remedy) }),
      ms: Math.round(performance.now() - startedAt),
    });
  }

  /** Creates a checkup with the same time limit and secrets, for checks that run concurrently. */
  beside(): Checkup {
    return new Checkup(this.#signal, this.limits, this.#onCheck, this);
  }

  /** Appends the findings of another checkup. */
  append(other: Checkup): void {
    this.steps.push(...other.steps);
    for (const code of other.#codes) this.#codes.add(code);
  }

  /** 0 if no check failed, 3 if the server cannot be reached or denies access, 2 if only names are wrong, else 1. */
  get exitCode(): number {
    const worst = [EXIT_CODE.connection, EXIT_CODE.failed, EXIT_CODE.usage].find((code) => this.#codes.has(code));
    return worst ?? EXIT_CODE.done;
  }

  #clean(text: string): string {
    return plain(withoutSecrets(text, this.#secrets));
  }
}

/** Formats a duration in seconds: `"3 s"`, `"0.2 s"`. */
export function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}

/** A validity period. */
export type Validity = NonNullable<ReturnType<typeof termOfToken>>;

/** The status of a validity period, and words that follow the name of its subject in a sentence. */
export interface Expiry {
  /** `fail` if expired, `warn` if soon to expire. */
  readonly status: StepStatus;
  /** `"until 2036-11-18 (3650 days)"`, `"expired 3 days ago, on 2026-11-18"`. */
  readonly words: string;
}

/** Remaining time, in milliseconds, that causes a warning; short-lived credentials have a shorter one. */
const SOON_MS = 7 * 86_400_000;

/** Tolerated difference between clocks, in milliseconds. */
const CLOCKS_MS = 60_000;

/**
 * Returns the status at `nowMs`. `renews` means that the subject is renewed automatically, so that there is no warning.
 */
export function expiryOf(term: Validity, nowMs: number, renews: boolean): Expiry {
  const { fromMs = -Infinity, untilMs } = term;
  const left = untilMs - nowMs;
  if (left <= 0) return { status: "fail", words: `expired ${span(-left)} ago, on ${day(untilMs)}` };
  if (nowMs < fromMs - CLOCKS_MS) {
    return { status: "fail", words: `is valid only from ${day(fromMs)} on, in ${span(fromMs - nowMs)}` };
  }
  const words = `until ${day(untilMs)} (${span(left)})`;
  const soonMs = Math.min(SOON_MS, (untilMs - fromMs) / 3);
  return { status: !renews && left < soonMs ? "warn" : "ok", words };
}

/** Formats a duration in one unit: `"3650 days"`, `"5 h"`, `"42 s"`. */
export function span(ms: number): string {
  const hours = ms / 3_600_000;
  if (hours >= 48) return `${Math.floor(hours / 24)} days`;
  if (hours >= 2) return `${Math.floor(hours)} h`;
  if (ms >= 120_000) return `${Math.floor(ms / 60_000)} min`;
  return `${Math.floor(ms / 1_000)} s`;
}

/** Formats a date; within two days also the time. */
function day(ms: number): string {
  const near = Math.abs(ms - Date.now()) < 2 * 86_400_000;
  const text = new Date(ms).toISOString();
  return near ? `${text.slice(0, 10)} ${text.slice(11, 16)} UTC` : text.slice(0, 10);
}
