// Draws charts as SVG, with ECharts.

import type { EChartsOption } from 'echarts';
import { escapeText, type Html, trusted } from './escape.ts';

/** A chart before it is drawn. `label` says what it shows, for a reader who can't see it. */
export interface Chart {
  option: EChartsOption;
  width: number;
  height: number;
  label: string;
}

export type Draw = (chart: Chart) => Html;

/** Loads the chart library. The function it resolves with draws a chart as an SVG that fills the width it is given. */
export async function loadDraw(): Promise<Draw> {
  const echarts = await import('echarts/dist/echarts.esm.min.mjs');

  let drawn = 0;

  return ({ option, width, height, label }) => {
    drawn += 1;
    const drawing = echarts.init(null, null, { renderer: 'svg', ssr: true, width, height });
    drawing.setOption({ animation: false, ...option });
    const svg = drawing.renderToSVGString({ useViewBox: true });
    drawing.dispose();
    return trusted(asInlineSvg(svg, label, `chart-${drawn}-`));
  };
}

/**
 * Inside a page an SVG needs no namespace, no size and nothing for a mouse, but ids that no other chart has. A tenth of a
 * unit is finer than any screen or printer shows.
 */
function asInlineSvg(svg: string, label: string, idPrefix: string) {
  return svg
    .replace(/<style.*?<\/style>/gs, '')
    .replace(/ (class|pointer-events)="[^"]*"/g, '')
    .replace(/(id="|url\(#)zr\d+-/g, `$1${idPrefix}`)
    .replace(/<svg [^>]*?(viewBox="[^"]*")[^>]*>/, `<svg role="img" aria-label="${escapeText(label)}" $1>`)
    .replace(/ d="[^"]*"/g, (path) => path.replace(/\d+\.\d+/g, (number) => String(Math.round(+number * 10) / 10)));
}
