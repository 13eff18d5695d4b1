/**
 * Makes the pictures of the documentation.
 *
 * @module
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { quit, readFlags, text, toggle } from "../flags.ts";
import { htmlOf, type Picture, PICTURES } from "./pictures.ts";
import { Renderer } from "./render.ts";
import { THEMES } from "./theme.ts";

/** The folder of the pictures. */
const FOLDER = join(import.meta.dirname!, "../../docs/pictures");

/** Makes a picture, writes its two files, and prints their sizes. */
async function write(name: string, picture: Picture): Promise<void> {
  const files = await picture.make(picture.words);
  for (const theme of THEMES) {
    const path = join(FOLDER, `${name}-${theme}.${picture.extension}`);
    const content = files[theme];
    if (typeof content === "string") await Deno.writeTextFile(path, content);
    else await Deno.writeFile(path, content);
    console.log(
      `docs/pictures/${name}-${theme}.${picture.extension}  ${((await Deno.stat(path)).size / 1e3).toFixed(1)} kB`,
    );
  }
}

/** Writes a picture as a PNG to a folder, as Chromium shows it, and prints which of its texts overlap. */
async function preview(renderer: Renderer, name: string, picture: Picture, folder: string, at: number): Promise<void> {
  for (const theme of THEMES) {
    const path = join(FOLDER, `${name}-${theme}.${picture.extension}`);
    await Deno.writeFile(join(folder, `${name}-${theme}.png`), await renderer.png(pathToFileURL(path).href, theme, at));
    if (picture.extension !== "svg") continue;
    for (const problem of await renderer.problems(await Deno.readTextFile(path))) {
      console.log(`${name}-${theme}: ${problem}`);
    }
  }
}

if (import.meta.main) {
  const known = Object.keys(PICTURES);
  const { html, shown, seconds, preview: folder, rest } = readFlags({
    task: "pictures",
    summary: "Makes pictures of the documentation, and writes them to docs/pictures, light and dark.",
    flags: {
      html: toggle("makes nothing; prints the HTML that shows them in a page of a folder of docs"),
      shown: toggle("makes nothing, for --preview of what is there"),
      preview: text("FOLDER", "writes each as Chromium shows it to FOLDER, as PNG, and prints which texts overlap"),
      seconds: text("N", "the time in the animation that --preview shows"),
    },
    rest: ["NAME…", `the pictures, all unless named: ${known.join(", ")}`],
    examples: ["doctor --preview /tmp", "--html watch"],
  });
  const unknown = rest.find((name) => !known.includes(name));
  if (unknown !== undefined) quit(`there is no picture "${unknown}"; there are ${known.join(", ")}`, 2);
  const names = rest.length > 0 ? rest : known;
  if (html) {
    for (const name of names) console.log(htmlOf(name, PICTURES[name]));
    Deno.exit();
  }
  await Deno.mkdir(FOLDER, { recursive: true });
  if (!shown) { for (const name of names) await write(name, PICTURES[name]); }
  if (folder !== undefined) {
    await using renderer = await Renderer.start();
    for (const name of names) await preview(renderer, name, PICTURES[name], folder, Number(seconds ?? 0));
  }
}
