import { waiting } from './chosen-locks.ts';
import { playCells } from './play-cells.ts';

playCells(waiting);
