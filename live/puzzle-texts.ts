// Every word that "you are the scheduler" shows of its own, in English: another language is another file of this shape.

import { countOf, formatNumber } from '../loadtest/evidence/numbers.ts';
import type { HintView, Knows, LevelChoice, ProcessView, RedisView, Standing, StepView } from './puzzle-contract.ts';

const states: Record<ProcessView['is'], string> = {
  'to come': 'has not begun',
  waiting: 'waits',
  inside: 'inside',
  leaving: 'leaves',
  over: 'is done',
  killed: 'is killed',
};

const away: Record<NonNullable<ProcessView['away']>, string> = { paused: 'paused', 'held up': 'command held up' };

const ms = (duration: number) => `${formatNumber(duration)} ms`;

export const puzzleTexts = {
  title: 'You are the scheduler',
  explain:
    'The lock file is the real one, Redis is a real Valkey, and nothing happens unless you say so. Choose which command arrives next, when the lease ends, who is paused.',
  level: 'Level',
  choose: 'Choose a level',
  opening: (level: string) => `${level} is being opened.`,
  levelOption: ({ title, scope }: LevelChoice) => `${title}: ${scope}`,
  says: ({ says, processes }: LevelChoice) => `${says} ${formatNumber(processes)} processes make a sale each.`,
  goal: 'Try to:',
  counts: 'What counts',
  clockRule: 'The clock goes on when nobody can do anything before it does. A process that is paused may wait.',
  faults: (left: string) => `What may still go wrong: ${left}.`,

  buttons: {
    undo: 'Undo',
    again: 'Again',
    hint: 'Hint',
    close: 'Close',
    goOn: 'Go on',
    goOnMeans: 'Goes on for as long as one thing alone can happen',
  },

  knows: (knows: Knows) => {
    switch (knows.is) {
      case 'searching':
        return 'The search looks at every order.';
      case 'can':
        return `The search knows: it can be done, in ${countOf(knows.steps, 'step')} at best.`;
      case 'holds':
        return `The search knows: all ${knows.orders} orders, none does it (${countOf(knows.states, 'state')}).`;
      case 'unknown':
        return `The search does not know: ${knows.why}`;
    }
  },

  hint: (hint: HintView) => {
    switch (hint.is) {
      case 'searching':
        return 'The search looks for the shortest way from here.';
      case 'go back':
        return `From here it cannot be done: go back ${countOf(hint.steps, 'step')}.`;
      case 'impossible':
        return 'There is nothing to hint at: no order does it.';
      case 'unknown':
        return `The search knows no way from here: ${hint.why}`;
    }
  },
  hints: (count: number) => (count === 0 ? 'no hint used' : countOf(count, 'hint')),

  standing: (standing: Standing, steps: number, hints: number, knows: Knows) => {
    if (standing.is === 'going') return '';
    if (standing.is === 'stuck') return `${standing.reason} Go back, or begin again.`;
    const best = knows.is === 'can' ? `; ${formatNumber(knows.steps)} at best` : '';
    const used = hints === 0 ? 'without a hint' : `with ${countOf(hints, 'hint')}`;
    return `Broken: ${standing.reason} In ${countOf(steps, 'step')} ${used}${best}.`;
  },

  process: {
    name: (name: string) => `Process ${name}`,
    states,
    away,
    hasLock: 'Redis says: its lock',
    insideWithoutLock: 'without the lock',
    onItsWay: (command: string) => `on its way: ${command}`,
    timer: (inMs: number) => (inMs === 0 ? 'a timer is due' : `a timer in ${ms(inMs)}`),
    nothingYet: 'It has done nothing yet.',
  },

  redis: {
    name: 'Redis and the clock',
    clock: (atMs: number) => `clock ${ms(atMs)}`,
    noLock: 'The lock is free.',
    lock: ({ holder, value }: NonNullable<RedisView['lock']>) =>
      holder === null ? `lock: ${value}` : `lock of ${holder}: ${value}`,
    lease: 'The lease that is left',
    left: (leftMs: number | null) => (leftMs === null ? 'without an end' : `${ms(leftMs)} left`),
    stock: (stock: number) => `stock ${formatNumber(stock)}`,
    expected: ({ stock, expected }: RedisView) =>
      stock === expected ? 'as the sales say' : `the sales say ${formatNumber(expected)}`,
    other: ({ key, value }: RedisView['others'][number]) => `${key}: ${value}`,
  },

  moves: (who: string) => `What can happen next: ${who}`,
  steps: {
    name: (count: number) => (count === 0 ? 'Steps so far' : `Steps so far: ${formatNumber(count)}`),
    none: 'Nothing has happened yet.',
    at: ms,
    /** A step as one sentence. */
    sentence: ({ text, reply, came }: StepView) =>
      `${text}${reply === undefined ? '' : ` → ${reply}`}.${came === undefined ? '' : ` ${came}.`}`,
  },
};
