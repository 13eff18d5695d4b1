/**
 * Statements that can be deleted although no test notices, each for a reason: an optimization whose only effect is time, or
 * a guard against what no caller does. A statement names its reason by a comment, `// survives: ID`.
 */
export const LINE_SURVIVORS: Readonly<Record<string, string>> = {
  "places-of-many": "Without it a key is looked for among all that wait, one by one: slower, with the same result.",
};
