/**
 * Draws diagrams as SVG: boxes, arrows and text that stays text.
 *
 * {@linkcode Drawing} is the entry point. A drawing is 760 pixels wide, as GitHub shows it, and places everything by
 * coordinates.
 *
 * @module
 */
import { MONO, type Palette, PALETTES, SANS, type Theme, type Tone } from "./theme.ts";

/** The width of all pictures, in pixels. */
export const WIDTH = 760;

/** The smallest font, in pixels at that width. */
export const SMALLEST_FONT = 13;

/** The look of a text. */
export interface TextStyle {
  readonly tone?: Tone;
  /** @default {SMALLEST_FONT} */
  readonly size?: number;
  readonly bold?: boolean;
  readonly mono?: boolean;
  /** @default {"start"} */
  readonly anchor?: "start" | "middle" | "end";
  /** Hides lines that run below the text. */
  readonly halo?: boolean;
}

/** The look of a line or an edge. */
export interface LineStyle {
  readonly tone?: Tone;
  readonly dashed?: boolean;
  /** @default {1.5} */
  readonly width?: number;
}

/** The look of an arrow, and its label. */
export interface ArrowStyle extends LineStyle {
  readonly label?: string | readonly string[];
  /** The place of the label; in the middle of the first line of the arrow, above it, unless given. */
  readonly at?: Point;
  readonly anchor?: TextStyle["anchor"];
  readonly both?: boolean;
}

export type Point = readonly [x: number, y: number];

/** Escapes text for SVG. */
export function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

/** A text in SVG whose words in backquotes are monospaced. */
function spans(text: string): string {
  return text.split("`").map((part, i) => i % 2 === 0 ? escaped(part) : `<tspan class="mono">${escaped(part)}</tspan>`)
    .join("");
}

/** The words of a picture, for readers that do not see it. */
export interface Words {
  /** A few words. */
  readonly title: string;
  /** A description in a few sentences: `alt` in HTML. */
  readonly alt: string;
}

/** An SVG of the common size, with its words. */
export function svgOf({ title, alt }: Words, height: number, style: string, content: string): string {
  const words = `<title id="title">${escaped(title)}</title>\n<desc id="description">${escaped(alt)}</desc>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title description">
${words}
<style>${style}</style>
${content}
</svg>
`;
}

/** A diagram in the making. */
export class Drawing {
  readonly palette: Palette;
  readonly #height: number;
  readonly #parts: string[] = [];
  readonly #heads = new Set<Tone>();

  /** The colour around texts that stand on lines. */
  readonly #halo: string;

  /** `on` is what the texts of arrows stand on. */
  constructor(theme: Theme, height: number, on: "background" | "panel" = "background") {
    this.palette = PALETTES[theme];
    this.#height = height;
    this.#halo = this.palette[on];
    this.#parts.push(`<rect width="${WIDTH}" height="${height}" rx="6" fill="${this.palette.background}"/>`);
  }

  /** A text, or lines of it; `y` is the base line of the first. */
  text(x: number, y: number, text: string | readonly string[], style: TextStyle = {}): void {
    const { tone = "text", size = SMALLEST_FONT, bold, mono, anchor = "start", halo } = style;
    if (size < SMALLEST_FONT) {
      throw new RangeError(`Cannot write "${text}" in ${size} px: ${SMALLEST_FONT} is smallest`);
    }
    const classes = [...mono ? ["mono"] : [], ...bold ? ["bold"] : [], ...halo ? ["halo"] : []].join(" ");
    const attributes = [
      ...classes === "" ? [] : [`class="${classes}"`],
      ...size === SMALLEST_FONT ? [] : [`font-size="${size}"`],
      ...anchor === "start" ? [] : [`text-anchor="${anchor}"`],
      `fill="${this.palette.tones[tone].ink}"`,
    ].join(" ");
    for (const [i, line] of [text].flat().entries()) {
      this.#parts.push(`<text x="${x}" y="${round(y + i * size * 1.4)}" ${attributes}>${spans(line)}</text>`);
    }
  }

  /** A rounded rectangle in the fill of its tone, with an edge. */
  rect(
    x: number,
    y: number,
    width: number,
    height: number,
    style: LineStyle & { readonly radius?: number } = {},
  ): void {
    const { tone = "muted", dashed, width: edge = 1.5, radius = 6 } = style;
    const { ink, fill } = this.palette.tones[tone];
    const stroke = edge === 0
      ? ""
      : ` stroke="${ink}" stroke-width="${edge}"${dashed ? ' stroke-dasharray="5 4"' : ""}`;
    this.#parts.push(
      `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="${radius}" fill="${fill}"${stroke}/>`,
    );
  }

  /** A frame around other things, with an edge that carries no meaning. */
  panel(x: number, y: number, width: number, height: number): void {
    const { panel, edge } = this.palette;
    this.#parts.push(
      `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="8" fill="${panel}" stroke="${edge}"/>`,
    );
  }

  /** A box with a bold title and lines below it, in its middle. */
  box(
    [x, y, width, height]: readonly [number, number, number, number],
    tone: Tone,
    title: string,
    lines: readonly string[] = [],
    style: Pick<LineStyle, "dashed"> = {},
  ): void {
    this.rect(x, y, width, height, { tone, ...style });
    const spacing = 18;
    const first = y + height / 2 - (lines.length * spacing) / 2 + 5;
    this.text(x + width / 2, first, title, { tone, bold: true, size: 15, anchor: "middle" });
    for (const [i, line] of lines.entries()) {
      this.text(x + width / 2, first + (i + 1) * spacing, line, { anchor: "middle" });
    }
  }

  /** A small text in a rounded box. Returns nothing: its width is given. */
  pill(x: number, y: number, width: number, text: string, tone: Tone): void {
    this.rect(x, y, width, 22, { tone, width: 1, radius: 11 });
    this.text(x + width / 2, y + 15.5, text, { tone, anchor: "middle" });
  }

  /** The number of a step, in a filled circle. */
  step(x: number, y: number, number: number | string, tone: Tone = "text"): void {
    const { ink } = this.palette.tones[tone];
    this.#parts.push(`<circle cx="${x}" cy="${y}" r="10.5" fill="${ink}"/>`);
    const { background } = this.palette;
    this.#parts.push(
      `<text x="${x}" y="${y + 4.7}" class="bold" text-anchor="middle" fill="${background}">${number}</text>`,
    );
  }

  /** A line through points, without heads. */
  line(points: readonly Point[], { tone = "muted", dashed, width = 1.5 }: LineStyle = {}): void {
    const dash = dashed ? ' stroke-dasharray="5 4"' : "";
    const { ink } = this.palette.tones[tone];
    this.#parts.push(
      `<polyline points="${points.join(" ")}" fill="none" stroke="${ink}" stroke-width="${width}"${dash}/>`,
    );
  }

  /** An arrow through points, with a label. */
  arrow(points: readonly Point[], style: ArrowStyle = {}): void {
    const { tone = "muted", dashed, width = 1.5, label, at, anchor = "middle", both } = style;
    this.#heads.add(tone);
    const dash = dashed ? ' stroke-dasharray="5 4"' : "";
    const { ink } = this.palette.tones[tone];
    const start = both ? ` marker-start="url(#${tone})"` : "";
    this.#parts.push(
      `<polyline points="${
        points.join(" ")
      }" fill="none" stroke="${ink}" stroke-width="${width}"${dash}${start} marker-end="url(#${tone})"/>`,
    );
    if (label === undefined) return;
    const [[x1, y1], [x2, y2]] = points;
    const lines = [label].flat();
    const place = at ?? [(x1 + x2) / 2, (y1 + y2) / 2 - 7 - (lines.length - 1) * SMALLEST_FONT * 1.4];
    this.text(...place, lines, { tone: tone === "muted" ? "text" : tone, anchor, halo: true });
  }

  /** A cross, for what does not arrive. */
  cross(x: number, y: number, tone: Tone = "bad"): void {
    const { ink } = this.palette.tones[tone];
    this.#parts.push(
      `<path d="M${x - 6} ${y - 6}l12 12m0 -12l-12 12" stroke="${ink}" stroke-width="2.5" stroke-linecap="round"/>`,
    );
  }

  /** SVG as it is. */
  raw(svg: string): void {
    this.#parts.push(svg);
  }

  /** The SVG. */
  svg(words: Words): string {
    const { tones } = this.palette;
    const style = [
      `text{font:${SMALLEST_FONT}px ${SANS}}`,
      `text[font-size="14"]{font-size:14px}text[font-size="15"]{font-size:15px}text[font-size="16"]{font-size:16px}`,
      `.mono{font-family:${MONO}}.bold{font-weight:600}`,
      `.halo{paint-order:stroke;stroke:${this.#halo};stroke-width:5px;stroke-linejoin:round}`,
    ].join("");
    const heads = [...this.#heads].map((tone) =>
      `<marker id="${tone}" viewBox="0 0 10 10" refX="8.5" refY="5" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto-start-reverse"><path d="M0 0.5L9.5 5L0 9.5z" fill="${
        tones[tone].ink
      }"/></marker>`
    );
    return svgOf(words, this.#height, style, [`<defs>${heads.join("")}</defs>`, ...this.#parts].join("\n"));
  }
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
