import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { scriptOf, scriptTexts } from '../../simulation/scripts.ts';
import { openLab } from '../locks/lab.ts';

const lab = openLab();
/** The text of each script, by its name. */
const scripts = Object.fromEntries(scriptTexts.map((text) => [scriptOf(['EVAL', text]) ?? '', text]));

/** The server's clock, which stands still, in milliseconds since 1970. */
const NOW = 1_000_000;
/** Names of waiters: `<process>:<lease in ms>:<hears or new>:<more>`. */
const names: Record<string, string> = {
  A: 'p1:5000:hears:1',
  B: 'p2:30000:hears:1',
  C: 'p3:4000:hears:1',
  C2: 'p3:4000:hears:2',
  C3: 'p3:4000:hears:3',
  'B-new': 'p2:5000:new:1',
  'C-new': 'p3:5000:new:1',
};
const nameOf = (short: string) => names[short] ?? short;
const shortOf = (name: string) => Object.keys(names).find((short) => names[short] === name) ?? name;

interface Case {
  script: string;
  keys: string[];
  title: string;
  before: string[];
  args: string[];
  returns: string;
  changes: string[];
}

const keyOf = (entry: string) => /^[\w:]+/.exec(entry)?.[0];
/** The cases of returns.txt, which says how it is read. */
const cases = readFileSync(new URL('returns.txt', import.meta.url), 'utf8')
  // The first numbers that a number of Lua does not tell apart.
  .replaceAll('2^53+1', '9007199254740993')
  .replaceAll('2^53', '9007199254740992')
  .trim()
  .split('\n\n')
  .slice(1)
  .flatMap((block): Case[] => {
    const [first = '', ...lines] = block.split('\n');
    const [script = '', ...keys] = first.split(' ');
    return lines.map((line) => {
      const [title = '', before = '', args = '', returns = '', changes = ''] = line.trim().split(' | ');
      return {
        ...{ script, keys, title, returns },
        before: before === '-' ? [] : before.split(' '),
        args: args === '-' ? [] : args.split(' ').map((arg) => (arg === "''" ? '' : nameOf(arg))),
        changes: changes === 'same' ? [] : changes.split(' '),
      };
    });
  });

/** Makes the server have this. */
function put(entries: string[]) {
  for (const entry of entries) {
    const [, key, kind, value = '', end] = /^([\w:]+)([=[{<])([^\]}>@]*)[\]}>]?(?:@(\d+))?$/.exec(entry) ?? [];
    if (key === undefined) continue;
    const fields = value.split(',').map((field) => field.split(':'));
    if (kind === '=') lab.redis('SET', key, nameOf(value));
    if (kind === '[') lab.redis('RPUSH', key, ...value.split(',').map(nameOf));
    if (kind === '{') lab.redis('HSET', key, ...fields.flat());
    if (kind === '<') lab.redis('ZADD', key, ...fields.flatMap(([name = '', left]) => [NOW + Number(left), name]));
    if (end !== undefined) lab.redis('PEXPIRE', key, end);
  }
}

/** All that the server has. */
function look() {
  const list = (...command: string[]) => lab.redis(...command) as string[];
  const pairs = (flat: string[], textOf = (value: string) => value) =>
    flat.flatMap((field, at) => (at % 2 === 0 ? [`${field}:${textOf(flat[at + 1] ?? '')}`] : [])).toSorted();
  const read: Record<string, (key: string) => string> = {
    string: (key) => `=${shortOf(String(lab.redis('GET', key)))}`,
    list: (key) => `[${list('LRANGE', key, '0', '-1').map(shortOf)}]`,
    hash: (key) => `{${pairs(list('HGETALL', key))}}`,
    zset: (key) => `<${pairs(list('ZRANGE', key, '0', '-1', 'WITHSCORES'), (end) => `+${Number(end) - NOW}`)}>`,
  };
  return list('KEYS', '*')
    .map((key) => [key, read[String(lab.redis('TYPE', key))]?.(key), Number(lab.redis('PTTL', key))] as const)
    .map(([key, value, ttl]) => `${key}${value}${ttl < 0 ? '' : `@${ttl}`}`);
}

/** What the script returns in this case, or this text of it. */
function call({ script, keys, args }: Case, text = scripts[script] ?? '') {
  const reply = lab.redis('EVAL', text, keys.length, ...keys, ...args);
  return typeof reply === 'string' ? `'${reply}'` : String(reply ?? 'nil');
}

test.each(cases)('$script: returns $title', (each) => expectReturn(each));

const releases = cases.filter(({ script }) => /^(release|renew)/.test(script));
test.each(releases)('$script, when Redis is out of memory: returns $title', (each) => {
  expectReturn(each, lab.useUpMemory);
});

function expectReturn(each: Case, begin = () => {}) {
  put(each.before);
  const heard = lab.listen(...each.before.filter((entry) => entry.startsWith('@')).map((entry) => entry.slice(1)));
  begin();

  expect(call(each)).toBe(each.returns);

  const changed = each.changes.map((entry) => keyOf(entry.replace(/^-/, '')));
  const after = [...each.before.filter((entry) => !changed.includes(keyOf(entry))), ...each.changes];
  expect(look().toSorted()).toEqual(after.filter((entry) => !/^[-@]/.test(entry)).toSorted());
  const said = each.changes.filter((entry) => entry.startsWith('@')).map((entry) => entry.slice(1).split('!'));
  expect(heard).toEqual(said.map(([channel, text = '']) => `${channel} ${nameOf(text)}`));
}

test.each([
  ['restore-once', ['stock', 'fence', 'mark'], [2, 60_000], ['many']],
  ['add-if-there', ['stock'], [1], ['many']],
  [
    'take-one',
    ['stock'],
    [],
    ['many', '1.5', '', '1e3', '007', '9007199254740992', '-9007199254740993', '9223372036854775808'],
  ],
] as const)('%s: a stock that is no whole number is an error, and all is as it was', (script, keys, args, stocks) => {
  for (const stock of stocks) {
    lab.redis('SET', 'stock', stock);

    expect(() => lab.redis('EVAL', scripts[script] ?? '', keys.length, ...keys, ...args), stock).toThrow(
      /not an integer/,
    );

    expect(look(), stock).toEqual([`stock=${stock}`]);
  }
});

test.each(Object.entries(scripts))('%s: its header has its KEYS and ARGV, and what it returns', (_, text) => {
  const [, header = '', code = ''] = /^((?:--[^\n]*\n)*?-- Returns [^\n]*\n)(.*)$/s.exec(text) ?? [];
  const namesIn = (part: string) => new Set(part.match(/(KEYS|ARGV)\[\d+\]/g));

  expect(code).not.toBe('');
  expect(namesIn(header)).toEqual(namesIn(code));
});
