// Sends buyers to the shop at this address, and compares the final stock with the units sold. Exits with 1 if a unit was sold twice.

import autocannon from 'autocannon';

const [, , shop] = process.argv;
const { REQUESTS = '2000', CONNECTIONS = '100' } = process.env;
const amount = Number(REQUESTS);
const stockNow = async () => (await (await fetch(`${shop}/inventory`)).json()).remaining;

const before = await stockNow();
/** The units sold, by copy of the service. */
const sold = new Map();
const { non2xx, errors } = await autocannon({
  url: `${shop}/inventory/sale`,
  method: 'POST',
  amount,
  connections: Math.min(amount, Number(CONNECTIONS)),
  timeout: 60,
  setupClient(client) {
    client.on('body', (body) => {
      const { node } = JSON.parse(body);
      if (node !== undefined) sold.set(node, (sold.get(node) ?? 0) + 1);
    });
  },
});
const after = await stockNow();
const total = [...sold.values()].reduce((sum, units) => sum + units, 0);
const twice = after + total - before;

for (const [node, units] of sold) console.log(`${node} sold ${units}`);
console.log(`${total} sold, ${non2xx} refused, ${errors} without a response`);
console.log(`stock before ${before}, final stock ${after}, expected ${before - total}: ${twice} sold twice`);
// A sale without a response may or may not have taken a unit.
process.exit(twice > 0 || errors > 0 ? 1 : 0);
