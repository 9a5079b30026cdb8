import { SingleBar } from 'cli-progress';
import Table from 'cli-table3';
import pc from 'picocolors';
import { comparedFigures } from './report/figures.ts';
import { formatDuration, formatMeasure, formatNumber } from './report/numbers.ts';
import { readStory, stageTitle } from './report/story.ts';
import type { DrillResult, Results, StageResult, Verdict } from './results.ts';
import { drills } from './staircase.ts';
import type { Target } from './target.ts';

const marks: Record<Verdict, string> = {
  pass: pc.green('✔'),
  fail: pc.red('✘'),
  unknown: pc.yellow('?'),
  'not-applicable': pc.dim('–'),
};
const words: Record<Verdict, string> = {
  pass: 'holds',
  fail: 'fails',
  unknown: 'unknown',
  'not-applicable': 'not applicable',
};

/** Tells a run as it goes on. */
export interface Narrator {
  start(target: Pick<Target, 'url' | 'redis' | 'nginx'>): void;
  stage(stage: string): void;
  drill(drill: string): void;
  progress(done: number, total: number): void;
  result(result: DrillResult): void;
  end(results: Results, dir: string): void;
}

/** Tells it to `out`: with a progress bar on a terminal, in plain lines elsewhere. */
export function createNarrator(out: NodeJS.WriteStream): Narrator {
  const bar = out.isTTY
    ? new SingleBar({
        stream: out,
        format: '  {drill} {bar} {value}/{total}',
        barsize: 30,
        clearOnComplete: true,
        hideCursor: true,
      })
    : undefined;
  let drillName = '';
  const say = (line = '') => void out.write(`${line}\n`);

  return {
    start({ url, redis, nginx }) {
      say(`Two nodes behind nginx (${nginx}) at ${url}, redis: ${redis.kind} ${redis.version}`);
    },
    stage(stage) {
      const story = readStory(stage);
      say();
      say(pc.bold(stageTitle(stage)));
      if (story) say(`  ${pc.dim('Problem')}  ${story.problem}\n  ${pc.dim('Change ')}  ${story.change}`);
    },
    drill(drill) {
      drillName = drill;
    },
    progress(done, total) {
      if (bar && done === 1) bar.start(total, 0, { drill: nameColumn(drillName) });
      bar?.update(done);
    },
    result(result) {
      bar?.stop();
      for (const line of resultLines(result)) say(line);
    },
    end(results, dir) {
      bar?.stop();
      const table = comparison(results.stages);
      if (table) say(`\n${table}`);
      say(`\n${verdictLine(results)} ${pc.dim(`(${formatDuration(results.durationMs)})`)}`);
      for (const reason of results.verdictReasons) say(`  ${reason}`);
      if (results.leftOut.length > 0) say(`  Left out: ${results.leftOut.join(', ')}.`);
      say(`\nThe report: ${dir}/report.html`);
    },
  };
}

/** For output that another program reads. */
export const silentNarrator: Narrator = { start() {}, stage() {}, drill() {}, progress() {}, result() {}, end() {} };

function resultLines({ drill, verdict, taught, reasons, figures, witnesses }: DrillResult): string[] {
  const isComparable = taught !== null && (verdict === 'pass' || verdict === 'fail');
  const compared = taught === verdict ? ', as taught' : pc.red(', NOT as taught');
  const judged = `${words[verdict]}${isComparable ? compared : ''}`;
  const latency = figures?.latencyMs;
  const speed = [
    figures && `${formatNumber(figures.throughput)} sales/s`,
    latency && `p50 ${formatMeasure(latency.p50)} ms, p99 ${formatMeasure(latency.p99)} ms`,
    figures?.redisCommandsPerSale !== undefined &&
      `${formatMeasure(figures.redisCommandsPerSale)} Redis commands a sale`,
    figures && figures.lockTimeout > 0 && `${formatNumber(figures.lockTimeout)} refused: the lock was not free in time`,
  ].filter(Boolean);
  return [
    `  ${marks[verdict]} ${pc.bold(nameColumn(drill))} ${judged}  ${pc.dim(drills[drill]?.asks ?? '')}`,
    ...reasons.map((reason) => `${indent}${reason}`),
    ...witnesses.slice(0, 1).map((witness) => `${indent}${pc.dim(`${witness}.`)}`),
    ...(speed.length > 0 ? [`${indent}${pc.dim(speed.join(' · '))}`] : []),
  ];
}

const indent = ' '.repeat(19);
const nameColumn = (name: string) => name.padEnd(14);

function verdictLine({ verdict, stages, leftOut }: Results): string {
  const cells = stages.reduce((sum, { drills }) => sum + drills.length, 0);
  if (verdict === 'as-taught') {
    return pc.bold(pc.green(`As taught: ${cells} of ${cells} cells came out as the staircase says.`));
  }
  if (verdict === 'not-as-taught') return pc.bold(pc.red('Not as taught.'));
  return pc.bold(pc.yellow(leftOut.length > 0 ? 'Unknown: the run did not come to its end.' : 'Unknown.'));
}

/** A row for each stage: the figures of its rush, or of the first drill that has any, and what the sell-out oversold. */
function comparison(stages: StageResult[]): string | undefined {
  const drillNames = stages.flatMap((stage) => stage.drills.filter(({ figures }) => figures).map(({ drill }) => drill));
  const compared = drillNames.includes('rush') ? 'rush' : drillNames[0];
  if (compared === undefined) return undefined;
  const table = new Table({
    head: ['stage', 'sold', 'expected', 'final', 'lost', 'oversold', 'sales/s', 'p50 ms', 'p99 ms', 'Redis/sale'],
    colAligns: ['left', ...comparedFigures.map(() => 'right' as const)],
    style: { head: [], border: [], compact: true },
  });
  for (const { stage, drills } of stages) {
    const figures = drills.find(({ drill }) => drill === compared)?.figures;
    const sellOut = drills.find(({ drill }) => drill === 'sell-out')?.figures;
    if (!figures) continue;
    const shown = { ...figures, oversold: (sellOut ?? figures).oversold };
    table.push([stage, ...comparedFigures.map(({ read }) => read(shown))]);
  }
  const note = drillNames.includes('sell-out') && compared !== 'sell-out' ? ', oversold in the sell-out' : '';
  return `${pc.bold(`The stages: stock and speed in the ${compared}${note}`)}\n${table.toString()}`;
}
