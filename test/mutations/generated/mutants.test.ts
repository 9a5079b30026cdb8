import { expect, test } from 'vitest';
import { mutantsOf } from './mutants.ts';

const changesOf = (file: string, source: string) =>
  mutantsOf(file, source).map(({ kind, line, change }) => `${line} ${kind}: ${change}`);

test('mutants: of TypeScript, each statement, number, condition and await is changed', () => {
  const source = `import { take } from './take.ts';

export async function acquire(key: string) {
  if ((await take(key)) === 1) return;
  const left = 20;
  use(left);
  leave(key);
}
`;
  expect(changesOf('acquire.ts', source)).toEqual([
    '4 dropped: if ((await take(key)) === 1) return;',
    '4 swapped: if ((await take(key)) === 1) return; const left = 20; → const left = 20; if ((await take(key)) === 1) return;',
    '4 negated: if ((await take(key)) === 1) return; → if (!((await take(key)) === 1)) return;',
    '4 await: if ((await take(key)) === 1) return; → if ((take(key)) === 1) return;',
    '4 number: if ((await take(key)) === 1) return; → if ((await take(key)) === 0) return;',
    '4 number: if ((await take(key)) === 1) return; → if ((await take(key)) === 2) return;',
    '4 dropped: return;',
    '5 number: const left = 20; → const left = 0;',
    '5 number: const left = 20; → const left = 21;',
    '5 number: const left = 20; → const left = 19;',
    '5 number: const left = 20; → const left = 20000;',
    '5 number: const left = 20; → const left = 0.02;',
    '6 dropped: use(left);',
    '6 swapped: use(left); leave(key); → leave(key); use(left);',
    '7 dropped: leave(key);',
  ]);
});

test('mutants: of Lua, each line is, and no text in it', () => {
  const source = `-- Takes 1.
if redis.call('GET', KEYS[1]) == 'of 2' then
  redis.call('DEL', KEYS[1])
  redis.call('INCR', KEYS[2])
end
return 1
`;
  expect(changesOf('take.lua', source)).toEqual([
    "2 negated: if redis.call('GET', KEYS[1]) == 'of 2' then → if not (redis.call('GET', KEYS[1]) == 'of 2') then",
    "2 number: if redis.call('GET', KEYS[1]) == 'of 2' then → if redis.call('GET', KEYS[2]) == 'of 2' then",
    "3 dropped: redis.call('DEL', KEYS[1])",
    "3 swapped: redis.call('DEL', KEYS[1]) redis.call('INCR', KEYS[2]) → redis.call('INCR', KEYS[2]) redis.call('DEL', KEYS[1])",
    "3 number: redis.call('DEL', KEYS[1]) → redis.call('DEL', KEYS[2])",
    "4 dropped: redis.call('INCR', KEYS[2])",
    "4 number: redis.call('INCR', KEYS[2]) → redis.call('INCR', KEYS[3])",
    "4 number: redis.call('INCR', KEYS[2]) → redis.call('INCR', KEYS[1])",
    '6 dropped: return 1',
    '6 number: return 1 → return 0',
    '6 number: return 1 → return 2',
  ]);
});
