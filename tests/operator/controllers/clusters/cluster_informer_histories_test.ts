import { groupsOf, KINDS } from "../../../support/histories/kinds.ts";

for (const { from, to, play } of groupsOf(KINDS.clusters)) {
  Deno.test(`clusters ${from} to ${to}: handlers and reads of all clusters equal the servers`, play);
}
