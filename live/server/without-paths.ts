// Texts for a room: what names a place on this machine is told by its last part.

import { homedir, tmpdir } from 'node:os';
import { projectDir } from '../../scripts/stack/parts.ts';

/** How much of a text is shown, in characters. */
const MOST_SHOWN = 600;

/** Their names may have blanks, so they are looked for by name. The longest comes first, since one may stand in another. */
const places = [projectDir, homedir(), tmpdir()]
  .map((place) => place.replace(/[\\/]+$/, ''))
  .toSorted((one, other) => other.length - one.length);

/** A path from the root, from the home folder, or up from where one is. One within the project has none of these beginnings. */
const PATH =
  /(?<![\w./\\~])(?:file:\/\/)?(?:~|(?:[a-z]:|\.{1,2})?[\\/][^\s\\/'"`()<>,;]+)(?:[\\/][^\s\\/'"`()<>,;]+)+/gi;

/** `ENOENT: /home/ada/lab/x.ts` is `ENOENT: x.ts`. A text that is very long is cut. */
export function withoutPaths(text: string): string {
  const named = places.reduce((left, place) => (place.length > 0 ? left.replaceAll(place, '~') : left), text);
  const short = named.replace(PATH, (path) => path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1));
  return short.length > MOST_SHOWN ? `${short.slice(0, MOST_SHOWN)}…` : short;
}
