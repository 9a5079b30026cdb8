// The language that a command prints: what --lang says, or else the locale of the terminal.

import type { Command } from 'commander';
import { type Language, languages } from '../../loadtest/narration/language.ts';
import { type Given, refuseName } from './command.ts';

/** `zh` of `zh`, `zh-CN` or `zh_CN.UTF-8`. */
const beginningOf = (locale: string) => languages.find((name) => new RegExp(`^${name}([-_.]|$)`, 'i').test(locale));

/** Chinese where `LC_ALL`, `LC_MESSAGES` or `LANG` names it, of which the first that is set counts. Ends the process for another `--lang`. */
export function languageOf({ lang }: Pick<Given, 'lang'>, command: Command): Language {
  const { LC_ALL, LC_MESSAGES, LANG } = process.env;
  if (lang === undefined) return beginningOf(LC_ALL || LC_MESSAGES || LANG || '') ?? 'en';
  return beginningOf(lang) ?? refuseName(command, `--lang ${lang} is not known`, lang, [...languages], 'en or zh');
}
