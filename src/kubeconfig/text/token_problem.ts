/**
 * Returns the problem with a bearer token, to follow its name in a sentence; `undefined` if it can be sent. Never
 * quotes the token.
 */
export function tokenProblem(token: string): string | undefined {
  if (token === "") return "is empty";
  return /^[\x21-\x7e]+$/.test(token)
    ? undefined
    : "holds blanks, line ends or characters beyond ASCII, which no token has";
}
