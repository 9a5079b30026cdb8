import { judged } from './chosen-locks.ts';
import { playCells } from './play-cells.ts';

playCells(judged);
