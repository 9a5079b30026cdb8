import { EventEmitter } from 'node:events';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { ProblemError } from '../../../../services/inventory/problem.ts';
import { type Client, Wait, Waits } from '../../../../services/inventory/sale/wait.ts';

const LIMIT_MS = 1_000;

beforeEach(() => {
  vi.useFakeTimers();
  onTestFinished(() => {
    vi.clearAllTimers();
    vi.useRealTimers();
  });
});

function openWait() {
  const client = Object.assign(new EventEmitter(), { destroyed: false });
  const waits = new Waits();
  const wait = new Wait(waits, LIMIT_MS, client as unknown as Client);
  return {
    wait,
    timers: () => vi.getTimerCount() + client.listenerCount('close') + waits.armed.all().length,
    hangUp() {
      client.destroyed = true;
      client.emit('close');
    },
    passLimit: () => void vi.advanceTimersByTime(LIMIT_MS),
    endAll: () => waits.end(new ProblemError('STORE_UNAVAILABLE', 'Redis went away.')),
  };
}

type Opened = ReturnType<typeof openWait>;

/** Why the wait is over; undefined when it is not. */
function codeOf({ wait }: Opened) {
  try {
    wait.throwIfOver();
  } catch (error) {
    return (error as ProblemError).code;
  }
  return undefined;
}

const ends: [code: string, end: (opened: Opened) => void][] = [
  ['LOCK_WAIT_TIMEOUT', ({ passLimit }) => passLimit()],
  ['CLIENT_GONE', ({ hangUp }) => hangUp()],
  ['STORE_UNAVAILABLE', ({ endAll }) => endAll()],
];

test.each(ends)(
  'wait: it ends with %s, whether its signal was asked for before, afterwards, or not at all',
  (code, end) => {
    const [before, afterwards, not] = [openWait(), openWait(), openWait()];
    const early = before.wait.signal;

    for (const opened of [before, afterwards, not]) end(opened);
    const late = afterwards.wait.signal;

    expect([early.reason.code, late.reason.code]).toEqual([code, code]);
    expect([before, afterwards, not].map(codeOf)).toEqual([code, code, code]);
  },
);

test.each(ends)(
  'wait: when it has ended nothing is left of it, and %s is not its end, until it begins again',
  (code, end) => {
    const [armed, bare] = [openWait(), openWait()];
    const { signal } = armed.wait;

    for (const opened of [armed, bare]) {
      opened.wait.end();
      expect(opened.timers()).toBe(0);
      if (code !== 'LOCK_WAIT_TIMEOUT') end(opened);
      expect(codeOf(opened)).toBeUndefined();
      opened.wait.beginAgain();
      end(opened);
      expect(codeOf(opened)).toBe(code);
      opened.wait.end();
    }
    expect(signal.reason.code).toBe(code);
  },
);

test('wait: one whose signal nobody asks for has no timer and no listener', () => {
  const opened = openWait();

  expect(opened.timers()).toBe(0);
  expect(codeOf(opened)).toBeUndefined();
});
