// A workshop node: the inventory service, with order parts from the file in the setting ORDER_MODULE.

import { pathToFileURL } from 'node:url';
import { startNode } from '../../../services/inventory/node.ts';
import { describe } from '../../../services/inventory/problem.ts';
import { exitWithSettingError } from '../../../services/inventory/settings/setting-error.ts';
import type { NodeLine } from './node-line.ts';
import { asOtherParts } from './parts.ts';

const file = process.env['ORDER_MODULE'] ?? '';
function refuse(why: string): never {
  // Whoever judges the file reads this line.
  process.stdout.write(`${JSON.stringify({ refused: why } satisfies NodeLine)}\n`);
  exitWithSettingError(`ORDER_MODULE=${file} is not allowed: ${why}.`);
}
const exported = await import(pathToFileURL(file).href).catch((error) =>
  refuse(`importing it fails: ${describe(error)}`),
);
const names = ['answerOnce', 'cleanUp', 'takePayment'];
if (!names.some((name) => typeof exported[name] === 'function'))
  refuse(`it does not export any of ${names.join(', ')}`);
await startNode(asOtherParts(exported));
