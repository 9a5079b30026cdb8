import { validateWorkflow } from '@action-validator/core';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { exists, list, readText } from './project-files.ts';

interface Workflow {
  jobs: Record<string, { strategy?: { matrix: { node: number[] } }; steps: { run?: string }[] }>;
}

const { engines, scripts } = JSON.parse(readText('package.json')) as Record<string, Record<string, string>>;
const workflows = list('.github/workflows').map((file) => [file, readText(`.github/workflows/${file}`)] as const);
const runsOf = (text: string) => Object.values((parse(text) as Workflow).jobs).flatMap(({ steps }) => steps);

test.each(workflows)('workflow %s: it is as its schema says, and runs what exists', (_, text) => {
  const lines = runsOf(text).flatMap(({ run }) => run?.split('\n') ?? []);
  const names = lines.flatMap((line) => /^npm run ([\w:-]+)/.exec(line)?.[1] ?? []);

  expect(validateWorkflow(text).errors).toEqual([]);
  expect(names.filter((name) => !(name in (scripts ?? {})))).toEqual([]);
  for (const line of lines.filter((each) => each.startsWith('.'))) expect(exists(line), line).toBe(true);
});

test('workflows: the schema refuses a step that is none', () => {
  expect(validateWorkflow('on: push\njobs: {a: {runs-on: x, steps: [{walk: y}]}}').errors).not.toEqual([]);
});

test('ci: it begins with the oldest Node that package.json allows', () => {
  const { jobs } = parse(readText('.github/workflows/ci.yml')) as Workflow;
  const [oldest] = jobs['linux']?.strategy?.matrix.node ?? [];

  expect(engines?.['node']).toMatch(new RegExp(`^>=${oldest}\\.`));
});

test.each(list('.github/ISSUE_TEMPLATE').filter((file) => file !== 'config.yml'))(
  'issue form %s: it has what GitHub asks of a form, and each field an id of its own',
  (file) => {
    const { name, description, body } = parse(readText(`.github/ISSUE_TEMPLATE/${file}`)) as {
      name: string;
      description: string;
      body: { type: string; id: string; attributes: { label: string } }[];
    };
    const ids = body.map(({ id }) => id);

    expect([name, description, ...body.map(({ attributes }) => attributes.label)]).not.toContain(undefined);
    expect(body.filter(({ type }) => !['textarea', 'input', 'dropdown', 'checkboxes'].includes(type))).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
  },
);

test('dependabot: each folder that it looks at has what it looks for', () => {
  const { updates } = parse(readText('.github/dependabot.yml')) as {
    updates: { 'package-ecosystem': string; directory?: string; directories?: string[] }[];
  };
  const files: Record<string, string> = {
    npm: 'package-lock.json',
    docker: 'Dockerfile',
    'docker-compose': 'docker-compose.yml',
    'github-actions': '.github/workflows/ci.yml',
  };
  const wanted = updates.flatMap(({ 'package-ecosystem': kind, directory, directories = [directory ?? ''] }) =>
    directories.map((folder) => `${folder}/${files[kind]}`.replace(/^\/+/, '')),
  );

  expect(wanted.filter((file) => !exists(file))).toEqual([]);
});
