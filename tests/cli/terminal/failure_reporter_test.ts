import { assertEquals } from "@std/assert";
import { FailureReporter } from "../../../src/cli/terminal/failure_reporter.ts";

function listen(): { readonly reporter: FailureReporter; readonly said: string[] } {
  const said: string[] = [];
  return { reporter: new FailureReporter("pods", (line) => said.push(line)), said };
}

Deno.test("FailureReporter prints the same failure once until the informer is live again", () => {
  const { reporter, said } = listen();
  for (let i = 0; i < 3; i++) {
    reporter.report(new Error("no answer"), true);
    reporter.report(new Error("refused"), true);
  }
  reporter.recovered();
  reporter.recovered();
  reporter.report(new Error("no answer"), true);
  assertEquals(said, [
    "pods: no answer; trying again",
    "pods: refused; trying again",
    "pods: live again",
    "pods: no answer; trying again",
  ]);
});

Deno.test('FailureReporter does not print "live again" after a failure that was not retried', () => {
  const { reporter, said } = listen();
  reporter.report(new Error("object a/b cannot be read", { cause: new Error("end of text") }), false);
  reporter.recovered();
  assertEquals(said, ["pods: object a/b cannot be read: end of text"]);
});

Deno.test("FailureReporter remembers at most 1,000 messages", () => {
  const { reporter, said } = listen();
  for (let i = 0; i < 1_001; i++) reporter.report(new Error(`object ${i}`), false);
  reporter.report(new Error("object 1000"), false);
  assertEquals(said.length, 1_001);
  reporter.report(new Error("object 0"), false);
  assertEquals(said.length, 1_002);
});
