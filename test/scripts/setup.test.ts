import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { makeTempDir, projectDir } from '../../stack/parts.ts';
import { findOnPath } from '../../stack/path.ts';

const installed = ['redis-server', 'nginx', 'mariadbd', 'zkServer', 'chromium'];

/** A Debian that lacks the servers. While its apt installs them it asks whether services may start. */
function ownMachine() {
  const temp = makeTempDir();
  onTestFinished(temp.remove);
  const own = (name: string) => join(temp.dir, name);
  const [bin, policy, said] = [own('bin'), own('policy-rc.d'), own('said')];
  mkdirSync(bin);
  for (const tool of ['cat', 'chmod', 'flock', 'grep', 'rm', 'tr'])
    symlinkSync(findOnPath(tool) ?? '', join(bin, tool));
  const apt = `case "$*" in *" install "*)
      ${policy}; echo $? >>${said}
      [ -z "$KILLS" ] || { kill -KILL $PPID; exit; }
      for name in ${installed.join(' ')}; do cat ${bin}/uname >${bin}/$name; chmod 755 ${bin}/$name; done
    esac`;
  for (const [name, text] of Object.entries({ uname: 'echo Linux', id: 'echo 0', 'apt-get': apt }))
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  const script = readFileSync(join(projectDir, 'scripts/setup.sh'), 'utf8')
    .replaceAll('/usr/sbin/policy-rc.d', policy)
    .replaceAll('/run/lockstep-setup', own('claim'))
    // Here its servers are missing, wherever this machine has them.
    .replace(/^PATH=.*$/m, '');
  writeFileSync(own('setup.sh'), script);
  const run = (file: string, env = {}) =>
    spawnSync('/bin/sh', [file], { env: { PATH: bin, ...env }, encoding: 'utf8' });
  return {
    policy,
    answers: () => readFileSync(said, 'utf8'),
    setUp: (env = {}) => run(own('setup.sh'), env),
    run,
  };
}

describe.skipIf(findOnPath('flock') === undefined)('setup.sh', () => {
  test('no service starts while it installs, and nothing forbids that afterwards', () => {
    const machine = ownMachine();

    expect(machine.setUp()).toMatchObject({ status: 0, stdout: '' });

    expect(machine.answers()).toBe('101\n');
    expect(existsSync(machine.policy)).toBe(false);
  });

  test('killed as it installs: services may start again, and what forbade it is gone', () => {
    const machine = ownMachine();
    expect(machine.setUp({ KILLS: 'yes' }).signal).toBe('SIGKILL');

    expect([existsSync(machine.policy), machine.run(machine.policy).status]).toEqual([true, 0]);

    expect(existsSync(machine.policy)).toBe(false);
  });

  test('killed as it installs: the next run forbids it again, and clears up', () => {
    const machine = ownMachine();
    machine.setUp({ KILLS: 'yes' });

    expect(machine.setUp().status).toBe(0);

    expect(machine.answers()).toBe('101\n101\n');
    expect(existsSync(machine.policy)).toBe(false);
  });

  test('what another program forbids stays forbidden', () => {
    const machine = ownMachine();
    writeFileSync(machine.policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });

    machine.setUp();

    expect(readFileSync(machine.policy, 'utf8')).toBe('#!/bin/sh\nexit 101\n');
  });
});
