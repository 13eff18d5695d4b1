import { groupsOf, KINDS } from "../../support/histories/kinds.ts";

for (const { from, to, play } of groupsOf(KINDS.logs)) {
  Deno.test(`logs yields each line of 50 pods once, or marks a gap, for the seeds ${from} to ${to}`, play);
}
