import dotenv from 'dotenv';
import { expect, test } from 'vitest';
import { inventorySettings } from '../../services/inventory/settings/settings.ts';
import { readText } from './project-files.ts';

const NODES = ['NODE_1_PORT', 'NODE_1_LAB_PORT', 'NODE_2_PORT', 'NODE_2_LAB_PORT'];
/** Variables of the local stack, and of compose. */
const NOT_OF_THE_SERVICE = [
  ...['NGINX_PORT', 'REDIS_PORT', 'MYSQL_PORT', ...NODES],
  ...['LAB_NETWORK', 'STOP_GRACE_PERIOD', 'GRAFANA_PORT', 'JUDGE_SERVICE', 'JUDGE_PACKAGES'],
];

const example = readText('.env.example').split('\n');
/** `# NAME=default` or `NAME=default` is a variable; every other line explains. */
const variable = /^(?:# )?([A-Z][A-Z0-9_]*)=(.*)$/;
const variables = example.flatMap((line) => [...line.matchAll(new RegExp(variable, 'g'))]);

test('settings: .env.example has every variable that is read, and no other', () => {
  const names = variables.map(([, name]) => name);

  expect(names.toSorted()).toEqual([...Object.keys(inventorySettings.shape), ...NOT_OF_THE_SERVICE].toSorted());
});

test('settings: .env.example shows the defaults, and a copy of it changes nothing', () => {
  const shown = variables.filter(([, , value]) => value !== '').map(([, name, value]) => [name, value]);
  const given = Object.entries(dotenv.parse(example.join('\n'))).filter(([, value]) => value !== '');

  expect(shown).not.toEqual([]);
  for (const entries of [shown, given])
    expect(inventorySettings.parse(Object.fromEntries(entries))).toEqual(inventorySettings.parse({}));
});
