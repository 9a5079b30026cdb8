// npm run down: stops the stack that `npm run up` keeps running, and waits until it has ended.

import { askDown } from '../stack/control.ts';

console.log((await askDown()) ? 'The stack is down.' : 'Nothing is up.');
