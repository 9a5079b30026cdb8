import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { projectDir } from '../../scripts/stack/parts.ts';

/** A service of docker-compose.yml, as far as the tests look at it. */
export interface Service {
  image?: string;
  build?: { context: string; dockerfile: string; target: string };
  /** How many of it `up` starts, where that is not one. */
  scale?: number | string;
  entrypoint?: string[];
  command?: string[];
  user?: string;
  read_only?: boolean;
  cap_drop?: string[];
  cap_add?: string[];
  security_opt?: string[];
  tmpfs?: string[];
  networks?: string[] | Record<string, { ipv4_address: string }>;
  network_mode?: string;
  ports?: string[];
  environment?: Record<string, string | number>;
  volumes?: string[];
  depends_on?: Record<string, { condition: string; restart?: boolean }>;
  healthcheck?: { test: string[] };
  restart?: string;
  stop_grace_period?: string;
  profiles?: string[];
}

export const composeText = readFileSync(join(projectDir, 'docker-compose.yml'), 'utf8');

/** A network of docker-compose.yml, as far as the tests look at it. */
export interface Network {
  internal?: boolean;
  driver_opts?: Record<string, string>;
  ipam?: { config: { subnet: string; ip_range: string }[] };
}

const compose: { services: Record<string, Service>; networks: Record<string, Network> } = parse(composeText, {
  merge: true,
});

export const { services, networks } = compose;

export function serviceNamed(name: string): Service {
  const service = services[name];
  if (service === undefined) throw new Error(`docker-compose.yml has no service ${name}.`);
  return service;
}

/** The networks that a service is in. */
export function networksOf(name: string): string[] {
  const { networks: given = [] } = serviceNamed(name);
  return Array.isArray(given) ? given : Object.keys(given);
}

/** The fixed address of a service in the network lab, as compose fills it in. */
export function addressOf(name: string, env: Record<string, string> = {}): string {
  const { networks: given = {} } = serviceNamed(name);
  return interpolate(Array.isArray(given) ? '' : (given['lab']?.ipv4_address ?? ''), env);
}

/** How many containers of a service `up` starts. */
export function countOf(name: string, env: Record<string, string> = {}): number {
  return Number(interpolate(String(serviceNamed(name).scale ?? 1), env));
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

/** What the shell of a container's entrypoint is given to run. */
export function scriptOf(name: string): string {
  const [shell, option, script = ''] = serviceNamed(name).entrypoint ?? [];
  if (shell !== 'sh' || option !== '-c') throw new Error(`The entrypoint of ${name} is no shell.`);
  return script.replaceAll('$$', '$');
}

/** The value after `option` in a command. */
export function optionOf(command: string[] = [], option: string): string {
  return command[command.indexOf(option) + 1] ?? '';
}
