/**
 * Parses the JSON object that `text` begins with.
 *
 * The object of a watch event, `{"type":…,"object":{…}}`, is cut out of the event without a search for its end. Members
 * that a server writes behind the object are then part of `text`; they are ignored.
 *
 * @throws {SyntaxError} when `text` is not JSON.
 */
export function parseObject(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    try {
      return (JSON.parse(`{"object":${text}}`) as { object: unknown }).object;
    } catch {
      throw error; // the position that this error names is right
    }
  }
}
