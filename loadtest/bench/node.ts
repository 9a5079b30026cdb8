// A node of the bench: the inventory service, and the sale that touches no store. No other node knows that sale.

import { strategies } from '../../locks/index.ts';
import { takeOne } from './http-ceiling.ts';

strategies['http-ceiling'] = { backend: 'redis', stockIn: 'redis', takeOne };
await import('../../services/inventory/main.ts');
