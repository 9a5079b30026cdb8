import { stages } from './chosen-locks.ts';
import { playCells } from './play-cells.ts';

playCells(stages);
