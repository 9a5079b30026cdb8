// A scenario as a Mermaid sequence diagram, drawn from a run in simulated time.

import type { PlayEvent } from '../../loadtest/evidence/playing.ts';
import { reasoned } from '../../loadtest/narration/reasons.ts';
import { narrated, type StepForms } from '../../loadtest/narration/steps.ts';
import type { Scenario } from '../../loadtest/scenarios/read.ts';
import { asDrill } from '../../loadtest/scenarios/scenario.ts';
import { playDrill } from '../../loadtest/worlds/simulated/play.ts';
import { playingIn } from '../../loadtest/worlds/simulated/playing.ts';
import type { SaleEvent } from '../../services/inventory/sale/contract.ts';
import { lockKey } from '../../services/inventory/servers/store.ts';
import type { Lab } from '../../simulation/lab.ts';

/** Steps that only prepare or wait. */
const untold = new Set<keyof StepForms>(['sales slowed', 'time passed', 'all ended']);
const deeds: Partial<Record<SaleEvent['type'], string>> = {
  entered: 'is inside',
  nested: 'asks for its own lock again',
  left: 'leaves',
};
const participants: Record<string, string> = { 'node-1': 'A', 'node-2': 'B' };

/** The scenario under the lock as a diagram, up to a given last line. Rejects if the scenario does not have that line. */
export async function sequenceOf(page: Scenario, stage: string, last?: string): Promise<string> {
  let lab: Pick<Lab, 'events' | 'instances'> = { events: [], instances: new Map() };
  const disturb = (opened: Lab) => {
    opened.watchRedis(lockKey('001', stage));
    lab = opened;
  };
  const { outcome } = await playDrill(asDrill(page), stage, { disturb });
  const events = playingIn(lab);
  const end = events.findIndex((event) => event.kind === 'sentence' && event.line === last) + 1;
  if (last !== undefined && end === 0) throw new Error(`${page.name} has no line "${last}".`);
  const [reason] = outcome.says ?? [];
  const words = page.words['if it fails'] ?? (reason && reasoned(reason)) ?? '';
  const damage = `${words.charAt(0).toLowerCase()}${words.slice(1)}`.replace(/\.$/, '');
  return [
    '```mermaid',
    'sequenceDiagram',
    '    participant A as node-1',
    '    participant R as Redis',
    '    participant B as node-2',
    ...drawn(last === undefined ? events : events.slice(0, end)).map((line) => `    ${line}`),
    ...(outcome.verdict === 'fail' ? [`    Note over A,B: damage: ${damage}`] : []),
    '```',
  ].join('\n');
}

/** The lines of the diagram: each event with its sentence. */
function drawn(events: PlayEvent[]): string[] {
  const lines: string[] = [];
  let since: PlayEvent[] = [];
  const draw = () => {
    lines.push(...withoutRepeats(since.flatMap(linesOf)));
    const unnamed = since.filter((event) => event.kind === 'sale' && event.step === 'left' && isUnnamed(event)).length;
    if (unnamed > 1) lines.push(`Note over B: ${unnamed - 1} more sales like this`);
    since = [];
  };
  for (const event of events) {
    since.push(event);
    if (event.kind !== 'sentence') continue;
    draw();
    if (!untold.has(event.sentence.form)) lines.push(`Note over A,B: ${narrated(event.sentence)}`);
  }
  draw();
  return lines;
}

type Step = Extract<PlayEvent, { kind: 'sale' }>;

/** A sale without a letter: one of several that are alike. */
const isUnnamed = ({ sale }: Step) => /^\d/.test(sale);

interface Line {
  text: string;
  /** The events, by actor, regardless of the stock. */
  what: string;
  who: string;
}

function linesOf(event: PlayEvent): Line[] {
  const line = (text: string, who = '', what = text): Line[] => [{ text, what, who }];
  const who = 'node' in event && event.node !== undefined ? participants[event.node] : undefined;
  switch (event.kind) {
    case 'held':
      return line(`${who}-xR: ${event.verb}`, who);
    case 'sale': {
      const did = deeds[event.step];
      return did ? line(`Note over ${who}: ${isUnnamed(event) ? 'a sale' : event.sale} ${did}`, who) : [];
    }
    case 'lease':
      return event.is === 'ended' ? line('Note over R: the lease ended') : [];
    case 'done': {
      // What the harness asks of a node belongs to no sale.
      if (event.sale === undefined && event.about !== 'lock') return [];
      const text = `${who}->>R: ${event.verb} → ${event.returned ?? 'nil'}`;
      return line(text, who, event.about === 'stock' ? `${who} ${event.name} stock` : text);
    }
    default:
      return [];
  }
}

/** Drops immediate repetitions. */
function withoutRepeats(lines: Line[]): string[] {
  const told: Line[] = [];
  /** Each node's last event. */
  const last = new Map<string, string>();
  for (const { text, what, who } of lines) {
    const before = told.find((each) => each.what === what);
    if (before === undefined) told.push({ text, what, who });
    else if (last.get(who) === text) before.text = `${text}, repeatedly`;
    last.set(who, text);
  }
  return told.map(({ text }) => text);
}
