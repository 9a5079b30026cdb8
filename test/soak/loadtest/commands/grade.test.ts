import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { resultsSchema } from '../../../../loadtest/evidence/results.ts';
import { projectDir } from '../../../../scripts/stack/parts.ts';
import { ownCommands } from '../../../loadtest/commands/command-under-test.ts';
import { lockWith, noModule, writeModule } from '../../../loadtest/grade/modules.ts';

const start = ownCommands('loadtest/commands/grade.ts');
const grade = (...args: string[]) => start('loadtest/commands/grade.ts', args);

/** Blocks the event loop, and leaves the CPU to the other locks. */
const blockForGood = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);';

test('one run: a right lock, a wrong one, and three that break their nodes', { timeout: 600_000 }, async () => {
  const right = noModule('right-lock.ts');
  const written = grade('--new', right);
  expect(await written.ended).toEqual({ code: 0, signal: null });
  const contract = join(projectDir, 'locks/lock.ts');
  expect(readFileSync(right, 'utf8')).toContain(` from '${relative(dirname(right), contract)}';`);
  const command = grade(
    right,
    writeModule('wrong-lock.ts', lockWith({ release: 'await redis.del(key);' })),
    writeModule('never-lock.ts', lockWith({ acquire: 'await new Promise(() => {});' })),
    writeModule('deadly-lock.ts', lockWith({ acquire: "setImmediate(() => { throw new Error('boom'); });" })),
    writeModule('busy-lock.ts', lockWith({ acquire: blockForGood })),
    noModule('missing-lock.ts'),
    ...['--baseline', '5', '--drill', 'late-release', '--seconds', '0', '--lease', '600', '--json'],
  );
  expect(await command.ended).toEqual({ code: 2, signal: null });

  expect(command.stderr()).toMatch(/missing-lock\.ts can't be graded: there is no such file\.\n$/);
  const results = resultsSchema.parse(JSON.parse(command.stdout()));
  const cells = results.stages.flatMap(({ stage, drills }) =>
    drills.map(({ verdict, taught, reasons }) => [stage, verdict, taught, reasons.join(' ')]),
  );
  expect(cells).toEqual([
    ['5-owner-check', 'fail', 'fail', expect.stringMatching(/^The late release deleted the lock/)],
    ['right-lock', 'pass', null, expect.stringMatching(/^The late release \(EVAL\) did nothing/)],
    ['wrong-lock', 'fail', null, expect.stringMatching(/^The late release \(DEL\) deleted the lock/)],
    ['never-lock', 'fail', null, 'No sale took place: acquire() gave nobody the lock.'],
    ['deadly-lock', 'fail', null, expect.stringMatching(/^node-1 ended with exit code 1: Error: boom\.$/)],
    ['busy-lock', 'fail', null, expect.stringMatching(/^node-1 stopped answering: nothing for 6\.8 s/)],
  ]);
  expect(results).toMatchObject({ verdict: 'as-taught', leftOut: [] });
  const report = readFileSync(join(command.reports, 'latest/report.md'), 'utf8');
  expect(report).toContain('right-lock: 1 of 1 drills hold.');
  expect(report).toContain('wrong-lock: 0 of 1 drills hold; it fails late-release.');
  expect(report).toMatch(/missing-lock: it can't be graded: there is no such file/);
});

test('a lock of several masters: its nodes have five, and the drills with masters apply to it', {
  timeout: 600_000,
}, async () => {
  const text = `export { createLock } from '${projectDir}locks/beyond/redlock.ts';\nexport const promises = { masters: true };\n`;
  const drills = 'paused-process,frozen-master,late-votes,amnesia';
  const command = grade(
    writeModule('five-lock.ts', text),
    '--baseline',
    'none',
    '--drill',
    drills,
    '--json',
    '--seconds',
    '0',
  );
  expect(await command.ended).toEqual({ code: 1, signal: null });

  const { stages, grades } = resultsSchema.parse(JSON.parse(command.stdout()));
  expect(stages[0]?.drills.map(({ drill, verdict }) => [drill, verdict])).toEqual([
    ['paused-process', 'pass'],
    ['frozen-master', 'pass'],
    ['late-votes', 'pass'],
    ['amnesia', 'fail'],
  ]);
  expect(grades?.[0]?.promises).toEqual({ masters: true });
});

test('the search comes first, and both rows are printed', { timeout: 600_000 }, async () => {
  const wrong = writeModule('wrong-lock.ts', lockWith({ release: 'await redis.del(key);' }));
  const command = grade(wrong, '--baseline', 'none', '--drill', 'late-release', '--lease', '600');

  expect(await command.ended).toEqual({ code: 1, signal: null });
  expect(command.stdout()).toMatch(
    /^Every order of events[\s\S]+^wrong-lock +✘$[\s\S]+wrong-lock · late-release · 2 processes: ✘/m,
  );
  expect(command.stdout()).toMatch(
    /wrong-lock: 0 of 1 drills hold; it fails late-release; the search breaks it in late-release\./,
  );
});

test('the contract: its cells stand in the row of the lock, each with its sentence and its steps', {
  timeout: 600_000,
}, async () => {
  const wrong = writeModule('wrong-lock.ts', lockWith({ release: 'await redis.del(key);' }));
  const command = grade(wrong, '--baseline', 'none', '--drill', 'contract-enter,contract-late-release', '--json');

  expect(await command.ended).toEqual({ code: 1, signal: null });
  const { stages, leftOut } = resultsSchema.parse(JSON.parse(command.stdout()));
  expect(leftOut).toEqual([]);
  expect(stages).toMatchObject([
    {
      stage: 'wrong-lock',
      lockVersion: null,
      drills: [
        { drill: 'contract-enter', verdict: 'pass', taught: null },
        {
          drill: 'contract-late-release',
          verdict: 'fail',
          reasons: [expect.stringMatching(/^The late DEL of A's release freed the lock of B/)],
          witnesses: expect.arrayContaining([
            expect.stringMatching(/^\d\.\d{3} s A releases, and its DEL is held on its way$/),
          ]),
        },
      ],
    },
  ]);
});
