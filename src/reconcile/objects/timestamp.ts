/** Returns the present time of day as `metav1.Time` has it: RFC 3339 without fractions of seconds. */
export function timestampNow(): string {
  return new Date().toISOString().replace(/\.\d+Z$/, "Z");
}

/** Returns the present time of day as `metav1.MicroTime` has it: the server accepts no other number of digits than six. */
export function microTimestampNow(): string {
  return new Date().toISOString().replace("Z", "000Z");
}
