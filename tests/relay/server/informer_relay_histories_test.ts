import { groupsOf, KINDS } from "../../support/histories/kinds.ts";

for (const { from, to, play } of groupsOf(KINDS.replicas)) {
  Deno.test(
    `replicas ${from} to ${to}: copies equal the server, and no version goes back or comes twice`,
    { timeout: 600_000 },
    play,
  );
}

for (const { from, to, play } of groupsOf(KINDS.relays)) {
  Deno.test(
    `relays ${from} to ${to}: informers behind a relay equal the server, and no version goes back`,
    { timeout: 600_000 },
    play,
  );
}

for (const { from, play } of groupsOf(KINDS.users)) {
  Deno.test(`25 users see of a shared relay what they see of one of their objects, seed ${from}`, play);
}
