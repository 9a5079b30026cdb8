import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { projectDir } from '../../stack/parts.ts';

/** A service of docker-compose.yml, as far as the tests look at it. */
export interface Service {
  image?: string;
  build?: { context: string; dockerfile: string; target: string };
  /** How many of it `up` starts, where that is not one. */
  scale?: number | string;
  entrypoint?: string[];
  command?: string[];
  user?: string;
  networks?: string[] | Record<string, { ipv4_address: string; aliases?: string[] }>;
  ports?: string[];
  environment?: Record<string, string | number>;
  volumes?: string[];
  tmpfs?: string[];
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { test: string[] };
  [more: string]: unknown;
}

export const composeText = readFileSync(join(projectDir, 'docker-compose.yml'), 'utf8');

type Networks = Record<string, { internal?: boolean; driver_opts?: object }>;
export const { services, networks } = parse(composeText, { merge: true }) as {
  services: Record<string, Service>;
  networks: Networks;
};

export function serviceNamed(name: string): Service {
  const service = services[name];
  if (service === undefined) throw new Error(`docker-compose.yml has no service ${name}.`);
  return service;
}

/** The networks that a service is in. */
export function networksOf({ networks: given = [] }: Service): string[] {
  return Array.isArray(given) ? given : Object.keys(given);
}

/** The environment of a service, as compose fills it in from `env`. */
export function environmentOf(name: string, env: Record<string, string> = {}): Record<string, string> {
  const given = Object.entries(serviceNamed(name).environment ?? {});
  return Object.fromEntries(given.map(([variable, value]) => [variable, interpolate(String(value), env)]));
}

/** Fills in `${NAME}`, `${NAME:-default}` and `${NAME:+what stands there when NAME is set}`. */
export function interpolate(text: string, env: Record<string, string> = {}): string {
  return text.replace(/\$\{(\w+)(?::([-+])([^}]*))?\}/g, (_written, variable: string, sign = '-', other = '') => {
    if (sign === '+') return env[variable] ? other : '';
    return env[variable] || other;
  });
}
