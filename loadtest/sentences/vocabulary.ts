// All sentences that a scenario may be made of: what is done, and when a lock holds.

import type { StepHistory } from '../evidence/history.ts';
import { basketDemands, basketSteps } from './baskets.ts';
import { clockSteps } from './clocks.ts';
import { demands } from './demands.ts';
import { endingSteps } from './endings.ts';
import { lockServerDemands, lockServerSteps } from './lock-servers.ts';
import { lookDemands, lookSteps } from './looks.ts';
import { masterDemands, masterSteps } from './masters.ts';
import { meanwhileSteps } from './meanwhile.ts';
import { connectionSteps, messageSteps } from './messages.ts';
import { outageDemands, outageSteps } from './outages.ts';
import { permitDemands, permitSteps } from './permits.ts';
import type { Playing } from './playing.ts';
import { processSteps } from './processes.ts';
import { replicaSteps } from './replicas.ts';
import { saleSteps } from './sales.ts';
import type { Vocabulary } from './sentence.ts';
import { waitingDemands, waitingSteps } from './waiting.ts';

export const ofLocks: Vocabulary<Playing, StepHistory> = {
  steps: [
    saleSteps,
    endingSteps,
    meanwhileSteps,
    processSteps,
    messageSteps,
    connectionSteps,
    replicaSteps,
    masterSteps,
    clockSteps,
    basketSteps,
    lookSteps,
    outageSteps,
    lockServerSteps,
    waitingSteps,
    permitSteps,
  ].flat(),
  demands: [
    demands,
    basketDemands,
    lookDemands,
    masterDemands,
    outageDemands,
    lockServerDemands,
    waitingDemands,
    permitDemands,
  ].flat(),
};
