import { assert, assertEquals } from "@std/assert";
import { basename, extname, join, relative } from "node:path/posix";
import axe from "npm:axe-core@^4.14.1";
import type { Addresses } from "../../tools/addresses.ts";
import { buildSite, install, RegistryError } from "../../tools/site.ts";
import { pages } from "../support/texts/pages.ts";
import { Folder } from "../support/servers/serve.ts";
import { CHROMIUM, closeBrowser, Visit } from "../support/servers/served_page.ts";

const ADDRESSES: Addresses = { repository: "https://git.test/example/informer", site: "https://site.test/informer" };

/** The path in the address of the site. */
const BASE = "/informer/";

/** What users type into the search, and the page that is among the first three hits. */
const SEARCHED: readonly (readonly [words: string, page: string])[] = [
  ["leader election", "controllers/run"],
  ["conflict", "guides/write-to-the-cluster"],
  ["410", "operations/troubleshooting"],
  ["ECONNRESET", "operations/troubleshooting"],
  ["kubeconfig", "operations/connect"],
  ["patch", "guides/write-to-the-cluster"],
  ["finalizer", "controllers/watch-other-kinds"],
  ["memory", "guides/limit-memory"],
  ["resync", "start/concepts"],
  ["React", "relay/browser"],
  ["sharding", "scale/shards"],
  ["mock", "testing/fake-server"],
  ["RBAC", "operations/permissions"],
  ["rate limits", "controllers/work-queue"],
  ["docker", "controllers/run"],
  ["graceful shutdown", "controllers/run"],
  ["readiness probe", "controllers/run"],
  ["Dockerfile", "controllers/run"],
  ["RBAC for my program", "jobs/service-in-kubernetes"],
  ["copy a secret", "jobs/copy-objects"],
  ["pod logs to Loki", "jobs/logs-to-an-endpoint"],
  ["restart a deployment", "guides/workloads"],
  ["wait for rollout", "guides/wait-until-ready"],
  ["stuck rollout", "jobs/stuck-rollouts"],
  ["list pods in all namespaces", "guides/read-the-cache"],
  ["out of memory", "guides/limit-memory"],
  ["test without cluster", "controllers/test"],
  ["410 Gone", "testing/fake-server"],
];

/** Names that users type into the search, and the page of the reference that is the first hit. */
const NAMES: readonly (readonly [name: string, page: string])[] = [
  ["LabelSelector", "api/informer/LabelSelector"],
  ["followLogs()", "api/logs/followLogs"],
  ["Pod", "api/kinds/core/v1"],
];

/** The most that the first page may transfer, and the most that its parts may move while it loads. */
const FIRST_PAGE = { bytes: 700_000, shift: 0.01 };

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css",
  ".html": "text/html",
  ".js": "text/javascript",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".webp": "image/webp",
  ".woff2": "font/woff2",
};

/** Why the site cannot be built or opened on this machine; `undefined` if it can. */
async function obstacle(): Promise<string | undefined> {
  if (CHROMIUM === undefined) return "no Chromium here; set CHROMIUM to its path";
  try {
    await install(() => {});
  } catch (error) {
    if (error instanceof RegistryError) return error.message.split("\n", 1)[0];
    throw error;
  }
}

const reason = await obstacle();

/** The site in a folder, behind a port of this machine. */
class ServedSite implements AsyncDisposable {
  readonly #http: Deno.HttpServer<Deno.NetAddr>;
  /** The bytes of all responses. */
  sent = 0;

  private constructor(readonly folder: Folder) {
    this.#http = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async ({ url }) => {
      const path = decodeURIComponent(new URL(url).pathname);
      const file = path.slice(BASE.length).replace(/(^|\/)$/, "$1index.html");
      try {
        if (!path.startsWith(BASE)) throw new Deno.errors.NotFound(path);
        const headers = { "content-type": TYPES[extname(file)], "content-encoding": "gzip" }; // as hosts of sites send it
        const body = new Blob([await Deno.readFile(this.folder.file(file))]).stream()
          .pipeThrough(new CompressionStream("gzip"));
        const bytes = await new Response(body).bytes();
        this.sent += bytes.length;
        return new Response(bytes, { headers });
      } catch (error) {
        if (!(error instanceof Deno.errors.NotFound)) throw error;
        return new Response("not found", { status: 404 });
      }
    });
  }

  static async build(): Promise<ServedSite> {
    const folder = new Folder();
    await buildSite(folder.path, ADDRESSES, () => {});
    return new ServedSite(folder);
  }

  /** The address of a page of `docs`, or of another path of the site. */
  address(path: string): string {
    return `http://127.0.0.1:${this.#http.addr.port}${BASE}${path}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#http.shutdown();
    await this.folder[Symbol.asyncDispose]();
  }
}

let served: Promise<ServedSite> | undefined;

Deno.test.afterAll(async () => {
  await closeBrowser();
  await (await served)?.[Symbol.asyncDispose]();
});

/** Registers a test of the site, which the first test builds. */
function siteTest(name: string, fn: (site: ServedSite) => Promise<void>): void {
  Deno.test({
    name: reason === undefined ? `site: ${name}` : `site: ${name}: ${reason}`,
    ignore: reason !== undefined,
    sanitizeOps: false, // the driver of the browser leaves timers
    sanitizeResources: false,
    timeout: 300_000,
    fn: async () => await fn(await (served ??= ServedSite.build())),
  });
}

/** The paths of all pages of `docs` on the site. */
const PAGES = pages().filter((page) => page.startsWith("docs/")).map((page) =>
  page === "docs/README.md" ? "" : page.slice("docs/".length).replace(/\.md$/, ".html")
);

function htmlBelow(folder: string): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) => {
    const path = join(folder, name);
    return isDirectory ? htmlBelow(path) : name.endsWith(".html") ? [path] : [];
  });
}

/** The paths of all pages of the reference. */
function referenceOf({ folder }: ServedSite): string[] {
  return htmlBelow(folder.file("api")).map((path) => relative(folder.path, path));
}

function unescape(html: string): string {
  return html.replaceAll("&#x2F;", "/").replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

function isThere(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

siteTest("a page of each kind opens at its address without an error, and fits in 390 pixels", async (site) => {
  await using visit = await Visit.begin("about:blank");
  const { page } = visit;
  for (
    const path of ["", "start/concepts.html", "jobs/copy-objects.html", "api/index.html", "api/logs/followLogs.html"]
  ) {
    await page.setViewportSize({ width: 1_200, height: 700 });
    assertEquals((await page.goto(site.address(path)))?.status(), 200, path);
    await visit.until(`document.querySelector("h1") && document.title.includes("@kube/informer")`);
    await page.setViewportSize({ width: 390, height: 700 });
    assertEquals(await page.evaluate("document.documentElement.scrollWidth"), 390, `width of ${path}`);
  }
  assertEquals(visit.complaints, []);
});

siteTest("pages open by a link without an error, and load only from the site", async (site) => {
  assert(PAGES.length > 60, `${PAGES.length} pages`);
  await using visit = await Visit.begin(site.address("start/concepts.html"));
  const open = `async (base, paths) => {
    const wrong = [];
    for (const path of paths) {
      const before = document.querySelector("h1");
      const link = Object.assign(document.createElement("a"), { href: base + path });
      document.body.append(link);
      link.click();
      link.remove();
      const giveUpAt = Date.now() + 10_000;
      while ((before.isConnected || !document.querySelector("h1")) && Date.now() < giveUpAt) {
        await new Promise((resolve) => setTimeout(resolve, 4));
      }
      if (before.isConnected) wrong.push(path);
    }
    return wrong;
  }`;
  const reference = referenceOf(site).filter((_, at) => at % 10 === 0); // they are all made in the same way
  const paths = [...PAGES.filter((path) => path !== "start/concepts.html"), ...reference];
  assertEquals(await visit.page.evaluate(`(${open})("${BASE}", ${JSON.stringify(paths)})`), []);
  assertEquals(visit.complaints, []);
});

siteTest("every page fits in 390 pixels", async (site) => {
  const reference = referenceOf(site);
  assert(reference.length > 250 && reference.length <= 450, `${reference.length} pages of the reference`);
  await using visit = await Visit.begin(site.address("api/logs.html"));
  await visit.page.setViewportSize({ width: 390, height: 700 });
  // All pages have the same style, so the text of each is laid out within one of them.
  const measure = `async (base, paths) => {
    const wide = [];
    const parser = new DOMParser();
    for (const path of paths) {
      const page = parser.parseFromString(await (await fetch(base + path)).text(), "text/html");
      document.querySelector("#app").innerHTML = page.querySelector("#app").innerHTML;
      const { scrollWidth } = document.documentElement;
      if (scrollWidth !== 390 || !document.querySelector("h1")) wide.push([path, scrollWidth]);
    }
    return wide;
  }`;
  assertEquals(await visit.page.evaluate(`(${measure})("${BASE}", ${JSON.stringify([...PAGES, ...reference])})`), []);
});

siteTest("the first page shows where to begin in its first screen, is light, and does not move", async (site) => {
  await using visit = await Visit.begin("about:blank");
  const { page } = visit;
  await page.setViewportSize({ width: 1_280, height: 800 });
  await page.addInitScript(`globalThis.shift = 0;
    new PerformanceObserver((list) => list.getEntries().forEach(({ value }) => globalThis.shift += value))
      .observe({ type: "layout-shift", buffered: true });`);
  site.sent = 0;
  await page.goto(site.address(""), { waitUntil: "networkidle" });
  await visit.until('[...document.querySelectorAll(".terminal img")].some((it) => it.naturalWidth === 760)');
  const bottom = (of: string): string => `document.querySelector("${of}").getBoundingClientRect().bottom`;
  for (const part of [".start code", ".terminal", ".reasons li:last-child", ".VPFeatures .item:last-child"]) {
    assert(Number(await page.evaluate(bottom(part))) <= 800, `${part} is below the first screen`);
  }
  assertEquals(await page.evaluate('document.querySelectorAll(".VPFeatures a").length'), 5);
  assertEquals(
    await page.locator(".start code").textContent(),
    "deno add jsr:@kube/informer\nnpx jsr add @kube/informer",
  );
  const preview = await page.locator('meta[property="og:image"]').getAttribute("content");
  assert(preview?.startsWith(`${ADDRESSES.site}/`) && isThere(site.folder.file(basename(preview))), `${preview}`);
  const shift = Number(await page.evaluate("globalThis.shift"));
  assert(shift < FIRST_PAGE.shift, `its parts move by ${shift}`);
  assert(site.sent > 50_000 && site.sent <= FIRST_PAGE.bytes, `${site.sent} bytes`);
  assertEquals(visit.complaints, []);
});

siteTest("names in the code of a guide lead to the reference, whose pages lead back", async (site) => {
  await using visit = await Visit.begin(site.address("guides/logs.html"));
  await visit.page.locator('.vp-doc a[href$="/api/logs/followLogs.html"]').first().click();
  await visit.page.waitForURL("**/api/logs/followLogs.html");
  await visit.until('document.querySelector("#options + .vp-table, #options + table")?.innerText.includes("sinceMs")');
  await visit.page.locator('.vp-doc a[href$="/guides/logs.html"]').click();
  await visit.page.waitForURL("**/guides/logs.html");
  assertEquals(visit.complaints, []);
});

siteTest("every link and anchor leads to a page, a file of the repository, or another site", (site) => {
  const root = site.folder.path;
  const anchors = new Map<string, ReadonlySet<string>>();
  const texts = new Map(htmlBelow(root).map((path) => [path, Deno.readTextFileSync(path)]));
  const anchorsOf = (path: string): ReadonlySet<string> => {
    const found = anchors.get(path) ??
      new Set(Array.from(texts.get(path)!.matchAll(/\sid="([^"]*)"/g), ([, id]) => unescape(id)));
    anchors.set(path, found);
    return found;
  };
  const wrong: string[] = [];
  let count = 0;
  for (const [file, html] of texts) {
    const page = new URL(encodeURI(BASE + relative(root, file)), ADDRESSES.site);
    for (const [, attribute] of html.matchAll(/<(?:a|img|link|script)\b[^>]*?\s(?:href|src)="([^"]*)"/g)) {
      const link = new URL(unescape(attribute), page);
      count++;
      const inRepository = new RegExp(`^${ADDRESSES.repository}/(?:blob|tree|edit)/main/([^#]*)`).exec(link.href)?.[1];
      if (inRepository !== undefined) {
        if (!isThere(decodeURI(inRepository))) wrong.push(`${page.pathname}: ${attribute}`);
      } else if (link.origin === page.origin) {
        const path = join(
          root,
          decodeURIComponent(link.pathname).slice(BASE.length).replace(/(^|\/)$/, "$1index.html"),
        );
        const anchor = decodeURIComponent(link.hash.slice(1));
        const isRight = link.pathname.startsWith(BASE) && (texts.has(path) || isThere(path)) &&
          (anchor === "" || anchorsOf(path).has(anchor));
        if (!isRight) wrong.push(`${page.pathname}: ${attribute}`);
      }
    }
  }
  assertEquals(wrong, []);
  assert(count > 50_000, `${count} links`);
  return Promise.resolve();
});

siteTest("the search finds the page for words that users type among the first three hits", async (site) => {
  const chunks = [...Deno.readDirSync(site.folder.file("assets/chunks"))].map(({ name }) => name);
  const index = site.folder.file(`assets/chunks/${chunks.find((name) => name.includes("localSearchIndex"))}`);
  const compressed = new Blob([await Deno.readFile(index)]).stream().pipeThrough(new CompressionStream("gzip"));
  const { byteLength } = await new Response(compressed).arrayBuffer();
  assert(byteLength > 50_000 && byteLength <= 1_200_000, `the index has ${byteLength} bytes`);
  const missed: unknown[] = [];
  const left = [...SEARCHED, ...NAMES];
  const search = async (): Promise<void> => {
    await using visit = await Visit.begin(site.address(""));
    const { page } = visit;
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    assertEquals(await page.locator(".VPNavBarSearch button").count(), 1);
    assertEquals(asked.filter((url) => url.includes("localSearchIndex")), []); // it is loaded when a reader searches
    await page.locator(".VPNavBarSearch button").click();
    const input = page.locator("input.search-input");
    for (let row = left.pop(); row !== undefined; row = left.pop()) {
      const [words, wanted] = row;
      await input.fill("");
      await visit.until('document.querySelectorAll("#localsearch-list .result").length === 0');
      await input.fill(words);
      await visit.until('document.querySelector("#localsearch-list .result, .no-results")');
      const links = await page.evaluate(
        '[...document.querySelectorAll("#localsearch-list .result")].slice(0, 3).map((it) => new URL(it.href).pathname)',
      ) as string[];
      const hits = links.map((path) => path.slice(BASE.length).replace(/\.html$/, ""));
      const expected = wanted.startsWith("api/") ? hits.slice(0, 1) : hits;
      if (!expected.includes(wanted)) missed.push({ words, wanted, hits });
    }
    await input.fill("kubeconfig");
    await visit.until('document.querySelector("#localsearch-list .result")?.href.includes("connect")');
    await page.keyboard.press("Enter");
    await page.waitForURL("**/operations/connect.html*");
    assertEquals(visit.complaints, []);
  };
  await Promise.all([search(), search(), search()]); // a search waits for the end of the typing
  assertEquals(missed, []);
});

siteTest(
  "axe finds nothing wrong with the first page, a guide and the reference, light and dark",
  async (site) => {
    const found: unknown[] = [];
    const inBoth = ["", "start/concepts.html"];
    for (const colorScheme of ["light", "dark"] as const) {
      await using visit = await Visit.begin(site.address(""));
      await visit.page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      const once = colorScheme === "dark" ? [] : ["api/logs/followLogs.html"];
      for (const path of [...inBoth, ...once]) {
        await visit.page.goto(site.address(path));
        await visit.until(`document.documentElement.classList.contains("dark") === ${colorScheme === "dark"}`);
        await visit.until('document.querySelector("pre.diagram") === null'); // Mermaid has drawn them
        await visit.page.evaluate(axe.source);
        // deno-lint-ignore no-explicit-any
        const { violations } = await visit.page.evaluate("axe.run()") as any;
        // deno-lint-ignore no-explicit-any
        found.push(...violations.map(({ id, nodes }: any) => [path, colorScheme, id, nodes.map((it: any) => it.html)]));
      }
    }
    assertEquals(found, []);
  },
);

siteTest(
  "the edit link leads to the file, and the switch shows the picture that fits",
  async (site) => {
    await using visit = await Visit.begin(site.address("reference/command-line.html"));
    const { page } = visit;
    const edited = await page.locator(".edit-link-button").getAttribute("href");
    assertEquals(edited, `${ADDRESSES.repository}/edit/main/docs/reference/command-line.md`);
    await page.emulateMedia({ colorScheme: "light" });
    await page.setViewportSize({ width: 1_400, height: 700 }); // where the switch is not in a menu
    const displayed =
      '[...document.querySelectorAll(".vp-doc img")].filter((it) => getComputedStyle(it).display !== "none")';
    const shown = async (): Promise<unknown> => {
      await page.evaluate(`${displayed}[0].scrollIntoView()`); // pictures load when a reader comes to them
      await visit.until(`${displayed}[0].naturalWidth > 100`);
      return await page.evaluate(`${displayed}.map((it) => /-(light|dark)\\b/.exec(it.src)[1])`);
    };
    assertEquals(await shown(), ["light", "light"]);
    await page.locator(".VPNavBarAppearance button").click();
    await visit.until('document.documentElement.classList.contains("dark")');
    assertEquals(await shown(), ["dark", "dark"]);
    assertEquals(visit.complaints, []);
  },
);

siteTest(
  "Mermaid draws the diagrams of all pages with their labels, light or dark as the switch says",
  async (site) => {
    await using visit = await Visit.begin("about:blank");
    const { page } = visit;
    await page.emulateMedia({ colorScheme: "light" });
    await page.setViewportSize({ width: 1_400, height: 700 });
    const cutOff =
      '[...document.querySelectorAll(".diagram foreignObject")].filter((it) => it.scrollHeight > it.clientHeight + 1)';
    const actor = 'getComputedStyle(document.querySelector(".diagram rect.actor")).fill';
    let count = 0;
    for (const path of pages().filter((path) => path.startsWith("docs/"))) {
      const titles = Array.from(Deno.readTextFileSync(path).matchAll(/^\s+accTitle: (.*)$/gm), ([, title]) => title);
      if (titles.length === 0) continue;
      count += titles.length;
      await page.goto(site.address(path.slice("docs/".length).replace(/\.md$/, ".html")));
      await visit.until(`document.querySelectorAll(".diagram > svg").length === ${titles.length}`);
      const shown = await page.evaluate(
        '[...document.querySelectorAll(".diagram > svg > title")].map((it) => it.textContent)',
      );
      assertEquals([shown, await page.evaluate(`${cutOff}.length`)], [titles, 0], path);
      if (path !== "docs/start/concepts.md") continue;
      const light = await page.evaluate(actor);
      await page.locator(".VPNavBarAppearance button").click();
      await visit.until(`${actor} !== ${JSON.stringify(light)}`);
    }
    assert(count >= 7, `${count} diagrams`);
    assertEquals(visit.complaints, []);
  },
);
