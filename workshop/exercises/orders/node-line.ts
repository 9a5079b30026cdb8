// The lines by which a node of the workshop tells what is wrong with the file: as JSON, like its log.

import { z } from 'zod';

const lineSchema = z.object({
  /** Why the node does not start with the file: a clause, without a full stop. */
  refused: z.string().optional(),
  /** An error in its log. */
  err: z.object({ type: z.string(), message: z.string() }).optional(),
});

export type NodeLine = z.infer<typeof lineSchema>;

/** What a line says. Of any other line, nothing. */
export function readNodeLine(line: string): NodeLine {
  try {
    return lineSchema.safeParse(JSON.parse(line)).data ?? {};
  } catch {
    return {};
  }
}
