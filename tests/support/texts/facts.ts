/** The size of the client of a relay in kB, minified and compressed: it has at most as much, and pages state it. */
export const RELAY_CLIENT_KB = 8;
