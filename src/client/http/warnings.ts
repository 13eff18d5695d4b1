/** A warning value: code, agent, quoted text and perhaps a quoted date (RFC 7234, 5.5), and the separator behind it. */
const VALUE = /\s*(\d{3})\s+([^\s",]+)\s+"((?:[^"\\]|\\.)*)"(?:\s+"[^"]*")?\s*(?:,|$)/y;

/**
 * The texts of the API server's warnings, which have code 299. Other codes are about caches on the way and are dropped. Text
 * that is no warning value is returned as it is, so that nothing is lost.
 */
export function warningsOf(headers: Headers): string[] {
  const header = headers.get("warning");
  if (header === null) return [];
  const texts: string[] = [];
  VALUE.lastIndex = 0;
  for (let at = 0; at < header.length; at = VALUE.lastIndex) {
    const match = VALUE.exec(header);
    if (match === null) {
      const rest = header.slice(at).trim();
      if (rest !== "") texts.push(fromLatin1(rest));
      break;
    }
    const [, code, , text] = match;
    if (code === "299") texts.push(fromLatin1(text.replace(/\\(.)/g, "$1")));
  }
  return texts;
}

/** The server writes UTF-8; in `Headers` each of its bytes is a character. */
function fromLatin1(text: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(text, (char) => char.charCodeAt(0)));
  } catch (error) {
    if (error instanceof TypeError) return text; // Latin-1 indeed
    throw error;
  }
}
