import dotenv from 'dotenv';
import { expect, test } from 'vitest';
import { inventorySettings } from '../../services/inventory/settings.ts';
import { readText } from './project-files.ts';

const OF_THE_LOCAL_STACK = [
  'NGINX_PORT',
  'REDIS_PORT',
  'MYSQL_PORT',
  'NODE_1_PORT',
  'NODE_1_LAB_PORT',
  'NODE_2_PORT',
  'NODE_2_LAB_PORT',
];
const OF_COMPOSE = ['LAB_NETWORK'];

const example = readText('.env.example').split('\n');
/** `# NAME=default` or `NAME=default` is a variable; every other line explains. */
const variable = /^(?:# )?([A-Z][A-Z0-9_]*)=(.*)$/;
const variables = example.flatMap((line) => [...line.matchAll(new RegExp(variable, 'g'))]);

test('settings: .env.example has every variable that is read, and no other', () => {
  const names = variables.map(([, name]) => name);

  expect(names.toSorted()).toEqual(
    [...Object.keys(inventorySettings.shape), ...OF_THE_LOCAL_STACK, ...OF_COMPOSE].toSorted(),
  );
});

test('settings: .env.example shows the defaults', () => {
  const shown = variables.filter(([, , value]) => value !== '').map(([, name, value]) => [name, value]);

  expect(shown).not.toEqual([]);
  expect(inventorySettings.parse(Object.fromEntries(shown))).toEqual(inventorySettings.parse({}));
});

test('settings: a copy of .env.example changes nothing', () => {
  const given = Object.entries(dotenv.parse(example.join('\n'))).filter(([, value]) => value !== '');

  expect(inventorySettings.parse(Object.fromEntries(given))).toEqual(inventorySettings.parse({}));
});

test('settings: every variable in .env.example, or the group it stands in, is explained in the line above', () => {
  const unexplained = example.filter((line, index) => {
    const above = example[index - 1] ?? '';
    return variable.test(line) && !variable.test(above) && !/^# .+\.$/.test(above);
  });

  expect(unexplained).toEqual([]);
});
