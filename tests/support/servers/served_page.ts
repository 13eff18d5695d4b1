import { type Browser, type BrowserContext, chromium, type Page } from "npm:playwright-core@^1.65.1";
import { asTable } from "../../../src/engine/api/resource.ts";
import { answerPage } from "../../../src/cli/serve.ts";
import { Client } from "../../../src/engine/client/client.ts";
import { SharedInformerFactory } from "../../../src/engine/informer/shared_informer_factory.ts";
import { ConfigMap, Pod } from "../../../src/engine/kinds/core/v1.ts";
import { ClusterRole } from "../../../src/engine/kinds/rbac/v1.ts";
import { InformerRelay } from "../../../src/relay/server/informer_relay.ts";
import type { RelayOptions } from "../../../src/relay/server/options.ts";
import { churn, type FakeApiServer } from "../../../src/testing/mod.ts";

/** The programs that are looked for. */
const PROGRAMS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** The path of Chromium: that of the variable CHROMIUM, or where Debian has it; `undefined` without one. */
export const CHROMIUM: string | undefined = Deno.env.get("CHROMIUM") ?? PROGRAMS.find((path) => {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
});

/** Registers a test that needs a browser, whose driver leaves timers behind. */
export function browserTest(name: string, fn: () => Promise<void>): void {
  const reason = CHROMIUM === undefined ? ": no Chromium here; set CHROMIUM to its path" : "";
  Deno.test({ name: name + reason, fn, ignore: CHROMIUM === undefined, sanitizeOps: false, sanitizeResources: false });
}

/** Options of what is served instead of the page of `informer serve`, and its tables. */
interface ServedOptions {
  readonly port?: number;
  readonly collections?: RelayOptions["collections"];
  readonly answer?: (request: Request) => Response | undefined;
}

const TABLES = { pods: asTable(Pod), configmaps: asTable(ConfigMap), roles: asTable(ClusterRole) };

/** The page as `informer serve` serves it, of a fake API server. */
export class ServedPage implements AsyncDisposable {
  readonly #client: Client;
  readonly #informers: SharedInformerFactory;
  readonly #relay: InformerRelay;
  readonly #http: Deno.HttpServer<Deno.NetAddr>;
  /** The paths of the requests, with their methods. */
  readonly requests: string[] = [];

  constructor(server: FakeApiServer, options: ServedOptions = {}) {
    const { port = 0, collections = TABLES, answer = answerPage } = options;
    this.#client = new Client({ server: "http://fake", transport: server });
    this.#informers = new SharedInformerFactory(this.#client);
    this.#relay = new InformerRelay(this.#informers, { collections });
    this.#http = Deno.serve({ hostname: "127.0.0.1", port, onListen: () => {} }, (request, info) => {
      this.requests.push(`${request.method} ${new URL(request.url).pathname}`);
      return answer(request) ?? this.#relay.fetch(request, info);
    });
  }

  get port(): number {
    return this.#http.addr.port;
  }

  get address(): string {
    return `http://127.0.0.1:${this.port}/`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#relay[Symbol.asyncDispose]();
    await this.#http.shutdown();
    await this.#informers[Symbol.asyncDispose]();
    this.#client[Symbol.dispose]();
  }
}

/** Changes 100 objects a second of those that a server has, until disposed. */
export class Changes implements Disposable {
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(server: FakeApiServer) {
    const change = churn(server, { resource: Pod });
    this.#timer = setInterval(change, 10);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

/** The browser of all visits, once there was one. */
let browser: Promise<Browser> | undefined;

/** Ends the browser, behind the last visit. */
export async function closeBrowser(): Promise<void> {
  await (await browser)?.close();
  browser = undefined;
}

/** One page in a profile of its own, and what it has complained about. */
export class Visit implements AsyncDisposable {
  readonly #context: BrowserContext;
  readonly page: Page;
  /** Errors of the page, messages of its console, and addresses of other origins that it asked for. */
  readonly complaints: string[] = [];

  private constructor(context: BrowserContext, page: Page) {
    this.#context = context;
    this.page = page;
    page.on("pageerror", (error) => this.complaints.push(error.message));
    page.on("console", (message) => this.complaints.push(message.text()));
    page.on("dialog", (dialog) => {
      this.complaints.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on("request", (request) => {
      const { hostname, protocol } = new URL(request.url());
      if (hostname !== "127.0.0.1" && protocol !== "data:") this.complaints.push(`asked for ${request.url()}`);
    });
  }

  static async begin(address: string): Promise<Visit> {
    browser ??= chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
    const context = await (await browser).newContext({ viewport: { width: 1_200, height: 700 } });
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    const visit = new Visit(context, page);
    await page.goto(address);
    return visit;
  }

  /** Resolves when the page holds a condition, an expression of JavaScript. */
  async until(condition: string): Promise<void> {
    const giveUpAt = Date.now() + 20_000;
    while (!await this.page.evaluate(`Boolean(${condition})`)) { // `waitForFunction` needs what the policy refuses
      if (Date.now() > giveUpAt) {
        const text = await this.page.evaluate("document.body.innerText.slice(0, 1000)");
        throw new Error(`Waited in vain for ${condition}; the page shows: ${text}; ${this.complaints.join("; ")}`);
      }
      await this.page.waitForTimeout(20);
    }
  }

  /** The texts of the visible cells of one column, counted from 1. */
  column(number: number): Promise<string[]> {
    return this.page.locator(`#rows td:nth-child(${number})`).allTextContents();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#context.close();
  }
}
