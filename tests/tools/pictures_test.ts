import { assert, assertEquals } from "@std/assert";
import { htmlOf, PICTURES } from "../../tools/pictures/pictures.ts";
import { Renderer } from "../../tools/pictures/render.ts";
import { contrastOf, PALETTES, THEMES } from "../../tools/pictures/theme.ts";
import { browserTest } from "../support/servers/served_page.ts";

const ROOT = new URL("../../", import.meta.url);
const FOLDER = new URL("docs/pictures/", ROOT);

/** The most bytes of all files, and of animated pictures, of which each is two files. */
const [MOST_BYTES, MOST_ANIMATED] = [1_500_000, 2];

const names = Object.keys(PICTURES);

function filesOf(name: string): string[] {
  return THEMES.map((theme) => `${name}-${theme}.${PICTURES[name].extension}`);
}

function read(file: string): string {
  return Deno.readTextFileSync(new URL(file, FOLDER));
}

const svgs = names.flatMap(filesOf).filter((file) => file.endsWith(".svg"));

/** The first tag of an XML document that is not balanced, or the first character that is not escaped. */
function unbalanced(xml: string): string | undefined {
  const open: string[] = [];
  const texts = xml.replace(
    /<(\/?)([\w:-]+)((?:\s+[\w:-]+="[^"<]*")*)\s*(\/?)>/g,
    (_, close, name, _attributes, empty) => {
      if (close === "" && empty === "") open.push(name);
      else if (close !== "" && open.pop() !== name) open.push(`</${name}> without a beginning`);
      return "";
    },
  );
  return /[<>]|&(?!amp;|lt;|gt;|quot;|#)/.exec(texts.replace(/<style>[^<]*/, ""))?.[0] ?? open.at(-1);
}

Deno.test("pictures: each is there light and dark, nothing else is, and all are 1.5 MB at most", () => {
  const files = [...Deno.readDirSync(FOLDER)].map(({ name }) => name).sort();
  assertEquals(files, names.flatMap(filesOf).sort(), "deno task pictures makes them");
  const bytes = files.map((file) => Deno.statSync(new URL(file, FOLDER)).size).reduce((sum, size) => sum + size, 0);
  assert(bytes <= MOST_BYTES, `${bytes} bytes`);
});

Deno.test("pictures: two are animated at most, and for readers who ask for less motion they stand still", () => {
  const animated = names.filter((name) => {
    return PICTURES[name].extension === "svg"
      ? /@keyframes|<animate/.test(read(filesOf(name)[0]))
      : read(filesOf(name)[0]).includes("ANIM");
  });
  assert(animated.length <= MOST_ANIMATED, animated.join());
  for (const file of animated.flatMap(filesOf)) {
    assert(file.endsWith(".svg") && read(file).includes("prefers-reduced-motion"), file);
  }
});

Deno.test("pictures: SVGs are well-formed, have the title and the description, and load and run nothing", () => {
  for (const name of names.filter((name) => PICTURES[name].extension === "svg")) {
    const { title, alt } = PICTURES[name].words;
    for (const file of filesOf(name)) {
      const svg = read(file);
      assertEquals(unbalanced(svg), undefined, file);
      const texts = svg.replaceAll("&quot;", '"').replaceAll("&amp;", "&");
      assert(
        texts.includes(`<title id="title">${title}</title>`),
        `${file}: has another title; deno task pictures ${name}`,
      );
      assert(
        texts.includes(`<desc id="description">${alt}</desc>`),
        `${file}: has another text; deno task pictures ${name}`,
      );
      assert(!/<script|<image|<foreignObject|href=|url\((?!#)|@import| on\w+=/.test(svg), file);
    }
  }
});

Deno.test("pictures: a page shows them by HTML that has their words", () => {
  for (const [name, picture] of Object.entries(PICTURES)) {
    const { words: { title, alt } } = picture;
    assert(title.length > 0 && alt.length > 60 && alt.length <= 600, `${name}: ${alt.length} characters`);
    assertEquals(unbalanced(htmlOf(name, picture).replaceAll(/(<source [^>]*|<img [^>]*)>/g, "$1/>")), undefined, name);
  }
});

Deno.test("pictures: their texts have a contrast of 4.5 to 1 on all that they stand on", () => {
  for (const { background, panel, tones } of Object.values(PALETTES)) {
    for (const [tone, ink] of Object.entries(tones)) {
      for (const below of [background, panel]) {
        assert(contrastOf(ink, below) >= 4.5, `${tone} ${ink} on ${below}: ${contrastOf(ink, below)}`);
      }
    }
  }
});

Deno.test("pictures: a page shows each", () => {
  const pagesBelow = (folder: URL): string[] =>
    [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) =>
      isDirectory
        ? pagesBelow(new URL(`${name}/`, folder))
        : name.endsWith(".md")
        ? [Deno.readTextFileSync(new URL(name, folder))]
        : []
    );
  const text = [Deno.readTextFileSync(new URL("README.md", ROOT)), ...pagesBelow(new URL("docs/", ROOT))].join("\n");
  assertEquals(names.filter((name) => !text.includes(`${name}-light.`)), []);
});

browserTest("pictures: no text of an SVG is cut off, below 13 px, or over another text", async () => {
  await using renderer = await Renderer.start();
  for (const file of svgs) assertEquals(await renderer.problems(read(file)), [], file);
});
