import { expect, test } from 'vitest';
import { asProblem } from '../../../services/inventory/servers/away-server.ts';

test.each([
  "OOM command not allowed when used memory > 'maxmemory'.",
  'ERR Error running script (call to f_1): @user_script:1: -OOM command not allowed.',
  'NOREPLICAS Not enough good replicas to write.',
  "READONLY You can't write against a read only replica.",
  "NOPERM User default has no permissions to run the 'set' command",
  'MISCONF Redis is configured to save RDB snapshots, but it is currently unable to persist to disk.',
  'BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.',
])('refusal: a sale says with the words of Redis that it was refused: %s', (message) => {
  const refused = Object.assign(new Error(message), { name: 'ReplyError' });

  expect(asProblem(refused, { definite: true, when: 'before the sale was written' }).problem).toMatchObject({
    ...{ code: 'STORE_UNAVAILABLE', definite: true },
    detail: `Redis refused it before the sale was written: ${message}`,
  });
});
