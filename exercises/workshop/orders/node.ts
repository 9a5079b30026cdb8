// A node of the workshop: the inventory service, with parts of the orders from the file that the setting ORDER_MODULE names.

import { otherParts } from '../../../services/inventory/orders/orders.ts';
import { exitWithSettingError } from '../../../services/inventory/setting-error.ts';
import { readParts } from './read-parts.ts';
import { ExternalPartFault, supervised } from './supervised.ts';

// It is told as one that somebody catches.
process.on('uncaughtException', (error) => {
  const [why] = (error?.stack ?? String(error)).split('\n');
  const err = { type: ExternalPartFault.name, message: `There is an error that nobody catches: ${why}.` };
  console.error(JSON.stringify({ level: 50, err }));
});

const file = process.env['ORDER_MODULE'] ?? '';
const refuse = ({ message }: Error) => exitWithSettingError(`ORDER_MODULE=${file} is not allowed: ${message}.`);
Object.assign(otherParts, supervised(await readParts(file).catch(refuse)));
await import('../../../services/inventory/main.ts');
