import type { WorkshopState } from '../../exercises/workshop/state.ts';

/** A workshop whose question is answered, and whose file fails. */
export const failingWorkshop: WorkshopState = {
  format: 1,
  pid: process.pid,
  updatedAt: new Date().toISOString(),
  exercise: { name: '04-ttl', number: 4, title: 'A node dies', track: 'build', file: 'exercises/04-ttl/lock.ts' },
  count: 28,
  solved: 3,
  prediction: { question: 'What happens?', answers: ['nothing', 'all wait'], chosen: 0, right: 1 },
  phase: 'judged',
  verdict: {
    at: new Date().toISOString(),
    kind: 'fails',
    says: 'Nobody has entered within two leases (1800 ms) of the crash.',
    scopes: [{ scope: 'crashed-holder', says: 'A holder is killed.', verdict: 'fails' }],
    counterexample: {
      scope: 'crashed-holder',
      reason: 'Nobody has entered within two leases (1800 ms) of the crash.',
      steps: [
        { at: 0, process: 'A', what: 'SET lock held NX → "OK"', came: 'is inside' },
        { at: 0, process: 'B', what: 'SET lock held NX → null', again: { times: 6, until: 1_800 } },
      ],
    },
  },
  isSolved: false,
};
