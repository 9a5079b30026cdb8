// The lab's sentences in the language of the page.

import { html } from 'htm/preact';
import type { Values } from '../../../loadtest/narration/language.ts';
import { questionsInChinese } from '../../../loadtest/narration/questions.zh.ts';
import type { Reason } from '../../../loadtest/narration/reasons.ts';
import { isChinese, reasonSaid } from '../../../loadtest/narration/spoken.ts';
import { inEnglish, type ReadCommand, readInEnglish, type SearchSentence } from '../../../prove/wording.ts';
import { inChinese } from '../../../prove/wording.zh.ts';
import type { Scene } from '../../picture/beats.ts';
import { partsOf } from '../../picture/say.ts';
import type { GameMove } from '../game.ts';
import { Chip } from './chip.ts';
import { say, type Text } from './texts.ts';

type Move = GameMove;

/** A sentence of the model checker. */
export const searchSaid = (sentence: SearchSentence) => (isChinese() ? inChinese(sentence) : inEnglish(sentence));
/** A possible move: a command arrives; time passes, or passes until the lease has ended. */
export function moveSaid({ values: { process, what } }: Move, { at, lock }: Pick<Scene, 'at' | 'lock'>): string {
  const { form, values } = what.form === 'with luck' ? what.values.what : what;
  if (form === 'clock goes on') {
    const isEnd = lock?.endsAt !== undefined && lock.endsAt < values.ms;
    return isEnd ? say('leaseEnds') : say('passes', { ms: values.ms - Math.floor(at) });
  }
  const isLate = form === 'sends late' || form === 'is held up';
  if (form !== 'sends' && !isLate) return searchSaid({ form: 'move', values: { process, what } } as SearchSentence);
  const command = nameOfCommand(values.command);
  if (form === 'is held up') return say('isHeldUp', { process, command });
  return say(isLate ? 'arrivesLate' : 'arrives', { process, command });
}

const nameOfCommand = (command: ReadCommand) =>
  'words' in command ? command.words : (command.script ?? readInEnglish(command));

/** A sentence of a verdict, of the model checker, or of the page itself. What is English everywhere is a text. */
export type Told =
  | { reason: Reason }
  | { search: SearchSentence }
  | { text: Text; values?: Values }
  /** The question of the drill with this name, and its English text. */
  | { question: string; asks: string }
  | { english: string };

/** The sentences, one after the other. */
export const Said = ({ told }: { told: Told[] }) =>
  told.map(
    (each) => html`<span lang=${isChinese() && isEnglish(each) ? 'en' : undefined}>${inPageLanguage(each)}</span> `,
  );

/** A drill's question. */
export const whatAsks = ({ name, asks }: { name: string; asks: string }): Told[] => [{ question: name, asks }];

const isEnglish = (told: Told) => 'english' in told || ('reason' in told && told.reason.form === 'text');

/** The sentence as plain text. */
export function inPageLanguage(told: Told): string {
  if ('reason' in told) return reasonSaid(told.reason);
  if ('search' in told) return searchSaid(told.search);
  if ('question' in told) return isChinese() ? (questionsInChinese[told.question] ?? told.asks) : capital(told.asks);
  return 'english' in told ? told.english : say(told.text, told.values);
}

/** In reports a question follows a colon, in lower case. */
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** A sentence with coloured sales. */
export const Spoken = ({ text }: { text: string }) =>
  partsOf(text).map((part, at) => (at % 2 === 1 ? html`<${Chip} sale=${part} />` : part));
