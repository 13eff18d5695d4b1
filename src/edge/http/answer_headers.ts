/** The headers of all answers: nothing is kept without asking again, framed, run as a script, or guessed to be of another type. */
export const ANSWER_HEADERS: Readonly<Record<string, string>> = {
  "cache-control": "no-cache",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "x-content-type-options": "nosniff",
};
