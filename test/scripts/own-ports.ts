import { freePort } from '../../stack/ports.ts';
import { upPortsFor } from '../../stack/usual-ports.ts';

const variables = [
  'REDIS_PORT',
  'MYSQL_PORT',
  'NGINX_PORT',
  'NODE_1_PORT',
  'NODE_1_LAB_PORT',
  'NODE_2_PORT',
  'NODE_2_LAB_PORT',
] as const;

/** Free ports for each part of a stack with so many nodes. */
export async function ports(nodes = 2) {
  const names = [
    ...variables,
    ...Object.keys(upPortsFor(nodes)).filter((name) => !variables.some((own) => own === name)),
  ];
  const free = await Promise.all(names.map(async (variable) => [variable, String(await freePort())]));
  return Object.fromEntries(free) as Record<(typeof variables)[number], string>;
}

/** What `npm run up` prints when it is up. */
export const isUp = /Stop: +Ctrl-C/;

export async function sell(env: Awaited<ReturnType<typeof ports>>) {
  const response = await fetch(`http://127.0.0.1:${env.NGINX_PORT}/inventory/sale`, { method: 'POST' });
  return (await response.json()) as { node: string; lock: string; remaining: number; orderId?: string };
}
