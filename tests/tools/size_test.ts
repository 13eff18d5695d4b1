import { assertEquals } from "@std/assert";
import { folderSizes, publishedFiles, urlsIn } from "../../tools/size.ts";

Deno.test("size reads the files from the output of a dry run", () => {
  const output = `Warning Publishing (of a library) may take long.
Simulating publish of @a/b@0.1.0 with files:
   file:///a%20b/LICENSE (344B)
   file:///a%20b/src/mod.ts (5.25KB)
Success Dry run complete
`;
  assertEquals(urlsIn(output), ["file:///a%20b/LICENSE", "file:///a%20b/src/mod.ts"]);
});

Deno.test("size adds up the files of each folder, those of src one level deeper", () => {
  const files = [
    { path: "mod.ts", bytes: 10 },
    { path: "docs/a/b.md", bytes: 20 },
    { path: "src/cli/main.ts", bytes: 30 },
    { path: "src/cli/doctor/check.ts", bytes: 40 },
    { path: "src/api/object.ts", bytes: 50 },
  ];
  assertEquals(folderSizes(files), [
    { folder: "src/cli", files: 2, bytes: 70 },
    { folder: "src/api", files: 1, bytes: 50 },
    { folder: "docs", files: 1, bytes: 20 },
    { folder: ".", files: 1, bytes: 10 },
  ]);
});

Deno.test("The package has its entry point, licence and docs, and no tests or tools", async () => {
  const files = await publishedFiles();
  const paths = new Set(files.map(({ path }) => path));
  for (const path of ["deno.json", "mod.ts", "src/cli/main.ts", "LICENSE", "README.md", "docs/connect.md"]) {
    assertEquals([path, paths.has(path)], [path, true]);
  }
  assertEquals([...paths].filter((path) => !/^(?:src|docs)\/|^[^/]+$/.test(path)), []);
  assertEquals(files.filter(({ bytes }) => bytes === 0), []);
});
