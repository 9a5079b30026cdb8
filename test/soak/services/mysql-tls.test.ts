import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { openMysql } from '../../../stack/mysql.ts';
import { makeTempDir } from '../../../stack/parts.ts';
import { cleanUpLater } from '../../clean-up.ts';
import {
  expectProblem,
  startNodeAlone,
  startRedis,
  type TestRedis,
  until,
} from '../../services/inventory/node-under-test.ts';

let redis: TestRedis;
let url: string;
let certificate: string;

beforeAll(async () => {
  const temp = makeTempDir();
  cleanUpLater(temp.remove);
  redis = await startRedis();
  const key = join(temp.dir, 'key.pem');
  certificate = join(temp.dir, 'certificate.pem');
  const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=mysql'];
  const names = ['-addext', 'subjectAltName=DNS:localhost'];
  execFileSync('openssl', [...made, ...names, '-keyout', key, '-out', certificate], { stdio: 'ignore' });
  const args = [`--ssl-cert=${certificate}`, `--ssl-key=${key}`, '--require-secure-transport=OFF'];
  const mysql = await openMysql(undefined, { dir: temp.dir, args });
  for (const { part } of mysql.members) cleanUpLater(part.stop);
  url = (await mysql.database('tls')).replace('mysql:', 'mysqls:').replace('127.0.0.1', 'localhost');
});

test.each([
  ['its authority is known', true, 200],
  ['its authority is not known', false, 503],
])('MySQL over TLS: %s', async (_title, isKnown, status) => {
  // It is not ready without its MySQL.
  const node = await startNodeAlone(redis.url, {
    MYSQL_URL: url,
    ...(isKnown && { NODE_EXTRA_CA_CERTS: certificate }),
  });
  await redis.client.set('{inventory001}:stock', 10);

  await until('the node reaches Redis', async () => (await node.lab('GET', '/redis')).status === 200);

  const answer = await node.sell('001');

  expect(answer.status).toBe(status);
  if (status === 503) expectProblem(answer, 'STORE_UNAVAILABLE');
});
