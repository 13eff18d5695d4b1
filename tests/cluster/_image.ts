import { fill } from "../support/processes/program.ts";
import { Captured } from "../support/processes/session.ts";

const ROOT = new URL("../../", import.meta.url);

/** The user of RUN, which owns the files, as root does in an image. */
const BUILDER = 65534;

/** A process of an image. */
export interface ImageProcess {
  readonly out: Captured;
  readonly err: Captured;
  readonly pid: number;
  /** Its exit code, once all output is read. */
  readonly code: Promise<number>;
  kill(signal: Deno.Signal): void;
}

/**
 * The commands of a Dockerfile, done without containers. Each process has a mount namespace of its own, in which the
 * folder of the image is at its WORKDIR, and another folder at `/run`; it needs root. Instructions and forms that this
 * does not know are refused.
 */
export class Image implements AsyncDisposable {
  readonly #folder: string;
  #workdir = "/";
  #user: number = BUILDER;
  readonly #env: Record<string, string> = {};
  #command: readonly string[] = [];

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Does what a Dockerfile says, with the root of the repository as its context; npm packages come from Deno's cache.
   */
  static async build(path: string): Promise<Image> {
    const folder = await Deno.makeTempDir({ prefix: "informer-image-" });
    const image = new Image(folder);
    try {
      await run("chmod", ["755", folder]);
      for (const name of ["files", "bin", "run"]) await Deno.mkdir(`${folder}/${name}`);
      await run("cp", ["-L", Deno.execPath(), `${folder}/bin/deno`]);
      const text = await Deno.readTextFile(new URL(path, ROOT));
      for (const line of text.split("\n")) if (line !== "" && !line.startsWith("#")) await image.#do(line);
      return image;
    } catch (error) {
      await image[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The user of CMD. */
  get user(): number {
    return this.#user;
  }

  /** Starts CMD, as `deno` with these arguments, which is what the entrypoint of the base image does. */
  start(env: Readonly<Record<string, string>>, files: Readonly<Record<string, string>>): ImageProcess {
    for (const [name, content] of Object.entries(files)) {
      Deno.mkdirSync(`${this.#folder}/run/${name.slice(0, name.lastIndexOf("/"))}`, { recursive: true });
      Deno.writeTextFileSync(`${this.#folder}/run/${name}`, content);
    }
    const child = this.#process(["deno", ...this.#command], env).spawn();
    const [out, err] = [new Captured(), new Captured()];
    const read = Promise.all([fill(out, child.stdout), fill(err, child.stderr)]);
    const code = Promise.all([child.status, read]).then(([{ code }]) => code);
    return { out, err, pid: child.pid, code, kill: (signal) => child.kill(signal) };
  }

  /** Removes the files. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.#folder, { recursive: true });
  }

  async #do(line: string): Promise<void> {
    const [instruction, rest] = [line.split(" ", 1)[0], line.slice(line.indexOf(" ") + 1)];
    switch (instruction) {
      case "FROM":
      case "EXPOSE":
        return;
      case "WORKDIR":
        this.#workdir = rest;
        return;
      case "ENV":
        for (const pair of rest.split(" ")) this.#env[pair.split("=", 1)[0]] = pair.slice(pair.indexOf("=") + 1);
        return await this.#seed();
      case "COPY": {
        const [from, to] = rest.split(" ");
        const target = `${this.#folder}/files/${to}`;
        await Deno.mkdir(target.slice(0, target.lastIndexOf("/")), { recursive: true });
        return await run("cp", ["-r", from, target]);
      }
      case "RUN": {
        await run("chown", ["-R", `${BUILDER}:${BUILDER}`, `${this.#folder}/files`]);
        const { success, stderr } = await this.#process(["sh", "-c", rest], {}).output();
        if (success) return;
        throw new Error(`Cannot build the image: "${line}" has failed: ${new TextDecoder().decode(stderr)}`);
      }
      case "USER":
        this.#user = Number(rest.split(":")[0]);
        return;
      case "CMD":
        this.#command = JSON.parse(rest);
        return;
      default:
        throw new Error(`Cannot build the image: "${line}" is not known to this test`);
    }
  }

  /** Copies Deno's cache of npm packages, as a test loads nothing from a registry. */
  async #seed(): Promise<void> {
    const info = await new Deno.Command(Deno.execPath(), { args: ["info", "--json"], cwd: ROOT }).output();
    const { npmCache } = JSON.parse(new TextDecoder().decode(info.stdout));
    const cache = `${this.#folder}/files${this.#env.DENO_DIR.slice(this.#workdir.length)}/npm/registry.npmjs.org`;
    await Deno.mkdir(cache, { recursive: true });
    for (const name of ["js-yaml", "argparse"]) {
      await run("cp", ["-r", `${npmCache}/registry.npmjs.org/${name}`, `${cache}/${name}`]);
    }
  }

  #process(args: readonly string[], env: Readonly<Record<string, string>>): Deno.Command {
    const script = `mount --bind "$1/files" "$2"; mount --bind "$1/run" /run; cd "$2"; user=$3; shift 3; ` +
      `exec setpriv --reuid="$user" --regid="$user" --clear-groups --no-new-privs "$@"`;
    const variables = Object.entries({ PATH: `${this.#folder}/bin:/usr/bin:/bin`, ...this.#env, ...env });
    return new Deno.Command("unshare", {
      args: [
        ...["-m", "sh", "-e", "-c", script, "sh", this.#folder, this.#workdir, String(this.#user), "env", "-i"],
        ...variables.map(([name, value]) => `${name}=${value}`),
        ...args,
      ],
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    });
  }
}

async function run(command: string, args: readonly string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(command, { args: [...args], cwd: ROOT }).output();
  if (!success) throw new Error(`Cannot run "${[command, ...args].join(" ")}": ${new TextDecoder().decode(stderr)}`);
}
