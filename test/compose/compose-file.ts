import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { projectDir } from '../../scripts/stack/parts.ts';

/** A service of docker-compose.yml, as far as the tests look at it. */
export interface Service {
  image?: string;
  build?: { context: string; dockerfile: string; target: string };
  command?: string[];
  user?: string;
  read_only?: boolean;
  cap_drop?: string[];
  cap_add?: string[];
  security_opt?: string[];
  tmpfs?: string[];
  networks?: string[];
  network_mode?: string;
  ports?: string[];
  environment?: Record<string, string | number>;
  volumes?: string[];
  depends_on?: Record<string, { condition: string; restart?: boolean }>;
  healthcheck?: { test: string[] };
  stop_grace_period?: string;
  profiles?: string[];
}

export const composeText = readFileSync(join(projectDir, 'docker-compose.yml'), 'utf8');

const compose: { services: Record<string, Service>; networks: Record<string, { internal?: boolean }> } = parse(
  composeText,
  { merge: true },
);

export const { services, networks } = compose;

export function serviceNamed(name: string): Service {
  const service = services[name];
  if (service === undefined) throw new Error(`docker-compose.yml has no service ${name}.`);
  return service;
}

/** The environment of a service, with `${NAME}` and `${NAME:-default}` filled in from `env` as compose does. */
export function environmentOf(name: string, env: Record<string, string> = {}): Record<string, string> {
  const given = Object.entries(serviceNamed(name).environment ?? {});
  return Object.fromEntries(given.map(([variable, value]) => [variable, interpolate(String(value), env)]));
}

export function interpolate(text: string, env: Record<string, string> = {}): string {
  return text.replace(/\$\{(\w+)(?::-([^}]*))?\}/g, (_written, variable: string, other = '') => env[variable] || other);
}

/** The value after `option` in a command. */
export function optionOf(command: string[] = [], option: string): string {
  return command[command.indexOf(option) + 1] ?? '';
}
