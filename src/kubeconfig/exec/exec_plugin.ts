/**
 * The contract of credential plugins: settings, environment variable and output.
 *
 * {@linkcode ExecPlugin} holds the settings, `execInfo` creates the environment variable, `parseExecCredential` parses
 * the output. This folder does not run plugins; `src/deno/credentials` does.
 *
 * @module
 */
import { Redacted } from "../text/secret.ts";
import { quote, quoteAll } from "../text/quote.ts";
import type { EntryFields, FieldPlace } from "../model/entry_fields.ts";

/** The API versions of the contract between client and plugin (client-go `plugin/pkg/client/auth/exec`). */
const VERSIONS = ["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"] as const;

const MODES = ["Never", "IfAvailable", "Always"] as const;

/** Fields of `exec` (clientcmd/api/v1 `ExecConfig`). */
const FIELDS = ["apiVersion", "command", "args", "env", "installHint", "provideClusterInfo", "interactiveMode"];

/** The conditions under which a plugin may prompt on the terminal. */
export type InteractiveMode = typeof MODES[number];

/** The `exec` settings of a user entry. Printing them does not show arguments and variables. */
export class ExecPlugin extends Redacted {
  /** The API version of the contract: the plugin's output must have the same. */
  readonly apiVersion: string;
  /** The program: a name to search in `PATH`, or a path as written. */
  readonly command: string;
  /** The conditions under which the plugin may prompt on the terminal. */
  readonly interactiveMode: InteractiveMode;
  /** `true` if the plugin receives the cluster information. */
  readonly provideClusterInfo: boolean;
  /** Instructions to install the program, without control characters. */
  readonly installHint?: string;
  /** Its field. */
  readonly place: FieldPlace;
  readonly #args: readonly string[];
  readonly #env: readonly (readonly [name: string, value: string])[];

  /** `fields` are those of `exec`. @throws {KubeconfigError} when they are invalid. */
  constructor(fields: EntryFields, place: FieldPlace) {
    super();
    this.place = place;
    this.apiVersion = readVersion(fields);
    const command = fields.text("command");
    if (command === undefined) throw fields.error("command", "is missing: name the program to run");
    this.command = command;
    this.interactiveMode = readMode(fields, this.apiVersion);
    this.provideClusterInfo = fields.flag("provideClusterInfo");
    // deno-lint-ignore no-control-regex
    const hint = fields.text("installHint")?.replaceAll(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, "").trim();
    if (hint) this.installHint = hint;
    this.#args = fields.texts("args");
    this.#env = fields.pairs("env");
  }

  /** Arguments of the program. Not enumerable, because they may be secret. */
  get args(): readonly string[] {
    return this.#args;
  }

  /** Environment variables, in addition to the inherited ones. Not enumerable, because they may be secret. */
  get env(): readonly (readonly [name: string, value: string])[] {
    return this.#env;
  }
}

/**
 * Reads the plugin of a user entry; returns `undefined` if it has none.
 *
 * @throws {KubeconfigError} when it is invalid.
 */
export function readExec(fields: EntryFields): ExecPlugin | undefined {
  const section = fields.section("exec", FIELDS);
  return section === undefined ? undefined : new ExecPlugin(section, fields.place("exec"));
}

function readVersion(fields: EntryFields): string {
  const version = fields.text("apiVersion");
  if (version === undefined) throw fields.error("apiVersion", `is missing: write one of ${quoteAll(VERSIONS)}`);
  if (VERSIONS.some((known) => known === version)) return version;
  const removed = version === "client.authentication.k8s.io/v1alpha1";
  throw fields.error(
    "apiVersion",
    `must be one of ${quoteAll(VERSIONS)}, found ${quote(version)}` +
      (removed ? ", which Kubernetes has removed: update the plugin and write the kubeconfig anew" : ""),
  );
}

function readMode(fields: EntryFields, apiVersion: string): InteractiveMode {
  const mode = fields.text("interactiveMode");
  if (mode === undefined) {
    // The field is required since v1.
    if (apiVersion !== VERSIONS[0]) return "IfAvailable";
    throw fields.error("interactiveMode", `is missing, which ${VERSIONS[0]} requires: write one of ${quoteAll(MODES)}`);
  }
  const known = MODES.find((one) => one === mode);
  if (known === undefined) {
    throw fields.error("interactiveMode", `must be one of ${quoteAll(MODES)}, found ${quote(mode)}`);
  }
  return known;
}
