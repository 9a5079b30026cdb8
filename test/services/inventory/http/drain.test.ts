import { once } from 'node:events';
import { Agent, createServer, get, type IncomingMessage } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { drain } from '../../../../services/inventory/http/drain.ts';
import { listen } from '../../../listen.ts';

test('drain: the listener closes, and a request on a connection that was idle then is still answered', async () => {
  let keeps = true;
  const server = createServer((_request, response) => {
    if (!keeps) response.setHeader('Connection', 'close');
    response.end();
  });
  const port = await listen(server);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  async function ask(own: Agent | false) {
    const asked = get({ port, host: '127.0.0.1', agent: own });
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    answer.resume();
    await once(answer, 'end');
    return { isReused: asked.reusedSocket, connection: answer.headers.connection };
  }
  await ask(agent);

  let drained: Promise<void> | undefined;
  await new Promise<void>((resolve) => {
    drained = drain(server, 0, () => {
      keeps = false;
      resolve();
    });
  });

  await expect(ask(false)).rejects.toThrow('ECONNREFUSED');
  expect(await ask(agent)).toEqual({ isReused: true, connection: 'close' });
  await drained;
});
