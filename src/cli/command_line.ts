/**
 * The commands of the program `informer`: their flags, help and examples.
 *
 * {@linkcode CommandLine} is the entry point. It parses the arguments, calls the function of a command, and turns an
 * error into a message and an exit code. What a command does is in the file of its name.
 *
 * @module
 */
import { Command, EnumType, ValidationError } from "@cliffy/command";
import { isAbortOf } from "../async/signals.ts";
import type { BackoffOptions } from "../async/time.ts";
import { VERSION } from "../client/client.ts";
import { commandOf, complete, completionScript, FILES_LINE, ServerNames, type Shell } from "./completions.ts";
import { demo } from "./demo.ts";
import { doctor } from "./doctor/doctor.ts";
import { fake } from "./fake.ts";
import { get } from "./get.ts";
import { init } from "./init.ts";
import { kinds } from "./kinds.ts";
import { alertsYaml, dashboardJson } from "./monitoring.ts";
import { record } from "./record.ts";
import { serve } from "./serve.ts";
import { didYouMean, EXIT_CODE, explainError, UsageError } from "./shared/explain_error.ts";
import type { Terminal } from "./terminal/terminal.ts";
import { wait } from "./wait.ts";
import { watch } from "./watch.ts";

/** The permissions of commands that connect. */
const CONNECTED = "those that informer doctor prints; none with --fake";

// The flags of more than one command, each with its description.
const SELECTOR = [
  "-l, --selector <selector:string>",
  "Only objects with these labels: 'app=web,tier!=cache'.",
] as const;
const FIELD_SELECTOR = [
  "--field-selector <selector:string>",
  "Only objects with these fields: 'spec.nodeName=worker-1'.",
] as const;
const KUBECONFIG = [
  "--kubeconfig <file:string>",
  "The kubeconfig to use. (default: KUBECONFIG, ~/.kube/config, or in-cluster)",
] as const;
const CONTEXT = ["--context <name:string>", "The context in it."] as const;
const CONTEXTS = [
  "--contexts <names:string>",
  "Several contexts in it, as a,b; their objects have a column CLUSTER.",
] as const;
const ALL_CONTEXTS = ["--all-contexts", "All contexts in it."] as const;
const SERVER = ["--server <url:string>", "The API server's address."] as const;
const TOKEN_FILE = ["--token-file <file:string>", "A file with a bearer token."] as const;
const AS = ["--as <user:string>", "Act as this user."] as const;
const AS_GROUP = ["--as-group <group:string>", "A group of that user; may be repeated.", { collect: true }] as const;
const AS_UID = ["--as-uid <uid:string>", "The uid of that user."] as const;
const VERBOSE = ["-v, --verbose", "Print a line about each request to standard error."] as const;
const FAKE = ["--fake", "Use a fake API server in this process."] as const;

/** The command line of a process: where it prints, what stops it, and the exit code of its command. */
export class CommandLine {
  readonly #terminal: Terminal;
  readonly #stop: AbortController;
  readonly #backoff: BackoffOptions | undefined;
  #code: number = EXIT_CODE.done;

  /**
   * `stop` is aborted when the process is interrupted; a command may abort it too. `backoff` is that of informers after
   * failures, by default that of the library.
   */
  constructor(terminal: Terminal, stop: AbortController, backoff?: BackoffOptions) {
    this.#terminal = terminal;
    this.#stop = stop;
    this.#backoff = backoff;
  }

  /** Runs a command, prints an error as one line, and returns the exit code. */
  async execute(args: string[]): Promise<number> {
    try {
      await this.#run(args);
    } catch (error) {
      // The command was interrupted and has stopped, which is not a failure.
      this.#code = isAbortOf(this.#stop.signal, error) ? EXIT_CODE.done : this.#end(error, args);
    }
    try {
      await this.#terminal.flush();
    } catch (error) {
      this.#code = this.#end(error, args);
    }
    return this.#code;
  }

  #end(error: unknown, args: string[]): number {
    const { code, message } = explainError(error);
    this.#terminal.say(`error: ${message}${error instanceof ValidationError ? this.#advice(message, args[0]) : ""}`);
    return code;
  }

  /** Returns what follows the message about an invalid command line: the flag that was meant, and the help to see. */
  #advice(message: string, name: string): string {
    const command = commandOf(this.#program(), name);
    const [, flag = ""] = /^There is no flag "(--[^"=]+)/.exec(message) ?? [];
    const near = flag && didYouMean(flag, command?.getOptions().flatMap(({ flags }) => flags) ?? []);
    const help = command === undefined ? "informer --help" : `informer ${name} --help`;
    return `${near}${(message + near).endsWith("?") ? " See" : "; see"} ${help}`;
  }

  /** @throws the error of the command; `ValidationError` when the command line is invalid. */
  async #run(args: string[]): Promise<void> {
    if (args.length === 0) {
      throw new UsageError(`no command given; try "informer watch pods --fake", or see informer --help`);
    }
    if (args.length === 1 && (args[0] === "--version" || args[0] === "-V")) {
      // The parser prints colours even into pipes.
      return this.#terminal.result(args[0] === "-V" ? VERSION : `informer ${VERSION}`);
    }
    if (args[0] === "completions" && args[1] === "complete") return await this.#complete(args);
    refuseEmpty(args);
    // With more arguments the parser would complain of a flag that this command does not have.
    const program = this.#program();
    const isKnown = commandOf(program, args[0]) !== undefined || args[0].startsWith("-");
    await program.parse(isKnown ? args : args.slice(0, 1));
  }

  async #complete(args: readonly string[]): Promise<void> {
    const words = args.slice(args[2] === "--" ? 3 : 2);
    const found = await complete(this.#program(), words, new ServerNames(words, this.#terminal, this.#stop.signal));
    if (found === "files") return this.#terminal.result(FILES_LINE);
    for (const { word, description } of found) {
      this.#terminal.result(`${word}${description ? `\t${description}` : ""}`);
    }
  }

  #program(): Command {
    const program = new Command()
      .name("informer")
      .version(VERSION)
      .description("Watches a Kubernetes cluster through caches that stay equal to it.")
      .help({ colors: Deno.stdout.isTerminal() })
      .example("All pods, as they are and as they change", "informer watch pods -A")
      .example("Without a cluster", "informer watch pods --fake")
      .throwErrors()
      .noExit();
    this.#watch(program);
    this.#get(program);
    this.#wait(program);
    this.#serve(program);
    this.#kinds(program);
    this.#doctor(program);
    this.#monitoring(program);
    this.#record(program);
    this.#fake(program);
    this.#demo(program);
    this.#init(program);
    this.#completions(program);
    return program.reset();
  }

  #watch(program: Command): void {
    const command = program.command("watch <resources...:string>", "Keep a cache of resources and print what changes.")
      .description(
        "Runs an informer on each resource and prints its events, until interrupted. Resources are named as for kubectl: " +
          "pods, po, deployments.apps, or any custom resource by its plural. " +
          `Permissions: ${CONNECTED}; for --cache, --allow-read and --allow-write of the folder of that file.`,
      )
      .type("format", new EnumType(["table", "wide", "json", "name"]))
      .type("streaming", new EnumType(["auto", "on", "off"]))
      .option("-n, --namespace <namespace:string>", "Watch one namespace.")
      .option("-A, --all-namespaces", "Watch all namespaces.")
      .option(...SELECTOR).option(...FIELD_SELECTOR)
      .option("--resync <duration:string>", "Resync interval: deliver all cached objects again, every 30s or 5m.")
      .option("--metadata-only", "Fetch only the metadata of objects.")
      .option("--streaming-list <mode:streaming>", "Fetch the initial list over the watch (streaming list).", {
        default: "auto" as const,
      })
      .option("--until-synced", "End after the initial sync.")
      .option("--timeout <duration:string>", "End after this time; with --until-synced: fail if not synced by then.")
      .option("--cache <file:string>", "Write the cache to this file at the end, as a JSON array sorted by key.")
      .option("--secret-data", "Show the data of Secrets.")
      .option("--no-object", "Leave the objects out.")
      .option("-o, --output <format:format>", "How to print.", { default: "table" as const })
      .option(...KUBECONFIG).option(...CONTEXT).option(...SERVER).option(...TOKEN_FILE)
      .option(...AS).option(...AS_GROUP).option(...AS_UID).option(...VERBOSE).option(...FAKE)
      .example("All pods", "informer watch pods -A")
      .example("As JSON, one event per line", "informer watch deployments.apps -n shop -o json")
      .example("Pods of two clusters", "informer watch pods -A --contexts berlin,paris")
      .example("Save a snapshot", "informer watch po -A --until-synced --no-object -o json --cache pods.json")
      .example("Without a cluster", "informer watch pods --fake")
      .action(async (options, ...resources) => {
        this.#code = await watch({ ...options, backoff: this.#backoff }, resources, this.#terminal, this.#stop);
      });
    ofClusters(command);
  }

  #get(program: Command): void {
    const command = program.command(
      "get <resources:string> [names...:string]",
      "List resources, or print objects by their names.",
    )
      .description(
        "Lists resources in pages, or gets objects by their names, and prints the columns that the server has for them. " +
          `Permissions: ${CONNECTED}.`,
      )
      .type("format", new EnumType(["table", "wide", "json", "yaml", "name"]))
      .option("-n, --namespace <namespace:string>", "In one namespace.")
      .option("-A, --all-namespaces", "In all namespaces.")
      .option(...SELECTOR).option(...FIELD_SELECTOR)
      .option("--secret-data", "Show the data of Secrets.")
      .option("--show-managed-fields", "Show metadata.managedFields.")
      .option("-o, --output <format:format>", "How to print.", { default: "table" as const })
      .option(...KUBECONFIG).option(...CONTEXT).option(...SERVER).option(...TOKEN_FILE)
      .option(...AS).option(...AS_GROUP).option(...AS_UID).option(...VERBOSE).option(...FAKE)
      .example("All pods, as kubectl's JSON list", "informer get pods -A -o json")
      .example("Deployments of all clusters", "informer get deploy -A --all-contexts")
      .example("Two kinds, with all columns", "informer get pods,deploy -n shop -o wide")
      .example("One object", "informer get deploy web -n shop -o yaml")
      .example("Objects of several kinds", "informer get pod/web-0 deploy/web -n shop")
      .action(async (options, resources, ...names) => {
        this.#code = await get(options, [resources, ...names], this.#terminal, this.#stop.signal);
      });
    ofClusters(command);
  }

  #wait(program: Command): void {
    program.command("wait <objects...:string>", "Wait until objects are ready, deleted, or in another state.")
      .description(
        "Watches the objects, and ends with 0 once all of them are in the state at the same time; with 1, and the last " +
          "states, after --timeout. Of objects that are chosen there must be one at least. States: ready, as kstatus " +
          "judges workloads and kinds with conditions; deleted: those that are there at the beginning; condition=TYPE and " +
          "condition=TYPE=STATUS; PATH=VALUE, of any field, and PATH: it is there. " +
          `Permissions: ${CONNECTED}.`,
      )
      .option("--for <state:string>", "The state.", { default: "ready" })
      .option("--timeout <duration:string>", "Fail after this time.", { default: "5m" })
      .option("--fail-fast", "Fail as soon as an object has failed; of workloads, as soon as a pod has.")
      .option("--all", "All objects of the kinds in the namespace.")
      .option("-n, --namespace <namespace:string>", "In one namespace.")
      .option("-A, --all-namespaces", "In all namespaces.")
      .option(...SELECTOR).option(...FIELD_SELECTOR)
      .option(...KUBECONFIG).option(...CONTEXT).option(...SERVER).option(...TOKEN_FILE)
      .option(...AS).option(...AS_GROUP).option(...AS_UID).option(...VERBOSE).option(...FAKE)
      .example("A rollout", "informer wait deploy/web sts/db -n shop --fail-fast --timeout 10m")
      .example("The end of a job", "informer wait job/migrate --for condition=Complete --fail-fast")
      .example("Pods, as they are replaced", "informer wait pods -l app=web --for ready")
      .example("A field", "informer wait pvc/data --for status.phase=Bound")
      .example("The end of a namespace", "informer wait ns/shop --for deleted")
      .action(async (options, ...objects) => {
        const flags = { ...options, backoff: this.#backoff };
        this.#code = await wait(flags, objects, this.#terminal, this.#stop.signal);
      });
  }

  #serve(program: Command): void {
    const command = program.command("serve <resources...:string>", "Serve caches of resources over HTTP on loopback.")
      .description(
        "Serves a page that shows the resources, /api/NAME as JSON and /events/NAME as server-sent events, and below /kubernetes " +
          "the part of the Kubernetes API that reads, to any number of clients on this machine, from one watch of each " +
          "resource, which follows demand; /healthz, /readyz and /metrics, too. Prints its address, and runs until " +
          `interrupted. Permissions: ${CONNECTED}; and --allow-net=127.0.0.1; for --snapshot, --allow-read and --allow-write of ` +
          "the folder of that file.",
      )
      .option("--port <port:integer>", "The port; 0 is any free one.", { default: 0 })
      .option("-n, --namespace <namespace:string>", "Serve one namespace.")
      .option("-A, --all-namespaces", "Serve all namespaces.")
      .option(...SELECTOR).option(...FIELD_SELECTOR)
      .option("--host <name:string>", "Answer under this host name, too; may be repeated.", { collect: true })
      .option("--secret-data", "Serve the data of Secrets.")
      .option(
        "--snapshot <file:string>",
        "Begin with the cache in this file, without a list, and write it there; of several resources to FILE.NAME each.",
      )
      .option(...KUBECONFIG).option(...CONTEXT).option(...SERVER).option(...TOKEN_FILE)
      .option(...AS).option(...AS_GROUP).option(...AS_UID).option(...VERBOSE).option(...FAKE)
      .example("All pods and deployments", "informer serve pods deployments.apps -A --port 8080")
      .example("Clusters, which the page lets choose", "informer serve pods -A --contexts berlin,paris")
      .example("Some fields of them", "curl 'http://127.0.0.1:8080/api/pods?fields=spec.nodeName,status.phase'")
      .example("As they change", "curl -N 'http://127.0.0.1:8080/events/pods?labelSelector=app%3Dweb'")
      .example("For kubectl", "kubectl --server http://127.0.0.1:8080/kubernetes get pods -A -o json")
      .example("Without a cluster", "informer serve pods --fake")
      .action(async (options, ...resources) => {
        this.#code = await serve(options, resources, this.#terminal, this.#stop.signal);
      });
    ofClusters(command);
    command.option(
      "--max-bytes <size:string>",
      "What the caches of a cluster may hold, as 512MB: what makes them larger ends its watch, and is shown as stale.",
    );
  }

  #kinds(program: Command): void {
    program.command("kinds", "Write types of custom kinds.")
      .description(
        "Writes a TypeScript module with a type and a resource for each custom kind, from the CustomResourceDefinitions of a " +
          "server or of a file. All versions that are served are in it. What is wrong in a definition is reported with its " +
          `place, and nothing is written. Permissions: ${CONNECTED.replace("; none with --fake", "")}; for --file, ` +
          "--allow-read of that file; for --out, --allow-read and --allow-write of the folder of that file.",
      )
      .option("--group <group:string>", "Only kinds of this API group.")
      .option("--file <file:string>", "Read definitions from this file, YAML or JSON, instead of a server.")
      .option(
        "--out <file:string>",
        "Write to this file; one of other origin is not replaced. (default: standard output)",
      )
      .option(...KUBECONFIG).option(...CONTEXT).option(...SERVER).option(...TOKEN_FILE)
      .option(...AS).option(...AS_GROUP).option(...AS_UID).option(...VERBOSE)
      .example("Kinds of one group", "informer kinds --group stable.example.com --out kinds.ts")
      .example("Without a cluster", "informer kinds --file crd.yaml --out kinds.ts")
      .example(
        "Of a definition that only others may read",
        "kubectl get crd crontabs.stable.example.com -o yaml > crd.yaml",
      )
      .action(async (options) => {
        this.#code = await kinds(options, this.#terminal, this.#stop.signal);
      });
  }

  #doctor(program: Command): void {
    program.command("doctor [resources...:string]", "Diagnose the connection to the server, and print remedies.")
      .description(
        "Looks at the configuration, the way to the server, its certificate, the credentials, what they allow for each " +
          "resource (pods unless named) and what informers need of the server. Writes nothing there, and ends within 15 s, " +
          "without --memory. " +
          "Permissions: those that it prints; it names each one that is missing.",
      )
      .type("report", new EnumType(["table", "json"]))
      .option("-n, --namespace <namespace:string>", "Check access to one namespace.")
      .option("-A, --all-namespaces", "Check access to all namespaces.")
      .option("--rbac", "Print the roles that informers on the resources need, as YAML, and check nothing.")
      .option("--memory", "List the resources, or all kinds, print the sizes of their objects, and check nothing.")
      .option("-o, --output <format:report>", "How to print.", { default: "table" as const })
      .option(...KUBECONFIG).option(...CONTEXT).option(...SERVER).option(...TOKEN_FILE)
      .option(...AS).option(...AS_GROUP).option(...AS_UID).option(...VERBOSE).option(...FAKE)
      .example("Diagnose informers on pods", "informer doctor")
      .example("For a program", "informer doctor pods deployments.apps -A -o json")
      .example("What caches would hold", "informer doctor pods secrets -A --memory")
      .example("Grant what informers need", "informer doctor pods deploy -n shop --rbac | kubectl apply -f -")
      .action(async (options, ...resources) => {
        this.#code = await doctor(options, resources, this.#terminal, this.#stop.signal);
      });
  }

  #record(program: Command): void {
    program.command(
      "record <resources...:string>",
      "Write lists and watches of resources to a file, to be played later.",
    )
      .description(
        "Lists and watches each resource, and writes a line of JSON with its time for each object, change, bookmark and " +
          "failure, until interrupted. The data of Secrets is never written. FakeApiServer.from() and informer fake --from " +
          `play the file. Permissions: ${CONNECTED}; and --allow-write of the file.`,
      )
      .option("--out <file:string>", "The file, which must not exist.")
      .option(
        "--redact <path:string>",
        "Replace the values of this field, as spec.containers.env.value; may be repeated. managedFields are left out then.",
        { collect: true },
      )
      .option("--max-mb <size:number>", "End at this size of the file, in megabytes.", { default: 200 })
      .option("--timeout <duration:string>", "End after this time.")
      .option("-n, --namespace <namespace:string>", "Record one namespace.")
      .option("-A, --all-namespaces", "Record all namespaces.")
      .option(...SELECTOR).option(...FIELD_SELECTOR)
      .option(...KUBECONFIG).option(...CONTEXT).option(...SERVER).option(...TOKEN_FILE)
      .option(...AS).option(...AS_GROUP).option(...AS_UID).option(...VERBOSE).option(...FAKE)
      .example("An incident", "informer record pods,deploy -A --out incident.jsonl")
      .example(
        "Without values",
        "informer record pods -n shop --out a.jsonl --redact spec.containers.env.value --timeout 10m",
      )
      .example("Play it, ten times as fast", "informer fake --from incident.jsonl --speed 10")
      .action(async (options, ...resources) => {
        const flags = { ...options, backoff: this.#backoff };
        this.#code = await record(flags, resources, this.#terminal, this.#stop.signal);
      });
  }

  #fake(program: Command): void {
    program.command("fake", "Serve a fake API server over HTTP on loopback.")
      .description(
        "Serves a fake API server over HTTP on loopback until interrupted; prints its address. " +
          "Permissions: --allow-net=127.0.0.1; for --kubeconfig, --allow-read and --allow-write of the folder of that file; " +
          "for --from, --allow-read of that file.",
      )
      .type("mix", new EnumType(["update", "all"]))
      .type("spaces", new EnumType(["any", "real"]))
      .option("--port <port:integer>", "The port; 0 is any free one.", { default: 0 })
      .option("--pods <count:integer>", "Initial number of pods.", { default: 0 })
      .option("--churn <rate:number>", "Changes per second.", { default: 0 })
      .option("--churn-mix <mix:mix>", "Updates alone, or creations and deletions too.", { default: "update" as const })
      .option("--churn-for <duration:string>", "End the changes after this time. (default: never)")
      .option("--seed <seed:integer>", "The same seed, the same pods and changes.", { default: 1 })
      .option("--namespaces <mode:spaces>", "Namespaces need not exist, or must, and end when they are empty.", {
        default: "any" as const,
      })
      .option(
        "--kubeconfig <file:string>",
        "Write a kubeconfig that points here; a file of other origin is not replaced.",
      )
      .option("--host <name:string>", "Answer under this host name, too; may be repeated.", { collect: true })
      .option("--from <file:string>", "Play this file of informer record, from the first watch on.")
      .option("--speed <times:number>", "How many times as fast it is played. (default: 1)")
      .example(
        "For kubectl and informers",
        "informer fake --port 8001 --pods 1000 --churn 50 --kubeconfig fake.kubeconfig",
      )
      .example("An incident again, ten times as fast", "informer fake --from incident.jsonl --speed 10")
      .action(async (options) => {
        this.#code = await fake(options, this.#terminal, this.#stop.signal);
      });
  }

  #demo(program: Command): void {
    program.command("demo", "The main job on one screen: fake server, informer, comparison.")
      .description(
        "Runs a fake API server over real HTTP and an informer on it, and in the end compares the two. Ends after 10 s where " +
          "nobody looks at a terminal. Permissions: --allow-net=127.0.0.1.",
      )
      .option("--pods <count:integer>", "Initial number of pods.", { default: 1_000 })
      .option("--churn <rate:number>", "Changes per second.", { default: 200 })
      .option("--for <duration:string>", "How long it runs.")
      .example("Half a minute at 2,000 changes per second", "informer demo --churn 2000 --for 30s")
      .action(async (options) => {
        this.#code = await demo(options, this.#terminal, this.#stop.signal);
      });
  }

  #init(program: Command): void {
    program.command("init <name:string>", "Write a new project: a controller of a custom kind.")
      .description(
        "Writes a folder with a definition of the kind and its types, a reconciler, tests on the fake server, a test under " +
          "random faults, the program, its role, and a Dockerfile. A file that exists is not replaced, and then nothing is " +
          "written. The folder's `deno task test` passes. Permissions: --allow-read and --allow-write of the folder.",
      )
      .option("--kind <kind:string>", "The kind, in CamelCase.")
      .option("--group <group:string>", "Its API group, a domain.", { default: "example.com" })
      .option("--plural <plural:string>", "Its name in addresses. (default: the kind with an ending)")
      .option("--dir <folder:string>", "Write to this folder. (default: one with the name of the project)")
      .option("--force", "Replace files that exist.")
      .example("A controller of Websites", "informer init website-controller --kind Website --group shop.example.com")
      .example("In this folder", "informer init indexer --kind Index --plural indices --dir .")
      .action(async (options, name) => {
        this.#code = await init(options, name, this.#terminal);
      });
  }

  #monitoring(program: Command): void {
    program.command("dashboard", "Print a Grafana dashboard of a controller's metrics.")
      .description(
        "Prints a dashboard as JSON, for Grafana 10 and newer, of what a Manager answers at /metrics. It asks for the data " +
          "source and for the jobs. Permissions: none.",
      )
      .example("To be imported, or provisioned from a file", "informer dashboard > controllers.json")
      .action(() => this.#terminal.result(dashboardJson()));
    program.command("alerts", "Print Prometheus alert rules for a controller's metrics.")
      .description(
        "Prints a file of rules as YAML, for what a Manager answers at /metrics. The spec of a PrometheusRule has the same " +
          "groups. Permissions: none.",
      )
      .example("For rule_files of Prometheus", "informer alerts > controllers.rules.yaml")
      .example("Look at one", "informer alerts | grep -A 9 ControllerHasNoLeader")
      .action(() => this.#terminal.result(alertsYaml().trimEnd()));
  }

  #completions(program: Command): void {
    program.command("completions <shell:shell>", "Print the completion script of a shell.")
      .description(
        "Prints the script that completes commands, flags, contexts, kinds, namespaces and names in a shell, where the program is in " +
          "PATH as informer. A kubeconfig and a server are asked with the permissions of the program.",
      )
      .type("shell", new EnumType(["bash", "fish", "zsh"]))
      .example("For this shell", "source <(informer completions bash)")
      .example("In fish", "informer completions fish | source")
      .action((_options, shell) => this.#terminal.result(completionScript(shell as Shell)));
  }
}

/** Adds the flags that name several clusters, for which the types of a command with many flags have no room. */
function ofClusters(command: { option(flags: string, description: string): unknown }): void {
  command.option(...CONTEXTS);
  command.option(...ALL_CONTEXTS);
}

/** Rejects empty values: the parser ignores them, and `--cache "$FILE"` would write nothing. @throws {UsageError} */
function refuseEmpty(args: readonly string[]): void {
  const place = args.findIndex((arg) => arg === "" || /^--[a-z-]+=$/.test(arg));
  if (place < 0) return;
  const what = args[place] === "" ? (place === 0 ? "the command" : `what follows "${args[place - 1]}"`) : args[place];
  throw new UsageError(`${what} is empty; leave it out, or give it a value`);
}
