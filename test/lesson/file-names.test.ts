import { basename } from 'node:path';
import { expect, test } from 'vitest';
import { listDeep } from './project-files.ts';

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
