// The baseline for the inventory service: the sale of `redis-atomic` written by hand with only Express and ioredis,
// and with the two optimisations of the service: `createServer` and `sendTogether`. It records nothing and checks nothing.

import { createServer } from 'node:http';
import express from 'express';
import { Redis } from 'ioredis';
import { readScript } from '../../locks/drivers/script.ts';
import { classesOf } from '../../services/inventory/http/http-server.ts';
import { sendTogether } from '../../services/inventory/servers/redis-client.ts';
import { stockKey } from '../../services/inventory/servers/store.ts';

const { PORT, REDIS_URL = '' } = process.env;
const node = `by-hand-${PORT}`;
const redis = new Redis(REDIS_URL);
const takeOne = readScript('take-one');
const app = express().disable('x-powered-by').disable('etag');
let lastSale = 0;

app.post('/inventory/sale', async (_request, response) => {
  sendTogether(redis);
  const stockBefore = await takeOne(redis, [stockKey('001')], []);
  lastSale += 1;
  const saleId = String(lastSale);
  const sale = { saleId, node, port: Number(PORT), lock: 'redis-atomic', holder: `${node}:${saleId}` };
  response.json({ outcome: 'sold', sku: '001', stockBefore, remaining: stockBefore - 1, ...sale });
});
app.get('/metrics', (_request, response) => {
  const { user, system } = process.cpuUsage();
  response.type('text/plain').send(`process_cpu_seconds_total ${(user + system) / 1e6}\n`);
});

createServer({ ...classesOf(app), keepAliveTimeout: 75_000 }, app).listen(Number(PORT), '127.0.0.1');
