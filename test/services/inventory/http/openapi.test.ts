import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Router } from 'express';
import { pino } from 'pino';
import { beforeAll, expect, test } from 'vitest';
import * as contract from '../../../../services/inventory/admin/contract.ts';
import { openapi } from '../../../../services/inventory/http/openapi.ts';
import { createPublicApp, type PublicParts } from '../../../../services/inventory/http/public.ts';
import { jobStateSchema } from '../../../../services/inventory/orders/contract.ts';
import { createMetrics } from '../../../../services/inventory/sale/metrics.ts';
import type { Answer, TestNode } from '../node-under-test.ts';
import { buy, openShop, post, type Shop } from '../orders/own-shop.ts';

let shop: Shop;
let node: TestNode;

beforeAll(async () => {
  shop = await openShop();
  node = await shop.openNode({});
  await node.lab('PUT', '/stock', { stock: 5 });
});

test('openapi: the node answers with a document that is valid', async () => {
  const { body } = await node.get('/openapi.json');

  expect(await new Validator().validate(body)).toEqual({ valid: true });
});

test('openapi: it has every route and method of the public listener, and no other', () => {
  const parts = { duties: {}, metrics: createMetrics(), log: pino({ level: 'silent' }) } as unknown as PublicParts;
  const orders = { shop: {} } as PublicParts['orders'];
  const app = createPublicApp({ ...parts, orders }) as unknown as { router: Router };
  const routes = app.router.stack.flatMap(({ route }) =>
    [...new Set(route?.stack.map(({ method }) => method))]
      .filter((method) => method === 'get' || method === 'post')
      .map((method) => `${method} ${route?.path.replace(/:(\w+)/g, '{$1}')}`),
  );
  const described = Object.entries(openapi.paths ?? {}).flatMap(([path, its]) =>
    Object.keys(its).map((method) => `${method} ${path}`),
  );

  expect(described.toSorted()).toEqual(routes.toSorted());
});

test('openapi: what a node answers is as the document says, and nothing is left out', async () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: 'api', ...openapi });
  const conforms = (name: string, { body }: Pick<Answer, 'body'>) => {
    const validate = ajv.compile({ $ref: `api#/components/schemas/${name}` });
    return validate(body) ? 'conforms' : validate.errors;
  };

  const order = await buy(node, '001');
  const answers = {
    Sold: await node.sell('001'),
    Order: await post(node, `/orders/${order.id}/pay`),
    Orders: await node.get('/orders'),
    Problem: await node.sell('none'),
  };

  for (const [name, answer] of Object.entries(answers))
    expect([name, conforms(name, answer)]).toEqual([name, 'conforms']);
});

test('contract: what the lab listener answers is the contract, and has no member besides', async () => {
  await node.sell('001');
  await node.lab('POST', '/jobs/cleanup', {});

  for (const [path, schema] of [
    ['/state', contract.shownStateSchema],
    ['/history', contract.historySchema],
    ['/heap', contract.heapSchema],
    ['/redis', contract.redisSchema],
    ['/jobs/cleanup', jobStateSchema],
  ] as const) {
    const { body } = await node.lab('GET', path);
    expect({ path, ...schema.parse(body) }).toEqual({ path, ...body });
  }
});
