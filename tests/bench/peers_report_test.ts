import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { PEERS } from "../../bench/peers/peer.ts";
import { machineOf, withReport } from "../../bench/peers/report.ts";
import { readReport } from "../../bench/peers/report_data.ts";

function read(path: string): string {
  return Deno.readTextFileSync(new URL(`../../${path}`, import.meta.url));
}

Deno.test("peers report: README has the figures of bench/reports/peers.json", async () => {
  const readme = read("README.md");
  assertEquals(readme, await withReport(readme, readReport()), "deno task bench:peers --report writes both");
});

Deno.test("peers report: it replaces the part of README between its lines, and nothing else", async () => {
  const report = { ...readReport(), commit: "0123abcd", measuredOn: "2026-12-01", repetitions: 16 };
  const readme = read("README.md");
  const written = await withReport(readme, report);
  const without = (text: string): string[] => text.split(/<!-- (?:Written by deno task bench:peers|End of)[^]*?-->/);
  assertEquals(without(written).toSpliced(1, 1), without(readme).toSpliced(1, 1));
  assertEquals(/medians of 16 runs of commit 0123abcd on\s+2026-12-01/.test(without(written)[1]), true);
  await assertRejects(() => withReport("# A page\n", report), Error, "Cannot find");
});

Deno.test("peers report: the peak memory with many pods is a row of its own, if it was measured", async () => {
  const readme = read("README.md");
  const { large: _without, ...report } = readReport();
  const clients = ["keys", "client-go", "kube-rs"].map((id, i) => {
    return { id, client: PEERS.find((peer) => peer.id === id)!.name, peakRssMb: 1_234 + i };
  });
  const large = { pods: 100_000, repetitions: 3, clients };
  const row =
    /\n\n\| medians of 3 runs.*`@kube\/informer`, only keys read \| client-go \S+ JSON \| kube-rs .*\n.*\n\| 100,000 pods: peak memory, MB \|\s+1,234 \|\s+1,235 \|\s+1,236 \|\n/;
  assertMatch(await withReport(readme, { ...report, large }), row);
  assertEquals((await withReport(readme, report)).includes("100,000 pods: peak memory, MB"), false);
});

Deno.test("peers report: its clients are known by their ids", () => {
  const known = new Set(PEERS.map(({ id }) => id));
  assertEquals(readReport().clients.filter(({ id }) => !known.has(id)), []);
});

Deno.test("peers report: a machine is its cores, model and memory", () => {
  const cpuinfo = (model: string, cores: number): string =>
    Array.from({ length: cores }, (_, i) => `processor\t: ${i}\nmodel name\t: ${model}\n`).join("\n");
  const meminfo = "MemTotal:       24684084 kB\nMemFree: 1 kB\n";
  assertEquals(machineOf(cpuinfo("AMD EPYC", 2), meminfo), "2 cores of an AMD EPYC, 24 GiB");
  const model = "Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz";
  assertEquals(machineOf(cpuinfo(model, 1), meminfo), "1 core of an Intel Xeon Platinum 8481C, 24 GiB");
});
