// The charts of the bench: a bar for each lock, and how long its waiters wait.

import type { CustomSeriesOption, EChartsOption } from 'echarts';
import { formatDuration } from '../evidence/numbers.ts';
import type { Chart } from '../report/draw.ts';
import type { Contestant } from './contestants.ts';
import type { Spread } from './results.ts';

// The colours of the report: dark enough for a projector, and apart from each other for every kind of colour vision.
const ink = '#14181f';
const faint = '#c9ced6';
const colours = { ours: '#0b5fa5', peer: '#7b8794', ceiling: '#ffffff' };
const notAlone = '#c2410c';
const fontFamily = 'system-ui, sans-serif';

const WIDTH = 560;
const ROW_HEIGHT = 26;
const AXIS_HEIGHT = 34;

export interface BarRow {
  name: string;
  kind: Contestant['kind'];
  /** It lost updates: it was not alone in its section. */
  isNotAlone: boolean;
  spread: Spread;
}

/** A bar a row with the median, and a line from the lowest round to the highest. */
export function bars(label: string, rows: BarRow[], format: (value: number) => string, isLog = false): Chart {
  const range: CustomSeriesOption = {
    type: 'custom',
    silent: true,
    z: 3,
    data: rows.map(({ spread }, row) => [spread.min, spread.max, row]),
    renderItem: (_params, api) => {
      const [x1 = 0, y = 0] = api.coord([api.value(0), api.value(2)]);
      const [x2 = 0] = api.coord([api.value(1), api.value(2)]);
      const tick = (x: number) => ({ type: 'line' as const, shape: { x1: x, x2: x, y1: y - 5, y2: y + 5 }, style });
      const style = { stroke: ink, lineWidth: 1.5 };
      return {
        type: 'group',
        children: [tick(x1), tick(x2), { type: 'line', shape: { x1, x2, y1: y, y2: y }, style }],
      };
    },
  };
  return {
    ...sizeOf(rows),
    label: `${label}. ${rows.map(({ name, spread }) => `${name}: ${format(spread.value)}.`).join(' ')}`,
    option: {
      ...frame(
        rows,
        rows.map(({ spread }) => format(spread.value)),
      ),
      xAxis: valueAxis(format, isLog),
      series: [
        {
          type: 'bar',
          barWidth: 15,
          silent: true,
          data: rows.map(({ spread, kind, isNotAlone }) => ({
            value: spread.value,
            itemStyle: {
              color: isNotAlone ? notAlone : colours[kind],
              borderColor: kind === 'ceiling' ? ink : 'transparent',
              borderWidth: 1.5,
            },
          })),
        },
        range,
      ],
    },
  };
}

export interface WaitRow extends Omit<BarRow, 'spread'> {
  p50: number;
  p99: number;
  max: number;
}

/** From p50 to the maximum of each row, on a logarithmic axis. */
export function waits(label: string, rows: WaitRow[]): Chart {
  // A logarithmic axis knows no zero.
  const at = (ms: number) => Math.max(ms, 0.01);
  const marks = [
    {
      figure: 'p50',
      symbol: 'circle',
      size: [11, 11],
      style: { color: '#ffffff', borderColor: ink, borderWidth: 2.5 },
    },
    { figure: 'p99', symbol: 'circle', size: [12, 12], style: { color: colours.ours } },
    { figure: 'max', symbol: 'rect', size: [4, 16], style: { color: ink } },
  ] as const;
  const sentences = rows.map(({ name, p50, p99, max }) => {
    return `${name}: p50 ${formatDuration(p50)}, p99 ${formatDuration(p99)}, max ${formatDuration(max)}.`;
  });
  return {
    ...sizeOf(rows),
    label: `${label}. ${sentences.join(' ')}`,
    option: {
      ...frame(
        rows,
        rows.map(({ p99 }) => formatDuration(p99)),
      ),
      xAxis: valueAxis(formatDuration, true),
      series: [
        ...rows.map(({ p50, max }, row) => ({
          type: 'line' as const,
          silent: true,
          symbol: 'none',
          lineStyle: { color: '#7b8794', width: 3 },
          data: [
            [at(p50), row],
            [at(max), row],
          ],
        })),
        ...marks.map(({ figure, symbol, size, style }) => ({
          type: 'scatter' as const,
          silent: true,
          symbol,
          symbolSize: [...size],
          itemStyle: { opacity: 1, ...style },
          z: 3,
          data: rows.map((row, index) => [at(row[figure]), index]),
        })),
      ],
    },
  };
}

function sizeOf(rows: unknown[]) {
  return { width: WIDTH, height: AXIS_HEIGHT + rows.length * ROW_HEIGHT };
}

function frame(rows: { name: string; isNotAlone: boolean }[], values: string[]): EChartsOption {
  const label = { fontSize: 14, color: ink, fontFamily, interval: 0 };
  return {
    textStyle: { fontFamily },
    grid: { left: 182, right: 74, top: 2, bottom: AXIS_HEIGHT - 2 },
    yAxis: [
      {
        type: 'category',
        inverse: true,
        data: rows.map(({ name, isNotAlone }) => (isNotAlone ? `${name} ✘` : name)),
        axisLabel: label,
        axisTick: { show: false },
        axisLine: { show: true, lineStyle: { color: ink } },
      },
      {
        type: 'category',
        inverse: true,
        position: 'right',
        data: values,
        axisLabel: { ...label, fontWeight: 'bold' },
        axisTick: { show: false },
        axisLine: { show: false },
      },
    ],
  };
}

function valueAxis(format: (value: number) => string, isLog: boolean) {
  return {
    type: isLog ? ('log' as const) : ('value' as const),
    axisLabel: { fontSize: 13, color: ink, formatter: (value: number) => format(value), hideOverlap: true },
    axisTick: { show: false },
    splitLine: { lineStyle: { color: faint } },
    splitNumber: 4,
  };
}
