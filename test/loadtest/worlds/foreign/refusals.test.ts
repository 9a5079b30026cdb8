import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ownCommands } from '../../../scripts/command-under-test.ts';

const start = ownCommands('scripts/judge.ts');
const judge = (odd: string, ...args: string[]) =>
  start('scripts/judge.ts', [`"${process.execPath}" test/loadtest/worlds/foreign/odd.mjs`, ...args], { ODD: odd });

// That no process, no Redis and no nginx is left of it is seen after each test.
test.each([
  ['ends at once', /node-[12] ended with exit code 3\n {2}config\.yaml is missing/],
  [
    'keeps nothing in Redis',
    /A sale sent nothing to Redis, and got the response "200 sold"\. Let the service keep its stock/,
  ],
  ['reads two numbers', /in a sale it read stock:1, price:1\. Pass it, such as --stock stock:1\./],
  ['sells what is not there', /An empty shop gets the same response as a sale: "200 sold"/],
  ['speaks TLS', /It uses TLS for Redis, although REDIS_URL starts with redis:/],
])('a service that %s is refused with a sentence', async (odd, sentence) => {
  const command = judge(odd);

  expect(await command.ended).toEqual({ code: 2, signal: null });
  expect(command.stderr()).toMatch(sentence);
});

test.each([
  ['never listens', 'SIGINT', /Starting two copies/],
  ['hears no signal', 'SIGTERM', /Learned from/],
] as const)('a service that %s is gone after %s', async (odd, signal, line) => {
  const command = judge(odd);
  await command.prints(line);
  command.child.kill(signal);

  expect(await command.ended).toEqual({ code: 2, signal: null });
});

test('what is not known in a lockstep.json is named', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'odd-service-'));
  try {
    writeFileSync(join(dir, 'lockstep.json'), JSON.stringify({ command: 'true', stok: 'stock:1' }));
    const command = start('scripts/judge.ts', [dir]);

    expect(await command.ended).toEqual({ code: 2, signal: null });
    expect(command.stderr()).toMatch(/Unrecognized key: "stok"\n.*It may have: command, build, name,/);
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test.each([
  [
    'a host elsewhere',
    'http://127.0.0.1:8081,http://example.com',
    'redis://127.0.0.1:1',
    '--url must be an address of',
  ],
  [
    'TLS',
    'http://127.0.0.1:8081,http://127.0.0.1:8082',
    'rediss://:secret@127.0.0.1:1',
    'TLS is not supported: --redis',
  ],
  ['one copy', 'http://127.0.0.1:8081', 'redis://127.0.0.1:1', '--url needs the addresses of two copies'],
])('two copies that run already: %s is refused', async (_, url, redis, sentence) => {
  const command = start('scripts/judge.ts', ['--url', url, '--redis', redis, '--stock', 'stock:1']);

  expect(await command.ended).toEqual({ code: 2, signal: null });
  expect(command.stderr()).toContain(sentence);
  expect(command.stderr()).not.toContain('secret');
});
