// A scenario as a sequence diagram in Mermaid: drawn of what happens when it is played in virtual time.

import { type PlayRecord, recordsOf } from '../live/page/records.ts';
import type { Page } from '../loadtest/scenarios/page.ts';
import { asDrill } from '../loadtest/scenarios/scenario.ts';
import { playDrill } from '../loadtest/virtual/play.ts';
import type { SaleEvent } from '../services/inventory/lab/contract.ts';
import type { Lab } from '../virtual/lab.ts';

/** What the harness asks of a node, and no sale. */
const OF_HARNESS = /^(MGET|PING)\b/;
/** Sentences that prepare, or wait for what has begun. */
const UNTOLD = /^(the next sales at|all sales end|[A-Z] ends)| pass(es)?$/;
const deeds: Partial<Record<SaleEvent['type'], string>> = {
  entered: 'is inside',
  nested: 'asks for its own lock again',
  left: 'leaves',
};
const participants: Record<string, string> = { 'node-1': 'A', 'node-2': 'B' };

/** The scenario under the lock as a diagram, up to the last sentence, if one is given. Rejects for a sentence that it does not have. */
export async function sequenceOf(page: Page, stage: string, last?: string): Promise<string> {
  let lab: Lab | undefined;
  const disturb = (opened: Lab) => {
    lab = opened;
  };
  const { outcome, log } = await playDrill(asDrill(page), stage, { disturb });
  const { events = [], verdict } = outcome;
  const lines = page.steps.map(({ line }) => line);
  const heard = lab?.redis.heard ?? [];
  const records = await recordsOf({ log, events, heard, atLines: [], lines, lock: stage });
  const steps = stepsOf(records, (line) => page.steps.some((step) => step.line === line && step.isLong));
  const end = last === undefined ? steps.length : steps.findIndex(({ line }) => line === last) + 1;
  if (end === 0) throw new Error(`${page.name} has no sentence "${last}".`);
  const words = page.words['if it fails'];
  const [reason = ''] = (outcome.reasons[0] ?? '').split('. ');
  const damage = (words ? `${words.charAt(0).toLowerCase()}${words.slice(1)}` : reason).replace(/\.$/, '');
  return [
    '```mermaid',
    'sequenceDiagram',
    '    participant A as node-1',
    '    participant R as Redis',
    '    participant B as node-2',
    ...drawn(steps.slice(0, end)).map((line) => `    ${line}`),
    ...(verdict === 'fail' ? [`    Note over A,B: the damage: ${damage}`] : []),
    '```',
  ].join('\n');
}

interface Step {
  /** Its sentence. */
  line: string;
  records: PlayRecord[];
}

/** What happens in each step. Some sentences are said before it, and most when it is over. */
function stepsOf(records: PlayRecord[], isSaidFirst: (line: string) => boolean): Step[] {
  const steps: Step[] = [];
  let since: PlayRecord[] = [];
  for (const record of records) {
    if (record.type !== 'sentence') since.push(record);
    else {
      const { line, at } = record;
      const before = steps.at(-1);
      // After one that is said first, what is let go now is of this sentence, and so is what comes at its moment.
      const isOfThis = (each: PlayRecord) =>
        before === undefined || !isSaidFirst(before.line) || each.at === at || (each.type === 'held' && !each.verb);
      const from = isSaidFirst(line) ? -1 : since.findIndex(isOfThis);
      const own = from === -1 ? [] : since.splice(from);
      before?.records.push(...since);
      steps.push({ line, records: own });
      since = [];
    }
  }
  steps.at(-1)?.records.push(...since);
  return steps;
}

/** The lines of the diagram: of each step its sentence, and what happens in it. A lease that ends by itself is told as well. */
function drawn(steps: Step[]): string[] {
  let leaseEnds = Number.POSITIVE_INFINITY;
  return steps.flatMap(({ line, records }) => {
    const texts = records.flatMap((record) => {
      if (record.type !== 'redis') return textsOf(record);
      const { at, lock, endsAt = Number.POSITIVE_INFINITY } = record;
      // Gone since then, or given to another.
      const isOver = at >= leaseEnds && (lock === undefined || endsAt > at + 1);
      leaseEnds = endsAt;
      return isOver ? ['Note over R: the lease ends'] : [];
    });
    const unnamed = records.filter((record) => isUnnamed(record) && 'what' in record && record.what === 'left').length;
    return [
      ...(UNTOLD.test(line) ? [] : [`Note over A,B: ${line}`]),
      ...withoutRepeats(texts),
      ...(unnamed > 1 ? [`Note over B: ${unnamed - 1} more sales, alike`] : []),
    ];
  });
}

/** A sale that its page gives no letter: it is one of several that are alike. */
const isUnnamed = (record: PlayRecord) => record.type === 'sale' && /^\d/.test(record.sale);

function textsOf(record: PlayRecord): string[] {
  const node = 'node' in record ? participants[record.node] : undefined;
  if (record.type === 'held') return record.verb ? [`${node}-xR: ${record.verb}`] : [];
  if (record.type === 'sale') {
    const did = deeds[record.what];
    return did ? [`Note over ${node}: ${isUnnamed(record) ? 'a sale' : record.sale} ${did}`] : [];
  }
  if (record.type !== 'command' || OF_HARNESS.test(record.verb)) return [];
  return [`${node}->>R: ${record.verb} → ${record.reply?.replaceAll('"', '').replace('null', 'nil')}`];
}

/** What was done twice is told once, whatever units were in stock. */
function withoutRepeats(texts: string[]): string[] {
  const told: { what: string; text: string }[] = [];
  /** What each node did last. */
  const last = new Map<string, string>();
  for (const text of texts) {
    const what = text.replace(/((?:GET|SET) stock).*/, '$1');
    const [who = ''] = text;
    const before = told.find((each) => each.what === what);
    if (before === undefined) told.push({ what, text });
    else if (last.get(who) === text) before.text = `${text}, again and again`;
    last.set(who, text);
  }
  return told.map(({ text }) => text);
}
