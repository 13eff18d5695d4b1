import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { addressProblem, readAddresses, withAbsolutePictures } from "../../tools/addresses.ts";
import { withText } from "../../tools/release.ts";
import { Program } from "../support/processes/program.ts";

const REPOSITORY = "https://github.com/example/informer";
const SITE = "https://example.github.io/informer";

Deno.test("addresses: they are one line of deno.json, empty or addresses of the web", async () => {
  const text = await Deno.readTextFile("deno.json");
  assertEquals(text.match(/^ {2}"addresses": .*$/m)![0].match(/"\w+":/g), ['"addresses":', '"repository":', '"site":']);
  readAddresses(text);
  const config = (repository: unknown): string => JSON.stringify({ addresses: { repository, site: `${SITE}/` } });
  assertEquals(readAddresses(config(REPOSITORY)), { repository: REPOSITORY, site: SITE });
  assertEquals(readAddresses("{}"), { repository: "", site: "" });
  for (const wrong of ["http://a.example", "github.com/a/b", "https://", "https://a.example/?b", 1]) {
    assertThrows(() => readAddresses(config(wrong)), TypeError, 'Cannot read the address "repository" in deno.json');
  }
});

Deno.test("addresses: nothing is published before both are set", () => {
  assertEquals(addressProblem({ repository: REPOSITORY, site: SITE }), undefined);
  const problems = [{ repository: "", site: "" }, { repository: "", site: SITE }, { repository: REPOSITORY, site: "" }]
    .map((addresses) => addressProblem(addresses)?.split(" in deno.json. Set ")[0]);
  assertEquals(problems, [
    "Cannot publish: the addresses of the repository and the site are empty",
    "Cannot publish: the repository address is empty",
    "Cannot publish: the site address is empty",
  ]);
});

const config = await Deno.readTextFile("deno.json");
const problem = addressProblem(readAddresses(config));

Deno.test({
  name: `addresses: the tasks that publish refuse while one is empty${
    problem === undefined ? ": both are in deno.json" : ""
  }`,
  ignore: problem === undefined,
  fn: async () => {
    const tag = `v${JSON.parse(config).version}`;
    for (const args of [["tools/release.ts", "--tag", tag, "--dry-run"], ["tools/site.ts", "--build", "--public"]]) {
      await using program = new Program(args[0], args.slice(1), {}, ["-A", "--lock=tests/deno.lock"]);
      const { code, errors } = await program.ended();
      assertEquals([code, errors], [1, `error: ${problem}\n`], args[0]);
    }
  },
});

Deno.test("addresses: pictures of README become absolute, and nothing else does", () => {
  const readme = `# Title

![a](./docs/page.png) and [b](./docs/b.md) and ![c](https://c.example/c.png) and [![d](docs/d.svg)](./docs/d.md)

<picture>
  <source media="(prefers-color-scheme: dark)" srcset="./docs/pictures/x-dark.svg, docs/pictures/y.svg 2x">
  <img alt="e" src="docs/pictures/x-light.svg" width="80">
</picture>

\`\`\`html
<img src="./f.png"> ![g](./g.png)
\`\`\`
`;
  const raw = "https://raw.githubusercontent.com/example/informer/v1.2.3/docs";
  assertEquals(
    withAbsolutePictures(readme, { repository: REPOSITORY, site: SITE }, "v1.2.3"),
    readme
      .replace("./docs/page.png", `${raw}/page.png`)
      .replace("docs/d.svg", `${raw}/d.svg`)
      .replace(
        "./docs/pictures/x-dark.svg, docs/pictures/y.svg 2x",
        `${raw}/pictures/x-dark.svg, ${raw}/pictures/y.svg 2x`,
      )
      .replace('"docs/pictures/x-light.svg"', `"${raw}/pictures/x-light.svg"`),
  );
  const elsewhere = { repository: "https://git.example/a/b", site: SITE };
  assertEquals(
    withAbsolutePictures("![a](./docs/a.png)", elsewhere, "v1.2.3"),
    "![a](https://git.example/a/b/raw/v1.2.3/docs/a.png)",
  );
});

Deno.test("addresses: README of the repository has relative links to pictures, which are there", async () => {
  const readme = await Deno.readTextFile("README.md");
  const found = withAbsolutePictures(readme, { repository: "https://git.example/r", site: SITE }, "TAG")
    .matchAll(/https:\/\/git\.example\/r\/raw\/TAG\/([^\s)",]+)/g);
  const paths = [...found].map(([, path]) => path);
  assert(paths.length > 0);
  for (const path of paths) assert((await Deno.stat(path)).isFile, path);
});

Deno.test("release: README has its text again after publishing, and after it fails", async () => {
  const path = await Deno.makeTempFile();
  try {
    await Deno.writeTextFile(path, "before");
    const published = await withText(path, "published", async () => await Deno.readTextFile(path) === "published");
    assertEquals([published, await Deno.readTextFile(path)], [true, "before"]);
    await assertRejects(
      () => withText(path, "published", () => Promise.reject(new Error("refused"))),
      Error,
      "refused",
    );
    assertEquals(await Deno.readTextFile(path), "before");
  } finally {
    await Deno.remove(path);
  }
});
