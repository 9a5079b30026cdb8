import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scenario } from '../../../loadtest/scenarios/index.ts';
import { asDrill } from '../../../loadtest/scenarios/scenario.ts';
import { playDrill } from '../../../loadtest/worlds/simulated/play.ts';
import { lockNamed } from '../../../simulation/lock-service.ts';
import { projectDir } from '../../../stack/parts.ts';
import { writeModule } from '../grade/modules.ts';

/** A sale that releases its lock in `finally`, or as its last line. */
const saleThat = (name: string, work: (business: string, release: string) => string) =>
  writeModule(
    `${name}.ts`,
    `
    import { createLock } from '${join(projectDir, 'locks/6-lua-release.ts')}';
    export { createLock };

    export const takeOne = async ({ openLock, stock, signal, business, write, emit }) => {
      const lock = openLock(createLock);
      await lock.acquire(signal);
      emit('entered');
      const stockBefore = await stock.read();
      emit('read', stockBefore);
      ${work(
        'await business(); await write(() => stock.write(stockBefore - 1));',
        "emit('left'); await lock.release();",
      )}
      return stockBefore;
    };`,
  );

test.each([
  [
    'a sale that releases in finally',
    'pass',
    saleThat('in-finally', (sell, go) => `try { ${sell} } finally { ${go} }`),
  ],
  ['a sale that releases when all went well', 'fail', saleThat('at-the-end', (sell, go) => `${sell} ${go}`)],
])('failed-sale: %s', async (_name, verdict, file) => {
  const lock = { ...lockNamed('6-lua-release'), file, facts: { backend: 'redis', stockIn: 'redis' } } as const;

  const { outcome } = await playDrill(asDrill(scenario('failed-sale')), '6-lua-release', { lock });

  expect(outcome).toMatchObject({ verdict });
});

test.each([
  ['6-lua-release', 'not-applicable'],
  ['7-reentrant', 'pass'],
  ['8-auto-renew', 'fail'],
])('forgotten-release: under %s, by a process that dies later', async (stage, verdict) => {
  const { outcome } = await playDrill(asDrill(scenario('forgotten-release')), stage);

  expect(outcome).toMatchObject({ verdict });
});

test('failed-sale: the sale of the lab that fails gives its lock up', async () => {
  const { outcome } = await playDrill(asDrill(scenario('failed-sale')), '8-auto-renew');

  expect(outcome).toMatchObject({ verdict: 'pass' });
});
