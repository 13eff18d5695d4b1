/** Runs the test files that its arguments name, on Node. The last line of its output is the result, as JSON. */
import "./resolve.ts";

const { runFiles } = await import("./deno.ts");
await runFiles(process.argv.slice(2));
