/** The JSON object in a text, or an empty one. */
export function parseJsonObject(text: string): Record<string, unknown> {
  try {
    return asRecord(JSON.parse(text));
  } catch {
    // A proxy's page, or plain text: it has none of the fields that are looked for.
    return {};
  }
}

export function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? value as Record<string, unknown> : {};
}
