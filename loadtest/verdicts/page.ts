// The page of a published lock, made of what was recorded: what it promises, its row, each failure as it happened.

import { numbered } from '../../prove/words.ts';
import { formatMeasure, formatMoment, formatNumber } from '../evidence/numbers.ts';
import type { ProofCell } from '../evidence/proof.ts';
import type { DrillResult } from '../evidence/results.ts';
import type { Commands, LockRecord } from '../evidence/verdicts.ts';
import { mermaidOf } from '../prove/mermaid.ts';
import { questionOf } from '../report/cells.ts';
import { coded, fenced, listed, quoted, table } from './markdown.ts';
import { sequenceOf } from './sequence.ts';
import { countOfHolds, drillsThat, figureOf, isCheck, signs, standingOf, titleOf } from './sort.ts';

/** More commands a second than this, while one holds and nobody waits, are a finding of their own. */
export const MANY_COMMANDS = 500;

/** The page as Markdown. It says nothing that was not recorded. */
export function verdictPage(record: LockRecord): string {
  const blocks = [
    '<!-- npm run verdicts makes this page of docs/measured/verdicts.json. -->',
    `# ${titleOf(record)}`,
    ...summary(record),
    ...promisePart(record),
    ...runPart(record),
    ...rowPart(record),
    ...failurePart(record, 'broken', 'What it fails of its promise'),
    ...failurePart(record, 'beyond', 'What it fails and does not promise'),
    ...unknownPart(record),
    ...holdingPart(record),
    ...commandPart(record),
    ...searchPart(record),
    ...untestedPart(record),
  ];
  return `${blocks.join('\n\n')}\n`;
}

function summary(record: LockRecord): string[] {
  const [broken, beyond, unknown] = (['broken', 'beyond', 'unknown'] as const).map((standing) =>
    drillsThat(record, standing).map(({ drill }) => drill),
  );
  const busy = record.commands.filter(({ held }) => held > MANY_COMMANDS);
  const sentences = [
    `It holds in ${countOfHolds(record)} drills that apply to it${record.drills.some(({ drill }) => isCheck(drill)) ? `, and in ${countOfHolds(record, isCheck)} checks of the contract` : ''}.`,
    broken?.length
      ? `It fails ${coded(broken)}, which its promise covers.`
      : 'It fails nothing that its promise covers.',
    ...(beyond?.length ? [`It also fails ${coded(beyond)}, which it does not promise to hold.`] : []),
    ...(unknown?.length ? [`Nothing is known of ${coded(unknown)}.`] : []),
    ...busy.map(
      ({ leaseMs, held }) =>
        `At a lease of ${formatNumber(leaseMs)} ms it sends ${formatNumber(held)} Redis commands a second while one holds and nobody waits.`,
    ),
  ];
  return [sentences.join(' ')];
}

function promisePart({ claims, promises }: LockRecord): string[] {
  const { reentry, renewal, fairness, fencing, masters } = promises;
  const yes = (is: unknown) => (is ? 'yes' : 'no');
  return [
    '## What it promises',
    'In its own words:',
    ...claims.map(({ quote, source }) => `${quoted(quote)}\n>\n> — <${source}>`),
    'So it is judged by this:',
    table(
      ['promise', ''],
      [
        ['the holder may ask for its own lock again', yes(reentry)],
        ['the lease is renewed while it is held', yes(renewal)],
        ['waiters come to their turn in an order', fairness === undefined ? 'no' : String(fairness)],
        ['there is a fencing token', yes(fencing)],
        ['several masters vote', yes(masters)],
      ],
    ),
  ];
}

function runPart({ name, options, environment, settings, recordedAt, promises }: LockRecord): string[] {
  const { requests, connections, leaseMs } = settings;
  const servers = promises.masters
    ? 'Five masters vote, each a Redis server of its own, and a sixth has the stock. '
    : '';
  return [
    '## How it was run',
    `Through the adapter [loadtest/peers/${name}.ts](../../loadtest/peers/${name}.ts), with these options; the others are as the library sets them:`,
    table(
      ['option', 'value'],
      Object.entries(options).map(([option, value]) => [`\`${option}\``, value]),
    ),
    `${servers}Drills under load have ${formatNumber(requests)} sales of ${formatNumber(connections)} buyers and a lease of 30 s; those that go step by step have a lease of ${formatNumber(leaseMs)} ms, unless the drill sets one. Connections that the service makes give up an answer after 700 ms. Where a library tells its holder that the lock is lost, the sale stops before its write.`,
    `Recorded on ${formatMoment(recordedAt)}, with Redis ${environment.redis.version.replace(/^redis /, '')}, Node ${environment.node.replace(/^v/, '')}, ${environment.os}, ${environment.cpus}.`,
  ];
}

function rowPart(record: LockRecord): string[] {
  return [
    '## The row',
    table(
      ['drill', 'asks', '', ''],
      record.drills.map((result) => [
        `[\`${result.drill}\`](${isCheck(result.drill) ? '../grade.md#the-contract' : `../drills.md#${result.drill}`})`,
        questionOf(result.drill) ?? '',
        signs[standingOf(record, result)],
        figureOf(result),
      ]),
    ),
    '✔ it holds. ✘ it fails. (✘) it fails, and does not promise to hold. ? nothing may be concluded. – it has nothing that the drill could break.',
  ];
}

function failurePart(record: LockRecord, standing: 'broken' | 'beyond', title: string): string[] {
  const failed = drillsThat(record, standing);
  if (failed.length === 0) return [];
  return [`## ${title}`, ...failed.flatMap((result) => failure(record, result))];
}

function failure({ doesNotPromise, because, otherLeases }: LockRecord, result: DrillResult): string[] {
  const { drill, reasons } = result;
  const others = otherLeases.filter((other) => other.drill.drill === drill);
  return [
    `### ${drill}`,
    ...(questionOf(drill) === undefined ? [] : [`_${capital(questionOf(drill) ?? '')}_`]),
    reasons.join(' '),
    ...(doesNotPromise[drill] === undefined ? [] : [`Not promised: ${doesNotPromise[drill]}`]),
    ...(because[drill] === undefined ? [] : [`Why, by its source: ${because[drill]}`]),
    ...others.map(({ leaseMs, drill: { verdict, reasons } }) => {
      const how = { pass: 'holds', fail: 'fails', unknown: 'tells nothing', 'not-applicable': 'does not apply' }[
        verdict
      ];
      return `With a lease of ${formatNumber(leaseMs)} ms the drill ${how}: ${reasons.join(' ')}`;
    }),
    ...witnessBlock(result),
    ...timelineBlock(result),
  ];
}

function witnessBlock({ witnesses, witnessCount }: DrillResult): string[] {
  if (witnesses.length === 0) return [];
  const more = witnessCount > witnesses.length ? [`and ${formatNumber(witnessCount - witnesses.length)} more`] : [];
  return ['Witnesses:', listed([...witnesses, ...more])];
}

function timelineBlock(result: DrillResult): string[] {
  const sequence = sequenceOf(result);
  if (sequence === undefined) return [];
  return [
    'As it happened, from the beginning of the drill:',
    listed(sequence.sentences),
    fenced('mermaid', sequence.diagram),
  ];
}

function unknownPart(record: LockRecord): string[] {
  const unknown = drillsThat(record, 'unknown');
  if (unknown.length === 0) return [];
  const { because } = record;
  return [
    '## Nothing is known',
    listed(
      unknown.map(
        ({ drill, reasons }) => `\`${drill}\`: ${reasons.join(' ')}${because[drill] ? ` ${because[drill]}` : ''}`,
      ),
    ),
  ];
}

/** What holds may owe it to something else. */
function holdingPart(record: LockRecord): string[] {
  const explained = drillsThat(record, 'holds').filter(({ drill }) => record.because[drill] !== undefined);
  if (explained.length === 0) return [];
  return [
    '## What is behind a ✔',
    listed(explained.map(({ drill, reasons }) => `\`${drill}\`: ${reasons.join(' ')} ${record.because[drill]}`)),
  ];
}

function commandPart({ commands, promises, because }: LockRecord): string[] {
  if (commands.length === 0) return [];
  const servers = promises.masters ? 'over all masters' : 'to its Redis';
  const row = ({ leaseMs, held, waiting, afterRelease, queue }: Commands) => [
    `${formatNumber(leaseMs)} ms`,
    formatMeasure(held),
    formatMeasure(waiting),
    formatMeasure(afterRelease),
    queue === undefined ? 'not all came to their turn' : formatMeasure(queue.commandsEach),
  ];
  const waiters = commands.find(({ queue }) => queue !== undefined)?.queue?.waiters;
  return [
    '## What it sends',
    `Redis commands ${servers}, those inside scripts included: a second while one holds and nobody waits, a second while one more waits, in the second after both have gone, and for each acquisition of ${waiters ?? 'those'} that ask at once.`,
    table(['lease', 'held', 'one waits', 'after', 'each of a queue'], commands.map(row)),
    ...(because['commands'] === undefined ? [] : [`Why, by its source: ${because['commands']}`]),
  ];
}

function searchPart({ search }: LockRecord): string[] {
  const { server, cells } = search;
  const problem = search.problem ?? onlyReason(cells);
  const head = '## Every order of events';
  if (problem !== undefined)
    return [
      head,
      `\`npm run prove\` does not apply: ${problem}. It looks at every order of events only where a lock touches nothing but Redis and the clock.`,
    ];
  const signOf = { holds: '✔', fails: '✘', unknown: '?' } as const;
  const failed = cells.filter(({ verdict, counterexample }) => verdict === 'fails' && counterexample !== undefined);
  const [shortest] = failed.toSorted((a, b) => (a.counterexample?.length ?? 0) - (b.counterexample?.length ?? 0));
  return [
    head,
    `\`npm run prove\` on ${server}, at most one fault of its scope:`,
    table(
      ['scope', 'processes', '', ''],
      cells.map(({ scope, processes, verdict, reason }) => [
        `\`${scope}\``,
        String(processes),
        signOf[verdict],
        reason,
      ]),
    ),
    ...(shortest === undefined ? [] : counterexampleBlock(shortest)),
  ];
}

/** Why the search tells nothing of a lock, where it is the same in every scope: a clause. */
function onlyReason(cells: ProofCell[]): string | undefined {
  const [reason = '', ...others] = new Set(cells.map(({ reason }) => reason));
  const isOpen = cells.every(({ verdict }) => verdict === 'unknown') && others.length === 0;
  return isOpen && reason !== '' ? reason.replace(/^The lock/, 'the lock').replace(/\.$/, '') : undefined;
}

function counterexampleBlock(cell: ProofCell): string[] {
  return [
    `The shortest order that breaks it, in \`${cell.scope}\`: ${cell.reason}`,
    fenced('text', numbered((cell.counterexample ?? []) as Parameters<typeof numbered>[0]).join('\n')),
    fenced('mermaid', mermaidOf(cell)),
  ];
}

function untestedPart(record: LockRecord): string[] {
  const notApplied = drillsThat(record, 'not-applicable').map(
    ({ drill, reasons }) => `\`${drill}\`: ${reasons.join(' ')}`,
  );
  const problem = record.search.problem ?? onlyReason(record.search.cells);
  const open = record.search.cells.filter(({ verdict }) => verdict === 'unknown').map(({ scope }) => scope);
  return [
    '## What was not tested',
    listed([
      ...notApplied,
      ...(problem === undefined ? [] : ['Orders of events that no drill stages: the search does not apply.']),
      ...(problem === undefined && open.length > 0
        ? [`The search did not come to its end in ${coded([...new Set(open)])}.`]
        : []),
      'Redis Cluster and Sentinel, TLS, and servers on other machines.',
      'Other options than those above, and other locks of the package.',
    ]),
  ];
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
