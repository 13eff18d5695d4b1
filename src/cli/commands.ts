/**
 * The commands of the program `informer`: their arguments, flags, help and examples, as a table.
 *
 * {@linkcode COMMANDS} is the entry point. Command line, help and completions are made of it. What a command does is in
 * the file of its name.
 *
 * @module
 */
import { completionScript, SHELLS } from "./completions.ts";
import { demo } from "./demo.ts";
import { doctor } from "./doctor/doctor.ts";
import { fake } from "./fake.ts";
import { get } from "./get.ts";
import { init } from "./init.ts";
import { kinds } from "./kinds.ts";
import { alertsYaml, dashboardJson } from "./monitoring.ts";
import { record } from "./record.ts";
import { serve } from "./serve.ts";
import { EXIT_CODE } from "./shared/explain_error.ts";
import type { CommandContext } from "./terminal/terminal.ts";
import { wait } from "./wait.ts";
import { watch } from "./watch.ts";

/** Descriptions by flags, as the parser takes these: `-n, --namespace <namespace:string>`. */
type Flags = Readonly<Record<string, string>>;

/** A command of the program. */
export interface CommandText {
  /** Its name and arguments, as the parser takes them. */
  readonly usage: string;
  /** Its purpose, in one sentence. */
  readonly summary: string;
  /** Its description, which ends with the permissions that it needs. */
  readonly description: string;
  /** The values of the types that flags and arguments name. The first is the default of flags. */
  readonly types?: Readonly<Record<string, readonly string[]>>;
  readonly flags: Flags;
  /** Other defaults, by the long names of flags. */
  readonly defaults?: Readonly<Record<string, string | number>>;
  /** Command lines, by what they do. */
  readonly examples: Readonly<Record<string, string>>;
  /** Runs it, and returns its exit code. */
  run(flags: object, args: readonly string[], context: CommandContext): number | Promise<number>;
}

/** The permissions of commands that connect. */
const CONNECTED = "as printed by informer doctor; none with --fake";

const SELECTORS: Flags = {
  "-l, --selector <selector:string>": "Only objects with these labels: 'app=web,tier!=cache'.",
  "--field-selector <selector:string>": "Only objects with these fields: 'spec.nodeName=worker-1'.",
};
const CONNECTION: Flags = {
  "--kubeconfig <file:string>": "The kubeconfig to use. (default: KUBECONFIG, ~/.kube/config, or in-cluster)",
  "--context <name:string>": "The context in it.",
  "--server <url:string>": "The API server's address.",
  "--token-file <file:string>": "A file with a bearer token.",
  "--as <user:string>": "Act as this user.",
  "--as-group <group:string>": "A group of that user; may be repeated.",
  "--as-uid <uid:string>": "The uid of that user.",
  "-v, --verbose": "Print a line about each request to standard error.",
};
const SERVER: Flags = { ...CONNECTION, "--fake": "Use a fake API server in this process." };
const SERVERS: Flags = {
  ...SERVER,
  "--contexts <names:string>": "Several contexts in it, as a,b; their objects have a column CLUSTER.",
  "--all-contexts": "All contexts in it.",
};
const PORT: Flags = { "--port <port:integer>": "The port; 0 is any free one." };
const HOST: Flags = { "--host <name:string>": "Answer under this host name, too; may be repeated." };

/** Returns the flags of one namespace, or all, by what a command does in them. */
function placesTo(place: string): Flags {
  return {
    "-n, --namespace <namespace:string>": `${place} one namespace.`,
    "-A, --all-namespaces": `${place} all namespaces.`,
  };
}

const OUTPUT: Flags = { "-o, --output <format:format>": "How to print." };

/** Returns the function of a command that prints a text. */
function prints(textOf: (args: readonly string[]) => string): CommandText["run"] {
  return (_flags, args, { terminal }) => {
    terminal.result(textOf(args));
    return EXIT_CODE.done;
  };
}

/** All commands, in the order of the help. */
export const COMMANDS: readonly CommandText[] = [
  {
    usage: "watch <resources...:string>",
    summary: "Keep a cache of resources and print what changes.",
    description:
      "Runs an informer on each resource and prints its events, until interrupted. Resources are named as for kubectl: " +
      "pods, po, deployments.apps, or any custom resource by its plural. " +
      `Permissions: ${CONNECTED}; for --cache, --allow-read and --allow-write of the folder of that file.`,
    types: { format: ["table", "wide", "json", "name"], streaming: ["auto", "on", "off"] },
    flags: {
      ...placesTo("Watch"),
      ...SELECTORS,
      "--resync <duration:string>": "Resync interval: deliver all cached objects again, every 30s or 5m.",
      "--metadata-only": "Fetch only the metadata of objects.",
      "--streaming-list <mode:streaming>": "Fetch the initial list over the watch (streaming list).",
      "--until-synced": "End after the initial sync.",
      "--timeout <duration:string>": "End after this time; with --until-synced: fail if not synced by then.",
      "--cache <file:string>": "Write the cache to this file at the end, as a JSON array sorted by key.",
      "--secret-data": "Show the data of Secrets.",
      "--no-object": "Leave the objects out.",
      ...OUTPUT,
      ...SERVERS,
    },
    examples: {
      "All pods": "informer watch pods -A",
      "As JSON, one event per line": "informer watch deployments.apps -n shop -o json",
      "Pods of two clusters": "informer watch pods -A --contexts berlin,paris",
      "Save a snapshot": "informer watch po -A --until-synced --no-object -o json --cache pods.json",
      "Without a cluster": "informer watch pods --fake",
    },
    run: watch,
  },
  {
    usage: "get <resources:string> [names...:string]",
    summary: "List resources, or print objects by their names.",
    description:
      "Lists resources in pages, or gets objects by their names, and prints the columns that the server has for them. " +
      `Permissions: ${CONNECTED}.`,
    types: { format: ["table", "wide", "json", "yaml", "name"] },
    flags: {
      ...placesTo("In"),
      ...SELECTORS,
      "--secret-data": "Show the data of Secrets.",
      "--show-managed-fields": "Show metadata.managedFields.",
      ...OUTPUT,
      ...SERVERS,
    },
    examples: {
      "All pods, as kubectl's JSON list": "informer get pods -A -o json",
      "Deployments of all clusters": "informer get deploy -A --all-contexts",
      "Two kinds, with all columns": "informer get pods,deploy -n shop -o wide",
      "One object": "informer get deploy web -n shop -o yaml",
      "Objects of several kinds": "informer get pod/web-0 deploy/web -n shop",
    },
    run: get,
  },
  {
    usage: "wait <objects...:string>",
    summary: "Wait until objects are ready, deleted, or in another state.",
    description:
      "Watches the objects, and ends with 0 once all of them are in the state at the same time; with 1, and the last " +
      "states, after --timeout. At least one object must match. States: ready, as kstatus judges workloads and kinds " +
      "with conditions; deleted: every object that exists when the command starts; condition=TYPE and " +
      "condition=TYPE=STATUS; PATH=VALUE, for any field, and PATH: the field is set. " +
      `Permissions: ${CONNECTED}.`,
    flags: {
      "--for <state:string>": "The state.",
      "--timeout <duration:string>": "Fail after this time.",
      "--fail-fast": "Fail as soon as an object has failed; of workloads, as soon as a pod has.",
      "--all": "All objects of the kinds in the namespace.",
      ...placesTo("In"),
      ...SELECTORS,
      ...SERVER,
    },
    defaults: { "--for": "ready", "--timeout": "5m" },
    examples: {
      "A rollout": "informer wait deploy/web sts/db -n shop --fail-fast --timeout 10m",
      "The end of a job": "informer wait job/migrate --for condition=Complete --fail-fast",
      "Pods, as they are replaced": "informer wait pods -l app=web --for ready",
      "A field": "informer wait pvc/data --for status.phase=Bound",
      "The end of a namespace": "informer wait ns/shop --for deleted",
    },
    run: wait,
  },
  {
    usage: "serve <resources...:string>",
    summary: "Serve caches of resources over HTTP on loopback.",
    description:
      "Serves a page that shows the resources, /api/NAME as JSON and /events/NAME as server-sent events, and below /kubernetes " +
      "the part of the Kubernetes API that reads, to any number of clients on this machine, from one watch of each " +
      "resource, which follows demand; /healthz, /readyz and /metrics, too. Prints its address, and runs until " +
      `interrupted. Permissions: ${CONNECTED}; and --allow-net=127.0.0.1; for --snapshot, --allow-read and --allow-write of ` +
      "the folder of that file.",
    flags: {
      ...PORT,
      ...placesTo("Serve"),
      ...SELECTORS,
      ...HOST,
      "--secret-data": "Serve the data of Secrets.",
      "--snapshot <file:string>":
        "Begin with the cache in this file, without a list, and write it there; of several resources to FILE.NAME each.",
      ...SERVERS,
      "--max-bytes <size:string>":
        "What the caches of a cluster may hold, as 512MB: what makes them larger ends its watch, and is shown as stale.",
    },
    defaults: { "--port": 0 },
    examples: {
      "All pods and deployments": "informer serve pods deployments.apps -A --port 8080",
      "Clusters, which the page lets choose": "informer serve pods -A --contexts berlin,paris",
      "Some fields of them": "curl 'http://127.0.0.1:8080/api/pods?fields=spec.nodeName,status.phase'",
      "As they change": "curl -N 'http://127.0.0.1:8080/events/pods?labelSelector=app%3Dweb'",
      "For kubectl": "kubectl --server http://127.0.0.1:8080/kubernetes get pods -A -o json",
      "Without a cluster": "informer serve pods --fake",
    },
    run: serve,
  },
  {
    usage: "kinds",
    summary: "Write types of custom kinds.",
    description:
      "Writes a TypeScript module with a type and a resource for each custom kind, from the CustomResourceDefinitions of a " +
      "server or of a file. All versions that are served are in it. An error in a definition is reported with its " +
      `place, and nothing is written. Permissions: ${CONNECTED.replace("; none with --fake", "")}; for --file, ` +
      "--allow-read of that file; for --out, --allow-read and --allow-write of the folder of that file.",
    flags: {
      "--group <group:string>": "Only kinds of this API group.",
      "--file <file:string>": "Read definitions from this file, YAML or JSON, instead of a server.",
      "--out <file:string>": "Write to this file; one of other origin is not replaced. (default: standard output)",
      ...CONNECTION,
    },
    examples: {
      "Kinds of one group": "informer kinds --group stable.example.com --out kinds.ts",
      "Without a cluster": "informer kinds --file crd.yaml --out kinds.ts",
      "From a definition that only others may read": "kubectl get crd crontabs.stable.example.com -o yaml > crd.yaml",
    },
    run: kinds,
  },
  {
    usage: "doctor [resources...:string]",
    summary: "Diagnose the connection to the server, and print remedies.",
    description:
      "Looks at the configuration, the way to the server, its certificate, the credentials, what they allow for each " +
      "resource (pods unless named) and what informers need of the server. Writes nothing there, and ends within 15 s, " +
      "without --memory. Permissions: it prints them, and names each missing one.",
    types: { report: ["table", "json"] },
    flags: {
      ...placesTo("Check access to"),
      "--rbac": "Print the roles that informers on the resources need, as YAML, and check nothing.",
      "--memory": "List the resources, or all kinds, print the sizes of their objects, and check nothing.",
      "-o, --output <format:report>": "How to print.",
      ...SERVER,
    },
    examples: {
      "Diagnose informers on pods": "informer doctor",
      "For a program": "informer doctor pods deployments.apps -A -o json",
      "What caches would hold": "informer doctor pods secrets -A --memory",
      "Grant what informers need": "informer doctor pods deploy -n shop --rbac | kubectl apply -f -",
    },
    run: doctor,
  },
  {
    usage: "dashboard",
    summary: "Print a Grafana dashboard of a controller's metrics.",
    description:
      "Prints a dashboard as JSON, for Grafana 10 and newer, of what a Manager answers at /metrics. It asks for the data " +
      "source and for the jobs. Permissions: none.",
    flags: {},
    examples: { "To be imported, or provisioned from a file": "informer dashboard > controllers.json" },
    run: prints(dashboardJson),
  },
  {
    usage: "alerts",
    summary: "Print Prometheus alert rules for a controller's metrics.",
    description:
      "Prints a file of rules as YAML, for what a Manager answers at /metrics. The spec of a PrometheusRule has the same " +
      "groups. Permissions: none.",
    flags: {},
    examples: {
      "For rule_files of Prometheus": "informer alerts > controllers.rules.yaml",
      "Look at one": "informer alerts | grep -A 9 ControllerHasNoLeader",
    },
    run: prints(alertsYaml),
  },
  {
    usage: "record <resources...:string>",
    summary: "Write lists and watches of resources to a file, to be played later.",
    description:
      "Lists and watches each resource, and writes a line of JSON with its time for each object, change, bookmark and " +
      "failure, until interrupted. The data of Secrets is never written. FakeApiServer.from() and informer fake --from " +
      `play the file. Permissions: ${CONNECTED}; and --allow-write of the file.`,
    flags: {
      "--out <file:string>": "The file, which must not exist.",
      "--redact <path:string>":
        "Replace the values of this field, as spec.containers.env.value; may be repeated. managedFields are left out then.",
      "--max-mb <size:number>": "End at this size of the file, in megabytes.",
      "--timeout <duration:string>": "End after this time.",
      ...placesTo("Record"),
      ...SELECTORS,
      ...SERVER,
    },
    defaults: { "--max-mb": 200 },
    examples: {
      "An incident": "informer record pods,deploy -A --out incident.jsonl",
      "Without values": "informer record pods -n shop --out a.jsonl --redact spec.containers.env.value --timeout 10m",
      "Play it, ten times as fast": "informer fake --from incident.jsonl --speed 10",
    },
    run: record,
  },
  {
    usage: "fake",
    summary: "Serve a fake API server over HTTP on loopback.",
    description: "Serves a fake API server over HTTP on loopback until interrupted; prints its address. " +
      "Permissions: --allow-net=127.0.0.1; for --kubeconfig, --allow-read and --allow-write of the folder of that file; " +
      "for --from, --allow-read of that file.",
    types: { mix: ["update", "all"], spaces: ["any", "real"] },
    flags: {
      ...PORT,
      "--pods <count:integer>": "Initial number of pods.",
      "--churn <rate:number>": "Changes per second.",
      "--churn-mix <mix:mix>": "Only updates, or creations and deletions too.",
      "--churn-for <duration:string>": "End the changes after this time. (default: never)",
      "--seed <seed:integer>": "The same seed, the same pods and changes.",
      "--namespaces <mode:spaces>": "Namespaces need not exist, or must, and end when they are empty.",
      "--kubeconfig <file:string>": "Write a kubeconfig that points here; a file of other origin is not replaced.",
      ...HOST,
      "--from <file:string>": "Play this file of informer record, from the first watch on.",
      "--speed <times:number>": "How many times as fast it is played. (default: 1)",
    },
    defaults: { "--port": 0, "--pods": 0, "--churn": 0, "--seed": 1 },
    examples: {
      "For kubectl and informers": "informer fake --port 8001 --pods 1000 --churn 50 --kubeconfig fake.kubeconfig",
      "An incident again, ten times as fast": "informer fake --from incident.jsonl --speed 10",
    },
    run: fake,
  },
  {
    usage: "demo",
    summary: "The main job on one screen: fake server, informer, comparison.",
    description:
      "Runs a fake API server over real HTTP and an informer on it, and in the end compares the two. Ends after 10 s where " +
      "nobody looks at a terminal. Permissions: --allow-net=127.0.0.1.",
    flags: {
      "--pods <count:integer>": "Initial number of pods.",
      "--churn <rate:number>": "Changes per second.",
      "--for <duration:string>": "How long it runs.",
    },
    defaults: { "--pods": 1_000, "--churn": 200 },
    examples: { "Half a minute at 2,000 changes per second": "informer demo --churn 2000 --for 30s" },
    run: demo,
  },
  {
    usage: "init <name:string>",
    summary: "Write a new project: a controller of a custom kind.",
    description:
      "Writes a folder with a definition of the kind and its types, a reconciler, tests on the fake server, a test under " +
      "random faults, the program, its role, and a Dockerfile. A file that exists is not replaced, and then nothing is " +
      "written. The folder's `deno task test`, or `npm test`, passes. Permissions: --allow-read and --allow-write of the folder.",
    types: { runtime: ["deno", "node"] },
    flags: {
      "--kind <kind:string>": "The kind, in CamelCase.",
      "--runtime <runtime:runtime>": "The runtime of the project: deno, or node for Node and npm.",
      "--group <group:string>": "Its API group, a domain.",
      "--plural <plural:string>": "Its name in addresses. (default: the kind with an ending)",
      "--dir <folder:string>": "Write to this folder. (default: one with the name of the project)",
      "--force": "Replace files that exist.",
    },
    defaults: { "--group": "example.com" },
    examples: {
      "A controller of Websites": "informer init website-controller --kind Website --group shop.example.com",
      "For Node": "informer init website-controller --kind Website --runtime node",
      "In this folder": "informer init indexer --kind Index --plural indices --dir .",
    },
    run: init,
  },
  {
    usage: "completions <shell:shell>",
    summary: "Print the completion script of a shell.",
    description:
      "Prints the script that completes commands, flags, contexts, kinds, namespaces and names in a shell, where the program is in " +
      "PATH as informer. A kubeconfig and a server are asked with the permissions of the program.",
    types: { shell: SHELLS },
    flags: {},
    examples: {
      "For this shell": "source <(informer completions bash)",
      "In fish": "informer completions fish | source",
    },
    run: prints(([shell]) => completionScript(shell)),
  },
];
