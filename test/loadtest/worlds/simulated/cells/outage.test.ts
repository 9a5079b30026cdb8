import { judged, stages, waiting } from './chosen-locks.ts';
import { OUTAGE, playCells } from './play-cells.ts';

playCells([...stages, ...waiting, ...judged], (name) => name === OUTAGE);
