import { assertEquals } from "@std/assert";
import { expiryOf, span } from "../../../../src/cli/doctor/checkup/expiry.ts";
import { termOfToken } from "../../../../src/kubeconfig/text/term_of_token.ts";
import { webToken } from "../_doctor.ts";

const DAY = 86_400_000;
const NOW = Date.UTC(2030, 0, 1);

Deno.test("expiryOf fails what has expired or is not valid yet, and warns of what expires within a week", () => {
  const year = { fromMs: NOW - 300 * DAY };
  const cases: [Parameters<typeof expiryOf>[0], boolean, string, string][] = [
    [{ ...year, untilMs: NOW + 65 * DAY }, false, "ok", "until 2030-03-07 (65 days)"],
    [{ ...year, untilMs: NOW + 6 * DAY }, false, "warn", "until 2030-01-07 (6 days)"],
    [{ ...year, untilMs: NOW + 6 * DAY }, true, "ok", "until 2030-01-07 (6 days)"],
    [{ ...year, untilMs: NOW - 3 * DAY }, true, "fail", "expired 3 days ago, on 2029-12-29"],
    [{ untilMs: NOW }, false, "fail", "expired 0 s ago, on 2030-01-01"],
    [
      { fromMs: NOW + 5 * DAY, untilMs: NOW + 9 * DAY },
      false,
      "fail",
      "is valid only from 2030-01-06 on, in 5 days",
    ],
    // Another clock may be half a minute ahead.
    [{ fromMs: NOW + 30_000, untilMs: NOW + 99 * DAY }, false, "ok", "until 2030-04-10 (99 days)"],
    // What lives two days is well for most of them.
    [{ fromMs: NOW - DAY, untilMs: NOW + DAY }, false, "ok", "until 2030-01-02 (24 h)"],
  ];
  for (const [term, renews, status, words] of cases) {
    assertEquals(expiryOf(term, NOW, renews), { status: status as "ok", words });
  }
});

Deno.test("span prints a length of time in one unit", () => {
  const said = [59_000, 119_999, 120_000, 7_199_999, 7_200_000, 2 * DAY - 1, 2 * DAY, 3650 * DAY].map(span);
  assertEquals(said, ["59 s", "119 s", "2 min", "119 min", "2 h", "47 h", "2 days", "3650 days"]);
});

Deno.test("termOfToken reads the expiry of a JSON Web Token, and is undefined for other tokens", () => {
  const at = Math.floor(Date.now() / 1_000) * 1_000;
  const term = termOfToken(webToken(-3_600_000, 3_600_000));
  assertEquals(Math.abs((term?.untilMs ?? 0) - at - 3_600_000) <= 2_000, true);
  assertEquals((term?.untilMs ?? 0) - (term?.fromMs ?? 0), 7_200_000);
  const others = ["", "abc", "a.b", "a.!.c", `a.${btoa("null")}.c`, `a.${btoa('{"exp":"soon"}')}.c`, "a.b.c.d"];
  assertEquals(others.map(termOfToken), others.map(() => undefined));
});
