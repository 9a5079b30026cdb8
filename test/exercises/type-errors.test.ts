import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import pc from 'picocolors';
import { afterAll, describe, expect, test } from 'vitest';
import { asJson, type Checked, checkAll, checkedLines } from '../../exercises/workshop/check.ts';
import { type Exercise, readExercise } from '../../exercises/workshop/exercise.ts';
import type { RealJudge } from '../../exercises/workshop/real-judge.ts';
import type { SearchJudge, SearchVerdict } from '../../exercises/workshop/search-judge.ts';
import { typeErrors } from '../../exercises/workshop/type-errors.ts';
import { projectDir } from '../../scripts/stack/parts.ts';

// As deep in the project as the files of attendees, so that the imports lead to the same files.
mkdirSync(join(projectDir, 'reports'), { recursive: true });
const folder = mkdtempSync(join(projectDir, 'reports/type-errors-'));
afterAll(() => rmSync(folder, { recursive: true }));
const { signal } = new AbortController();
const exercise: Exercise = { ...readExercise('05-owner-check'), file: join(folder, 'lock.ts') };

function write(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

const lockOf = (acquire: string) => `import type { CreateLock } from '../../locks/lock.ts';

export const createLock: CreateLock = ({ redis, key }) => ({
  async acquire() {
    ${acquire}
  },
  async release() {},
});
`;

describe('workshop: what TypeScript says', () => {
  const wrong = lockOf('await redis.sett(key);');

  test('the first type error of each file, with its line, and nothing of what is no error', async () => {
    const files = [
      write('wrong.ts', `${wrong}redis.foo();\n`),
      write('right.ts', lockOf('await redis.set(key, 1);')),
      write('unchecked.ts', `// @ts-nocheck\n${wrong}`),
      write('plain.ts', 'export const createLock = ({ redis, key }) => ({ acquire: () => redis.sett(key) });\n'),
      write('half.ts', 'export const createLock ='),
      join(folder, 'gone.ts'),
    ];

    expect([...(await typeErrors(files, signal))]).toEqual([
      [
        files[0],
        `${relative(projectDir, files[0] as string)}:5: Property 'sett' does not exist on type 'RedisClient'. Did you mean 'set'?`,
      ],
    ]);
  });

  const holds: SearchVerdict = { kind: 'holds', sentence: 'It holds.', cells: [] };
  const stub: SearchJudge = { makeReady() {}, judge: async () => holds, close() {} };
  const says = 'reports/lock.ts:5: It is no number.';
  const found = async () => new Map([[exercise.file, says]]);

  test('check tells it, and it decides nothing', async () => {
    const servers = {} as RealJudge;
    const shown: string[] = [];
    const style = { paint: pc.createColors(false), width: 90 };
    const checked = await checkAll([exercise], {
      search: stub,
      serversOf: () => servers,
      hasDrills: false,
      typeErrors: found,
      signal,
      onChecked: (one: Checked) => shown.push(...checkedLines(one, style)),
    });

    expect(shown.slice(1)).toEqual([`  TypeScript says: ${says}`]);
    expect(asJson(checked)).toMatchObject({ solved: 1, exercises: [{ solved: true, typeError: says }] });
  });

  test('with drills, check plays what the search holds for; one that fails leaves it unsolved', async () => {
    const run: RealJudge['run'] = async () => [
      { drill: 'late-release', verdict: 'fail', reason: 'So it was.', witnesses: [] },
    ];
    const checked = await checkAll([exercise], {
      search: stub,
      serversOf: () => ({ run }) as RealJudge,
      hasDrills: true,
      signal,
      onChecked() {},
    });

    const drills = [{ drill: 'late-release', verdict: 'fail', reason: 'So it was.' }];
    expect(asJson(checked)).toMatchObject({ solved: 0, exercises: [{ solved: false, drills }] });
  });
});
