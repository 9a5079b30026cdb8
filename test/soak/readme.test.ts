import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { projectDir } from '../../stack/parts.ts';
import { readText } from '../lesson/project-files.ts';

/** What the README does by hand: how it starts the stack, and what it types then. They use the ports of the course, which must be free. */
const [, byHand = ''] = readText('README.md').split('## By hand');
const [start = '', typed = ''] = [...byHand.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block]) => block);
const SHOULD_BE_LEFT = 2_998;

test.each(['1', '2'])('README: its commands under LOCK_VERSION=%s', async (stage) => {
  const up = spawn('bash', ['-c', start.replace('LOCK_VERSION=1', `LOCK_VERSION=${stage}`)], {
    cwd: projectDir,
    // Nobody is refused, however slow the machine is.
    env: { ...process.env, WAIT_TIMEOUT_MS: '60000' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(up, 'exit');
  try {
    for await (const line of createInterface({ input: up.stdout })) if (line.startsWith('Stop:')) break;
    up.stdout.resume();

    const answers = execFileSync('bash', ['-c', typed], { cwd: projectDir, encoding: 'utf8' }).trim().split('\n');

    const [first, second, stock] = answers.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
    expect([first.port, second.port].toSorted()).toEqual([7777, 8888]);
    if (stage === '1') expect(stock.remaining).toBeGreaterThan(SHOULD_BE_LEFT);
    else expect(stock.remaining).toBe(SHOULD_BE_LEFT);
  } finally {
    execFileSync('npm', ['run', 'down'], { cwd: projectDir });
    await ended;
  }
});
