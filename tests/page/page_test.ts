import { assert, assertEquals } from "@std/assert";
import axe from "npm:axe-core@^4.14.1";
import { PAGE_HTML } from "../../src/cli/page_html.ts";
import { ConfigMap, Pod } from "../../src/engine/kinds/core/v1.ts";
import { ClusterRole } from "../../src/engine/kinds/rbac/v1.ts";
import { configMap, FakeApiServer, pod } from "../../src/testing/mod.ts";
import { Folder, serve } from "../support/servers/serve.ts";
import { browserTest, Changes, closeBrowser, ServedPage, Visit } from "../support/servers/served_page.ts";
import { Session } from "../support/processes/session.ts";

Deno.test.afterAll(closeBrowser);

function create(server: FakeApiServer, name: string, namespace = "shop"): void {
  server.create(Pod, pod({ name, namespace, node: "worker-1", labels: { app: name } }));
}

function createMany(server: FakeApiServer, count: number): void {
  for (let i = 0; i < count; i++) create(server, `web-${String(i).padStart(5, "0")}`);
}

const firstIs = (name: string): string => `document.querySelector("#rows td:nth-child(2)")?.textContent === "${name}"`;

browserTest(
  "the page shows rows that appear, change and vanish as the cluster changes, over one event stream",
  async () => {
    using server = new FakeApiServer();
    create(server, "cart-0");
    await using served = new ServedPage(server);
    await using visit = await Visit.begin(served.address);
    await visit.until(firstIs("cart-0"));
    const heads = await visit.page.locator("#heads th").allTextContents();
    assertEquals(heads, ["Namespace", "Name", "Ready", "Status", "Restarts", "Age"]);
    const status = heads.indexOf("Status") + 1;
    await visit.until('document.querySelector("#state").textContent === "live"');
    create(server, "app-0");
    await visit.until(firstIs("app-0"));
    server.patch(Pod, "shop/app-0", { status: { phase: "Failed" } });
    await visit.until(`document.querySelector("#rows td:nth-child(${status})").textContent === "⚠\\u00a0Failed"`);
    server.delete(Pod, "shop/app-0");
    await visit.until(firstIs("cart-0"));
    await visit.until('document.querySelector("#count").textContent === "1 objects"');
    await visit.page.locator("#rows tr").first().click();
    await visit.until('document.querySelector("#yaml").textContent.includes("nodeName: worker-1")');
    server.patch(Pod, "shop/cart-0", { metadata: { labels: { tier: "gold" } } });
    await visit.until('document.querySelector("#yaml").textContent.includes("tier: gold")');
    server.delete(Pod, "shop/cart-0");
    await visit.until('document.querySelector("#yaml").textContent === "shop/cart-0 is gone"');
    assertEquals(served.requests.filter((it) => it === "GET /views").length, 1);
    assertEquals(visit.complaints, []);
  },
);

/** Sets the containers of a running pod. */
function run(server: FakeApiServer, name: string, ...containers: readonly boolean[]): void {
  const state = { waiting: { reason: "CrashLoopBackOff" } };
  const containerStatuses = containers.map((ready, i) => {
    return { name: `c${i}`, ready, restartCount: 0, image: "a", imageID: "", state: ready ? { running: {} } : state };
  });
  server.patch(Pod, `shop/${name}`, { status: { phase: "Running", containerStatuses, conditions: [] } });
}

browserTest("the page marks rows that are not ready, with the reason, and has them first after one click", async () => {
  using server = new FakeApiServer();
  createMany(server, 1_000);
  for (const { metadata: { name } } of server.list(Pod)) run(server, name, true);
  for (const name of ["x-crash", "z-waits"]) create(server, name); // last by their names
  const containers = ["c0", "c1"].map((name) => ({ name, image: "a" }));
  server.create(Pod, { metadata: { name: "y-half", namespace: "shop" }, spec: { containers } });
  run(server, "x-crash", false);
  run(server, "y-half", true, false);
  const conditions = [{ type: "PodScheduled", status: "False", reason: "Unschedulable" }] as const;
  server.patch(Pod, "shop/z-waits", { status: { phase: "Pending", conditions } });
  await using served = new ServedPage(server);
  await using visit = await Visit.begin(served.address);
  await visit.until(firstIs("web-00000"));
  assertEquals(await visit.page.locator("#rows .bad").count(), 0);
  await visit.page.getByRole("button", { name: "Not ready first" }).click();
  await visit.until(firstIs("z-waits"));
  assertEquals((await visit.column(2)).slice(0, 4), ["z-waits", "x-crash", "y-half", "web-00000"]);
  assertEquals((await visit.column(4)).slice(0, 4), [
    "⚠\u00a0Pending: Unschedulable",
    "⚠\u00a0CrashLoopBackOff",
    "⚠\u00a0CrashLoopBackOff",
    "Running",
  ]);
  assertEquals(await visit.page.locator("#rows .bad").count(), 3);
  assertEquals(await visit.page.locator("#unready").getAttribute("aria-pressed"), "true");
  assertEquals(new URL(visit.page.url()).hash, "#collection=pods&sort=unready");

  await visit.page.setViewportSize({ width: 390, height: 700 });
  await visit.until('document.querySelector("#scroller.cut")');
  const right = (selector: string): Promise<number> =>
    visit.page.evaluate(`document.querySelector("${selector}").getBoundingClientRect().right`) as Promise<number>;
  assertEquals(await visit.page.evaluate("document.documentElement.scrollWidth"), 390);
  for (const selector of ["#rows .bad", "#unready", "#count", "#state"]) {
    assert(await right(selector) <= 390, `${selector} ends at ${await right(selector)}`);
  }
  const cut = `[...document.querySelectorAll("#rows .bad *")].filter((it) =>
    it.scrollWidth > it.clientWidth || it.scrollHeight > it.clientHeight).map((it) => it.textContent)`;
  assertEquals(await visit.page.evaluate(cut), []); // the reasons are read whole
  const heights = '[...new Set([...document.querySelectorAll("#rows tr")].map((it) => it.offsetHeight))]';
  assertEquals(await visit.page.evaluate(heights), [28]); // the grid counts on it
  await visit.page.evaluate(axe.source);
  // deno-lint-ignore no-explicit-any
  const { violations } = await visit.page.evaluate("axe.run()") as any;
  // deno-lint-ignore no-explicit-any
  assertEquals(violations.map(({ id, nodes }: any) => [id, nodes.map((it: any) => it.html)]), []);

  server.delete(Pod, "shop/z-waits");
  await visit.until(firstIs("x-crash"));
  await visit.page.locator("#unready").click();
  await visit.until(firstIs("web-00000"));
  await visit.page.selectOption("#collection", "configmaps");
  await visit.until("unready.hidden"); // these are never ready or not
  assertEquals(visit.complaints, []);
});

browserTest("the page says that it is loading until the first rows are there", async () => {
  using server = new FakeApiServer();
  create(server, "cart-0");
  const stalled = server.stallNext(1_000);
  await using served = new ServedPage(server);
  await using visit = await Visit.begin(served.address);
  await visit.until('state.textContent !== "connecting"');
  assertEquals(await visit.page.locator("#count").textContent(), "loading");
  assertEquals(await visit.page.locator("#empty").isVisible(), false);
  stalled[Symbol.dispose]();
  await visit.until('count.textContent === "1 objects"');
  assertEquals(visit.complaints, []);
});

browserTest("the page reconnects after its server restarts, and says so meanwhile", async () => {
  using server = new FakeApiServer();
  create(server, "cart-0");
  const served = new ServedPage(server);
  const { port } = served;
  await using visit = await Visit.begin(served.address);
  await visit.until(firstIs("cart-0"));
  await served[Symbol.asyncDispose]();
  await visit.until('document.querySelector("#state").textContent === "disconnected"');
  assertEquals(await visit.column(2), ["cart-0"]);
  create(server, "app-0");
  await using again = new ServedPage(server, { port });
  await visit.until(firstIs("app-0"));
  await visit.until('document.querySelector("#state").textContent === "live"');
  assert(again.requests.includes("GET /views"));
  assertEquals(visit.complaints.filter((it) => !/ERR_CONNECTION_REFUSED|ERR_INCOMPLETE/.test(it)), []);
});

browserTest("texts of objects are shown as they are, and do nothing", async () => {
  using server = new FakeApiServer();
  const evil = '<img src="x" onerror="alert(1)">'; // names of roles may have any characters but "/" and "%"
  const annotations = { evil: `</pre>${evil}<script>alert(2)</script>` };
  server.create(ClusterRole, { metadata: { name: evil, annotations }, rules: [] });
  await using served = new ServedPage(server);
  await using visit = await Visit.begin(served.address);
  await visit.page.selectOption("#collection", "roles");
  await visit.until('document.querySelector("#rows td:nth-child(1)")');
  assertEquals(await visit.column(1), [evil]);
  await visit.page.locator("#rows tr").first().click();
  await visit.until('document.querySelector("#yaml").textContent.includes("<script>alert(2)")');
  assertEquals(await visit.page.locator("#title").textContent(), evil);
  assertEquals(await visit.page.locator("main img, main script").count(), 0);
  assertEquals(visit.complaints, []);
});

browserTest("the page filters by words, sorts by columns, and changes the collection", async () => {
  using server = new FakeApiServer();
  for (const name of ["cart-1", "cart-0", "mail-0"]) create(server, name);
  create(server, "cart-9", "other");
  server.create(ConfigMap, configMap({ name: "settings", namespace: "shop", data: { a: "b" } }));
  await using served = new ServedPage(server);
  await using visit = await Visit.begin(served.address);
  await visit.until(firstIs("cart-9"));
  await visit.page.fill("#filter", "CART shop");
  await visit.until('document.querySelectorAll("#rows tr").length === 2');
  assertEquals(await visit.page.locator("#count").textContent(), "2 of 4 objects");
  const name = visit.page.locator("#heads th", { hasText: "Name" }).nth(1);
  await name.locator("button").click();
  assertEquals(await name.getAttribute("aria-sort"), "ascending");
  await name.locator("button").click();
  await visit.until(firstIs("cart-1"));
  assertEquals([await name.getAttribute("aria-sort"), await visit.column(2)], ["descending", ["cart-1", "cart-0"]]);
  await visit.page.fill("#filter", "nothing");
  await visit.until('!document.querySelector("#empty").hidden');
  await visit.page.fill("#filter", "");
  await visit.page.selectOption("#collection", "configmaps");
  await visit.until(firstIs("settings"));
  assertEquals(await visit.page.locator("#heads th").allTextContents(), ["Namespace", "Name", "Data", "Age"]);
  assertEquals(visit.complaints, []);
});

browserTest("the page is used by keyboard alone", async () => {
  using server = new FakeApiServer();
  for (let i = 0; i < 500; i++) create(server, `web-${String(i).padStart(3, "0")}`);
  await using served = new ServedPage(server);
  await using visit = await Visit.begin(served.address);
  await visit.until(firstIs("web-000"));
  const { keyboard } = visit.page;
  const active = (): Promise<string> =>
    visit.page.evaluate("document.activeElement.cells?.[1].textContent ?? document.activeElement.id") as Promise<
      string
    >;
  const isActive = (name: string): Promise<void> =>
    visit.until(`document.activeElement.cells?.[1].textContent === "${name}"`);
  await keyboard.press("/");
  assertEquals(await active(), "filter");
  await keyboard.press("Escape");
  await isActive("web-000");
  await keyboard.press("ArrowDown");
  await keyboard.press("ArrowDown");
  await isActive("web-002");
  await keyboard.press("End");
  await isActive("web-499");
  await keyboard.press("PageUp");
  await keyboard.press("Enter");
  await visit.until('document.querySelector("#yaml").textContent.includes("nodeName")');
  const opened = await visit.page.locator("#title").textContent();
  assertEquals(await active(), "yaml");
  await keyboard.press("Escape");
  assertEquals([await visit.page.locator("#details").isVisible(), `shop/${await active()}`], [false, opened]);
  server.delete(Pod, "shop/web-000"); // the row keeps the focus where it moves
  await visit.until('document.querySelector("#count").textContent === "499 objects"');
  assertEquals(`shop/${await active()}`, opened);
  await visit.page.evaluate('document.querySelector("#scroller").scrollTop = 0'); // the active row is no longer there
  await visit.until('document.activeElement.id === "scroller"');
  await keyboard.press("ArrowDown");
  await visit.until(`document.activeElement.ariaRowIndex === "${Number(opened!.slice(-3)) + 2}"`);
  await keyboard.press("Home");
  await isActive("web-001");
  assertEquals(visit.complaints, []);
});

browserTest("Enter waits for the rows that match, and rows of before are shown as old and are not opened", async () => {
  using server = new FakeApiServer();
  for (const name of ["cart-0", "cart-1", "mail-0"]) create(server, name);
  await using served = new ServedPage(server);
  await using visit = await Visit.begin(served.address);
  await visit.until(firstIs("cart-0"));
  await visit.until('document.querySelector("table").ariaBusy === "false"');
  const { page } = visit;
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  await page.route("**/views/*", async (route) => {
    await held;
    await route.continue();
  });
  await page.keyboard.press("/");
  await page.keyboard.type("mail");
  for (const key of ["Enter", "ArrowDown", "Enter"]) await page.keyboard.press(key);
  assertEquals(await page.evaluate("document.activeElement.id"), "filter");
  await page.locator("#rows tr").first().click();
  assertEquals([await visit.column(2), await page.locator("#details").isVisible()], [
    ["cart-0", "cart-1", "mail-0"],
    false,
  ]);
  const opacity = await page.evaluate("getComputedStyle(document.querySelector('#rows')).opacity");
  assertEquals([await page.locator("table").getAttribute("aria-busy"), opacity], ["true", "0.5"]);
  release();
  await visit.until('document.activeElement.cells?.[1].textContent === "mail-0"');
  assertEquals([await visit.column(2), await page.locator("table").getAttribute("aria-busy")], [["mail-0"], "false"]);
  await page.keyboard.press("Enter");
  await visit.until('document.querySelector("#title").textContent === "shop/mail-0"');
  assertEquals(visit.complaints, []);
});

browserTest("a filter that asks for the same rows in other words is not waited for", async () => {
  using server = new FakeApiServer();
  for (const name of ["cart-0", "mail-0"]) create(server, name);
  await using served = new ServedPage(server);
  await using visit = await Visit.begin(served.address);
  await visit.until(firstIs("cart-0"));
  await visit.page.fill("#filter", "mail");
  await visit.until(firstIs("mail-0"));
  await visit.page.focus("#filter");
  await visit.page.fill("#filter", "MAIL ");
  await visit.page.keyboard.press("Enter");
  await visit.until('document.activeElement.cells?.[1].textContent === "mail-0"');
  await visit.until('document.querySelector("[aria-busy=true]") === null');
  assertEquals(visit.complaints, []);
});

browserTest("the page says why it is refused", async () => {
  using server = new FakeApiServer();
  create(server, "cart-0");
  await using served = new ServedPage(server);
  await using visit = await Visit.begin("about:blank");
  const error =
    "Cannot answer GET: this server does not serve this host; add it to the option hosts, or pass --host on the command line";
  const refuse = async (path: string, status: number): Promise<void> => {
    await visit.page.route(path, (route) => route.fulfill({ status, json: { error } }));
  };
  await refuse("**/api", 421);
  await visit.page.goto(served.address);
  await visit.until(`document.querySelector("#problem").checkVisibility()`);
  assertEquals(await visit.page.locator("#problem").textContent(), `421 ${error}`);
  assertEquals(await visit.page.locator("#state").textContent(), "refused");
  await visit.page.unroute("**/api");
  await refuse("**/views*", 503);
  await visit.page.goto(served.address);
  await visit.until(`document.querySelector("#problem").textContent.includes("503 ${error}")`);
  await visit.page.unroute("**/views*");
  await visit.until(firstIs("cart-0")); // it has asked again
  assertEquals(await visit.page.locator("#problem").isVisible(), false);
  assertEquals(visit.complaints.filter((it) => !/the server responded with a status of (421|503)/.test(it)), []);
});

browserTest("20,000 rows have elements for a few of them, wherever the page has scrolled", async () => {
  using server = new FakeApiServer();
  createMany(server, 20_000);
  await using served = new ServedPage(server);
  await using visit = await Visit.begin(served.address);
  await visit.until('document.querySelector("#count").textContent === "20,000 objects"');
  const rows = await visit.page.evaluate(async () => {
    // deno-lint-ignore no-explicit-any
    const { document, requestAnimationFrame } = globalThis as any;
    const scroller = document.querySelector("#scroller");
    let most = 0;
    for (let i = 0; i <= 100; i++) {
      scroller.scrollTop = (scroller.scrollHeight * i) / 100;
      await new Promise((resolve) => requestAnimationFrame(resolve));
      most = Math.max(most, document.querySelectorAll("#rows tr").length);
    }
    return most;
  });
  assert(rows <= 400, `${rows} rows have elements`);
  await visit.until('[...document.querySelectorAll("#rows tr")].at(-1)?.cells[1].textContent === "web-19999"');
  await visit.page.fill("#filter", "19998");
  await visit.until(firstIs("web-19998"));
  assertEquals(visit.complaints, []);
});

browserTest(
  "axe finds no violation in 20,000 rows that change, in light and dark, with and without details",
  async () => {
    using server = new FakeApiServer();
    createMany(server, 20_000);
    await using served = new ServedPage(server);
    using _changes = new Changes(server);
    await using visit = await Visit.begin(served.address);
    await visit.until('document.querySelector("#count").textContent === "20,000 objects"');
    await visit.page.evaluate(axe.source);
    const backgrounds = new Set<unknown>();
    for (const colorScheme of ["light", "dark"] as const) {
      await visit.page.emulateMedia({ colorScheme });
      backgrounds.add(await visit.page.evaluate("getComputedStyle(document.body).backgroundColor"));
      for (const open of [false, true]) {
        if (open) await visit.page.locator("#rows tr").first().click();
        // deno-lint-ignore no-explicit-any
        const { violations } = await visit.page.evaluate("axe.run()") as any;
        // deno-lint-ignore no-explicit-any
        assertEquals(violations.map(({ id, nodes }: any) => [id, nodes.map((it: any) => it.html)]), []);
        if (open) await visit.page.locator("#close").click();
      }
    }
    assertEquals(backgrounds.size, 2);
    await visit.until('document.querySelector("#per_second").textContent !== "0 events/s"');
  },
);

browserTest("all columns, and the first letters of the object, show beside an open object", async () => {
  using server = new FakeApiServer();
  create(server, "billing-api-20-c46e808d13-458v92a", "billing-canary");
  await using served = new ServedPage(server);
  await using visit = await Visit.begin(served.address);
  await visit.page.locator("#rows tr").first().click();
  await visit.until('document.querySelector("#yaml").textContent.includes("nodeName")');
  const beyond = (): Promise<number> =>
    visit.page.evaluate(
      'document.querySelector("#scroller").scrollWidth - document.querySelector("#scroller").clientWidth',
    ) as Promise<number>;
  assertEquals([await beyond(), await visit.page.locator("#scroller.cut").count()], [0, 0]);
  const isCut = '[...document.querySelectorAll("#rows td")].some((it) => it.scrollWidth > it.clientWidth)';
  assertEquals(await visit.page.evaluate(isCut), false);
  await visit.page.locator("#rows td").nth(1).hover(); // a title has what a narrower cell would cut
  assertEquals(await visit.page.locator("#rows td").nth(1).getAttribute("title"), "billing-api-20-c46e808d13-458v92a");
  const [left, top] = await visit.page.evaluate(`(() => {
    const range = document.createRange();
    range.setStart(yaml.firstChild, 0);
    range.setEnd(yaml.firstChild, 1);
    const [frame, letter] = [yaml.getBoundingClientRect(), range.getBoundingClientRect()];
    return [letter.left - frame.left, letter.top - frame.top];
  })()`) as number[];
  assert(left >= 4 && top >= 4, `the text begins at ${left}, ${top} of a frame of 2 pixels`);
  await visit.page.setViewportSize({ width: 720, height: 500 });
  await visit.until('document.querySelector("#scroller.cut")'); // a shadow says that there are more columns
  assert(await beyond() > 0);
  await visit.page.evaluate('document.querySelector("#scroller").scrollLeft = 1_000');
  await visit.until('document.querySelector("#scroller:not(.cut)")');
});

browserTest("the page shows one namespace, of those that have objects", async () => {
  using server = new FakeApiServer();
  create(server, "cart-0");
  create(server, "mail-0", "mail");
  await using served = new ServedPage(server);
  await using visit = await Visit.begin(served.address);
  const offered = (...names: string[]): Promise<void> =>
    visit.until(`[...namespace.options].map((it) => it.value).join() === ",${names.join()}"`);
  await offered("mail", "shop");
  await visit.page.selectOption("#namespace", "shop");
  await visit.until('document.querySelector("#count").textContent === "1 of 2 objects"');
  assertEquals(await visit.column(2), ["cart-0"]);
  create(server, "cart-1", "cart");
  await offered("cart", "mail", "shop");
  server.delete(Pod, "shop/cart-0");
  await visit.until('!document.querySelector("#empty").hidden');
  await offered("cart", "mail", "shop"); // the one that is shown stays
  await visit.page.selectOption("#namespace", "");
  await offered("cart", "mail");
  await visit.page.selectOption("#collection", "roles");
  await visit.until('document.querySelector("#namespaces").hidden');
  assertEquals(visit.complaints, []);
});

browserTest("an address has collection, namespace, filter, order and object, and back leads through them", async () => {
  using server = new FakeApiServer();
  for (const name of ["cart-0", "cart-1", "web-0"]) create(server, name);
  create(server, "cart-2", "other");
  server.create(ConfigMap, configMap({ name: "settings", namespace: "shop", data: { a: "b" } }));
  await using served = new ServedPage(server);
  await using visit = await Visit.begin(served.address);
  const { page } = visit;
  await visit.until('namespace.options.length === 3 && document.querySelectorAll("#rows tr").length === 4');
  await page.selectOption("#namespace", "shop");
  for (const text of ["c", "cart"]) {
    await page.fill("#filter", text);
    await visit.until(`decodeURIComponent(location.hash).endsWith("filter=${text}")`);
  }
  const name = page.locator("#heads th", { hasText: "Name" }).nth(1);
  for (let i = 0; i < 2; i++) await name.locator("button").click();
  await visit.until(firstIs("cart-1"));
  await page.locator("#rows tr").nth(1).click();
  const opened = 'document.querySelector("#yaml").textContent.includes("name: cart-0")';
  await visit.until(opened);
  assertEquals(
    new URL(page.url()).hash,
    "#collection=pods&namespace=shop&filter=cart&sort=-metadata.name&object=shop/cart-0",
  );

  await using other = await Visit.begin(page.url());
  await other.until(opened);
  await other.until('document.querySelectorAll("#rows tr").length === 2');
  const state = async (it: Visit): Promise<unknown> => [
    await it.column(2),
    await it.page.locator("#collection").inputValue(),
    await it.page.locator("#namespace").inputValue(),
    await it.page.locator("#filter").inputValue(),
    await it.page.locator("#heads th[aria-sort=descending]").allTextContents(),
    await it.page.locator("#rows [aria-selected=true] td:nth-child(2)").allTextContents(),
    await it.page.locator("#details").isVisible(),
    await it.page.title(),
  ];
  const there = [["cart-1", "cart-0"], "pods", "shop", "cart", ["Name"], ["cart-0"], true, "shop/cart-0: informer"];
  assertEquals([await state(visit), await state(other)], [there, there]);

  const shows = (names: string, more = "true"): Promise<void> =>
    visit.until(`[...document.querySelectorAll("#rows td:nth-child(2)")].map((it) => it.textContent).join() ===
      "${names}" && ${more}`);
  await page.goBack();
  await shows("cart-1,cart-0", 'document.querySelector("#details").hidden');
  await page.goBack();
  await shows("cart-0,cart-1", 'document.querySelector("[aria-sort=ascending]")');
  await page.goBack();
  await shows("cart-0,cart-1", '!document.querySelector("[aria-sort]")');
  await page.goBack(); // over both texts of the filter
  await shows("cart-0,cart-1,web-0", 'document.querySelector("#filter").value === ""');
  await page.goBack();
  await shows("cart-2,cart-0,cart-1,web-0", 'document.querySelector("#namespace").value === ""');
  for (let i = 0; i < 5; i++) await page.goForward();
  await visit.until(opened);
  await shows("cart-1,cart-0");
  await page.selectOption("#collection", "configmaps");
  await page.fill("#filter", "");
  await shows("settings", "location.hash === '#collection=configmaps&namespace=shop'");
  await page.goto(`${served.address}#collection=none&sort=%5B&namespace=a!&object=a/b/c`);
  await shows("cart-2,cart-0,cart-1,web-0");
  assertEquals([...visit.complaints, ...other.complaints], []);
});

browserTest("the page of several clusters shows one, and lets choose another", async () => {
  await using folder = new Folder();
  const contexts = ["berlin/west", "paris"];
  const servers = contexts.map(() => new FakeApiServer());
  servers.forEach((server, i) => server.create(Pod, pod({ name: `${contexts[i].slice(0, 5)}-0`, namespace: "shop" })));
  await using berlin = await serve(servers[0]);
  await using paris = await serve(servers[1]);
  const config = {
    clusters: [berlin, paris].map(({ url: server }, i) => ({ name: contexts[i], cluster: { server } })),
    contexts: contexts.map((name) => ({ name, context: { cluster: name } })),
  };
  const kubeconfig = folder.write("config", JSON.stringify(config));
  const session = new Session(["serve", "pods", "-A", "--kubeconfig", kubeconfig, "--all-contexts"]);
  await session.out.line(/^http:/);
  {
    await using visit = await Visit.begin(session.out.lines[0]);
    await visit.until(firstIs("berli-0"));
    assertEquals(await visit.page.locator("#cluster option").allTextContents(), contexts);
    assertEquals(await visit.page.locator("#cluster").inputValue(), "berlin/west");
    await visit.page.evaluate(axe.source);
    // deno-lint-ignore no-explicit-any
    assertEquals((await visit.page.evaluate("axe.run()") as any).violations.length, 0);
    await visit.page.fill("#filter", "0");
    await visit.until("location.hash.endsWith('filter=0')");
    const opened = visit.page.waitForURL("**/clusters/paris/#collection=pods&filter=0");
    await visit.page.locator("#cluster").selectOption("paris");
    await opened;
    await visit.until(firstIs("paris-0"));
    assertEquals(await visit.page.locator("#filter").inputValue(), "0");
    assertEquals(await visit.page.locator("#cluster").inputValue(), "paris");
    assertEquals(visit.complaints, []);
  }
  session.interrupt();
  assertEquals(await session.code, 0);
});

Deno.test("the page has no text that a template could have left out, and asks for nothing but its relay", () => {
  assert(PAGE_HTML.startsWith("<!doctype html>") && PAGE_HTML.includes("</html>"));
  assertEquals(PAGE_HTML.match(/\/\* page\/|https?:\/\/|\son\w+=|\sstyle=/g), null);
});
