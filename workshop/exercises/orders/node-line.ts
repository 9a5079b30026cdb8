// The lines with which a workshop node reports problems with the file: JSON, like its log.

import { z } from 'zod';

const lineSchema = z.object({
  /** Why the node does not start with the file: a clause, without a full stop. */
  refused: z.string().optional(),
  /** An error in its log. */
  err: z.object({ type: z.string(), message: z.string() }).optional(),
});

export type NodeLine = z.infer<typeof lineSchema>;

/** The content of such a line. Undefined for any other line. */
export function readNodeLine(line: string): NodeLine {
  try {
    return lineSchema.safeParse(JSON.parse(line)).data ?? {};
  } catch {
    return {};
  }
}
