// All sentences that a scenario may have: steps and demands.

import type { StepHistory } from '../evidence/history.ts';
import * as baskets from './baskets.ts';
import * as ends from './demands.ts';
import * as endings from './endings.ts';
import * as lockServers from './lock-servers.ts';
import * as looks from './looks.ts';
import * as masters from './masters.ts';
import * as meanwhile from './meanwhile.ts';
import * as messages from './messages.ts';
import * as outages from './outages.ts';
import * as permits from './permits.ts';
import type { Playing } from './playing.ts';
import * as processes from './processes.ts';
import * as replicas from './replicas.ts';
import * as sales from './sales.ts';
import { endings as ofVerdicts, type Vocabulary } from './sentence.ts';
import * as waiting from './waiting.ts';

const ofSales = [sales, endings, meanwhile, baskets, looks, waiting, permits, ends];
const ofFaults = [processes, messages, replicas, masters, outages, lockServers];
const all: Partial<Vocabulary<Playing, StepHistory>>[] = [...ofSales, ...ofFaults];

export const ofLocks: Vocabulary<Playing, StepHistory> = {
  steps: all.flatMap(({ steps = [] }) => steps),
  demands: all.flatMap(({ demands = [] }) => demands),
};

/** Every sentence that a scenario of the locks may have, a line each, for whoever writes one. */
export function sentencesListed(): string {
  const lists = {
    'Steps, in the order in which they happen:': ofLocks.steps.map(({ form }) => form),
    'Demands, after a step or at the end:': ofLocks.demands.map(({ form }) => `holds when ${form}`),
    'Words for the verdict, each with its Chinese in the next line:': ofVerdicts.map((each) => `${each}: <text>`),
  };
  const gaps = 'You may leave out what is in […]. A <time> or a <limit> is in ms, s or leases.';
  return [...Object.entries(lists).map(([title, lines]) => [title, ...lines].join('\n  ')), gaps].join('\n\n');
}
