// The kinds of values that a setting may have: each reads the text of a variable, and says what is allowed.

import { z } from 'zod';
import { readRedisUrl, redisUrlForms } from './redis-url.ts';

export function wholeNumber(min: number, max: number, meaning: string) {
  const allowed = `a whole number from ${min} to ${max} (${meaning})`;
  return z
    .string()
    .regex(/^\d+$/, allowed)
    .transform(Number)
    .refine((given) => given >= min && given <= max, allowed);
}

export const port = () => wholeNumber(1, 65_535, 'a TCP port');
export const milliseconds = (min: number, max: number) => wholeNumber(min, max, 'milliseconds');
export const text = (pattern: RegExp, allowed: string) => z.string().regex(pattern, allowed);
export const onOrOff = () => z.enum(['on', 'off'], { error: 'on or off' });
export const redisUrl = () => z.string().refine((url) => readRedisUrl(url) !== undefined, redisUrlForms);
