import { assertEquals, assertNotEquals } from "@std/assert";
import { Pod } from "../../src/engine/kinds/core/v1.ts";
import { FakeApiServer, pod } from "../../src/testing/mod.ts";
import { pages, ROOT } from "../support/texts/pages.ts";
import { Folder } from "../support/servers/serve.ts";
import { browserTest, closeBrowser, ServedPage, Visit } from "../support/servers/served_page.ts";

const HTML = `<!doctype html><html lang="en"><title>Pods</title><link rel="icon" href="data:,">
  <div id="root"></div><script type="module" src="pods.js"></script></html>`;

Deno.test.afterAll(closeBrowser);

/** The program `pods.tsx` of a guide and the configuration below it, in a folder of their own. */
function program(): Folder {
  const pattern = /^```tsx ignore\n(\/\/ pods\.tsx: [^]*?)^```$[^]*?^```json\n([^]*?)^```$/m;
  const found = pages().flatMap((page) => pattern.exec(Deno.readTextFileSync(new URL(page, ROOT))) ?? []);
  assertNotEquals(found, [], "a page has a block tsx ignore that begins with // pods.tsx:, and a block json below it");
  const [, text, config] = found;
  const folder = new Folder();
  folder.write("pods.tsx", text);
  folder.write("deno.json", JSON.stringify({ ...JSON.parse(config), links: [ROOT.pathname], lock: false }));
  return folder;
}

async function deno(folder: Folder, ...args: string[]): Promise<void> {
  const command = new Deno.Command(Deno.execPath(), { args: [...args, "--quiet", "pods.tsx"], cwd: folder.path });
  const { success, stderr } = await command.output();
  if (!success) throw new Error(`deno ${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
}

browserTest("the React program of the guide shows pods as they change, without a warning of React", async () => {
  await using folder = program();
  await deno(folder, "check");
  for (const flags of [["--minify"], []]) { // React for users, and the one that warns
    await deno(folder, "bundle", "--platform", "browser", ...flags, "--output", "pods.js");
    using server = new FakeApiServer();
    for (const name of ["cart-0", "web-0"]) server.create(Pod, pod({ name, namespace: "shop" }));
    using held = server.stallNext(1, ({ verb }) => verb === "list" || verb === "watch");
    const served = new ServedPage(server, {
      collections: { pods: Pod },
      answer: (request) => {
        const { pathname } = new URL(request.url);
        if (pathname === "/") return new Response(HTML, { headers: { "content-type": "text/html" } });
        if (pathname !== "/pods.js") return undefined;
        return new Response(Deno.readTextFileSync(folder.file("pods.js")), {
          headers: { "content-type": "text/javascript" },
        });
      },
    });
    await using visit = await Visit.begin(served.address);
    const shows = (...lines: string[]): Promise<void> =>
      visit.until(`[...document.querySelectorAll("p, li")].map((it) => it.textContent).join() === "${lines.join()}"`);
    await shows("loading");
    held[Symbol.dispose]();
    await shows("2 of 2 pods", "shop/cart-0 Pending", "shop/web-0 Pending");
    server.patch(Pod, "shop/web-0", { status: { phase: "Failed" } });
    await shows("2 of 2 pods", "shop/cart-0 Pending", "shop/web-0 Failed");
    await visit.page.fill("input", "web");
    await shows("1 of 1 pods", "shop/web-0 Failed");
    assertEquals(visit.complaints.filter((it) => !it.includes("React DevTools")), []);
    await served[Symbol.asyncDispose]();
    await visit.until('document.querySelector("main").ariaBusy === "true"');
  }
});
