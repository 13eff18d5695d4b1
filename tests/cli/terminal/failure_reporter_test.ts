import { assertEquals } from "@std/assert";
import { FailureReporter } from "../../../src/cli/terminal/failure_reporter.ts";

function listen(): { readonly complaints: FailureReporter; readonly said: string[] } {
  const said: string[] = [];
  return { complaints: new FailureReporter("pods", (line) => said.push(line)), said };
}

Deno.test("Complaints says the same once until all is well", () => {
  const { complaints, said } = listen();
  for (let i = 0; i < 3; i++) {
    complaints.report(new Error("no answer"), true);
    complaints.report(new Error("refused"), true);
  }
  complaints.recovered();
  complaints.recovered();
  complaints.report(new Error("no answer"), true);
  assertEquals(said, [
    "pods: no answer; trying again",
    "pods: refused; trying again",
    "pods: live again",
    "pods: no answer; trying again",
  ]);
});

Deno.test("Complaints does not say live again after what was not tried again", () => {
  const { complaints, said } = listen();
  complaints.report(new Error("object a/b cannot be read", { cause: new Error("end of text") }), false);
  complaints.recovered();
  assertEquals(said, ["pods: object a/b cannot be read: end of text"]);
});

Deno.test("Complaints remembers a limited number", () => {
  const { complaints, said } = listen();
  for (let i = 0; i < 1_001; i++) complaints.report(new Error(`object ${i}`), false);
  complaints.report(new Error("object 1000"), false);
  assertEquals(said.length, 1_001);
  complaints.report(new Error("object 0"), false);
  assertEquals(said.length, 1_002);
});
