import { parser } from '@lezer/javascript';
import { expect, test } from 'vitest';
import { listDeep, readText } from './project-files.ts';

const typescript = parser.configure({ dialect: 'ts' });
/** Calls that read a text by words that are in it. */
const READERS =
  /\.(startsWith|endsWith|includes|indexOf|lastIndexOf|split|replace|replaceAll|match|matchAll|search)\(\s*$/;
/** Two words in a row. */
const PROSE = /[A-Za-z]{2,}[,.:']? [A-Za-z(]{2,}/;

/** Texts that others have made, and names in a list, by the files that read them. */
const foreign: Record<string, string> = {
  'workshop/page/pack.ts': 'the code that esbuild has made',
  'scripts/command-line/command.ts': 'an error of commander',
  'scripts/reference/command-line.ts': 'an option, as commander shows it',
  'scripts/reference/settings.ts': 'a comment of .env.example',
  'loadtest/grade/libraries.ts': 'an error of npm',
  'loadtest/peers/murlock.ts': 'an error of murlock',
  'loadtest/report/summary.ts': 'a standing in a list of standings',
  'loadtest/scenarios/read.ts': 'a line of a scenario',
  'locks/drivers/delete-if-equal.ts': 'an error of Redis',
  'prove/properties.ts': 'demands in a list of demands',
  'stack/redis.ts': 'what redis-server prints',
  'stack/zookeeper.ts': 'what ZooKeeper prints',
  'services/inventory/servers/away-server.ts': 'errors of Redis and ioredis',
  'services/inventory/orders/payments/stream.ts': 'errors of Redis',
  'services/inventory/settings/setting-kinds.ts': 'an error of croner',
  'services/inventory/servers/store.ts': 'errors of ioredis',
};

/** Where a file reads a text by the words that are in it: `file:line: the words`. */
function proseReadIn(file: string): string[] {
  const text = readText(file);
  const found: string[] = [];
  typescript.parse(text).iterate({
    enter({ type: { name }, from, to }) {
      const isRead = name === 'RegExp' || (name === 'String' && READERS.test(text.slice(Math.max(0, from - 20), from)));
      const words = text.slice(from, to);
      if (isRead && PROSE.test(words)) found.push(`${file}:${text.slice(0, from).split('\n').length}: ${words}`);
    },
  });
  return found;
}

test('no code reads a sentence that the lab itself has made: what is to be known of it is a fact', () => {
  const sources = listDeep().filter((file) => /^(?!test\/).*\.ts$/.test(file));
  const found = sources.map((file) => [file, proseReadIn(file)] as const).filter(([, words]) => words.length > 0);

  expect(found.filter(([file]) => foreign[file] === undefined).flatMap(([, words]) => words)).toEqual([]);
  expect(Object.keys(foreign).filter((file) => !found.some(([own]) => own === file))).toEqual([]);
});
