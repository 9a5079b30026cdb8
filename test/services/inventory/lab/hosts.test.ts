import { request } from 'node:http';
import { beforeAll, describe, expect, test } from 'vitest';
import { refusalOf } from '../../../../services/inventory/known-hosts.ts';
import { type SharedRedis, sharedRedis } from '../../../stack.ts';
import { type Answer, expectProblem, sendRaw, startNode, type TestNode } from '../node-under-test.ts';

describe('hosts: which Host names this machine', () => {
  const refused = (host?: string) => refusalOf({ host }, ['node-1', '192.168.1.5', '::5'])?.code;

  test.each([
    'localhost',
    'localhost:7778',
    'LocalHost:1',
    'localhost.',
    'localhost.:7778',
    '127.0.0.1',
    '127.0.0.1:65535',
    '127.255.0.9:80',
    '[::1]',
    '[::1]:7778',
    '[0:0:0:0:0:0:0:1]:7778',
    '[::FFFF:127.0.0.1]:7778',
    'node-1',
    'NODE-1:7778',
    'node-1.:7778',
    '192.168.1.5:7778',
    '[::5]:7778',
    '[0::5]',
  ])('%s does', (host) => expect(refused(host)).toBeUndefined());

  test.each([
    undefined,
    '',
    ':7778',
    'evil',
    'evil.example:7778',
    'localhost.evil.example',
    'evil-localhost',
    'node-1.evil.example',
    'node-10',
    '127.0.0.1.evil.example',
    '128.0.0.1',
    '0.0.0.0',
    '127.1',
    '[::2]:7778',
    '::1',
    '[::1',
    '[::1]evil',
    '[::1%lo]',
    'localhost:evil',
    'localhost:7778:1',
    'evil@localhost',
    'localhost@evil',
    'localhost/evil',
    'localhost, evil',
    'localhost..',
    '.',
  ])('%s does not', (host) => expect(refused(host)).toBe('HOST_REFUSED'));
});

describe('hosts: which Origin is that of the listener', () => {
  const refused = (origin: string, host = 'localhost:7778') => refusalOf({ host, origin }, [])?.code;

  test.each([
    ['http://localhost:7778', 'localhost:7778'],
    ['http://LOCALHOST:7778', 'localhost:7778'],
    ['http://localhost', 'localhost:80'],
    ['http://127.0.0.1', '127.0.0.1'],
    ['http://[::1]:7778', '[0:0:0:0:0:0:0:1]:7778'],
  ])('%s with the Host %s is', (origin, host) => expect(refused(origin, host)).toBeUndefined());

  test.each([
    'null',
    '',
    'http://evil.example',
    'http://localhost',
    'http://localhost:8080',
    'http://127.0.0.1:7778',
    'https://localhost:7778',
    'http://localhost:7778.evil.example',
    'http://evil@localhost:7778',
    'file://',
    'localhost:7778',
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
  function send(port: number, method: string, path: string, headers: Record<string, string>): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port, method, path, headers }, async (response) => {
        const text = (await response.setEncoding('utf8').toArray()).join('');
        const isJson = /json/.test(response.headers['content-type'] ?? '');
        const given = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
        resolve({
          status: response.statusCode ?? 0,
          headers: new Headers(Object.fromEntries(given)),
          body: isJson ? JSON.parse(text) : {},
          text,
        });
      });
      sent.on('error', reject).end();
    });
  }

  test('a page whose own name leads here changes nothing and sees nothing', async () => {
    await node.lab('PUT', '/stock', { sku: 'rebound', stock: 5 });

    for (const [method, path] of [
      ['DELETE', '/stock?sku=rebound'],
      ['GET', '/state'],
      ['GET', '/nowhere'],
    ] as const) {
      const refused = await send(node.labPort, method, path, { host: `evil.example:${node.labPort}` });
      expectProblem(refused, 'HOST_REFUSED', { detail: /evil\.example.*LAB_ALLOWED_HOSTS/ });
    }

    expect(await redis.client.get('{inventoryrebound}:stock')).toBe('5');
  });

  test('a page of another origin changes nothing, though it names the listener', async () => {
    await node.lab('PUT', '/stock', { sku: 'foreign', stock: 5 });
    const host = `localhost:${node.labPort}`;

    for (const origin of ['http://evil.example', 'null']) {
      const refused = await send(node.labPort, 'DELETE', '/stock?sku=foreign', { host, origin });
      expectProblem(refused, 'ORIGIN_REFUSED');
    }

    expect(await redis.client.get('{inventoryforeign}:stock')).toBe('5');
    expect((await send(node.labPort, 'GET', '/state', { host, origin: `http://${host}` })).status).toBe(200);
  });

  test('a request of HTTP/1.0 without a Host is refused', async () => {
    const answer = await sendRaw(node.labPort, 'GET /state HTTP/1.0\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 403 /);
    expect(answer).toContain('"code":"HOST_REFUSED"');
  });

  test('LAB_HOST and LAB_ALLOWED_HOSTS name further hosts', async () => {
    const named = await startNode(redis.url, { LAB_HOST: '0.0.0.0', LAB_ALLOWED_HOSTS: 'node-1, Node-2.,[::5]' });
    const statusOf = async (host: string) => (await send(named.labPort, 'GET', '/state', { host })).status;

    for (const host of ['node-1:7778', 'node-2', '[::5]:7778', '0.0.0.0:7778', 'localhost']) {
      expect([host, await statusOf(host)]).toEqual([host, 200]);
    }
    expect(await statusOf('node-3:7778')).toBe(403);
  });

  test('the public listener answers to every name', async () => {
    const headers = { host: 'shop.example', origin: 'http://shop.example' };
    expect((await send(node.port, 'GET', '/healthz', headers)).status).toBe(200);
  });
});
