/**
 * The colours and fonts of all pictures, light and dark.
 *
 * @module
 */

/** A picture is drawn once for each. */
export type Theme = "light" | "dark";

export const THEMES: readonly Theme[] = ["light", "dark"];

/** The meaning of a colour, in every diagram. */
export type Tone = "text" | "muted" | "server" | "client" | "queue" | "yours" | "bad";

/** The colours of one tone. */
export interface Colours {
  /** For text and lines: at least 4.5:1 on `fill`, on the panel and on the background. */
  readonly ink: string;
  /** For boxes. */
  readonly fill: string;
}

/** The colours of one theme. */
export interface Palette {
  readonly background: string;
  /** For bands and frames that have other things in them. */
  readonly panel: string;
  /** For edges that carry no meaning. */
  readonly edge: string;
  readonly tones: Readonly<Record<Tone, Colours>>;
}

export const PALETTES: Readonly<Record<Theme, Palette>> = {
  light: {
    background: "#ffffff",
    panel: "#f6f8fa",
    edge: "#d1d9e0",
    tones: {
      text: { ink: "#1f2328", fill: "#ffffff" },
      muted: { ink: "#59636e", fill: "#f6f8fa" },
      server: { ink: "#0550ae", fill: "#ddf4ff" },
      client: { ink: "#116329", fill: "#dafbe1" },
      queue: { ink: "#7d4e00", fill: "#fff8c5" },
      yours: { ink: "#6639ba", fill: "#fbefff" },
      bad: { ink: "#a40e26", fill: "#ffebe9" },
    },
  },
  dark: {
    background: "#0d1117",
    panel: "#161b22",
    edge: "#3d444d",
    tones: {
      text: { ink: "#e6edf3", fill: "#0d1117" },
      muted: { ink: "#9198a1", fill: "#161b22" },
      server: { ink: "#79c0ff", fill: "#121d2f" },
      client: { ink: "#7ee787", fill: "#12261e" },
      queue: { ink: "#e3b341", fill: "#272115" },
      yours: { ink: "#d2a8ff", fill: "#1f1a2e" },
      bad: { ink: "#ff9492", fill: "#25171c" },
    },
  },
};

/** The system's sans-serif font. */
export const SANS = '-apple-system, BlinkMacSystemFont, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif';

/** The system's monospaced font. */
export const MONO = 'ui-monospace, SFMono-Regular, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace';

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
