import { startNode } from './node.ts';

await startNode();
