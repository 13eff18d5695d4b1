import { assertEquals, assertThrows } from "@std/assert";
import fc from "npm:fast-check@^4.10.2";
import { type MetricFamily, openMetricsText } from "../../../src/engine/informer/metrics.ts";
import { parseOpenMetrics } from "../../support/texts/parse_open_metrics.ts";

const family = (more: Partial<MetricFamily>): MetricFamily => ({
  name: "a",
  type: "gauge",
  help: "",
  samples: [],
  ...more,
});

Deno.test("openMetricsText writes type, unit, help and samples of each family, and ends with # EOF", () => {
  const text = openMetricsText([
    family({
      name: "waits_seconds",
      type: "summary",
      unit: "seconds",
      help: "Waits.",
      samples: [{ value: 0.5, count: 2 }],
    }),
    family({
      name: "adds",
      type: "counter",
      help: `A "quoted"\nline \\`,
      samples: [{ labels: { q: `a"b\\c\nd` }, value: 1 }],
    }),
    family({
      name: "age",
      help: "Ages.",
      samples: [{ labels: { a: "1", b: "2" }, value: -1.5e300 }, { value: Infinity }],
    }),
    family({ name: "none", help: "Nothing yet." }),
  ]);
  assertEquals(text.split("\n"), [
    "# TYPE waits_seconds summary",
    "# UNIT waits_seconds seconds",
    "# HELP waits_seconds Waits.",
    "waits_seconds_count 2",
    "waits_seconds_sum 0.5",
    "# TYPE adds counter",
    String.raw`# HELP adds A \"quoted\"\nline \\`,
    String.raw`adds_total{q="a\"b\\c\nd"} 1`,
    "# TYPE age gauge",
    "# HELP age Ages.",
    `age{a="1",b="2"} -1.5e+300`,
    "age +Inf",
    "# TYPE none gauge",
    "# HELP none Nothing yet.",
    "# EOF",
    "",
  ]);
  assertEquals(parseOpenMetrics(text)[1].samples[0].labels, { q: `a"b\\c\nd` });
});

Deno.test("openMetricsText writes any help, label value and number so that a strict parser reads them back", () => {
  const text = fc.string({ unit: "binary" });
  fc.assert(fc.property(text, text, fc.double(), (help, label, value) => {
    const [parsed] = parseOpenMetrics(openMetricsText([family({ help, samples: [{ labels: { label }, value }] })]));
    assertEquals(parsed.help, help.toWellFormed());
    assertEquals(parsed.samples[0].labels, { label: label.toWellFormed() });
    assertEquals(parsed.samples[0].value, value);
  }));
});

Deno.test("openMetricsText writes the buckets of a histogram, whose bounds have a point, and the last one", () => {
  const samples = [{
    labels: { q: "a" },
    value: 7.5,
    count: 3,
    buckets: [{ upTo: 0.005, count: 1 }, { upTo: 1, count: 2 }, { upTo: 2.5, count: 2 }],
  }, { labels: { q: "b" }, value: 0 }];
  const text = openMetricsText([family({ name: "waits_seconds", type: "histogram", unit: "seconds", samples })]);
  assertEquals(text.split("\n").slice(3, -2), [
    `waits_seconds_bucket{q="a",le="0.005"} 1`,
    `waits_seconds_bucket{q="a",le="1.0"} 2`,
    `waits_seconds_bucket{q="a",le="2.5"} 2`,
    `waits_seconds_bucket{q="a",le="+Inf"} 3`,
    `waits_seconds_count{q="a"} 3`,
    `waits_seconds_sum{q="a"} 7.5`,
    `waits_seconds_bucket{q="b",le="+Inf"} 0`,
    `waits_seconds_count{q="b"} 0`,
    `waits_seconds_sum{q="b"} 0`,
  ]);
  assertEquals(parseOpenMetrics(text)[0].samples.length, 9);
});

Deno.test("openMetricsText refuses names, units and counters that the format does not allow", () => {
  const refused = (more: Partial<MetricFamily>, message: string): unknown =>
    assertThrows(() => openMetricsText([family(more)]), TypeError, message);
  refused({ name: "a-b" }, `"a-b" is not a valid name`);
  refused({ samples: [{ labels: { "a.b": "" }, value: 1 }] }, `"a.b" is not a valid`);
  refused({ unit: "seconds" }, `"a" must end with "_seconds"`);
  refused({ type: "counter", samples: [{ value: -1 }] }, "it is -1");
  refused({ type: "summary", samples: [{ value: NaN }] }, "it is NaN");
  assertThrows(() => openMetricsText([family({}), family({})]), TypeError, `two families have the name "a"`);
});

Deno.test("the parser of these tests refuses what OpenMetrics does", () => {
  for (
    const text of [
      "a 1\n# EOF\n",
      "# TYPE a gauge\na 1\n",
      "# TYPE a counter\na 1\n# EOF\n",
      '# TYPE a gauge\na{b="\\t"} 1\n# EOF\n',
      "# TYPE a gauge\na 1\na 1\n# EOF\n",
      "# TYPE a gauge\na 1\n# HELP a x\n# EOF\n",
      "# TYPE a gauge\n# TYPE b gauge\n# HELP a x\n# EOF\n",
      '# TYPE a gauge\na{b="1",} 1\n# EOF\n',
      "# TYPE a gauge\n# UNIT a seconds\n# EOF\n",
      "# TYPE a counter\na_total -1\n# EOF\n",
      "# TYPE a gauge\n\na 1\n# EOF\n",
      "# TYPE a gauge\na  1\n# EOF\n",
      "# TYPE a counter\n# TYPE a_total gauge\n# EOF\n",
      "# TYPE a histogram\na_bucket 1\n# EOF\n",
      '# TYPE a histogram\na_bucket{le="1"} 1\n# EOF\n',
      '# TYPE a histogram\na_bucket{le="1.0"} 1\na_count 1\n# EOF\n',
      '# TYPE a histogram\na_bucket{le="+Inf"} 1\na_count 2\n# EOF\n',
      '# TYPE a histogram\na_bucket{le="1.0"} 2\na_bucket{le="+Inf"} 1\na_count 1\n# EOF\n',
    ]
  ) assertThrows(() => parseOpenMetrics(text), SyntaxError);
});
