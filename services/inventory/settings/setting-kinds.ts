// The kinds of setting values: each parses a variable's text and says what is allowed.

import { isIP } from 'node:net';
import { Cron } from 'croner';
import { z } from 'zod';
import { readRedisUrl, redisUrlForms } from './server-url.ts';

/**
 *
 * Parses the text with `read`. If that returns undefined, the text is refused, and `allowed` ends the error message, unless one
 * of `names` is similar.
 *
 */
export const kind = <T>(allowed: string, read: (given: string) => T | undefined, names: string[] = []) =>
  z.string().transform((given, context): T => {
    const value = read(given);
    if (value !== undefined) return value;
    context.addIssue({ code: 'custom', message: allowed, params: { names } });
    return z.NEVER;
  });

export const list = <T>(allowed: string, read: (given: string) => T | undefined) =>
  kind(allowed, (given) => {
    const values = given.split(',').map((each) => read(each.trim()));
    return values.every((value) => value !== undefined) ? (values as T[]) : undefined;
  });

export const wholeNumber = (min: number, max: number, meaning: string) =>
  kind(`a whole number from ${min} to ${max} (${meaning})`, (given) => {
    const number = /^\d+$/.test(given) ? Number(given) : Number.NaN;
    return number >= min && number <= max ? number : undefined;
  }).meta({ from: min, to: max, unit: meaning });

const LAST_PORT = 65_535;
export const port = () => wholeNumber(1, LAST_PORT, 'a TCP port');
export const isPort = (digits: string) =>
  /^\d{1,5}$/.test(digits) && Number(digits) >= 1 && Number(digits) <= LAST_PORT;
export const milliseconds = (min: number, max: number) => wholeNumber(min, max, 'milliseconds');
export const text = (pattern: RegExp, allowed: string) => z.string().regex(pattern, allowed);
export const oneOf = <Name extends string>(...names: Name[]) => z.enum(names, { error: `one of ${names.join(', ')}` });
export const onOrOff = () => oneOf('on', 'off');
export const redisUrl = () => z.string().refine((url) => readRedisUrl(url) !== undefined, redisUrlForms);

/** The canonical form of a host name or address, without a trailing dot. Undefined if it is invalid. */
export function hostName(given: string): string | undefined {
  const name = isIP(given) === 6 ? `[${given}]` : given;
  // An address with a zone (%eth0) is for this machine alone: no Host has one.
  if (!/^([\w.-]+|\[[\da-f:.]+\])$/i.test(name) || !URL.canParse(`http://${name}`)) return undefined;
  return new URL(`http://${name}`).hostname.replace(/\.$/, '') || undefined;
}

/** A cron expression in Quartz syntax. Every node reads it in UTC, so that a run is due on all nodes at the same moment. */
export const cronOptions = {
  mode: '6-or-7-parts',
  alternativeWeekdays: true,
  sloppyRanges: true,
  timezone: 'UTC',
} as const;

export const cronForm =
  'six or seven fields (second minute hour day month weekday, perhaps a year), such as 0/10 * * * * ?';

/** What is wrong with a cron expression, as part of a sentence. Undefined if it is valid. */
export function whyNoCron(expression: string): string | undefined {
  const fields = expression.trim().split(/\s+/);
  if (fields.length === 5) return `five fields are Unix cron: put the seconds first, as in 0 ${fields.join(' ')}`;
  const [, , , , , weekdays = ''] = fields;
  // croner takes 8 for Sunday, and calls 0 the day -1. Behind # and / stands no weekday.
  const days = weekdays.replace(/[#/]\d+/g, '').match(/\d+/g) ?? [];
  if (weekdays === 'L' || days.some((day) => Number(day) < 1 || Number(day) > 7))
    return 'a weekday is a number from 1 (Sunday, as in Quartz) to 7 (Saturday), or a name from SUN to SAT';
  try {
    return new Cron(expression, cronOptions).nextRun() === null ? 'this time never occurs' : undefined;
  } catch (error) {
    // croner counts days and months from 0, and names its modes.
    return (error as Error).message
      .replace(/^CronPattern: |: \d+$|mode '.*requires |, exactly five, .*|\.$/g, '')
      .replace(/^From value.*/, '$&: write a list, such as FRI,SAT,SUN');
  }
}

export const cron = () =>
  z.string().superRefine((expression, context) => {
    const why = whyNoCron(expression);
    if (why !== undefined) context.addIssue({ code: 'custom', message: `${cronForm}; ${why}` });
  });
