import { assert, assertEquals } from "@std/assert";
import { referenceNames } from "../../tools/api.ts";
import { pages, ROOT } from "../support/texts/pages.ts";

/** Names of other libraries and of Deno's documentation that pages mention, with their members. */
const FOREIGN = /^(?:Bun|Deno|React|Temporal|createSubscriber|readable|shallowRef|DiscardResult)$/;

/** Pages about other clients, which are full of their names. */
const OTHER_CLIENTS = /\/coming[-_]from/;

/**
 * The names of `code` that the reference lacks: functions and methods that it calls, as `connect()` and
 * `informers.forResource()`, and members of types, as `Client.discover`. Members of variables are only checked if they
 * are called: others are fields of objects. Names that the code declares, and globals, are not checked.
 */
function unknownIn(code: string, names: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const members = new Set([...names.values()].flatMap((set) => [...set]));
  const found: string[] = [];
  for (
    const [, head, member, call] of code.matchAll(/(?<![\w$."'/-])([A-Za-z_$][\w$]*)(?:\.([A-Za-z_$][\w$]*))?(\()?/g)
  ) {
    if (FOREIGN.test(head) || head in globalThis || /^(?:md|tsx?|json|ya?ml)$/.test(member ?? "")) continue;
    if (new RegExp(`\\b(?:const|let|function) ${head}\\b`).test(code)) continue;
    const isThere = member === undefined
      ? call === undefined || names.has(head) || members.has(head)
      : /^[A-Z]/.test(head)
      ? names.get(head)?.has(member)
      : call === undefined || members.has(member);
    if (!isThere) found.push(member === undefined ? head : `${head}.${member}`);
  }
  return found;
}

Deno.test("unknownIn finds calls and members that the reference does not have", () => {
  const names = new Map([["Client", new Set(["discover", "resource"])], ["connect", new Set<string>()]]);
  const known = [
    "connect()",
    "await client.resource(Pod)",
    "Client.discover",
    "spec.nodeName",
    "Deno.serve()",
    "main.ts",
    "const track = connect(); track()",
    "/readyz",
    "kubectl get pods",
  ];
  assertEquals(known.flatMap((code) => unknownIn(code, names)), []);
  const unknown = ["connectAll()", "client.resources(Pod)", "Client.list", "Position.open()"];
  assertEquals(unknown.flatMap((code) => unknownIn(code, names)), [
    "connectAll",
    "client.resources",
    "Client.list",
    "Position.open",
  ]);
});

Deno.test("the names that README and docs mention in their text exist in the reference", async () => {
  const names = await referenceNames();
  const wrong: string[] = [];
  let count = 0;
  for (const page of pages().filter((page) => !OTHER_CLIENTS.test(page))) {
    const text = Deno.readTextFileSync(new URL(page, ROOT)).replaceAll(/^([ \t]*)```[^]*?^\1```$/gm, "");
    for (const [, code] of text.matchAll(/`([^`\n]+)`/g)) {
      count++;
      wrong.push(...unknownIn(code, names).map((name) => `${page}: nothing has the name ${name}, in \`${code}\``));
    }
  }
  assert(count > 500, `found ${count}`);
  assertEquals(wrong, []);
});
