/** What the process ends with. */
export const EXIT_CODE = {
  /** What was asked for is done. */
  done: 0,
  /** It was tried, and failed. */
  failed: 1,
  /** It was not asked for in a way that makes sense. */
  usage: 2,
  /** There is no server, or it does not let us. */
  connection: 3,
} as const;
