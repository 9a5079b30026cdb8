import type { IncomingHttpHeaders } from 'node:http';
import { beforeAll, describe, expect, test } from 'vitest';
import { mustNotBeForeign, refusalOf } from '../../../../services/inventory/http/known-hosts.ts';
import type { ProblemError } from '../../../../services/inventory/problem.ts';
import { type SharedRedis, sharedRedis } from '../../../own-stack.ts';
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

const own = 'localhost:7778';

// Where there is no Origin, its site says whose page it is: another port of this machine is the same site.
test.each<[IncomingHttpHeaders, isAnswered: boolean]>([
  [{ host: own, origin: 'http://localhost:7778' }, true],
  [{ host: 'localhost:80', origin: 'http://localhost' }, true],
  [{ host: '[0:0:0:0:0:0:0:1]:7778', origin: 'http://[::1]:7778' }, true],
  [{ host: own, origin: 'null' }, false],
  [{ host: own, origin: '' }, false],
  [{ host: own, origin: 'http://evil.example' }, false],
  [{ host: own, origin: 'http://localhost' }, false],
  [{ host: own, origin: 'https://localhost:7778' }, false],
  [{ host: own, origin: 'http://localhost:7778, http://evil.example' }, false],
  [{ host: 'localhost:99999', origin: 'http://localhost:99999' }, false],
  [{ host: own, 'sec-fetch-site': 'same-origin' }, true],
  [{ host: own, 'sec-fetch-site': 'none' }, true],
  [{ host: own, 'sec-fetch-site': 'cross-site' }, false],
  [{ host: own, 'sec-fetch-site': 'same-site' }, false],
  [{ host: own, 'sec-fetch-site': '' }, false],
  [{ host: own, 'sec-fetch-site': 'none, cross-site' }, false],
])('hosts: whose page asks the lab listener: %j is answered: %s', (headers, isAnswered) => {
  expect(refusalOf(headers, [])?.code).toBe(isAnswered ? undefined : 'ORIGIN_REFUSED');
});

describe('hosts: whose page may change something on the public listener', () => {
  const refused = (headers: IncomingHttpHeaders, method = 'POST') => {
    try {
      mustNotBeForeign({ method, headers }, ['shop.example', '::5']);
    } catch (error) {
      return (error as ProblemError).code;
    }
    return undefined;
  };

  test.each<[string, IncomingHttpHeaders]>([
    ['a program', { host: 'box.lan' }],
    ['a page of this machine', { host: '127.0.0.1', origin: 'http://localhost:8080' }],
    ['one of the address that it asks', { host: '192.168.1.5', origin: 'http://192.168.1.5:8080' }],
    ['one of an address of IPv6', { host: '[::6]:8080', origin: 'http://[0::6]:8080' }],
    [
      'one of a host that is allowed',
      { host: 'box.lan', origin: 'https://Shop.example', 'sec-fetch-site': 'cross-site' },
    ],
    ['one of an address that is allowed', { host: 'box.lan', origin: 'http://[::5]' }],
  ])('%s may', (_who, headers) => expect(refused(headers)).toBeUndefined());

  test.each<[string, IncomingHttpHeaders]>([
    ['a page whose own name leads here', { host: 'evil.example', origin: 'http://evil.example' }],
    ['one of another site', { host: '127.0.0.1', origin: 'http://evil.example' }],
    ['one of another address', { host: '192.168.1.5', origin: 'http://192.168.1.6' }],
    ['one of a name below one that is allowed', { host: 'shop.example', origin: 'http://evil.shop.example' }],
    ['one of a file, or in a frame of its own', { host: '127.0.0.1', origin: 'null' }],
    ['one of an empty origin', { host: '127.0.0.1', origin: '' }],
    ['two', { host: '127.0.0.1', origin: 'http://localhost, http://evil.example' }],
    ['one that does not say its origin', { host: '127.0.0.1', 'sec-fetch-site': 'cross-site' }],
  ])('%s may not, but ask', (_who, headers) => {
    expect(refused(headers)).toBe('ORIGIN_REFUSED');
    expect(refused(headers, 'GET')).toBeUndefined();
  });
});

describe('hosts: the lab listener of a node', () => {
  let redis: SharedRedis;
  let node: TestNode;
  let named: TestNode;

  beforeAll(async () => {
    redis = await sharedRedis();
    const hosts = { LAB_HOST: '0.0.0.0', LAB_ALLOWED_HOSTS: 'node-1, Node-2.,[::5]', ALLOWED_HOSTS: 'shop.example' };
    [node, named] = await Promise.all([startNode(redis.url), startNode(redis.url, hosts)]);
  });

  const foreign = { Host: 'shop.example', Origin: 'http://shop.example' };
  /** fetch does not let a caller choose these headers. */
  const send = (port: number, method: string, path: string, headers: Record<string, string>, until?: string) => {
    const lines = Object.entries({ ...headers, Connection: 'close' }).map(([name, value]) => `${name}: ${value}\r\n`);
    return sendRaw(port, `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`, until);
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

  test('a page of another site that says no origin follows no events and reads nothing, and who types the address does', async () => {
    // An answer of events has no end.
    const ask = (path: string, site: string) =>
      send(node.labPort, 'GET', path, { Host: `127.0.0.1:${node.labPort}`, 'Sec-Fetch-Site': site }, '\r\n\r\n');

    for (const path of [...Array(9).fill('/events'), '/heap', '/history', '/state']) {
      expect(await ask(path, 'cross-site')).toMatch(/^HTTP\/1.1 403 /);
    }
    expect(await ask('/history', 'none')).toMatch(/^HTTP\/1.1 200 /);
  });

  test('LAB_HOST and LAB_ALLOWED_HOSTS name further hosts, and the public listener answers to every name', async () => {
    for (const Host of ['node-1:7778', 'node-2', '[::5]:7778', '0.0.0.0:7778', 'localhost']) {
      expect(await send(named.labPort, 'GET', '/state', { Host })).toMatch(/^HTTP\/1.1 200 /);
    }
    expect(await send(named.labPort, 'GET', '/state', { Host: 'node-3' })).toMatch(/^HTTP\/1.1 403 /);
    expect(await send(named.port, 'GET', '/healthz', foreign)).toMatch(/^HTTP\/1.1 200 /);
  });

  test('the public listener: a foreign page buys, pays and refunds nothing, but for the GET of a sale; ALLOWED_HOSTS lets it', async () => {
    await redis.client.set('{inventoryrebound}:stock', 5);
    const order = '/orders/0c597b81-41c7-4cdb-97d7-5e2f0be53dd1';
    const changes = ['/inventory/sale?sku=rebound', `${order}/pay`, `${order}/refund`];

    for (const path of changes)
      expect(await send(node.port, 'POST', path, foreign)).toMatch(/^HTTP\/1.1 403 .*"code":"ORIGIN_REFUSED"/s);
    expect(await redis.client.get('{inventoryrebound}:stock')).toBe('5');
    for (const [port, method] of [
      [node.port, 'GET'],
      [named.port, 'POST'],
    ] as const) {
      expect(await send(port, method, changes[0] ?? '', foreign)).toContain('"outcome":"sold"');
    }
  });
});
