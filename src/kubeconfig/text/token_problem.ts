/** What is wrong with a bearer token, to go after its name; nothing when it can be sent. Never says the token. */
export function tokenProblem(token: string): string | undefined {
  if (token === "") return "is empty";
  return /^[\x21-\x7e]+$/.test(token)
    ? undefined
    : "holds blanks, line ends or characters beyond ASCII, which no token has";
}
