// The parts of the documents that are made of the record: a table, an excerpt of a terminal, or one figure in a sentence.

import { stripVTControlCharacters } from 'node:util';
import { lockName } from '../../locks/index.ts';
import { bucketCounts, contestants } from '../bench/contestants.ts';
import { isReached, ratiosIn } from '../bench/figures.ts';
import type { Spread } from '../bench/results.ts';
import { formatRatio } from '../bench/table.ts';
import { formatDuration, formatMeasure, formatMoment, formatNumber } from '../evidence/numbers.ts';
import { type DrillResult, type RushFigures, rushFigures } from '../evidence/results.ts';
import { matrixLines } from '../prove/matrix.ts';
import { notMeasured } from '../report/figures.ts';
import { drillLines, openingLines } from '../report/terminal.ts';
import { columnNames, rowOf, staircases } from '../staircase/lookup.ts';
import { fenced, table } from '../verdicts/markdown.ts';
import { type BenchName, type BenchRow, benchNames, type FiguresRecord, type Run } from './record.ts';
import { steps } from './steps.ts';

/** Makes a part of the record. The words behind its name in the comment are its arguments. */
export type Part = (record: FiguresRecord, ...args: string[]) => string;

/** What stands in a line of its own. */
export const blocks: Record<string, Part> = {
  /** `rush 8-auto-renew,fair`, or `rush … by-speed`: whole sales through nginx, a row each. */
  rush(record, names = '', order) {
    const rushes = rushesOf(record);
    const rows = names.split(',').flatMap((name) => {
      const figures = rushes.get(known(name));
      return figures ? [{ name, figures }] : [];
    });
    if (order === 'by-speed') rows.sort((a, b) => b.figures.throughput - a.figures.throughput);
    return measured(record, 'staircase-beyond', [
      tableOf(
        ['lock', 'sales per second', 'p50', 'p99', 'Redis commands a sale'],
        rows.map(({ name, figures }) => [
          `\`${name}\``,
          formatNumber(figures.throughput),
          latency(figures, 'p50'),
          latency(figures, 'p99'),
          commandsOf(figures),
        ]),
      ),
    ]);
  },

  /** `buyers`: what `mysql-optimistic` is refused, the more of them the more buyers there are. */
  buyers(record) {
    const whole = rushesOf(record).get('mysql-optimistic');
    const fewer = (record.buyers ?? []).flatMap(({ connections, result }) => {
      const figures = rushFigures(result);
      return figures ? [{ connections, figures }] : [];
    });
    const rows = [...fewer, ...(whole ? [{ connections: 100, figures: whole }] : [])];
    rows.sort((a, b) => a.connections - b.connections);
    return measured(
      record,
      ['buyers-2', 'buyers-10', 'staircase-beyond'],
      [
        tableOf(
          ['buyers at a time', 'refused writes', 'sales per second', 'p50', 'p99'],
          rows.map(({ connections, figures }) => [
            formatNumber(connections),
            formatNumber(figures.conflicts ?? 0),
            formatNumber(figures.throughput),
            latency(figures, 'p50'),
            latency(figures, 'p99'),
          ]),
        ),
      ],
    );
  },

  /** `story 4-ttl rush,slow-holder`: what `npm start` prints of these drills under a stage. */
  story(record, stage = '', drills = '') {
    const cells = record.staircase?.cells ?? [];
    const find = (row: string, drill: string) =>
      cells.find((cell) => cell.stage === row && cell.result.drill === drill)?.result;
    const shown = new Set(drills.split(','));
    // A drill that the excerpt leaves out stands in none of its lines.
    const findShown = (row: string, drill: string) => (shown.has(drill) ? find(row, drill) : undefined);
    const results = [...shown].flatMap((drill) => find(known(stage), knownDrill(drill)) ?? []);
    const lines = [...openingLines(stage, find), ...results.flatMap((result) => drillLines(stage, result, findShown))];
    return measured(record, 'staircase-beyond', [
      results.length > 0 ? fenced('text', stripVTControlCharacters(lines.join('\n'))) : NOTHING,
    ]);
  },

  /** `signs redis-atomic`, `signs … without-dashes`, or `signs … that-differ`: columns of the staircase, a row for each drill. */
  signs(record, names = '', which) {
    const { signs = {} } = record.staircase ?? {};
    const stages = names.split(',').filter((name) => signs[known(name)] !== undefined);
    const cell = (drill: string, stage: string) => signs[stage]?.[drill] ?? '';
    const drills = columnNames
      .filter((drill) => stages.some((stage) => cell(drill, stage) !== ''))
      .filter((drill) => which !== 'without-dashes' || stages.some((stage) => cell(drill, stage) !== '–'))
      .filter((drill) => which !== 'that-differ' || new Set(stages.map((stage) => cell(drill, stage))).size > 1);
    return measured(record, 'staircase-beyond', [
      tableOf(
        ['drill', ...stages.map((stage) => `\`${stage}\``)],
        drills.map((drill) => [`\`${drill}\``, ...stages.map((stage) => cell(drill, stage))]),
      ),
    ]);
  },

  /** `bench 100 8-auto-renew,fair`: the locks alone at so many waiters in each of two processes. */
  bench(record, waiters = '', names = '') {
    const rows = benchRows(record, 'bench', Number(waiters), names.split(','));
    const hasStarved = rows.some(({ starved }) => starved > 0);
    return measured(record, 'bench', [
      tableOf(
        [
          'lock',
          'per second',
          'Redis commands',
          'wait p50',
          'p99',
          'max',
          'p99 ÷ ideal',
          ...(hasStarved ? ['starved'] : []),
        ],
        rows.map((row) => [
          named(row.name),
          formatRates(row.perSecond),
          ...waitsOf(row),
          row.p99ToIdeal === undefined ? '–' : formatRatio(row.p99ToIdeal),
          ...(hasStarved ? [row.starved > 0 ? formatNumber(row.starved) : ''] : []),
        ]),
      ),
    ]);
  },

  /** `cost cohort,fair`: the locks alone, with few waiters and with many. */
  cost(record, names = '') {
    const all = names.split(',');
    const [few, many] = [100, 1000].map((waiters) => benchRows(record, 'bench', waiters, all)) as [
      BenchRow[],
      BenchRow[],
    ];
    return measured(record, 'bench', [
      tableOf(
        ['lock', 'per second, 2 × 100', 'Redis commands', 'p99 of the wait', 'per second, 2 × 1,000', 'Redis commands'],
        all.flatMap((name) => {
          const [own, crowded] = [few, many].map((rows) => rows.find((row) => row.name === name));
          if (own === undefined) return [];
          return [
            [
              named(name),
              formatNumber(own.perSecond.value),
              measure(own.commands),
              own.waitMs ? formatDuration(own.waitMs.p99) : '–',
              crowded ? formatNumber(crowded.perSecond.value) : '–',
              measure(crowded?.commands),
            ],
          ];
        }),
      ),
    ]);
  },

  /** `buckets`: the stock in more and more keys, at two numbers of waiters. */
  buckets(record) {
    const names = ['fenced', 'buckets-1', 'buckets-2', 'buckets', 'buckets-8', 'buckets-16'];
    const [few, many] = [10, 100].map((waiters) => benchRows(record, 'bench-buckets', waiters, names));
    return measured(record, 'bench-buckets', [
      tableOf(
        ['contestant', 'per second, 2 × 10', 'p99 of the wait', 'per second, 2 × 100', 'p99 of the wait'],
        names.flatMap((name) => {
          const rows = [few, many].map((at) => at?.find((row) => row.name === name));
          if (rows.every((row) => row === undefined)) return [];
          const cells = rows.flatMap((row) => [
            row ? formatRates(row.perSecond) : '–',
            row?.waitMs ? formatDuration(row.waitMs.p99) : '–',
          ]);
          return [[`\`${name}\``, ...cells]];
        }),
      ),
    ]);
  },

  /** `orders-cost`: whole sales with an order each, and without. */
  'orders-cost'(record) {
    const rows = record['bench-orders']?.rows ?? [];
    return measured(record, 'bench-orders', [
      tableOf(
        ['', 'sales per second', 'Redis commands', 'p50', 'p99', 'max'],
        rows.map((row) => [`\`${row.name}\``, formatRates(row.perSecond), ...waitsOf(row)]),
      ),
    ]);
  },

  /** `ratios`: each with its target, and what it came to. */
  ratios(record) {
    const rows = (['locks', 'http'] as const).flatMap((mode) => {
      const runs = mode === 'locks' ? [record.bench] : [record['bench-http'], record['bench-orders']];
      return ratiosIn(mode).flatMap((ratio) => {
        const value = runs.map((run) => run?.ratios[ratio.name]).find((each) => each !== undefined);
        if (value === undefined) return [];
        const { atLeast, atMost } = ratio;
        const goal = atLeast !== undefined ? `≥ ${atLeast}` : atMost !== undefined ? `≤ ${atMost}` : '';
        const reached = isReached(ratio, value);
        const sign = reached === undefined ? '' : reached ? '✔' : '✘';
        return [[`\`${ratio.name}\``, formatSpread(value, formatRatio), goal, sign]];
      });
    });
    return [tableOf(['ratio', 'measured', 'target', ''], rows), ...linesOf(record, ['bench', 'bench-http'])].join(
      '\n\n',
    );
  },

  /** `matrix`: the search, a row for each lock. */
  matrix(record) {
    const { matrix, says } = record.search ?? {};
    if (matrix === undefined) return NOTHING;
    return measured(record, 'prove', [
      fenced('text', matrixLines(matrix, (sign) => sign).join('\n')),
      `${says} It took ${formatDuration(record.runs['prove']?.durationMs ?? 0)}.`,
    ]);
  },

  /** `orders`: the staircases of the orders, with a figure in each cell. */
  orders(record) {
    const cells = record.orders ?? [];
    const tables = staircases.flatMap(({ title, rowWord, rows, columns }) => {
      const own = Object.keys(rows).filter((row) => cells.some(({ stage }) => stage === row));
      const drills = Object.keys(columns).filter((name) =>
        cells.some(({ stage, drill }) => own.includes(stage) && drill === name),
      );
      if (own.length === 0) return [];
      const cell = (row: string, drill: string) => {
        const found = cells.find((each) => each.stage === row && each.drill === drill);
        return found === undefined ? '' : `${found.sign} ${found.figure}`.trim();
      };
      return [
        [
          title,
          '',
          ...aligned([
            [rowWord, ...drills],
            ...own.map((row) => [rowOf(row)?.short ?? row, ...drills.map((drill) => cell(row, drill))]),
          ]),
        ].join('\n'),
      ];
    });
    return measured(record, 'start-orders', [tables.length > 0 ? fenced('text', tables.join('\n\n')) : NOTHING]);
  },

  /** `times start,prove`: how long these runs took. */
  times(record, names = '') {
    const runs = names.split(',').flatMap((name) => record.runs[stepNamed(name)] ?? []);
    return tableOf(
      ['command', 'cells', 'took', 'load when it began'],
      runs.map(({ command, cells, durationMs, machine }) => [
        `\`${command}\``,
        cells === undefined ? '' : formatNumber(cells),
        formatDuration(durationMs),
        loadOf(machine),
      ]),
    );
  },

  /** `runs`: each run of the record, and what it was made on. */
  runs(record) {
    const runs = steps.flatMap(({ name }) => record.runs[name] ?? []);
    return tableOf(
      ['run', 'began', 'took', 'load when it began', 'on', 'with', 'commit'],
      runs.map(({ command, startedAt, durationMs, machine, servers }) => [
        `\`${command}\``,
        formatMoment(startedAt),
        formatDuration(durationMs),
        loadOf(machine),
        `${machine.cpus}, ${machine.os.split(' ')[0]}, Node ${machine.node.replace('v', '')}`,
        servers.join(', '),
        machine.commit,
      ]),
    );
  },
};

/** What stands within a sentence. */
export const inline: Record<string, Part> = {
  /** `rush 8-auto-renew throughput`, or `p50`, `p99`, `commands`. */
  rush(record, name = '', figure = '') {
    const figures = rushesOf(record).get(known(name));
    if (figures === undefined) return notMeasured;
    const read: Record<string, (figures: RushFigures) => string> = {
      throughput: ({ throughput }) => formatNumber(throughput),
      p50: (own) => latency(own, 'p50'),
      p99: (own) => latency(own, 'p99'),
      commands: commandsOf,
      conflicts: ({ conflicts = 0 }) => formatNumber(conflicts),
      sold: ({ sold }) => formatNumber(sold),
    };
    return (read[figure] ?? unknown(`figure of a rush: ${figure}`))(figures);
  },

  /** `ratio bench-orders cohort+orders/cohort@100`, of one of the benches. */
  ratio(record, bench = '', name = '') {
    if (!isBench(bench)) return unknown(`bench: ${bench}`);
    const ratio = record[bench]?.ratios[name];
    return ratio ? formatRatio(ratio.value) : notMeasured;
  },

  /** `states`: how many the search has seen. */
  states: ({ search }) => (search ? formatNumber(search.states) : notMeasured),

  /** `took prove`: how long a run took. */
  took(record, name = '') {
    const run = record.runs[stepNamed(name)];
    return run ? formatDuration(run.durationMs) : notMeasured;
  },

  /** `cells staircase`: how many a run had. */
  cells(record, name = '') {
    const { cells } = record.runs[stepNamed(name)] ?? {};
    return cells === undefined ? notMeasured : formatNumber(cells);
  },
};

/** What stands where the record has nothing for a part. */
const NOTHING = '_Not measured yet._';

function unknown(what: string): never {
  throw new Error(`there is no ${what}`);
}

function known(name: string): string {
  return lockName(name) === name ? name : unknown(`strategy ${name}`);
}

function stepNamed(name: string): string {
  return steps.some((step) => step.name === name) ? name : unknown(`run ${name}`);
}

function loadOf({ load }: Run['machine']): string {
  return load === undefined ? 'not noted' : formatMeasure(load);
}

function knownDrill(name: string): string {
  return columnNames.includes(name) ? name : unknown(`drill ${name}`);
}

/** Every rush of the record, by its row. */
function rushesOf({ staircase }: FiguresRecord): Map<string, RushFigures> {
  const rushes = (staircase?.cells ?? []).filter(({ result }) => result.drill === 'rush');
  return new Map(
    rushes.flatMap(({ stage, result }: { stage: string; result: DrillResult }) => {
      const figures = rushFigures(result);
      return figures ? [[stage, figures] as const] : [];
    }),
  );
}

const isBench = (name: string): name is BenchName => benchNames.some((each) => each === name);

/** In the order of the names; what was not measured is left out, and so is a lock that was not alone. */
function benchRows(record: FiguresRecord, bench: BenchName, waiters: number, names: string[]): BenchRow[] {
  const rows = record[bench]?.rows ?? [];
  return names.map(knownContestant).flatMap((name) => {
    const row = rows.find((each) => each.name === name && each.waiters === waiters);
    return row && row.lostUpdates === 0 ? [row] : [];
  });
}

function knownContestant(name: string): string {
  return [...contestants, ...bucketCounts].some((contestant) => contestant.name === name)
    ? name
    : unknown(`lock in the bench: ${name}`);
}

const named = (name: string) => (name.endsWith('-ceiling') ? `_${name.replace('-', ' ')}_` : `\`${name}\``);
const measure = (value: number | undefined) => (value === undefined ? '–' : formatMeasure(value));
const waitsOf = ({ commands, waitMs }: BenchRow) => [
  measure(commands),
  ...(waitMs ? [waitMs.p50, waitMs.p99, waitMs.max].map(formatDuration) : ['–', '–', '–']),
];

function latency({ latencyMs }: RushFigures, which: 'p50' | 'p99'): string {
  return latencyMs ? formatDuration(latencyMs[which]) : '–';
}

function commandsOf({ redisCommandsPerSale }: RushFigures): string {
  return measure(redisCommandsPerSale);
}

function formatSpread({ value, min, max }: Spread, format: (value: number) => string): string {
  const [middle, low, high] = [format(value), format(min), format(max)];
  return low === high ? middle : `${middle} (${low}–${high})`;
}

const formatRates = (spread: Spread) => formatSpread(spread, formatNumber);

function tableOf(head: string[], rows: string[][]): string {
  return rows.length > 0 ? table(head, rows) : NOTHING;
}

/** Columns as a terminal shows them. */
function aligned(rows: string[][]): string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => [...(row[at] ?? '')].length)));
  return rows.map((row) =>
    row
      .map((cell, at) => cell + ' '.repeat((widths[at] ?? 0) - [...cell].length))
      .join('  ')
      .trimEnd(),
  );
}

/** A part with what it was measured on below it. */
function measured(record: FiguresRecord, names: string | string[], parts: string[]): string {
  return [...parts, ...linesOf(record, [names].flat())].join('\n\n');
}

function linesOf(record: FiguresRecord, names: string[]): string[] {
  const runs = names.flatMap((name) => record.runs[name] ?? []);
  return [...new Set(runs.map((run) => `_${provenance(run)}_`))];
}

/** When a run was made, and how busy the machine was. `runs` has the rest. */
function provenance({ command, startedAt, machine: { load, cpus } }: Run): string {
  const [kind] = command.split(/(?: --)? --(?:only|waiters|rounds|requests|stage)\b/);
  const busy = load === undefined ? '' : `; the load of the machine was ${formatMeasure(load)} when it began`;
  const tells =
    load !== undefined && load > Number.parseInt(cpus, 10) ? ', above its CPUs: only the ratios tell something' : '';
  return `From \`${kind}\` on ${dayOf(startedAt)}${busy}${tells}.`;
}

function dayOf(iso: string): string {
  return formatMoment(iso).split(',')[0] ?? '';
}
