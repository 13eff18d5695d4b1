/** E4: the tasks of the page of `informer serve` in Chromium: load, filter and scroll, in a process of its own. */
import { Child } from "../peers/child.ts";
import { caseCommand, measureCase, type Measurement, mediansOf, ms, type Numbers } from "./measurement.ts";

/** The longest accepted task, in milliseconds. */
const TASK_MS = 80;

/** E4: the longest tasks of the page, whose cluster has 20,000 pods, of which 100 change each second. */
export const PAGE: Measurement = {
  ids: ["E4a", "E4b", "E4c", "E4d"],
  name: "page",
  onlyNamed: true,
  measure: async ({ repetitions }) => {
    const runs: Numbers[] = [];
    for (let i = 0; i < repetitions; i++) runs.push(await measureCase(import.meta.url, { v8Flags: [] }));
    const { load, filter, scroll, cpu } = mediansOf(runs);
    const what = "longest task of the page of 20,000 rows, 100 changes/s, at";
    return [
      ms("E4a", `${what} load`, load, TASK_MS),
      ms("E4b", `${what} filter`, filter, TASK_MS),
      ms("E4c", `${what} scroll`, scroll, TASK_MS),
      { id: "E4d", what: "CPU time of the task that takes most", value: cpu, unit: "ms" },
    ];
  },
};

/** A task in a trace of Chromium, whose times are in microseconds. */
interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  readonly dur?: number;
  readonly tdur?: number;
  readonly args: { readonly name?: string };
}

async function main(): Promise<void> {
  const { CHROMIUM, closeBrowser, Visit } = await import("../../tests/support/servers/served_page.ts");
  if (CHROMIUM === undefined) throw new Error("Cannot measure the page: found no Chromium; set CHROMIUM to its path");
  await using server = new Child(caseCommand(new URL("_page_server.ts", import.meta.url).href, { v8Flags: [] }));
  const address = await server.line(60_000);
  const visit = await Visit.begin("about:blank");
  const { page } = visit;
  const browser = page.context().browser()!;
  let cpu = 0;
  const longest = async (job: () => Promise<unknown>): Promise<number> => {
    await browser.startTracing(page, { categories: ["toplevel"] });
    await job();
    const text = new TextDecoder().decode(await browser.stopTracing());
    const { traceEvents } = JSON.parse(text) as { traceEvents: TraceEvent[] };
    const place = ({ pid, tid }: TraceEvent): string => `${pid} ${tid}`;
    const main = new Set(traceEvents.filter(({ args }) => args.name === "CrRendererMain").map(place));
    const tasks = traceEvents.filter((event) => event.name.endsWith("RunTask") && main.has(place(event)));
    if (tasks.length === 0) throw new Error("Cannot measure the page: its trace has no task");
    cpu = Math.max(cpu, ...tasks.map(({ tdur = 0 }) => tdur / 1_000));
    return Math.max(...tasks.map(({ dur = 0 }) => dur / 1_000));
  };
  const count = (text: string): Promise<void> =>
    visit.until(`document.querySelector("#count").textContent.startsWith("${text}")`);
  const load = await longest(async () => {
    await page.goto(address);
    await count("20,000");
    await page.waitForTimeout(2_000);
  });
  const filter = await longest(async () => {
    for (const [words, found] of [["web-1", "10,000"], ["web-19 shop-7", "20 "], ["nothing", "0"], ["", "20,000"]]) {
      await page.fill("#filter", words);
      await count(found);
    }
  });
  const scroll = await longest(async () => {
    await page.evaluate(async () => {
      // deno-lint-ignore no-explicit-any
      const { document, requestAnimationFrame } = globalThis as any;
      const scroller = document.querySelector("#scroller");
      for (let i = 0; i <= 300; i++) {
        scroller.scrollTop = (scroller.scrollHeight * i) / 300;
        await new Promise((resolve) => requestAnimationFrame(resolve));
      }
    });
    await visit.until(`document.querySelector("#rows [aria-rowindex='20001']")`);
  });
  console.log(JSON.stringify({ load, filter, scroll, cpu }));
  await visit[Symbol.asyncDispose]();
  await closeBrowser();
}

if (import.meta.main) await main();
