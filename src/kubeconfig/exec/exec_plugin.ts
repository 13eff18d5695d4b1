import { Redacted } from "../text/secret.ts";
import { quote, quoteAll } from "../text/quote.ts";
import type { EntryFields, FieldPlace } from "../model/entry_fields.ts";

/** The versions of the contract between client and plugin (client-go `plugin/pkg/client/auth/exec`). */
const VERSIONS = ["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"] as const;

const MODES = ["Never", "IfAvailable", "Always"] as const;

/** Fields of `exec` (clientcmd/api/v1 `ExecConfig`). */
const FIELDS = ["apiVersion", "command", "args", "env", "installHint", "provideClusterInfo", "interactiveMode"];

/** Whether a plugin may ask the person who started the program. */
export type InteractiveMode = typeof MODES[number];

/** What a plugin is run with, as a kubeconfig says. Arguments and variables do not show when it is printed. */
export class ExecPlugin extends Redacted {
  /** The version of the contract: what the plugin prints must name the same. */
  readonly apiVersion: string;
  /** The program: a name to be looked for in `PATH`, or a path as it was written. */
  readonly command: string;
  /** Whether the plugin may use the terminal. */
  readonly interactiveMode: InteractiveMode;
  /** Whether the plugin is told about the cluster. */
  readonly provideClusterInfo: boolean;
  /** How to get the program, for people who have not; without control characters. */
  readonly installHint?: string;
  /** Where it stands. */
  readonly place: FieldPlace;
  readonly #args: readonly string[];
  readonly #env: readonly (readonly [name: string, value: string])[];

  /** What `fields`, those of `exec`, say. @throws {KubeconfigError} when that cannot be used. */
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

  /** What the program is started with. Not enumerable, as it may be secret. */
  get args(): readonly string[] {
    return this.#args;
  }

  /** Variables for the program, beside those it inherits. Not enumerable, as they may be secret. */
  get env(): readonly (readonly [name: string, value: string])[] {
    return this.#env;
  }
}

/** The plugin that a user entry names; nothing when it names none. @throws {KubeconfigError} when it cannot be used. */
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
    // v1 made it a required field.
    if (apiVersion !== VERSIONS[0]) return "IfAvailable";
    throw fields.error("interactiveMode", `is missing, which ${VERSIONS[0]} requires: write one of ${quoteAll(MODES)}`);
  }
  const known = MODES.find((one) => one === mode);
  if (known === undefined) {
    throw fields.error("interactiveMode", `must be one of ${quoteAll(MODES)}, found ${quote(mode)}`);
  }
  return known;
}
