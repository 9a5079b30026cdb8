import { basename, dirname } from 'node:path';
import { expect, test } from 'vitest';
import { listDeep, readText } from './project-files.ts';

const files = listDeep();
const sources = files.filter((file) => file.endsWith('.ts'));

test('file names: none says utils, helpers, common or manager', () => {
  const vague = files.filter((file) => /(^|[-_./])(utils?|helpers?|common|managers?)([-_./]|$)/i.test(file));

  expect(files).toContain('locks/4-ttl.ts');
  expect(vague).toEqual([]);
});

test('file names: every source file is in kebab-case', () => {
  expect(sources.filter((file) => !/^[a-z0-9]+([-.][a-z0-9]+)*\.ts$/.test(basename(file)))).toEqual([]);
});

test('imports: point one way, from loadtest to scripts to services to locks', () => {
  const order = ['locks', 'services', 'scripts', 'loadtest', 'test'];
  const rank = (path: string) => order.indexOf(path.split('/')[0] ?? '');

  const upward = sources.flatMap((file) =>
    [...readText(file).matchAll(/^(?:import|export) .*? from '(\..*?)'/gms)]
      .map(([, from]) => new URL(from as string, `file:///${dirname(file)}/`).pathname.slice(1))
      .filter((imported) => rank(imported) > rank(file) && rank(file) !== -1)
      .map((imported) => `${file} imports ${imported}`),
  );

  expect(upward).toEqual([]);
});
