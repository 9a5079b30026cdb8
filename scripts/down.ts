// npm run down: stops the stack that `npm run up` started, and waits until it has ended.

import { askDown } from '../stack/control.ts';

console.log((await askDown()) ? 'The stack is down.' : 'No stack is up.');
