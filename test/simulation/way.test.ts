import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openLockLab, readLockCode } from '../../simulation/lock-lab.ts';
import type { Place } from '../../simulation/proxy.ts';
import { FIRST_PORT } from '../../simulation/sockets.ts';
import { frame } from '../../simulation/valkey.ts';
import type * as alone from './sockets-alone.ts';

const SOCKETS = 2;
/** All that was sent has arrived by then, and is answered, in milliseconds. */
const AT_MOST_MS = 1_000;
const code = readLockCode({
  name: 'sockets-alone',
  file: fileURLToPath(new URL('sockets-alone.ts', import.meta.url)),
  facts: { backend: 'redis', isExternal: true } as never,
});

const some = fc.nat(SOCKETS - 1);
/** What keeps order, and what ends connections besides. */
const gentle = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('send' as const), socket: some, count: fc.integer({ min: 1, max: 5 }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('hold' as const), skipped: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('let go' as const), at: fc.nat() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(0.1, 0.5, 20) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('delay' as const), ms: fc.constantFrom(0, 1, 30) }) },
  fc.record({
    do: fc.constantFrom('silence', 'restore', 'stop server', 'resume server', 'stop', 'resume', 'stand still'),
  }),
);
const rough = fc.oneof(
  { weight: 8, arbitrary: gentle },
  fc.record({ do: fc.constant('drop' as const), at: fc.nat() }),
  fc.record({ do: fc.constant('end' as const), socket: some }),
  fc.record({ do: fc.constant('reset' as const) }),
);
type Step = typeof rough extends fc.Arbitrary<infer Each> ? Each : never;

/** Plays the steps, then sets all free. Resolves with what each socket has sent, what of it the server heard, and was answered. */
async function play(steps: Step[]) {
  const lab = await openLockLab(0);
  const { exports, node, proxies } = lab.start(await code);
  const { createConnection } = exports as unknown as typeof alone;
  const [proxy] = proxies;
  if (proxy === undefined) throw new Error('There is no proxy.');
  const sockets: { socket: Socket; sent: string[]; answered: string }[] = [];
  node.take(() => {
    for (let at = 0; at < SOCKETS; at += 1) {
      const own = { socket: createConnection({ port: FIRST_PORT }), sent: [] as string[], answered: '' };
      own.socket.on('data', (bytes) => {
        own.answered += bytes;
      });
      own.socket.on('error', () => {});
      sockets.push(own);
    }
  });
  await lab.schedule.pass(1);
  const places: Place[] = [];
  const act: { [Do in Step['do']]: (step: Extract<Step, { do: Do }>) => unknown } = {
    send: ({ socket: at, count }) =>
      node.take(() => {
        const { socket, sent } = sockets[at] as (typeof sockets)[number];
        if (!socket.writable) return;
        const names = Array.from({ length: count }, (_, each) => `${at}.${sent.length + each}`);
        sent.push(...names);
        socket.write(names.map((name) => frame(['ECHO', name])).join(''));
      }),
    hold({ skipped }) {
      let left = skipped;
      proxy.hold({ isMeant: () => left-- <= 0, arrive: (_command, place) => places.push(place) });
    },
    'let go': ({ at }) => places.splice(at % (places.length || 1), 1)[0]?.letGo(),
    drop: ({ at }) => places.splice(at % (places.length || 1), 1)[0]?.drop(),
    pass: ({ ms }) => lab.schedule.pass(ms),
    delay: ({ ms }) => proxy.delayReplies(ms),
    end: ({ socket }) => node.take(() => sockets[socket]?.socket.end()),
    reset() {
      proxy.cut('reset');
      proxy.restore();
    },
    silence: () => proxy.cut('silent'),
    restore: () => proxy.restore(),
    'stop server': () => lab.redis.stop(),
    'resume server': () => lab.redis.resume(),
    stop: () => node.stop(),
    resume: () => node.resume(),
    'stand still': () => node.standStill(5),
  };
  for (const step of steps) await (act[step.do] as (step: Step) => unknown)(step);
  proxy.restore();
  lab.redis.resume();
  node.resume();
  await lab.schedule.pass(AT_MOST_MS);
  for (const place of places) place.letGo();
  await lab.schedule.pass(AT_MOST_MS);
  const heard = lab.redis.heard.flatMap(({ command: [name, text] }) => (name === 'ECHO' ? [String(text)] : []));
  lab.close();
  return sockets.map(({ sent, answered }, at) => ({
    sent,
    heard: heard.filter((name) => name.startsWith(`${at}.`)),
    answered: answered.split('\r\n').filter((line) => line.includes('.')),
  }));
}

const seeded = { seed: 1, numRuns: 60 };

test('way: whatever is held, delayed and stopped, the commands of a connection arrive in order, and so do their replies', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(gentle, { minLength: 10, maxLength: 40 }), async (steps) => {
      for (const { sent, heard, answered } of await play(steps)) {
        expect(heard).toEqual(sent);
        expect(answered).toEqual(sent);
      }
    }),
    seeded,
  );
});

test('way: of a connection that ends the first commands arrive, and no other, and of those the first replies', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(rough, { minLength: 10, maxLength: 40 }), async (steps) => {
      for (const { sent, heard, answered } of await play(steps)) {
        expect(heard).toEqual(sent.slice(0, heard.length));
        expect(answered).toEqual(heard.slice(0, answered.length));
      }
    }),
    seeded,
  );
});
