// Services that can't be judged, by the names that ODD has for them.

import { createServer } from 'node:http';
import { connect } from 'node:tls';
import { Redis } from 'ioredis';

const { PORT, REDIS_URL, ODD } = process.env;
const redis = () => new Redis(REDIS_URL).on('error', () => {});

function serve(sell) {
  createServer(async (_, answer) => {
    const [status, body] = await sell();
    answer.writeHead(status).end(body);
  }).listen(PORT, '127.0.0.1');
}

async function take(own, words) {
  const left = Number(await own.get('stock:1'));
  if (left > 0) await own.set('stock:1', left - 1);
  return left > 0 ? [200, 'sold'] : words;
}

const ways = {
  'ends at once'() {
    console.error('config.yaml is missing');
    process.exitCode = 3;
  },
  'never listens': () => setInterval(() => {}, 1_000),
  'keeps nothing in Redis': () => serve(async () => [200, 'sold']),
  'reads two numbers'() {
    const own = redis();
    serve(async () => [200, `sold ${await own.mget('stock:1', 'price:1')}`]);
  },
  'sells what is not there'() {
    const own = redis();
    serve(() => take(own, [200, 'sold']));
  },
  'speaks TLS'() {
    const ask = () =>
      new Promise((resolve) => {
        const socket = connect({ port: Number(new URL(REDIS_URL).port), host: '127.0.0.1' });
        socket.on('error', () => resolve([500, 'no Redis']));
      });
    serve(ask);
  },
  'hears no signal'() {
    for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(name, () => {});
    const own = redis();
    serve(() => take(own, [409, 'sold out']));
  },
};
ways[ODD]();
