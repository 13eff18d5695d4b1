import { noColor } from "./runtime.ts";
/** Text in colours and weights, or as it is. */
export interface Colors {
  /** Heavier. */
  bold(text: string): string;
  /** Fainter. */
  dim(text: string): string;
  /** Slanted. */
  italic(text: string): string;
  /** Red. */
  red(text: string): string;
  /** Green. */
  green(text: string): string;
  /** Yellow. */
  yellow(text: string): string;
  /** Bright blue. */
  blue(text: string): string;
  /** Bright magenta. */
  magenta(text: string): string;
}

/** Colours if they are wanted and `NO_COLOR` does not forbid them. */
export function colors(wanted: boolean): Colors {
  const style = (open: number, close: number) => (text: string): string =>
    wanted && !noColor && text !== "" ? `\u001b[${open}m${text}\u001b[${close}m` : text;
  return {
    bold: style(1, 22),
    dim: style(2, 22),
    italic: style(3, 23),
    red: style(31, 39),
    green: style(32, 39),
    yellow: style(33, 39),
    blue: style(94, 39),
    magenta: style(95, 39),
  };
}

/** How many columns a text takes on a terminal, without colours. */
export function visibleLength(text: string): number {
  // deno-lint-ignore no-control-regex -- escape sequences begin with a control character
  return text.replace(/\u001b\[\d+m/g, "").length;
}
