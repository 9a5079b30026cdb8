// npm run judge: starts two copies of a service in any language, learns it from a few sales, breaks it on purpose, and judges it by its wire.

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import pc from 'picocolors';
import stringWidth from 'string-width';
import type { ServiceTold } from '../loadtest/evidence/judgement.ts';
import { type Answer, judgementSchema, type Results } from '../loadtest/evidence/results.ts';
import { asRow } from '../loadtest/grade/not-promised.ts';
import type { DrillSettings } from '../loadtest/harness/drill.ts';
import { speak, speaking } from '../loadtest/narration/language.ts';
import { durationSaid, either } from '../loadtest/narration/spoken.ts';
import { keyFigure, questionOf, reasonOf } from '../loadtest/report/cells.ts';
import { answerOf } from '../loadtest/report/grades.ts';
import { renderPage } from '../loadtest/report/page.ts';
import { learnedPairs } from '../loadtest/report/service.ts';
import { mark, padded } from '../loadtest/report/terminal.ts';
import { Interrupted, runCells } from '../loadtest/run/cells.ts';
import { createRunFolder, jsonOf, type RunFolder } from '../loadtest/run/folder.ts';
import { answerLines, type Narrator, reportLine } from '../loadtest/run/narrator.ts';
import { openLine } from '../loadtest/run/progress-line.ts';
import { drills as allDrills } from '../loadtest/scenarios/index.ts';
import { learn } from '../loadtest/worlds/foreign/learn.ts';
import { asTold, type Learned } from '../loadtest/worlds/foreign/learned.ts';
import { openStockRow, type StockRow } from '../loadtest/worlds/foreign/stock-row.ts';
import { type ForeignTarget, openForeignTarget } from '../loadtest/worlds/foreign/target.ts';
import { asksLongLease, foreignWorld, setLeases } from '../loadtest/worlds/foreign/world.ts';
import { withoutPassword } from '../services/inventory/settings/setting-error.ts';
import type { Place } from '../workshop/picture/beats.ts';
import type { Onlooker } from '../workshop/server/onlooker.ts';
import { AS_EXPECTED, COULD_NOT_RUN, endWith, NOT_AS_EXPECTED, stopOnSignal } from './command-line/ending.ts';
import { commandLine, describeMachine } from './command-line/environment.ts';
import { type JudgeCommand, readJudgeOptions } from './command-line/judge-options.ts';

/**
 * The lease of the drills in which leases end by themselves, and of those in which they end when the page says so, in milliseconds. The
 * long one outlasts an outage of 3 s, and the half second until a node has found Redis again; and it has ended 2 s after the return of
 * Redis, by when the shop is to sell.
 */
const SHORT_LEASE_MS = 400;
const LONG_LEASE_MS = 4_500;
/** How long the sales of a rush may take if each waits for the one before, in milliseconds, and how many there are. */
const RUSH_MS = 2_000;
const MOST_REQUESTS = 300;
const FEWEST_REQUESTS = 50;
const CONNECTIONS = 16;

await judge(readJudgeOptions(process.argv));

async function judge(options: JudgeCommand): Promise<never> {
  const { service, longestWaitMs, doesSave, isVerbose, isJson } = options;
  speak(options.language);
  const { signal } = stopOnSignal(new Interrupted());
  const stopped = once(signal, 'abort').then(() => {
    throw new Error('It was interrupted.');
  });
  stopped.catch(() => {});
  /** Rejects when the run is to stop. */
  const untilStopped = <Value>(promise: Promise<Value>) => Promise.race([promise, stopped]);
  const opened: ForeignTarget[] = [];
  let row: StockRow | undefined;
  const say = (...lines: string[]) => void (isJson || process.stdout.write(lines.map((line) => `${line}\n`).join('')));
  const open = (leaseMs: number) => {
    const target = openForeignTarget(
      { ...service, row },
      {
        leaseMs,
        onLine: (name, line) => void (isVerbose && process.stderr.write(`${name}: ${line}\n`)),
        onWait: (line) => say(pc.dim(line)),
      },
    );
    target.then(
      (ready) => opened.push(ready),
      () => {},
    );
    return target;
  };

  return endWith('It could not be judged', run, async () => {
    // What is still starting ends with this process.
    await Promise.all(opened.map(({ close }) => close()));
    await row?.close();
  });

  async function run(): Promise<number> {
    const startedAt = new Date();
    row = service.place && (await openStockRow(service.place));
    say(openingOf(service));
    await build(service, signal);
    const first = await untilStopped(open(SHORT_LEASE_MS));
    const learning = learn(first, { ...service, row });
    // A row is one for all copies: what others do as they start would be taken for a sale.
    if (row) await untilStopped(learning);
    const second =
      !service.running && options.drills.some(asksLongLease) ? open(LONG_LEASE_MS) : Promise.resolve(first);
    const learned = await untilStopped(learning);
    const told = asTold(learned, service.command);
    say('', pc.bold(either('Learned from a few sales', '从几笔销售中了解到')), ...learnedLines(told), '');
    const long = await untilStopped(second);
    long.know(learned);
    await untilStopped(setLeases({ short: first, long }, learned));

    const settings = settingsFor(options, learned);
    const { name, command } = service;
    const grade = asRow({ stage: name, file: command || name, promises: { renewal: learned.lock.isRenewed } });
    const folder = createRunFolder(options.reports, startedAt);
    const world = foreignWorld({ short: first, long, learned, settings, longestWaitMs, signal, showsAll: isVerbose });
    const wanted = allDrills.filter((drill) => options.drills.includes(drill.name));
    const cells = wanted.map((drill) => ({ stage: name, drill }));
    const place = learned.lock.keys.length > 0 ? 'redis' : 'none';
    const keeper = doesSave ? await keepIn(folder, place) : undefined;
    const narrator = createNarrator(cells.length, say, keeper);
    const asked = { worldOf: () => world, isVirtual: false, workers: 1, signal, narrator, folder };
    const play = (isMine: (drill: string) => boolean) =>
      runCells({ ...asked, cells: cells.filter(({ drill }) => isMine(drill.name)) });
    // Each has two copies of its own, and mostly waits. They share a row in MySQL, though.
    const short = play((drill) => !asksLongLease(drill));
    if (row) await short;
    const runs = await Promise.all([short, play(asksLongLease)]);
    const played = runs.flatMap(({ stages }) => stages.flatMap((stage) => stage.drills));
    const drills = cells.flatMap(({ drill }) => played.filter((each) => each.drill === drill.name));

    const { redis, nginx } = first;
    const results: Results = {
      format: 3,
      command: withoutPassword(commandLine('judge')),
      startedAt: startedAt.toISOString(),
      durationMs: Date.now() - startedAt.getTime(),
      verdict: 'unknown',
      verdictReasons: [],
      leftOut: runs.flatMap(({ leftOut }) => leftOut),
      environment: { ...describeMachine(), redis, nginx, backends: {}, nodes: 2 },
      settings,
      stages: [{ stage: name, lockVersion: null, drills }],
      service: told,
    };
    const answer = speaking('en', () => answerOf(grade, results));
    const said = answerOf(grade, results);
    Object.assign(results, { verdict: answer.verdict, grades: [{ ...grade, answer, said }] });
    const judgement = jsonOf(judgementOf(results, answer));
    folder.write('judge.json', judgement);
    folder.write('report.html', renderPage(results));
    if (drills.length > 0) folder.pointAt('latest-judge');
    await keeper?.write();
    say(...answerLines(said), reportLine(folder.dir));
    if (keeper)
      say(
        either(
          'Each step-by-step drill is saved beside it as a page that a browser opens without a server.',
          '每个逐步演练都在旁边存成一个页面，用浏览器打开即可，不需要服务器。',
        ),
      );
    const took = durationSaid(results.durationMs);
    say(pc.dim(either(`Took ${took}.`, `用时 ${took}。`)));
    if (isJson) process.stdout.write(judgement);
    if (signal.reason instanceof Interrupted) return COULD_NOT_RUN;
    return { holds: AS_EXPECTED, broken: NOT_AS_EXPECTED, unknown: COULD_NOT_RUN }[answer.verdict];
  }
}

function openingOf({ command, dir, running }: JudgeCommand['service']): string {
  if (running === undefined)
    return either(
      `Starting two copies of ${pc.bold(command)} in ${dir}.`,
      `正在 ${dir} 启动 ${pc.bold(command)} 的两个副本。`,
    );
  const { urls, redisUrl, stock } = running;
  const { host } = new URL(redisUrl);
  return either(
    `Testing two running copies: ${pc.bold(urls.join(' and '))}. This run changes ${stock} in the Redis at ${host} and restores it at the end.`,
    `两个副本已在运行：${pc.bold(urls.join('、'))}。运行期间会改动 ${host} 上 Redis 的 ${stock}，结束后恢复原值。`,
  );
}

/** Runs what the service is made by, once. Throws with what that printed when it fails. */
async function build({ build: command, dir }: JudgeCommand['service'], signal: AbortSignal) {
  if (command === undefined) return;
  await promisify(execFile)('sh', ['-c', command], { cwd: dir, signal }).catch(({ code, stdout, stderr }) => {
    throw new Error(`${command} ended with exit code ${code}:\n${`${stdout}${stderr}`.trim()}`);
  });
}

/** A slow service gets fewer buyers, and not more time. */
function settingsFor({ requests: asked, connections = CONNECTIONS }: JudgeCommand, { saleMs }: Learned): DrillSettings {
  const inTime = Math.max(FEWEST_REQUESTS, Math.min(MOST_REQUESTS, Math.round(RUSH_MS / saleMs)));
  const requests = asked ?? inTime;
  return {
    requests,
    connections: Math.min(connections, requests),
    stock: requests + 100,
    units: Math.ceil(requests / 4),
    leaseMs: SHORT_LEASE_MS,
  };
}

function learnedLines(told: ServiceTold): string[] {
  const pairs = learnedPairs(told);
  const width = Math.max(...pairs.map(([name]) => stringWidth(name)));
  const sale = told.oneSale.join(`\n  ${' '.repeat(width)}  `);
  return [...pairs, ...(sale === '' ? [] : [[either('One sale', '一笔销售'), sale] as const])].map(
    ([name, value]) => `  ${padded(name, width)}  ${value}`,
  );
}

/** Watches each drill, to keep it as a page that plays without a server. */
async function keepIn(folder: RunFolder, place: Place) {
  const { openOnlooker } = await import('../workshop/server/onlooker.ts');
  const onlookers = new Map<string, Onlooker>();
  const pages: (() => Promise<void>)[] = [];
  return {
    follow: ({ stage, drill }) => ({
      async watch(target) {
        // Whose the sales of a load are, nobody tells.
        if (drill.kind !== 'load') onlookers.set(drill.name, await openOnlooker(drill, stage, target, place));
        return target;
      },
      observe: (seen) => onlookers.get(drill.name)?.observe(seen),
      narrate: async (...told) => onlookers.get(drill.name)?.tell(...told),
    }),
    result(_stage, result) {
      const onlooker = onlookers.get(result.drill);
      onlooker?.close();
      // There is nothing to be seen of a drill that was not played.
      if (onlooker === undefined || result.verdict === 'not-applicable') return;
      pages.push(async () => folder.write(`${result.drill}.html`, await onlooker.pageOf(result)));
    },
    /** To pack a page takes a second of a core: no drill is to be disturbed by it. */
    async write() {
      for (const page of pages) await page();
    },
  } satisfies Pick<Narrator, 'follow' | 'result'> & { write(): Promise<void> };
}

/** A line for each drill as it ends, and on a terminal what is under way. */
function createNarrator(
  total: number,
  say: (...lines: string[]) => void,
  keeper: Partial<Pick<Narrator, 'follow' | 'result'>> = {},
): Narrator {
  const show = openLine(process.stdout);
  const underWay = new Set<string>();
  let ended = 0;
  const showUnderWay = () => show(underWay.size > 0 ? `  ${[...underWay].join(', ')} …` : '');
  return {
    ...keeper,
    cell({ drill }) {
      underWay.add(drill.name);
      showUnderWay();
    },
    result(stage, result) {
      const { drill, verdict, durationMs } = result;
      ended += 1;
      underWay.delete(drill);
      show('');
      const figure = keyFigure(result);
      const took = pc.dim(either(`(${durationSaid(durationMs)})`, `（${durationSaid(durationMs)}）`));
      const named = [pc.bold(drill), figure].filter(Boolean).join(either(', ', '，'));
      say(`${pc.dim(`[${ended}/${total}]`)} ${mark(verdict)} ${named} ${took}`);
      say(pc.dim(`        ${questionOf(drill)}`), `        ${reasonOf(result)}`);
      showUnderWay();
      return keeper.result?.(stage, result);
    },
    end() {},
  };
}

function judgementOf(results: Results, { verdict, sentence }: Answer) {
  const drills = results.stages.flatMap((stage) => stage.drills);
  return judgementSchema.parse({ ...results, format: 1, verdict, sentence, drills });
}
