import type { Line, Part, StackView, StageChoice } from '../../../live/contract.ts';

export const part = (name: string, kind: Part['kind'], is: Part['is'] = 'up'): Part => ({ name, kind, is });

export const line = (from: string, to: string, more: Partial<Line> = {}): Line => ({ from, to, is: 'open', ...more });

/** Two nodes behind nginx, and a Redis. */
export const view: StackView = {
  stage: '4-ttl',
  title: 'Stage 4 · ttl',
  drill: 'slow-holder',
  parts: [part('nginx', 'nginx'), part('node-1', 'node'), part('node-2', 'node'), part('redis', 'redis')],
  lines: [line('node-1', 'redis'), line('node-2', 'redis')],
  nodes: [
    { name: 'node-1', waiting: 0, inside: ['0001'] },
    { name: 'node-2', waiting: 3, inside: [] },
  ],
  hasLock: true,
  lock: { holder: 'sale 0001 on node-1', node: 'node-1', leftMs: 800, leaseMs: 1_000 },
  stock: { actual: 100, expected: 100 },
  figures: null,
  story: [{ atMs: 20, text: 'It begins.', isStep: false }],
  timeline: null,
  verdict: null,
};

const asked = (name: string): StageChoice['drills'][number] => ({
  name,
  asks: 'does it?',
  taught: 'fail',
  kind: 'steps',
});

export const choices: StageChoice[] = [
  {
    name: '3-spin',
    title: 'Stage 3 · spin',
    problem: 'a problem',
    change: 'a change',
    leaves: 'a rest',
    code: 'one\ntwo\n',
    drills: [asked('crashed-holder'), asked('rush')],
  },
  {
    name: '4-ttl',
    title: 'Stage 4 · ttl',
    problem: 'a rest',
    change: 'another change',
    leaves: 'another rest',
    before: '3-spin',
    code: 'one\nthree\n',
    diff: [' one', '-two', '+three'],
    drills: [asked('slow-holder'), asked('rush')],
  },
];
