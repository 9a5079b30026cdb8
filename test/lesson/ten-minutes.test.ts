import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { projectDir } from '../../scripts/stack/parts.ts';
import { findOnPath } from '../../scripts/stack/path.ts';
import { comparedByATest } from '../docs/page-runs.ts';
import { startRedis } from '../services/inventory/node-under-test.ts';
import { readText } from './project-files.ts';

const SEPARATOR = '@@@@';

/** Each run of lines for a shell, and the answers that the page shows right below it, if it shows some. */
function passages(page: string) {
  const blocks = [...readText(page).matchAll(/^```(sh|text)\n(.*?)^```$/gms)].map(([, kind, text = '']) => ({
    kind,
    text,
  }));
  return blocks.flatMap(({ kind, text }, at) => {
    const next = blocks[at + 1];
    if (kind !== 'sh') return [];
    return [{ lines: text, answers: next?.kind === 'text' ? next.text : '' }];
  });
}

test.for(comparedByATest)('%s: every line answers what the page shows', async (page, { skip }) => {
  // A script that does not end is more than the embedded server can bear.
  skip(findOnPath('redis-server', 'valkey-server') === undefined);
  const { url } = await startRedis();
  const all = passages(page);
  const script = all.map(({ lines }) => `${lines}echo ${SEPARATOR}\n`).join('');

  const { stdout, stderr } = await promisify(execFile)('sh', ['-c', script], {
    cwd: projectDir,
    env: { ...process.env, REDIS_PORT: new URL(url).port },
  });

  expect(stderr).toBe('');
  expect(all.length).toBeGreaterThan(10);
  expect(stdout.split(`${SEPARATOR}\n`).slice(0, -1)).toEqual(all.map(({ answers }) => answers));
});

test.each(comparedByATest)('%s: no line for the shell is left without an answer', (page) => {
  const silent = passages(page).filter(({ answers }) => answers === '');

  expect(silent.map(({ lines }) => lines)).toEqual(['. scripts/lab.sh\n']);
});
