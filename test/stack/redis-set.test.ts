import { expect, onTestFinished, test } from 'vitest';
import { createOwnParts } from '../../stack/own-parts.ts';
import { makeTempDir } from '../../stack/parts.ts';
import { installedRedis } from '../../stack/redis.ts';
import { asked, openCluster, openSentinels } from '../../stack/redis-set.ts';

/** Where a set may work, and what ends its servers. */
function ownOptions() {
  const temp = makeTempDir();
  const parts = createOwnParts();
  onTestFinished(() => parts.stopAll(temp.remove));
  return { dir: temp.dir, onPart: parts.watch };
}

test.skipIf(installedRedis() === undefined).each([
  { open: openSentinels, servers: 5 },
  { open: openCluster, servers: 6 },
])('redis set: $servers servers, and the replica of the primary copies as a user of its own', async (of) => {
  const { servers, primary, replica } = await of.open(ownOptions());

  expect(servers).toHaveLength(of.servers);
  expect(await asked(primary.url, 'CLIENT', 'LIST', 'TYPE', 'replica')).toContain('user=repl');
  expect(await asked(replica?.url ?? '', 'INFO', 'replication')).toContain(
    `master_port:${new URL(primary.url).port}\n`,
  );
});
