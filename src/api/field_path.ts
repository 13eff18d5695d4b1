/**
 * Returns the keys of a field path: `spec.nodeName` has two, `metadata.annotations["example.com/owner"]` three.
 *
 * Keys are separated by dots. A key with other characters than letters, digits, `_`, `-` and `$` is a JSON string in brackets. A path passes
 * through arrays without naming them: `spec.containers.image` is the image of each container.
 *
 * @throws {SyntaxError} when the text is no path; the message names the offending character, counted from 1.
 */
export function parseFieldPath(path: string): readonly string[] {
  const keys: string[] = [];
  for (let at = 0; at < path.length || at === 0;) {
    const rest = path.slice(at);
    const [text, key] = (rest.startsWith("[") ? QUOTED.exec(rest) : PLAIN.exec(rest)) ?? refuse(path, at);
    keys.push(text.startsWith("[") ? JSON.parse(key) : key);
    at += text.length;
    if (at === path.length) break;
    if (path[at] === ".") at++;
    else if (path[at] !== "[") refuse(path, at);
    if (at === path.length || (path[at] === "[" && path[at - 1] === ".")) refuse(path, at);
  }
  return keys;
}

/** Returns the text of a path, which {@linkcode parseFieldPath} reads back. */
export function formatFieldPath(keys: readonly string[]): string {
  return keys.map((key, i) => /^[\w$-]+$/.test(key) ? (i === 0 ? key : `.${key}`) : `[${JSON.stringify(key)}]`).join(
    "",
  );
}

const PLAIN = /^([\w$-]+)/;
// deno-lint-ignore no-control-regex -- JSON strings have none
const QUOTED = /^\[("(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")\]/;

function refuse(path: string, at: number): never {
  const found = at < path.length ? `found ${JSON.stringify(path[at])} at character ${at + 1}` : "it ends there";
  throw new SyntaxError(
    `Cannot read the field path ${
      JSON.stringify(path)
    }: ${found}, expected a key such as spec, or ["example.com/owner"]`,
  );
}
