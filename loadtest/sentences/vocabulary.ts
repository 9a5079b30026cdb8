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
import type { Vocabulary } from './sentence.ts';
import * as waiting from './waiting.ts';

const ofSales = [sales, endings, meanwhile, baskets, looks, waiting, permits, ends];
const ofFaults = [processes, messages, replicas, masters, outages, lockServers];
const all: Partial<Vocabulary<Playing, StepHistory>>[] = [...ofSales, ...ofFaults];

export const ofLocks: Vocabulary<Playing, StepHistory> = {
  steps: all.flatMap(({ steps = [] }) => steps),
  demands: all.flatMap(({ demands = [] }) => demands),
};
