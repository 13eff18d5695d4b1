import { groupsOf, KINDS } from "../../../support/histories/kinds.ts";

for (const { from, to, play } of groupsOf(KINDS.rescope)) {
  Deno.test(`scopes that change ${from} to ${to}: cache and events equal the server in each scope`, play);
}
