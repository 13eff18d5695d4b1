/**
 * Shows pictures in Chromium: as PNG files to look at, and by the boxes of their texts.
 *
 * @module
 */
import { type Browser, chromium } from "npm:playwright-core@^1.65.1";
import { CHROMIUM } from "../../tests/support/servers/served_page.ts";
import { type Theme, WIDTH } from "./theme.ts";

/** Chromium, until disposed. */
export class Renderer implements AsyncDisposable {
  readonly browser: Browser;

  private constructor(browser: Browser) {
    this.browser = browser;
  }

  static async start(): Promise<Renderer> {
    if (CHROMIUM === undefined) throw new Error("Cannot draw: there is no Chromium; set CHROMIUM to its path");
    return new Renderer(await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] }));
  }

  /** A PNG of a picture as `<img>` shows it, `seconds` after the beginning of its animation. */
  async png(url: string, theme: Theme, seconds = 0): Promise<Uint8Array> {
    const page = await this.browser.newPage({ viewport: { width: WIDTH + 20, height: 40 }, colorScheme: theme });
    try {
      const background = theme === "light" ? "#ffffff" : "#0d1117";
      await page.goto(new URL(".", url).href);
      await page.setContent(`<body style="margin:10px;background:${background}"><img src="${url}" width="${WIDTH}">`);
      await page.locator("img").evaluate("(image) => image.decode()");
      await page.waitForTimeout(seconds * 1_000);
      return await page.screenshot({ fullPage: true });
    } finally {
      await page.close();
    }
  }

  /** A PNG as WebP, a fifth of its size. */
  async webp(png: Uint8Array): Promise<Uint8Array> {
    const page = await this.browser.newPage();
    try {
      const url = await page.evaluate<string>(`(async () => {
        const image = new Image();
        image.src = "data:image/png;base64,${png.toBase64()}";
        await image.decode();
        const canvas = document.createElement("canvas");
        [canvas.width, canvas.height] = [image.width, image.height];
        canvas.getContext("2d").drawImage(image, 0, 0);
        return canvas.toDataURL("image/webp", 0.9);
      })()`);
      return Uint8Array.fromBase64(url.slice(url.indexOf(",") + 1));
    } finally {
      await page.close();
    }
  }

  /** Finds texts of an SVG that overlap, are too small, or are cut off by its edge. */
  async problems(svg: string): Promise<string[]> {
    const page = await this.browser.newPage({ viewport: { width: WIDTH, height: 900 } });
    try {
      await page.setContent(`<body style="margin:0">${svg}`);
      return await page.evaluate(FIND_PROBLEMS);
    } finally {
      await page.close();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.browser.close();
  }
}

/** Runs in the page. */
const FIND_PROBLEMS = `(() => {
  const { width, height } = document.querySelector("svg").viewBox.baseVal;
  const texts = [...document.querySelectorAll("svg text")].filter((it) => getComputedStyle(it).visibility !== "hidden")
    .map((it) => ({ text: it.textContent, box: it.getBoundingClientRect(), size: parseFloat(getComputedStyle(it).fontSize) }))
    .filter(({ text }) => text.trim() !== "");
  const found = [];
  for (const [i, { text, box, size }] of texts.entries()) {
    if (box.left < 0 || box.right > width || box.top < 0 || box.bottom > height) found.push("cut off: " + text);
    if (size < 13) found.push("smaller than 13 px: " + text);
    for (const other of texts.slice(i + 1)) {
      const across = Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left);
      const down = Math.min(box.bottom, other.box.bottom) - Math.max(box.top, other.box.top);
      if (across > 1 && down > 4) found.push("overlap: " + text + " | " + other.text);
    }
  }
  return found;
})()`;
