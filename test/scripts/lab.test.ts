import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeTempDir, projectDir } from '../../stack/parts.ts';
import { findOnPath } from '../../stack/path.ts';

const shells = ['sh', 'bash', 'zsh'].filter((shell) => findOnPath(shell) !== undefined);

/** Calls third_node in a shell in which node and curl do this. */
function startThirdNode(shell: string, node: string, curl: string) {
  const temp = makeTempDir();
  onTestFinished(temp.remove);
  const write = (name: string, text: string) =>
    writeFileSync(join(temp.dir, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  write('node', node);
  write('curl', curl);
  const script = `. scripts/lab.sh; third_node LOCK_VERSION=nope; code=$?; kill $! 2> /dev/null; exit $code`;
  return spawnSync(shell, ['-c', script], {
    cwd: projectDir,
    env: { PATH: `${temp.dir}:${process.env.PATH}`, DIR: temp.dir },
    // With a socket there bash reads the settings of whoever runs the tests.
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
    timeout: 60_000,
  });
}

test.each(shells)('lab.sh: third_node comes back when its node answers, and fails when it has ended: %s', (shell) => {
  const ends = 'echo "$LOCK_VERSION is not allowed" >&2; exit 2';
  const says = 'test -e "$DIR/pid" && echo "{\\"pid\\":$(cat "$DIR/pid"),\\"node\\":\\"node-3\\"}"';

  const [up, ended, beside] = [
    startThirdNode(shell, 'echo $$ > "$DIR/pid"; exec sleep 60', says),
    startThirdNode(shell, ends, 'exit 7'),
    // Its ports are taken by an earlier one.
    startThirdNode(shell, ends, `echo '{"pid":1,"node":"node-3"}'`),
  ];

  expect(up.status).toBe(0);
  for (const failed of [ended, beside]) expect(failed).toMatchObject({ status: 1, stderr: 'nope is not allowed\n' });
});
