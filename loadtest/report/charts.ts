// The charts: what is drawn, before it is drawn.

import type { CustomSeriesOption, LineSeriesOption, ScatterSeriesOption, YAXisComponentOption } from 'echarts';
import { formatDuration, formatNumber } from '../evidence/numbers.ts';
import type { RushFigures, StockPoint } from '../evidence/results.ts';
import type { StageFigures } from './cells.ts';
import type { Chart } from './draw.ts';
import { notMeasured } from './figures.ts';

// Dark enough for a projector and for print, and apart from each other for every kind of colour vision.
const ink = '#14181f';
const faint = '#c9ced6';
const asExpected = '#0b5fa5';
const notAsExpected = '#c2410c';

const fontFamily = 'system-ui, sans-serif';
const wide = { width: 480, rowHeight: 46, axisHeight: 34 };
const small = { width: 340, height: 190 };

/** What was left against what should have been left: two bars a stage, and both values next to them. */
export function stockByStage(drill: string, stages: StageFigures[]): Chart {
  return {
    ...rowsOf(stages),
    label: `Expected and final stock of ${drill} by stage. ${stages.map(describeStock).join(' ')}`,
    option: {
      textStyle: { fontFamily },
      grid: gridBetween(150, 66),
      xAxis: {
        ...valueAxis,
        type: 'value',
        ...stockScale([0, ...stages.flatMap(({ figures }) => [figures.expectedStock, figures.finalStock])]),
      },
      yAxis: [
        stageAxis(stages),
        rightAxis(
          stages.map(({ figures }) => [
            { text: formatNumber(figures.expectedStock), style: 'plain' },
            {
              text: formatNumber(figures.finalStock),
              style: isAsExpected(figures) ? 'good' : 'bad',
            },
          ]),
        ),
      ],
      series: [
        {
          type: 'bar',
          barWidth: 13,
          barMinHeight: 2,
          barGap: '20%',
          silent: true,
          itemStyle: { color: '#ffffff', borderColor: ink, borderWidth: 1.5 },
          data: stages.map(({ figures }) => figures.expectedStock),
        },
        {
          type: 'bar',
          barWidth: 13,
          barMinHeight: 2,
          silent: true,
          data: stages.map(({ figures }) => ({
            value: figures.finalStock,
            itemStyle: { color: isAsExpected(figures) ? asExpected : notAsExpected },
          })),
        },
      ],
    },
  };
}

/** From p50 to the maximum of each stage, on a logarithmic axis. */
export function latencyByStage(drill: string, stages: StageFigures[]): Chart {
  const measured = stages.flatMap(({ figures }) => (figures.latencyMs === undefined ? [] : [figures.latencyMs]));
  const values = measured.flatMap((latency) => Object.values(latency)).filter((ms) => ms > 0);
  const min = 10 ** Math.floor(Math.log10(Math.min(1, ...values)));
  const max = 10 ** Math.ceil(Math.log10(Math.max(10, ...values)));
  const at = (ms: number) => Math.max(ms, min);

  const ranges: LineSeriesOption[] = stages.flatMap(({ figures: { latencyMs } }, row) =>
    latencyMs === undefined
      ? []
      : [
          {
            type: 'line',
            silent: true,
            symbol: 'none',
            lineStyle: { color: '#7b8794', width: 3 },
            data: [
              [at(latencyMs.p50), row],
              [at(latencyMs.max), row],
            ],
          },
        ],
  );
  const marks: ScatterSeriesOption[] = latencyMarks.map(({ figure, symbol, size, style }) => ({
    type: 'scatter',
    silent: true,
    symbol,
    symbolSize: [...size],
    itemStyle: { opacity: 1, ...style },
    z: 3,
    data: stages.flatMap(({ figures: { latencyMs } }, row) =>
      latencyMs === undefined ? [] : [[at(latencyMs[figure]), row]],
    ),
  }));

  return {
    ...rowsOf(stages),
    label: `Latency of ${drill} by stage. ${stages.map(describeLatency).join(' ')}`,
    option: {
      textStyle: { fontFamily },
      grid: gridBetween(150, 116),
      xAxis: {
        ...valueAxis,
        type: 'log',
        min,
        max,
        axisLabel: { ...valueAxis.axisLabel, formatter: nameDecades(min, max) },
      },
      yAxis: [
        stageAxis(stages),
        rightAxis(
          stages.map(({ figures: { latencyMs } }) =>
            latencyMs === undefined
              ? [{ text: notMeasured, style: 'plain' }]
              : [
                  { text: `p50 ${formatDuration(latencyMs.p50)}`, style: 'plain' },
                  { text: `p99 ${formatDuration(latencyMs.p99)}`, style: 'good' },
                ],
          ),
        ),
      ],
      series: [...ranges, ...marks],
    },
  };
}

const latencyMarks = [
  { figure: 'p50', symbol: 'circle', size: [13, 13], style: { color: '#ffffff', borderColor: ink, borderWidth: 2.5 } },
  { figure: 'p95', symbol: 'diamond', size: [15, 15], style: { color: '#7b8794', borderColor: ink, borderWidth: 1.5 } },
  { figure: 'p99', symbol: 'circle', size: [14, 14], style: { color: asExpected } },
  { figure: 'max', symbol: 'rect', size: [4, 20], style: { color: ink } },
] as const;

/** The stock as it went down, against what it should have been after the sales made by then. */
export function stockThroughTime(label: string, points: StockPoint[], scale: Scale): Chart {
  const line: LineSeriesOption = { type: 'line', silent: true, symbol: 'none' };
  const color = points.every(({ stock, expected }) => stock === expected) ? asExpected : notAsExpected;
  const gap: CustomSeriesOption = {
    type: 'custom',
    silent: true,
    data: [0],
    renderItem: (_params, api) => ({
      type: 'polygon',
      shape: {
        points: [
          ...points.map(({ ms, stock }) => api.coord([ms, stock])),
          ...points.map(({ ms, expected }) => api.coord([ms, expected])).reverse(),
        ],
      },
      style: { fill: color, opacity: 0.22 },
    }),
  };

  return {
    width: small.width,
    height: small.height,
    label,
    option: {
      textStyle: { fontFamily },
      grid: { left: 62, right: 14, top: 12, bottom: 30 },
      xAxis: {
        ...valueAxis,
        type: 'value',
        max: Math.max(1, points.at(-1)?.ms ?? 0),
        splitNumber: 3,
        splitLine: { show: false },
        axisLine: { show: true, onZero: false, lineStyle: { color: ink } },
        axisLabel: {
          ...valueAxis.axisLabel,
          formatter: (ms: number) => (ms === 0 ? '0' : formatDuration(ms)),
          showMaxLabel: false,
          hideOverlap: true,
        },
      },
      yAxis: { ...valueAxis, type: 'value', ...scale },
      series: [
        ...(points.some(({ stock, expected }) => stock !== expected) ? [gap] : []),
        { ...line, lineStyle: { color, width: 4 }, data: points.map(({ ms, stock }) => [ms, stock]) },
        {
          ...line,
          lineStyle: { color: ink, width: 2, type: [7, 5] },
          data: points.map(({ ms, expected }) => [ms, expected]),
        },
      ],
    },
  };
}

/** Whether the sales explain the stock that was left. */
function isAsExpected({ expectedStock, finalStock }: RushFigures): boolean {
  return expectedStock === finalStock;
}

function describeStock({ stage, figures }: StageFigures) {
  return `${stage}: expected ${formatNumber(figures.expectedStock)}, final ${formatNumber(figures.finalStock)}.`;
}

function describeLatency({ stage, figures: { latencyMs } }: StageFigures) {
  if (latencyMs === undefined) return `${stage}: ${notMeasured}.`;
  const marks = latencyMarks.map(({ figure }) => `${figure} ${formatDuration(latencyMs[figure])}`);
  return `${stage}: ${marks.join(', ')}.`;
}

const valueAxis = {
  axisLabel: { fontSize: 14, color: ink, formatter: (value: number) => formatNumber(value) },
  axisTick: { show: false },
  splitLine: { lineStyle: { color: faint } },
  splitNumber: 3,
};

function rowsOf(stages: StageFigures[]) {
  return { width: wide.width, height: wide.axisHeight + stages.length * wide.rowHeight };
}

/** Names every power of ten from `min` to `max`, or every other one when there are too many for the width. */
function nameDecades(min: number, max: number) {
  const decadesUpTo = (value: number) => Math.round(Math.log10(value / min));
  const step = decadesUpTo(max) > 4 ? 2 : 1;
  return (value: number) => (decadesUpTo(value) % step === 0 ? formatDuration(value) : '');
}

function gridBetween(left: number, right: number) {
  return { left, right, top: 2, bottom: wide.axisHeight - 2 };
}

/** The ends of an axis and the distance between its marks. */
export interface Scale {
  min: number;
  max: number;
  interval: number;
}

/** An axis that holds every value and is marked at a few round numbers. */
export function stockScale(values: number[]): Scale {
  const lowest = Math.min(...values);
  const highest = Math.max(lowest + 1, ...values);
  const atLeast = (highest - lowest) / 2;
  const magnitude = 10 ** Math.floor(Math.log10(atLeast));
  const steps = [1, 2, 2.5, 5, 10].map((factor) => factor * magnitude).filter(Number.isInteger);
  const interval = steps.find((step) => step >= atLeast) ?? 1;
  return {
    min: Math.floor(lowest / interval) * interval,
    max: Math.ceil(highest / interval) * interval,
    interval,
  };
}

function stageAxis(stages: StageFigures[]): YAXisComponentOption {
  return {
    type: 'category',
    inverse: true,
    data: stages.map(({ stage }) => stage),
    axisLabel: { fontSize: 16, color: ink, width: 144, overflow: 'truncate', interval: 0, fontFamily },
    axisTick: { show: false },
    axisLine: { show: true, lineStyle: { color: ink } },
  };
}

type Words = { text: string; style: 'plain' | 'good' | 'bad' }[];

/** What stands right of each row, one line under the other. */
function rightAxis(rows: Words[]): YAXisComponentOption {
  return {
    type: 'category',
    position: 'right',
    inverse: true,
    data: rows.map((_, row) => String(row)),
    axisLabel: {
      interval: 0,
      margin: 6,
      formatter: (row: string) => (rows[+row] ?? []).map(({ text, style }) => `{${style}|${text}}`).join('\n'),
      rich: {
        plain: { fontSize: 14, color: ink, lineHeight: 17, fontFamily },
        good: { fontSize: 14, color: asExpected, fontWeight: 'bold', lineHeight: 17, fontFamily },
        bad: { fontSize: 14, color: notAsExpected, fontWeight: 'bold', lineHeight: 17, fontFamily },
      },
    },
    axisTick: { show: false },
    axisLine: { show: false },
  };
}
