import { assertEquals, assertRejects } from "@std/assert";
import { tokenLogin } from "../../../src/deno/credentials/token_login.ts";
import { errorLine } from "../../../src/errors/error_line.ts";
import { FakeTime } from "../../support/fake_time.ts";

/** A JSON Web Token that is valid for so long from now. */
function webToken(ms: number): string {
  return `h.${btoa(JSON.stringify({ exp: Math.floor((Date.now() + ms) / 1_000) }))}.s`;
}

async function header(login: ReturnType<typeof tokenLogin>, refresh = false): Promise<string | null> {
  const headers = new Headers();
  await login.apply(headers, { refresh });
  return headers.get("authorization");
}

Deno.test("tokenLogin asks for a token 10 s before the last one expires, once for all requests", async () => {
  using time = new FakeTime();
  const tokens: string[] = [];
  const login = tokenLogin(() => {
    tokens.push(webToken(300_000));
    return tokens.at(-1)!;
  });
  assertEquals(tokens.length, 0);
  await Promise.all([header(login), header(login)]);
  await time.tickAsync(289_000);
  assertEquals([await header(login), tokens.length], [`Bearer ${tokens[0]}`, 1]);
  await time.tickAsync(1_000);
  assertEquals([await header(login), tokens.length], [`Bearer ${tokens[1]}`, 2]);
});

Deno.test("tokenLogin keeps a token that does not say when it expires until the server refuses it", async () => {
  using time = new FakeTime();
  let calls = 0;
  const login = tokenLogin(() => Promise.resolve(`token-${++calls}`));
  await header(login);
  await time.tickAsync(86_400_000);
  assertEquals(await header(login), "Bearer token-1");
  assertEquals(await header(login, true), "Bearer token-2");
});

Deno.test("tokenLogin says why there is no token, and never quotes one", async () => {
  const thrown = await assertRejects(() => header(tokenLogin(() => Promise.reject(new Error("no issuer")))), Error);
  assertEquals(errorLine(thrown), 'Cannot get a token: the function of option "token" failed: no issuer');
  const problem = await assertRejects(() => header(tokenLogin(() => "two words")), TypeError);
  assertEquals(
    problem.message,
    'Cannot use the token that option "token" returned: it holds blanks, line ends or characters beyond ASCII, which no ' +
      "token has",
  );
  const other = await assertRejects(() => header(tokenLogin(() => undefined as unknown as string)), TypeError);
  assertEquals(other.message.split(": it ")[1], "is undefined, expected a string");
});
