/** An exchange with a real kube-apiserver, as it was recorded. */
export interface Recorded {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The body that was sent; `""` when there was none. */
  readonly sent: string;
  readonly status: number;
  readonly answerHeaders: Headers;
  readonly text: string;
}

/** Reads one of the exchanges in `answers`. */
export async function recorded(name: string): Promise<Recorded> {
  const file = await Deno.readTextFile(new URL(`../../testing/fake/answers/${name}.http`, import.meta.url));
  const lines = file.split("\n");
  const first = lines.findIndex((line) => !line.startsWith("#"));
  const answer = lines.findIndex((line) => /^HTTP\/1\.1 \d/.test(line));
  const [method, path] = lines[first].split(" ");
  const request = section(lines.slice(first + 1, answer));
  const response = section(lines.slice(answer + 1));
  return {
    name,
    method,
    path,
    headers: Object.fromEntries(request.headers),
    sent: request.body.trim(),
    status: Number(lines[answer].split(" ")[1]),
    answerHeaders: response.headers,
    text: response.body.trimEnd(),
  };
}

function section(lines: readonly string[]): { readonly headers: Headers; readonly body: string } {
  const end = lines.indexOf("");
  const headers = new Headers();
  for (const line of end < 0 ? lines : lines.slice(0, end)) {
    const colon = line.indexOf(":");
    if (colon > 0) headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  return { headers, body: end < 0 ? "" : lines.slice(end + 1).join("\n") };
}

const UID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/** A body as values to compare: uids, times and ages say only that they are there; watches are lists of events. */
export function comparable(text: string, without: readonly string[] = []): unknown {
  const plain = (value: unknown): unknown => {
    if (typeof value === "string") {
      if (UID.test(value)) return "(uid)";
      if (TIME.test(value)) return "(time)";
      return /^\d+[smh]$/.test(value) ? "(age)" : value;
    }
    if (Array.isArray(value)) return value.map(plain);
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value).filter(([key]) => !without.includes(key));
    return entries.map(([key, inner]) => [key, plain(inner)]); // as a list: the order of members counts
  };
  if (!text.startsWith("{")) return text;
  if (text.startsWith('{"type":')) return text.split("\n").map((line) => plain(JSON.parse(line)));
  return plain(JSON.parse(text));
}
