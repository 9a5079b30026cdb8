import { readFileSync } from 'node:fs';
import dotenv from 'dotenv';
import { inventorySettings } from './settings.ts';

/** The settings of the local stack and of the containers, which no node reads. `.env.example` explains each of them. */
const OF_THE_STACK = [
  'NGINX_PORT',
  'REDIS_PORT',
  'MYSQL_PORT',
  'NODE_1_PORT',
  'NODE_1_LAB_PORT',
  'NODE_2_PORT',
  'NODE_2_LAB_PORT',
  'LAB_NETWORK',
  'GRAFANA_PORT',
];

/**
 * Reads the file `.env` of this folder into the environment, whose variables win over it. What would be passed over without a word
 * is named in a warning on stderr: once, and not by the processes that get this environment.
 */
export function loadEnvFile(): void {
  const before = { ...process.env };
  const { parsed = {} } = dotenv.config({ quiet: true });
  const added = Object.keys(parsed).filter((name) => before[name] === undefined);
  for (const warning of envFileWarnings(readEnvFile(), added)) process.stderr.write(`${warning}\n`);
}

/** What is wrong with the bytes of a `.env` from which these names were read: a sentence each. */
export function envFileWarnings(file: Buffer, names: string[]): string[] {
  if (file.includes(0))
    return ['.env is not in UTF-8, so nothing of it counts. Save it as UTF-8: PowerShell writes UTF-16.'];
  const known = [...Object.keys(inventorySettings.shape), ...OF_THE_STACK];
  return names
    .filter((name) => !known.includes(name))
    .map((name) => `.env sets ${name}, which is no setting of the lab and changes nothing. .env.example has them all.`);
}

function readEnvFile(): Buffer {
  try {
    return readFileSync('.env');
  } catch {
    return Buffer.alloc(0);
  }
}
