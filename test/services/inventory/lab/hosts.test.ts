import { beforeAll, describe, expect, test } from 'vitest';
import { refusalOf } from '../../../../services/inventory/known-hosts.ts';
import { type SharedRedis, sharedRedis } from '../../../stack.ts';
import { sendRaw, startNode, type TestNode } from '../node-under-test.ts';

describe('hosts: which Host names this machine', () => {
  const refused = (host?: string) => refusalOf({ host }, ['node-1', '192.168.1.5', '::5'])?.code;

  test.each([
    'localhost',
    'localhost.',
    '127.0.0.1',
    '[::1]:7778',
    '[::FFFF:127.0.0.1]:7778',
    'NODE-1:7778',
    '192.168.1.5:7778',
  ])('%s does', (host) => expect(refused(host)).toBeUndefined());

  test.each([
    undefined,
    '',
    'evil.example:7778',
    'evil-localhost',
    'node-1.evil.example',
    'evil.192.168.1.5',
    '127.0.0.1.evil.example',
    '0.0.0.0',
    '[::1]evil',
    'evil@localhost',
  ])('%s does not', (host) => expect(refused(host)).toBe('HOST_REFUSED'));
});

describe('hosts: which Origin is that of the listener', () => {
  const refused = (origin: string, host = 'localhost:7778') => refusalOf({ host, origin }, [])?.code;

  test.each([
    ['http://localhost:7778', 'localhost:7778'],
    ['http://localhost', 'localhost:80'],
    ['http://[::1]:7778', '[0:0:0:0:0:0:0:1]:7778'],
  ])('%s with the Host %s is', (origin, host) => expect(refused(origin, host)).toBeUndefined());

  test.each([
    'null',
    '',
    'http://evil.example',
    'http://localhost',
    'https://localhost:7778',
    'http://localhost:7778, http://evil.example',
  ])('%s is not', (origin) => expect(refused(origin)).toBe('ORIGIN_REFUSED'));

  test('none is that of a Host with a port that is no port', () => {
    expect(refused('http://localhost:7778', 'localhost:99999')).toBe('ORIGIN_REFUSED');
  });
});

describe('hosts: the lab listener of a node', () => {
  let redis: SharedRedis;
  let node: TestNode;

  beforeAll(async () => {
    redis = await sharedRedis();
    node = await startNode(redis.url);
  });

  /** fetch does not let a caller choose these headers. */
  const send = (port: number, method: string, path: string, headers: Record<string, string>) => {
    const lines = Object.entries({ ...headers, Connection: 'close' }).map(([name, value]) => `${name}: ${value}\r\n`);
    return sendRaw(port, `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
  };

  test('a page whose own name leads here changes nothing, nor does one of another origin that names the listener', async () => {
    await node.lab('PUT', '/stock', { sku: 'foreign', stock: 5 });
    const Host = `localhost:${node.labPort}`;

    const rebound = await send(node.labPort, 'DELETE', '/stock?sku=foreign', { Host: `evil.example:${node.labPort}` });
    expect(rebound).toMatch(/^HTTP\/1.1 403 [\s\S]*evil\.example.*LAB_ALLOWED_HOSTS.*"code":"HOST_REFUSED"/);
    for (const Origin of ['http://evil.example', 'null']) {
      const refused = await send(node.labPort, 'DELETE', '/stock?sku=foreign', { Host, Origin });
      expect(refused).toContain('"code":"ORIGIN_REFUSED"');
    }

    expect(await redis.client.get('{inventoryforeign}:stock')).toBe('5');
    expect(await send(node.labPort, 'GET', '/state', { Host, Origin: `http://${Host}` })).toMatch(/^HTTP\/1.1 200 /);
  });

  test('LAB_HOST and LAB_ALLOWED_HOSTS name further hosts, and the public listener answers to every name', async () => {
    const named = await startNode(redis.url, { LAB_HOST: '0.0.0.0', LAB_ALLOWED_HOSTS: 'node-1, Node-2.,[::5]' });

    for (const Host of ['node-1:7778', 'node-2', '[::5]:7778', '0.0.0.0:7778', 'localhost']) {
      expect(await send(named.labPort, 'GET', '/state', { Host })).toMatch(/^HTTP\/1.1 200 /);
    }
    expect(await send(named.labPort, 'GET', '/state', { Host: 'node-3' })).toMatch(/^HTTP\/1.1 403 /);
    const headers = { Host: 'shop.example', Origin: 'http://shop.example' };
    expect(await send(named.port, 'GET', '/healthz', headers)).toMatch(/^HTTP\/1.1 200 /);
  });
});
