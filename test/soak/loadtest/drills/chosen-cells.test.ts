import { describe, expect, test } from 'vitest';
import { hasNothingToBreak, taughtVerdict } from '../../../../loadtest/staircase/lookup.ts';
import { beyond, locks, strategies } from '../../../../locks/index.ts';
import { cellsOf, kindsOfLock } from './chosen-cells.ts';

const cells = cellsOf(Object.keys(strategies));
/** Here, or by figures.test.ts. */
const isChosen = ({ sign }: { sign: string }) => /^[✔✘wf]$/.test(sign);
const drawn = cells.filter(({ stage, name }) => taughtVerdict(stage, name) !== null);
const nameOf = ({ stage, name }: { stage: string; name: string }) => `${stage} ${name}`;
/** The names of those that are not run, and should be. */
const missing = (wanted: typeof cells) => wanted.filter((cell) => !isChosen(cell)).map(nameOf);

describe('the cells that npm test runs', () => {
  test('none says other than the staircase', () => {
    const signs = { pass: '✔', fail: '✘' };
    for (const { stage, name, sign } of cells) {
      expect(`${stage} ${name} ${sign === '–'}`).toBe(`${stage} ${name} ${hasNothingToBreak(stage, name)}`);
      const taught = taughtVerdict(stage, name);
      if (taught !== null && !/^[f·]$/.test(sign))
        expect(`${stage} ${name} ${sign}`).toBe(`${stage} ${name} ${signs[taught]}`);
    }
  });

  test('each drill with the last stage that fails it, the first that holds, and stage 8', () => {
    const stages = Object.keys(locks);
    const steps = drawn.filter(({ stage, name }) => {
      const before = stages[stages.indexOf(stage) - 1];
      const after = stages[stages.indexOf(stage) + 1];
      const taught = taughtVerdict(stage, name);
      const isFirst = taught === 'pass' && before !== undefined && taughtVerdict(before, name) !== 'pass';
      const isLast = taught === 'fail' && (after === undefined || taughtVerdict(after, name) !== 'fail');
      return stages.includes(stage) && (isFirst || isLast || stage === stages.at(-1));
    });
    expect(steps.length).toBeGreaterThan(20);
    expect(missing(steps)).toEqual([]);
  });

  const failed = drawn.filter(({ stage, name }) => taughtVerdict(stage, name) === 'fail');
  const isAsStage8 = ({ name }: { name: string }) => taughtVerdict('8-auto-renew', name) === 'fail';

  test('every ✘ of a strategy that stage 8 does not have', () => {
    const own = failed.filter((cell) => Object.hasOwn(beyond, cell.stage) && !isAsStage8(cell));
    expect(own.length).toBeGreaterThan(1);
    expect(missing(own)).toEqual([]);
  });

  test.each(Object.entries(kindsOfLock))('each ✘ that stage 8 has as well, by a lock that %s', (_, stages) => {
    const shared = failed.filter((cell) => stages.includes(cell.stage) && isAsStage8(cell));
    const names = (cells: typeof shared) => [...new Set(cells.map(({ name }) => name))].toSorted();
    expect(names(shared.filter(isChosen))).toEqual(names(shared));
  });

  test('what a strategy fixes of stage 8', () => {
    const fixed = drawn.filter(
      ({ stage, name }) =>
        Object.hasOwn(beyond, stage) &&
        taughtVerdict(stage, name) === 'pass' &&
        taughtVerdict('8-auto-renew', name) === 'fail',
    );
    expect(fixed.length).toBeGreaterThan(10);
    expect(missing(fixed)).toEqual([]);
  });

  test('each drill with each kind of lock for which it is drawn', () => {
    const unkind = Object.keys(strategies)
      .slice(3)
      .filter((name) => !Object.values(kindsOfLock).flat().includes(name));
    expect(unkind).toEqual([]);
    for (const [kind, stages] of Object.entries(kindsOfLock)) {
      const names = (cells: typeof drawn) => [
        ...new Set(cells.filter(({ stage }) => stages.includes(stage)).map(({ name }) => `${name}: ${kind}`)),
      ];
      expect(names(drawn.filter(isChosen))).toEqual(expect.arrayContaining(names(drawn)));
    }
  });
});
