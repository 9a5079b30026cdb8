import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a server does with its n-th sale, instead of passing it on and answering what the real one answers. */
export type Misbehaviour = (sale: {
  n: number;
  incoming: IncomingMessage;
  response: ServerResponse;
  /** Passes the sale on to the real server, and resolves with its answer. */
  passOn: () => Promise<{ status: number; body: string }>;
  /** Ends the server and cuts all its connections. */
  die: () => void;
}) => Promise<void>;

/** A load balancer in front of `upstream` that misbehaves on purpose. */
export async function startMisbehavingServer(upstream: string, misbehave: Misbehaviour) {
  let count = 0;
  const server = createServer(async (incoming, response) => {
    count += 1;
    const passOn = () => forward(upstream, incoming);
    await misbehave({ n: count, incoming, response, passOn, die }).catch(() => response.destroy());
  });
  function die() {
    server.close();
    server.closeAllConnections();
  }
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop: die };
}

/** Answers as the real server does. */
export async function behave({ response, passOn }: Pick<Parameters<Misbehaviour>[0], 'response' | 'passOn'>) {
  const { status, body } = await passOn();
  response.writeHead(status, { 'content-type': 'application/json' }).end(body);
}

function forward(upstream: string, incoming: IncomingMessage): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(new URL(incoming.url ?? '/', upstream), { method: incoming.method }, (answer) => {
      let body = '';
      answer.setEncoding('utf8').on('data', (chunk) => {
        body += chunk;
      });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body }));
    });
    outgoing.on('error', reject).end();
  });
}
