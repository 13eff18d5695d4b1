import type { RequestOptions } from "../api/options.ts";
import { checkDurations } from "../async/time/duration.ts";
import { nearest } from "../api/nearest.ts";
import type { RequestSpec } from "./http/request_spec.ts";

const ANY = ["signal", "timeoutMs", "query"];
const SELECTION = ["namespace", "namespaces", "labelSelector", "fieldSelector"];
const READ = [
  "managedFields",
  "fields",
  "secretData",
  "secretAnnotations",
  "known",
  "knownNext",
  "onDecoded",
  "resourceVersion",
];
const WRITE = ["dryRun", "fieldManager", "fieldValidation", "subresource"];
const DELETE = [...WRITE, "preconditions", "propagationPolicy", "gracePeriodSeconds"];
const LIST = [...SELECTION, ...READ, "resourceVersionMatch", "limit", "continue"];
const WATCH = [...SELECTION, ...READ, "timeoutSeconds", "allowBookmarks", "sendInitialEvents"];

/** The options of each call. */
const OPTIONS = {
  get: ["subresource"],
  list: LIST,
  watch: [...WATCH, "backoff", "onInterrupted"],
  write: WRITE,
  delete: DELETE,
  deleteCollection: [...LIST, ...DELETE],
} as const;

/** Parameters that options or the client set, under the names that the server has for them. */
const PARAMETERS = [
  ...new Set(Object.values(OPTIONS).flat()),
  "watch",
  "allowWatchBookmarks",
  "force",
  "pretty",
];

/**
 * Returns a request with the parameters of `query` and the limit of `timeoutMs`.
 *
 * @throws {TypeError} when an option is unknown, or `query` has the name of an option, or nearly so.
 * @throws {RangeError} when `timeoutMs` is no duration.
 */
export function withRequestOptions(
  spec: RequestSpec,
  options: RequestOptions,
  call: keyof typeof OPTIONS,
): RequestSpec {
  const { query, timeoutMs } = options;
  for (const [name, value] of Object.entries(options)) {
    const own: readonly string[] = OPTIONS[call];
    if (value === undefined || ANY.includes(name) || own.includes(name)) continue;
    const known = [...own, ...ANY];
    const near = nearest(name, known);
    throw new TypeError(
      `Cannot ${spec.action}: unknown option "${name}"${near === undefined ? "" : `, did you mean "${near}"?`}; ` +
        `parameters without an option go into query: { … }`,
    );
  }
  checkDurations(spec.action, { timeoutMs }, { min: 1 });
  const limited = timeoutMs === undefined ? spec : { ...spec, timeoutMs };
  if (query === undefined) return limited;
  const [path, text] = spec.path.split("?", 2);
  const parameters = new URLSearchParams(text);
  for (const [name, value] of Object.entries(query)) {
    checkParameter(name, spec.action);
    parameters.set(name, value);
  }
  return { ...limited, path: `${path}?${parameters}` };
}

function checkParameter(name: string, action: string): void {
  if (name === "pretty") return;
  // Short names differ by one letter from others that mean something else.
  const near = nearest(name, PARAMETERS, name.length < 8 ? 1 : 2);
  if (near === undefined) return;
  const problem = near === name
    ? `query has "${name}", which is an option`
    : `query has "${name}", did you mean the option "${near}"?`;
  throw new TypeError(`Cannot ${action}: ${problem}`);
}
