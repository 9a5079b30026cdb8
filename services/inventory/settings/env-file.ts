import { readFileSync } from 'node:fs';
import dotenv from 'dotenv';

/** It explains each setting: those of a node, of the local stack and of the containers. An image does not have it. */
const example = new URL('../../../.env.example', import.meta.url);

/**
 * Reads `.env` into the environment, whose variables win over it. What would be passed over without
 * a word is named in a warning on stderr: once, and not by the processes that get this environment.
 */
export function loadEnvFile(): void {
  const before = { ...process.env };
  const { parsed = {} } = dotenv.config({ quiet: true });
  const added = Object.keys(parsed).filter((name) => before[name] === undefined);
  for (const warning of envFileWarnings(read('.env'), added)) process.stderr.write(`${warning}\n`);
}

/** What is wrong with the bytes of a `.env` from which these names were read: a sentence each. */
export function envFileWarnings(file: Buffer, names: string[]): string[] {
  if (file.includes(0))
    return ['.env is not in UTF-8, so nothing of it counts. Save it as UTF-8: PowerShell writes UTF-16.'];
  const known = read(example);
  return names
    .filter((name) => known.length > 0 && !known.includes(`\n# ${name}=`))
    .map((name) => `.env sets ${name}, which is no setting of the lab and changes nothing. .env.example has them all.`);
}

function read(file: string | URL): Buffer {
  try {
    return readFileSync(file);
  } catch {
    return Buffer.alloc(0);
  }
}
