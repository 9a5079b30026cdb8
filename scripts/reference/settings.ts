// The settings: the first sentence that .env.example has of each, its default, and what the schema of a node takes.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { inventorySettings } from '../../services/inventory/settings/settings.ts';
import { projectDir } from '../../stack/parts.ts';
import { codeOf } from './markdown.ts';

/** The lines of a comment, then those of one variable or some. */
const ENTRY = /((?:^# (?![A-Z_\d]+=).*\n)+)((?:^# [A-Z_\d]+=.*\n?)+)/gm;
/** What the parentheses say. */
const LIMITS = /,? (in (milliseconds|cents) )?\(\d+ to \d+[^)]*\)|:? on or off(?=\.)/g;

/** A list for each part of .env.example, and in it a line for each setting. */
export function settings(): string {
  const text = readFileSync(join(projectDir, '.env.example'), 'utf8');
  const [, ...sections] = text.split(/^\n(?=# .*\n\n)/m);
  return sections.map(sectionOf).join('\n\n');
}

function sectionOf(section: string): string {
  const [, heading = '', body = ''] = /^# (.*?)\n\n(.*)$/s.exec(section) ?? [];
  const rows = [...body.matchAll(ENTRY)].map(([, comment = '', lines = '']) => {
    const given = [...lines.matchAll(/([A-Z_\d]+)=(.*)/g)].map(([, name = '', usual = '']) => ({ name, usual }));
    const says = comment.replace(/^# /gm, '').replace(/\s+/g, ' ');
    const [first = ''] = says.replace(LIMITS, '').split(/(?<=\.) (?=[A-Z])/);
    const usual = given.flatMap(({ usual }) => usual || []).join(', ');
    const facts = [usual, takenBy(given[0]?.name ?? '')].filter(Boolean).join('; ');
    const names = given.map(({ name }) => codeOf(name)).join(', ');
    return `- ${names}${facts && ` (${facts})`}: ${first.trim()}`;
  });
  return `### ${heading}\n\n${rows.join('\n')}`;
}

/** The numbers or the words that a setting of a node takes. Nothing where its sentence must say that, and of a time: its limits are wide. */
function takenBy(name: string): string {
  const schema = kindOf((inventorySettings.shape as Record<string, z.ZodType>)[name]);
  if (schema instanceof z.ZodEnum) return schema.options.join(', ');
  const { from, to } = schema?.meta() ?? {};
  return from === undefined || name.endsWith('_MS') ? '' : `${from}–${to}`;
}

/** What a setting is when it is given. */
function kindOf(schema: z.ZodType | undefined): z.ZodType | undefined {
  return schema instanceof z.ZodDefault || schema instanceof z.ZodOptional
    ? kindOf(schema.unwrap() as z.ZodType)
    : schema;
}
