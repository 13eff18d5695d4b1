/**
 * The commands of the program `informer`: their arguments, flags, help and examples, as a table.
 *
 * {@linkcode COMMANDS} is the entry point. Command line, help and completions are made of it. What a command does is in
 * the file of its name, which is loaded when the command runs.
 *
 * @module
 */
import { completionScript, SHELLS } from "./completions.ts";
import { EXIT_CODE } from "./shared/usage.ts";
import type { CommandContext } from "./terminal/terminal.ts";

/** Descriptions by flags, as the parser takes these: `-n, --namespace <namespace:string>`. */
type Flags = Readonly<Record<string, string>>;

/** A command of the program. */
export interface CommandText {
  /** Its name and arguments, as the parser takes them. */
  readonly usage: string;
  /** One line that says what you do with it, for the list of commands. */
  readonly summary: string;
  /** What it does, in full sentences. */
  readonly description: string;
  /** The permissions of Deno that it needs. */
  readonly permissions: string;
  /** The values of the types that flags and arguments name. The first is the default of flags. */
  readonly types?: Readonly<Record<string, readonly string[]>>;
  readonly flags: Flags;
  /** The flags of the connection, which the help shows in a group of their own. */
  readonly connection?: Flags;
  /** Other defaults, by the long names of flags. */
  readonly defaults?: Readonly<Record<string, string | number>>;
  /** Command lines, by what they do. */
  readonly examples: Readonly<Record<string, string>>;
  /** Loads what it does. */
  readonly load: () => CommandRun["run"] | Promise<CommandRun["run"]>;
}

/** What a command does. */
interface CommandRun {
  /** Returns the exit code. */
  run(flags: object, args: readonly string[], context: CommandContext): number | Promise<number>;
}

/** The permissions of commands that connect. */
const CONNECTED = "the flags that informer doctor prints";
const CONNECTED_OR_FAKE = `${CONNECTED}, and no flags with --fake`;

const SELECTORS: Flags = {
  "-l, --selector <selector:string>": "Label selector, e.g. 'app=web,tier!=cache'.",
  "--field-selector <selector:string>": "Field selector, e.g. 'spec.nodeName=worker-1'.",
};
const CONNECTION: Flags = {
  "--kubeconfig <file:string>": "Path of the kubeconfig. (default: KUBECONFIG, ~/.kube/config, or the service account)",
  "--context <name:string>": "Context in the kubeconfig. (default: its current context)",
  "--server <url:string>": "Address of the API server, in place of a kubeconfig.",
  "--token-file <file:string>": "File with a bearer token.",
  "--as <user:string>": "User to impersonate.",
  "--as-group <group:string>": "Group to impersonate (requires --as). Repeatable.",
  "--as-uid <uid:string>": "UID to impersonate (requires --as).",
  "-v, --verbose": "One line on standard error for each request.",
};
const SERVER: Flags = { ...CONNECTION, "--fake": "Fake API server in this process, in place of a cluster." };
const SERVERS: Flags = {
  ...SERVER,
  "--contexts <names:string>": "Several contexts, e.g. berlin,paris. The output has a column CLUSTER.",
  "--all-contexts": "All contexts of the kubeconfig.",
};
const PORT: Flags = { "--port <port:integer>": "Port to listen on. 0 is any free port." };
const HOST: Flags = { "--host <name:string>": "Further host name to answer to, e.g. of a tunnel. Repeatable." };
const PLACES: Flags = {
  "-n, --namespace <namespace:string>": "Namespace. (default: the namespace of the context)",
  "-A, --all-namespaces": "All namespaces.",
};
const OUTPUT: Flags = { "-o, --output <format:format>": "Format of the output." };

/** The flags that may be repeated. */
export const REPEATED: readonly string[] = ["--as-group", "--host", "--redact"];

/** Returns the function of a command that prints a text. */
function prints(textOf: (args: readonly string[]) => string): CommandRun["run"] {
  return (_flags, args, { terminal }) => {
    terminal.result(textOf(args));
    return EXIT_CODE.done;
  };
}

/** All commands, in the order of the help. */
export const COMMANDS: readonly CommandText[] = [
  {
    usage: "watch <resources...:string>",
    summary: "Follow resources, and print every change.",
    description:
      "Runs an informer on each resource. On a terminal you see a table that changes in place, and in a pipe a line per " +
      "event. Name resources as in kubectl: pods, po, deployments.apps, or a custom resource by its plural. The command " +
      "runs until you interrupt it.",
    permissions: `${CONNECTED_OR_FAKE}. For --cache: --allow-read and --allow-write of the file's folder`,
    types: { format: ["table", "wide", "json", "name"], streaming: ["auto", "on", "off"] },
    flags: {
      ...PLACES,
      ...SELECTORS,
      ...OUTPUT,
      "--no-object": "Events without their objects.",
      "--metadata-only": "Only the metadata of objects, which needs less memory.",
      "--secret-data": "The data of Secrets, which is hidden otherwise.",
      "--resync <duration:string>": "Interval at which all cached objects are delivered again, e.g. 30s or 5m.",
      "--streaming-list <mode:streaming>": "Initial list over the watch, if the server can do that.",
      "--until-synced": "Exit after the initial list.",
      "--timeout <duration:string>": "Longest run, e.g. 90s. With --until-synced, a later sync is a failure.",
      "--cache <file:string>": "File for the cache at the end, as a JSON array sorted by key.",
    },
    connection: SERVERS,
    examples: {
      "All pods": "informer watch pods -A",
      "As JSON, one event per line": "informer watch deployments.apps -n shop -o json",
      "Pods of two clusters": "informer watch pods -A --contexts berlin,paris",
      "Save the cache to a file": "informer watch po -A --until-synced --no-object -o json --cache pods.json",
      "Without a cluster": "informer watch pods --fake",
    },
    load: async () => (await import("./watch.ts")).watch,
  },
  {
    usage: "get <resources:string> [names...:string]",
    summary: "Print resources once, with the server's own columns.",
    description:
      "Lists resources in pages, or reads objects by their names. Custom resources have the columns of their CRD.",
    permissions: CONNECTED_OR_FAKE,
    types: { format: ["table", "wide", "json", "yaml", "name"] },
    flags: {
      ...PLACES,
      ...SELECTORS,
      ...OUTPUT,
      "--secret-data": "The data of Secrets, which is hidden otherwise.",
      "--show-managed-fields": "The managedFields of objects, which are hidden otherwise.",
    },
    connection: SERVERS,
    examples: {
      "All pods, as kubectl's JSON list": "informer get pods -A -o json",
      "Deployments of all clusters": "informer get deploy -A --all-contexts",
      "Two kinds, with all columns": "informer get pods,deploy -n shop -o wide",
      "One object": "informer get deploy web -n shop -o yaml",
      "Objects of several kinds": "informer get pod/web-0 deploy/web -n shop",
    },
    load: async () => (await import("./get.ts")).get,
  },
  {
    usage: "wait <objects...:string>",
    summary: "Wait until objects are ready, deleted, or in another state.",
    description:
      "Watches the objects, and exits with 0 when all of them are in the state at the same time. After --timeout it exits " +
      "with 1, and prints the last states. If you choose objects by a selector or --all, at least one object must match.\n\n" +
      "States:\n" +
      "  ready                   workloads, and kinds with conditions (the rules of kstatus)\n" +
      "  deleted                 the objects that exist when the command starts\n" +
      "  condition=TYPE          the condition is True; condition=TYPE=STATUS for another status\n" +
      "  PATH=VALUE, or PATH     the field has the value, or any value",
    permissions: CONNECTED_OR_FAKE,
    flags: {
      "--for <state:string>": "State to wait for.",
      "--ready-if <expression:string>": "Expression in CEL that is true for a ready object, in place of the rules.",
      "--timeout <duration:string>": "Time after which the command fails.",
      "--fail-fast": "Failure as soon as an object has failed, or one of a workload's pods.",
      "--all": "All objects of the kinds in the namespace.",
      ...PLACES,
      ...SELECTORS,
    },
    connection: SERVER,
    defaults: { "--for": "ready", "--timeout": "5m" },
    examples: {
      "A rollout": "informer wait deploy/web sts/db -n shop --fail-fast --timeout 10m",
      "The end of a job": "informer wait job/migrate --for condition=Complete --fail-fast",
      "Pods, as they are replaced": "informer wait pods -l app=web --for ready",
      "A field": "informer wait pvc/data --for status.phase=Bound",
      "A rule of your own": "informer wait backup/db --ready-if \"self.status.phase == 'Done'\"",
      "The end of a namespace": "informer wait ns/shop --for deleted",
    },
    load: async () => (await import("./wait.ts")).wait,
  },
  {
    usage: "logs [targets...:string]",
    summary: "Print or follow the logs of pods, merged by time.",
    description:
      "Name pods (web-0, pod/web-0), workloads (deploy/web, sts/db, job/migrate, svc/web), or choose pods by a selector. " +
      "With --follow, it reads on across lost connections and restarts, and runs until you interrupt it. Pods that come and " +
      "go are named on standard error. There you also see where lines may be missing.",
    permissions: CONNECTED,
    types: { format: ["text", "raw", "json"] },
    flags: {
      "-f, --follow": "Wait for more lines, and for more pods.",
      "--since <duration:string>": "Age of the first line, e.g. 90s or 1h. (default: all lines)",
      "--tail <lines:integer>": "Number of last lines of each container to begin with. (default: all lines)",
      "-c, --container <name:string>": "Name of the containers to read. (default: all containers)",
      "-p, --previous": "The logs of the containers before their last restarts.",
      "--include <regex:string>": "Only lines that match this regular expression.",
      "--exclude <regex:string>": "No lines that match this regular expression.",
      "-t, --timestamps": "The time of each line, in UTC.",
      "-o, --output <format:format>": "Format of the output. raw: without names.",
      ...PLACES,
      ...SELECTORS,
    },
    connection: CONNECTION,
    examples: {
      "Follow a deployment": "informer logs deploy/web -n shop -f --tail 20",
      "Errors of the last hour": "informer logs -l app=web --since 1h --include 'error|fatal'",
      "Before the last restart": "informer logs web-0 --previous",
      "For a program": "informer logs -A -l app=web -f -o json | jq .text",
    },
    load: async () => (await import("./logs.ts")).logs,
  },
  {
    usage: "serve <resources...:string>",
    summary: "Serve a live page, JSON and event streams on this machine.",
    description:
      "Prints an address, and runs until you interrupt it. Only programs on this machine get a response. All of them share " +
      "one watch per resource, which runs while somebody reads.\n\n" +
      "  /                       a page with a live table of the resources\n" +
      "  /api/NAME               the objects as JSON\n" +
      "  /events/NAME            the objects and their changes, as server-sent events\n" +
      "  /kubernetes             a read-only Kubernetes API, e.g. for kubectl --server\n" +
      "  /healthz /readyz /metrics",
    permissions:
      `${CONNECTED_OR_FAKE}; and --allow-net=127.0.0.1. For --snapshot: --allow-read and --allow-write of the file's folder`,
    flags: {
      ...PORT,
      ...PLACES,
      ...SELECTORS,
      ...HOST,
      "--secret-data": "The data of Secrets, which is not served otherwise.",
      "--snapshot <file:string>":
        "File that the cache starts from and is saved to. Several resources have FILE.NAME each.",
      "--max-bytes <size:string>":
        "Memory limit for the caches of each cluster, e.g. 512MB. A resource that exceeds it is no longer updated, and is shown as stale.",
    },
    connection: SERVERS,
    defaults: { "--port": 0 },
    examples: {
      "All pods and deployments": "informer serve pods deployments.apps -A --port 8080",
      "Two clusters, with a switch on the page": "informer serve pods -A --contexts berlin,paris",
      "Two fields of each pod": "curl 'http://127.0.0.1:8080/api/pods?fields=spec.nodeName,status.phase'",
      "Changes as they happen": "curl -N 'http://127.0.0.1:8080/events/pods?labelSelector=app%3Dweb'",
      "For kubectl": "kubectl --server http://127.0.0.1:8080/kubernetes get pods -A -o json",
      "Without a cluster": "informer serve pods --fake",
    },
    load: async () => (await import("./serve.ts")).serve,
  },
  {
    usage: "kinds",
    summary: "Generate TypeScript types for custom kinds.",
    description:
      "Reads CustomResourceDefinitions from a server or a file, and writes a module with a type and a resource for each " +
      "served version. If a definition is wrong, you get its place, and nothing is written.",
    permissions:
      `${CONNECTED}. For --file: --allow-read of that file. For --out: --allow-read and --allow-write of the file's folder`,
    flags: {
      "--group <group:string>": "API group of the kinds. (default: all groups)",
      "--file <file:string>": "File with the CRDs, YAML or JSON, in place of a server.",
      "--out <file:string>":
        "File to write. A file that this command did not write is kept. (default: standard output)",
    },
    connection: CONNECTION,
    examples: {
      "Kinds of one group": "informer kinds --group stable.example.com --out kinds.ts",
      "Without a cluster": "informer kinds --file crd.yaml --out kinds.ts",
      "If only kubectl may read the CRD": "kubectl get crd crontabs.stable.example.com -o yaml > crd.yaml",
    },
    load: async () => (await import("./kinds.ts")).kinds,
  },
  {
    usage: "crds <files...:string>",
    summary: "Print the CRDs of your kinds, find out what a change breaks, or migrate stored objects.",
    description:
      "Prints the CRDs of all kinds that modules define with defineKind. To compare, name modules, or files with CRDs in " +
      "YAML or JSON. The exit code is 1 if a change breaks stored objects or clients. New rules in CEL are only printed.",
    permissions: `--allow-read of the files. For --compare-cluster and --migrate: ${CONNECTED}`,
    types: { report: ["text", "json"] },
    flags: {
      "--compare": "What the second file breaks, compared with the first.",
      "--compare-cluster": "What the files break, compared with the CRDs in the cluster.",
      "--migrate":
        "Store all objects in the storage version of the cluster's CRDs, and cut their older stored versions.",
      "--dry-run": "With --migrate: only say what it would do.",
      "--service <service:string>":
        "Print the configurations of webhooks too, with this address: NAMESPACE/NAME:PORT of a Service, or https://….",
      "--ca <file:string>": "File with the certificates that the API server trusts for webhooks, as PEM.",
      "-o, --output <format:report>": "Format of the output. text: YAML, or a line for each change.",
    },
    connection: CONNECTION,
    examples: {
      "Install your kinds": "informer crds kinds.ts | kubectl apply -f -",
      "Check a new version of your kinds": "informer crds --compare crds.yaml kinds.ts",
      "Check it against a cluster": "informer crds --compare-cluster kinds.ts",
      "Drop an old version from storage": "informer crds --migrate kinds.ts",
      "With webhooks": "informer crds kinds.ts webhooks.ts --service shop/webhooks --ca ca.crt",
    },
    load: async () => (await import("./crds.ts")).crds,
  },
  {
    usage: "plan <module:string>",
    summary: "Print what a release of your controllers would write, and write nothing.",
    description:
      "Calls to other systems than the API server are stopped, unless you add --allow-outside: then they take effect.\n\n" +
      "Runs the controllers of a module once over all objects of a cluster, or of a recording. The module exports " +
      "manager(client), as in a project of informer init. Reads are real. Writes stay in memory, where later reads see " +
      "them. The report is sorted, so that diff compares the reports of two releases.\n\n" +
      "The exit code is 0 for no change, 2 for changes, and 1 for a failure.",
    permissions: `${CONNECTED}; --allow-run=deno, --allow-net=127.0.0.1 and --allow-read`,
    types: { report: ["text", "json"] },
    flags: {
      "-n, --namespace <namespace:string>": "The only namespace that the controllers see. (default: all namespaces)",
      "--recording <file:string>": "Recording of informer record, in place of a cluster.",
      "--server-dry-run": "Ask the API server about the first write to each object, with dryRun=All.",
      "--allow-outside": "Allow calls to other systems, which take effect. Node and Bun need it.",
      "--timeout <duration:string>": "Time after which the plan fails.",
      "-o, --output <format:report>": "Format of the report.",
    },
    connection: CONNECTION,
    defaults: { "--timeout": "5m" },
    examples: {
      "What would this release do?": "informer plan main.ts --context prod",
      "What does it do that the last one does not?": "diff <(informer plan old/main.ts) <(informer plan new/main.ts)",
      "Without a cluster": "informer plan main.ts --recording incident.jsonl",
    },
    load: async () => (await import("./plan.ts")).planModule,
  },
  {
    usage: "doctor [resources...:string]",
    summary: "Find out why you cannot connect or watch, and what to do.",
    description:
      "Checks the configuration, the way to the server, its certificate, your credentials, your rights on each resource " +
      "(pods by default), and what informers need of the server. It changes nothing, and takes at most 15 s without " +
      "--memory.",
    permissions: "the flags that it prints. It names each flag that is missing",
    types: { report: ["table", "json"] },
    flags: {
      ...PLACES,
      "--rbac": "Only print the roles that informers on the resources need, as YAML.",
      "--memory": "Only list the resources (all kinds by default), and print the size of their objects.",
      "-o, --output <format:report>": "Format of the report.",
    },
    connection: SERVER,
    examples: {
      "Check pods": "informer doctor",
      "For a program": "informer doctor pods deployments.apps -A -o json",
      "How much memory caches would need": "informer doctor pods secrets -A --memory",
      "Grant what informers need": "informer doctor pods deploy -n shop --rbac | kubectl apply -f -",
    },
    load: async () => (await import("./doctor/doctor.ts")).doctor,
  },
  {
    usage: "dashboard",
    summary: "Print a Grafana dashboard for your controller.",
    description:
      "Prints JSON for Grafana 10 and newer. The panels show the metrics that a Manager serves at /metrics. Grafana asks " +
      "you for the data source and the jobs.",
    permissions: "none",
    flags: {},
    examples: { "Save it, and import it in Grafana": "informer dashboard > controllers.json" },
    load: async () => prints((await import("./monitoring.ts")).dashboardJson),
  },
  {
    usage: "alerts",
    summary: "Print Prometheus alert rules for your controller.",
    description:
      "Prints a rules file as YAML, for the metrics that a Manager serves at /metrics. You can use its groups as the spec of " +
      "a PrometheusRule.",
    permissions: "none",
    flags: {},
    examples: {
      "For rule_files of Prometheus": "informer alerts > controllers.rules.yaml",
      "Look at one rule": "informer alerts | grep -A 9 ControllerHasNoLeader",
    },
    load: async () => prints((await import("./monitoring.ts")).alertsYaml),
  },
  {
    usage: "record <resources...:string>",
    summary: "Record a cluster's changes to a file, and play them later.",
    description:
      "Lists and watches each resource until you interrupt it. Each object, change, bookmark and failure is a line of JSON " +
      "with its time. The data of Secrets is never written. Play the file with informer fake --from, or in a test with " +
      "FakeApiServer.from().",
    permissions: `${CONNECTED_OR_FAKE}; and --allow-write of the file`,
    flags: {
      "--out <file:string>": "File to write. It must not exist yet.",
      "--redact <path:string>":
        "Field whose values are replaced, e.g. spec.containers.env.value. managedFields are left out then. Repeatable.",
      "--max-mb <size:number>": "Size of the file at which the recording ends, in megabytes.",
      "--timeout <duration:string>": "Time after which the recording ends, e.g. 10m.",
      ...PLACES,
      ...SELECTORS,
    },
    connection: SERVER,
    defaults: { "--max-mb": 200 },
    examples: {
      "An incident": "informer record pods,deploy -A --out incident.jsonl",
      "Without values": "informer record pods -n shop --out a.jsonl --redact spec.containers.env.value --timeout 10m",
      "Play it, ten times as fast": "informer fake --from incident.jsonl --speed 10",
    },
    load: async () => (await import("./record.ts")).record,
  },
  {
    usage: "fake",
    summary: "Run a fake API server on this machine, with changes.",
    description: "Prints an address, and runs until you interrupt it. kubectl and informers can use it.",
    permissions: "--allow-net=127.0.0.1. For --kubeconfig: --allow-read and --allow-write of the file's folder. " +
      "For --from: --allow-read of that file",
    types: { mix: ["update", "all"], spaces: ["any", "real"] },
    flags: {
      ...PORT,
      "--pods <count:integer>": "Number of pods at the start.",
      "--churn <rate:number>": "Changes per second.",
      "--churn-mix <mix:mix>": "Kinds of changes. update: only updates. all: also creations and deletions.",
      "--churn-for <duration:string>": "Time after which the changes end. (default: never)",
      "--seed <seed:integer>": "Seed of the pods and changes. The same seed gives the same ones.",
      "--namespaces <mode:spaces>":
        "any: use any namespace. real: namespaces must exist, and a deletion empties them first.",
      "--kubeconfig <file:string>":
        "Kubeconfig to write for this server. A file that this command did not write is kept.",
      ...HOST,
      "--from <file:string>": "Recording of informer record to play, from the first watch on.",
      "--speed <times:number>": "Speed of the recording, as a multiple. (default: 1)",
    },
    defaults: { "--port": 0, "--pods": 0, "--churn": 0, "--seed": 1 },
    examples: {
      "For kubectl and informers": "informer fake --port 8001 --pods 1000 --churn 50 --kubeconfig fake.kubeconfig",
      "An incident again, ten times as fast": "informer fake --from incident.jsonl --speed 10",
    },
    load: async () => (await import("./fake.ts")).fake,
  },
  {
    usage: "init <name:string>",
    summary: "Start a controller project for your own kind.",
    description:
      "Writes a folder with a CRD and its types, a reconciler, tests on a fake server, a test under random faults, the " +
      "program, its RBAC role and a Dockerfile. Its tests pass: run deno task test, or npm test. If a file exists, nothing " +
      "is written.",
    permissions: "--allow-read and --allow-write of the folder",
    types: { runtime: ["deno", "node"] },
    flags: {
      "--kind <kind:string>": "Kind, in CamelCase.",
      "--runtime <runtime:runtime>": "Runtime of the project. node: Node with npm.",
      "--group <group:string>": "API group of the kind, a domain.",
      "--plural <plural:string>": "Plural of the kind, in lower case. (default: the kind with an ending)",
      "--dir <folder:string>": "Folder to write. (default: the name of the project)",
      "--webhooks": "Adds webhooks, with a Service and a certificate of cert-manager.",
      "--force": "Replace files that exist.",
    },
    defaults: { "--group": "example.com" },
    examples: {
      "A controller of Websites": "informer init website-controller --kind Website --group shop.example.com",
      "For Node": "informer init website-controller --kind Website --runtime node",
      "In this folder": "informer init indexer --kind Index --plural indices --dir .",
    },
    load: async () => (await import("./init.ts")).init,
  },
  {
    usage: "completions <shell:shell>",
    summary: "Print the completion script for your shell.",
    description: "The script completes commands, flags, values and files. informer must be in PATH. It asks no server.",
    permissions: "none to print the script",
    types: { shell: SHELLS },
    flags: {},
    examples: {
      "In bash and zsh": "source <(informer completions bash)",
      "In fish": "informer completions fish | source",
    },
    load: () => prints(([shell]) => completionScript(shell)),
  },
];
