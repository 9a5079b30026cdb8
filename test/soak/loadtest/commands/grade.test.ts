import { expect, test } from 'vitest';
import { resultsSchema } from '../../../../loadtest/evidence/results.ts';
import { ownCommands } from '../../../loadtest/commands/command-under-test.ts';
import { lockWith, noModule, writeModule } from '../../../loadtest/grade/modules.ts';

const file = 'loadtest/commands/grade.ts';
const start = ownCommands(file);

/** Blocks the event loop, and leaves the CPU to the other locks. */
const blockForGood = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);';

test('npm run grade: a right lock, a wrong one, three that break their nodes, and one that is missing', async () => {
  const right = noModule('right-lock.ts');
  expect((await start(file, ['--new', right]).ended).code).toBe(0);
  const locks = [
    right,
    writeModule('wrong-lock.ts', lockWith({ release: 'await redis.del(key);' })),
    writeModule('never-lock.ts', lockWith({ acquire: 'await new Promise(() => {});' })),
    writeModule('deadly-lock.ts', lockWith({ acquire: "setImmediate(() => { throw new Error('boom'); });" })),
    writeModule('busy-lock.ts', lockWith({ acquire: blockForGood })),
    noModule('missing-lock.ts'),
  ];
  const short = ['--drill', 'late-release', '--seconds', '0', '--lease', '2000', '--json'];
  const command = start(file, [...locks, '--baseline', '5', ...short]);
  expect((await command.ended).code).toBe(2);

  expect(command.stderr()).toMatch(/missing-lock\.ts can't be graded: there is no such file\.\n$/);
  const { stages } = resultsSchema.parse(JSON.parse(command.stdout()));
  const cells = stages.map(({ stage, drills: [cell] }) => [stage, cell?.verdict, cell?.reasons.join(' ')]);
  expect(cells).toEqual([
    ['5-owner-check', 'fail', expect.stringMatching(/^The late release deleted the lock/)],
    ['right-lock', 'pass', expect.stringMatching(/^The late release \(EVAL\) did nothing/)],
    ['wrong-lock', 'fail', expect.stringMatching(/^The late release \(DEL\) deleted the lock/)],
    ['never-lock', 'fail', 'No sale took place: acquire() gave nobody the lock.'],
    ['deadly-lock', 'fail', expect.stringMatching(/^node-1 ended with exit code 1: Error: boom\.$/)],
    ['busy-lock', 'fail', expect.stringMatching(/^node-1 stopped answering: nothing for [\d.]+ s/)],
  ]);
});
