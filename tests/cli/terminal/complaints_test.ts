import { assertEquals } from "@std/assert";
import { Complaints } from "../../../src/cli/terminal/complaints.ts";

function listen(): { readonly complaints: Complaints; readonly said: string[] } {
  const said: string[] = [];
  return { complaints: new Complaints("pods", (line) => said.push(line)), said };
}

Deno.test("Complaints says the same once until all is well", () => {
  const { complaints, said } = listen();
  for (let i = 0; i < 3; i++) {
    complaints.complain(new Error("no answer"), true);
    complaints.complain(new Error("refused"), true);
  }
  complaints.well();
  complaints.well();
  complaints.complain(new Error("no answer"), true);
  assertEquals(said, [
    "pods: no answer; trying again",
    "pods: refused; trying again",
    "pods: live again",
    "pods: no answer; trying again",
  ]);
});

Deno.test("Complaints does not say live again after what was not tried again", () => {
  const { complaints, said } = listen();
  complaints.complain(new Error("object a/b cannot be read", { cause: new Error("end of text") }), false);
  complaints.well();
  assertEquals(said, ["pods: object a/b cannot be read: end of text"]);
});

Deno.test("Complaints remembers a limited number", () => {
  const { complaints, said } = listen();
  for (let i = 0; i < 1_001; i++) complaints.complain(new Error(`object ${i}`), false);
  complaints.complain(new Error("object 1000"), false);
  assertEquals(said.length, 1_001);
  complaints.complain(new Error("object 0"), false);
  assertEquals(said.length, 1_002);
});
