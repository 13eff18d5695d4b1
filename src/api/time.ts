/** A point in time, RFC 3339 in whole seconds: `"2026-01-31T12:00:00Z"`. */
export type Time = string;

/** A point in time, RFC 3339 in microseconds: `"2026-01-31T12:00:00.000000Z"`. */
export type MicroTime = string;
