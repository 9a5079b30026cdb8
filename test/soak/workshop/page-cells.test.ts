import { describe, expect, test } from 'vitest';
import { drills } from '../../../loadtest/scenarios/index.ts';
import { REAL_ONLY } from '../../../loadtest/worlds/simulated/play.ts';
import { strategies } from '../../../locks/index.ts';
import { isVirtual } from '../../../simulation/lock-service.ts';
import type { ExerciseSettings } from '../../../workshop/exercises/exercise.ts';
import type { Engine } from '../../../workshop/page/view/engine.ts';
import { hasBrowser } from '../../workshop/browser.ts';
import { ownPage, playBoth } from '../../workshop/page/open-page.ts';

describe.skipIf(!hasBrowser)('the lab in the page (skipped where there is no Chromium)', () => {
  const own = ownPage();

  test.each(Object.keys(strategies).filter(isVirtual))('%s: every cell is as in Node, byte for byte', async (stage) => {
    const page = await own.open();
    for (const { name } of drills.filter((drill) => REAL_ONLY[drill.name] === undefined)) {
      const { inPage, inNode } = await playBoth(page, stage, name);

      expect(inPage, name).toEqual(inNode);
    }
  });
});

describe.skipIf(!hasBrowser)('the exercises in the page (skipped where there is no Chromium)', () => {
  const own = ownPage();

  test('each fails as it is, in a scenario of its own or in its scope, and its solution nowhere', async () => {
    const page = await own.open();
    const verdicts = await page.evaluate(async () => {
      const { lockstep } = globalThis as unknown as { lockstep: Engine };
      const files = await lockstep.files;
      const names = Object.keys(files).flatMap(
        (file) => /^workshop\/exercises\/([^/]+)\/lock\.ts$/.exec(file)?.[1] ?? [],
      );
      const found: Record<string, boolean[]> = {};
      for (const name of names) {
        const { drills, fails, search, stage } = JSON.parse(
          files[`workshop/exercises/${name}/exercise.json`] ?? '',
        ) as ExerciseSettings;
        const { processes = 2, sales = 1, atOnce = false } = search ?? {};
        const scope = { stage: 'mine', scope: fails.scope ?? '', processes, sales, ...(atOnce && { isAtOnce: true }) };
        found[name] = [];
        const folder = `workshop/exercises/${name}`;
        const solution = stage === undefined ? `${folder}/solution.ts` : `locks/${stage}.ts`;
        for (const file of [`${folder}/lock.ts`, solution]) {
          const text = files[file]?.replaceAll("from './", "from '../../../locks/") ?? '';
          const held = [];
          for (const drill of drills)
            held.push((await lockstep.ask('play', { stage: 'mine', drill, own: text })).record.verdict);
          const searched = await lockstep.ask('search', { ...scope, own: text });
          found[name].push(searched.verdict === 'holds' && held.every((verdict) => verdict === 'pass'));
        }
      }
      return found;
    });

    expect(Object.keys(verdicts)).toHaveLength(26);
    expect(verdicts).toEqual(Object.fromEntries(Object.keys(verdicts).map((name) => [name, [false, true]])));
  });
});
