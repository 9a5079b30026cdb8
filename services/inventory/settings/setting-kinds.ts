// The kinds of values that a setting may have: each reads the text of a variable, and says what is allowed.

import { z } from 'zod';
import { readRedisUrl, redisUrlForms } from './redis-url.ts';

/** What `read` makes of the text. When that is undefined the text is refused, and `allowed` ends the sentence that says so. */
export const kind = <T>(allowed: string, read: (given: string) => T | undefined) =>
  z.string().transform((given, context): T => {
    const value = read(given);
    if (value !== undefined) return value;
    context.addIssue({ code: 'custom', message: allowed });
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
  });

const LAST_PORT = 65_535;
export const port = () => wholeNumber(1, LAST_PORT, 'a TCP port');
export const isPort = (digits: string) =>
  /^\d{1,5}$/.test(digits) && Number(digits) >= 1 && Number(digits) <= LAST_PORT;
export const milliseconds = (min: number, max: number) => wholeNumber(min, max, 'milliseconds');
export const text = (pattern: RegExp, allowed: string) => z.string().regex(pattern, allowed);
export const oneOf = <Name extends string>(...names: Name[]) => z.enum(names, { error: `one of ${names.join(', ')}` });
export const onOrOff = () => oneOf('on', 'off');
export const redisUrl = () => z.string().refine((url) => readRedisUrl(url) !== undefined, redisUrlForms);
