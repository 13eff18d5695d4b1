/**
 * Draws charts as SVG, by Apache ECharts, without a browser.
 *
 * @module
 */
import * as echarts from "npm:echarts@^6.1.0";
import { type Palette, PALETTES, SANS, SMALLEST_FONT, type Theme } from "./theme.ts";

/** The options of a chart, of ECharts. */
export type ChartOptions = echarts.EChartsCoreOption;

/** Draws a chart of that size as a part of an SVG. */
export function chart(theme: Theme, width: number, height: number, options: ChartOptions): string {
  const { tones } = PALETTES[theme];
  const drawn = echarts.init(null, null, { renderer: "svg", ssr: true, width, height });
  try {
    drawn.setOption({
      animation: false,
      silent: true,
      textStyle: { fontFamily: SANS.replaceAll('"', "'"), fontSize: SMALLEST_FONT, color: tones.text },
      ...options,
    });
    return drawn.renderToSVGString().replace(/<style[^]*?<\/style>/g, "").replace(
      / (?:ecmeta|class)[\w-]*="[^"]*"/g,
      "",
    );
  } finally {
    drawn.dispose();
  }
}

/** The lines of an axis, in the colours of a palette. */
export function axisOf({ edge, tones }: Palette): Record<string, unknown> {
  return {
    axisLine: { show: true, lineStyle: { color: edge } },
    axisTick: { show: false },
    splitLine: { show: true, lineStyle: { color: edge, opacity: 0.6 } },
    axisLabel: { color: tones.muted, fontSize: SMALLEST_FONT },
  };
}
