import { describe, expect, test } from 'vitest';
import type { Engine } from '../../../live/page/view/engine.ts';
import { drills } from '../../../loadtest/scenarios/index.ts';
import { REAL_ONLY } from '../../../loadtest/virtual/play.ts';
import { strategies } from '../../../locks/index.ts';
import { isVirtual } from '../../../virtual/lock-service.ts';
import { hasBrowser } from '../../live/browser.ts';
import { ownPage, playBoth } from '../../live/page/open-page.ts';

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

  test('each fails a scenario of its own as it is, and its solution none', async () => {
    const page = await own.open();
    const verdicts = await page.evaluate(async () => {
      const { lockstep } = globalThis as unknown as { lockstep: Engine };
      const files = await lockstep.files;
      const names = Object.keys(files).flatMap((file) => /^exercises\/([^/]+)\/lock\.ts$/.exec(file)?.[1] ?? []);
      const found: Record<string, boolean[]> = {};
      for (const name of names) {
        const drills: string[] = JSON.parse(files[`exercises/${name}/exercise.json`] ?? '').drills;
        found[name] = [];
        for (const text of ['lock', 'solution'].map((file) => files[`exercises/${name}/${file}.ts`] ?? '')) {
          const held = [];
          for (const drill of drills)
            held.push((await lockstep.ask('play', { stage: 'mine', drill, own: text })).record.verdict);
          found[name].push(held.every((verdict) => verdict === 'pass'));
        }
      }
      return found;
    });

    expect(Object.keys(verdicts)).toHaveLength(17);
    expect(verdicts).toEqual(Object.fromEntries(Object.keys(verdicts).map((name) => [name, [false, true]])));
  });
});
