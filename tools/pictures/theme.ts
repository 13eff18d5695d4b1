/**
 * The look of all pictures: colours and fonts, light and dark, their width, and their words in SVG.
 *
 * @module
 */

/** A picture is drawn once for each. */
export type Theme = "light" | "dark";

export const THEMES: readonly Theme[] = ["light", "dark"];

/** The meaning of a colour, in every picture. */
export type Tone = "text" | "muted" | "server" | "client" | "queue" | "yours" | "bad";

/** The colours of one theme. */
export interface Palette {
  readonly background: string;
  /** For bands and frames that have other things in them. */
  readonly panel: string;
  /** For edges that carry no meaning. */
  readonly edge: string;
  /** For text and lines: at least 4.5:1 on the panel and on the background. */
  readonly tones: Readonly<Record<Tone, string>>;
}

export const PALETTES: Readonly<Record<Theme, Palette>> = {
  light: {
    background: "#ffffff",
    panel: "#f6f8fa",
    edge: "#d1d9e0",
    tones: {
      text: "#1f2328",
      muted: "#59636e",
      server: "#0550ae",
      client: "#116329",
      queue: "#7d4e00",
      yours: "#6639ba",
      bad: "#a40e26",
    },
  },
  dark: {
    background: "#0d1117",
    panel: "#161b22",
    edge: "#3d444d",
    tones: {
      text: "#e6edf3",
      muted: "#9198a1",
      server: "#79c0ff",
      client: "#7ee787",
      queue: "#e3b341",
      yours: "#d2a8ff",
      bad: "#ff9492",
    },
  },
};

/** The system's sans-serif font. */
export const SANS = '-apple-system, BlinkMacSystemFont, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif';

/** The system's monospaced font. */
export const MONO = 'ui-monospace, SFMono-Regular, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace';

/** The width of all pictures, as GitHub shows them, and the smallest font, in pixels. */
export const [WIDTH, SMALLEST_FONT] = [760, 13];

/** Escapes text for SVG. */
export function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
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

/** The contrast of two colours, `#rrggbb`, as WCAG 2 computes it. */
export function contrastOf(one: string, other: string): number {
  const [darker, lighter] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminanceOf(colour: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
