import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openZookeeper as openSession } from '../../../../locks/drivers/zookeeper-session.ts';
import { makeTempDir, type Part } from '../../../../scripts/stack/parts.ts';
import { openZookeeper } from '../../../../scripts/stack/zookeeper.ts';

test('zookeeper: killed as it begins a log, it starts again with what it had', async () => {
  const temp = makeTempDir();
  onTestFinished(temp.remove);
  const { url, part, startAgain } = await openZookeeper(undefined, temp);
  const session = openSession({ url, sessionMs: 10_000 });
  onTestFinished(() => session.close());
  const lock = await (await session.enter()).list('/zookeeper');
  part?.signal('SIGKILL');
  await part?.ended;
  const data = join(temp.dir, `zookeeper-${url.split(':')[1]}`, 'version-2');
  // The second one has half of its header.
  writeFileSync(join(data, 'log.fe'), '');
  writeFileSync(join(data, 'log.ff'), 'ZKLG\0\0\0\x02');

  const again = (await startAgain?.()) as Part;

  expect(await (await session.enter()).list('/zookeeper')).toEqual(lock);
  await again.stop();
});
