import { readFileSync } from 'node:fs';
import dotenv from 'dotenv';

/** It explains each setting: of a node, of the local stack and of the containers. Container images do not include it. */
const example = new URL('../../../.env.example', import.meta.url);

/**
 *
 * Reads `.env` into the environment, whose variables take precedence. Warns on stderr about lines that have no effect: once,
 * not in every process that inherits this environment.
 *
 */
export function loadEnvFile(): void {
  const before = { ...process.env };
  const { parsed = {} } = dotenv.config({ quiet: true });
  const added = Object.keys(parsed).filter((name) => before[name] === undefined);
  for (const warning of envFileWarnings(read('.env'), added)) process.stderr.write(`${warning}\n`);
}

/** The problems of a `.env` with these names, one sentence each. */
export function envFileWarnings(file: Buffer, names: string[]): string[] {
  if (file.includes(0)) return ['.env is not UTF-8, so it is ignored. Save it as UTF-8; PowerShell writes UTF-16.'];
  const known = read(example);
  return names
    .filter((name) => known.length > 0 && !known.includes(`\n# ${name}=`))
    .map(
      (name) =>
        `.env sets ${name}, which is not a setting of the lab and has no effect. See .env.example for all settings.`,
    );
}

function read(file: string | URL): Buffer {
  try {
    return readFileSync(file);
  } catch {
    return Buffer.alloc(0);
  }
}
