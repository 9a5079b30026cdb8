// Sentences with gaps: `<sale> sells at <node>` means `A sells at node-1`. What stands in brackets may be left out.

/** What stands in a gap, and how it is written. */
const gaps = {
  sale: '[A-Z]',
  other: '[A-Z]',
  node: 'node-[12]',
  count: String.raw`\d+`,
  skus: String.raw`\d+ and \d+`,
  time: String.raw`[\d./]+ (?:leases?|ms|s)`,
  limit: String.raw`[\d./]+ (?:leases?|ms|s)`,
  replica: 'the (?:first |second )?replica',
  number: '(?:a replica copies|two replicas copy)',
  which: '(?:the same|another)',
  stays: '(?:stalls inside the sale|hangs, and its process lives)',
  text: '.+',
} as const;

type Gap = keyof typeof gaps;
type GapsIn<Form extends string> = Form extends `${string}<${infer Name extends Gap}>${infer Rest}`
  ? Name | GapsIn<Rest>
  : never;
/** What fills the gaps of a sentence, as it is written. */
export type Filled<Form extends string> = Record<GapsIn<Form>, string>;

/** A sentence that is known, and what it means when its gaps are filled. */
export interface Known<Meaning> {
  form: string;
  means(filled: Record<string, string>): Meaning;
}

/** The meaning of a line among the sentences that are known. Throws an Error that names the nearest one. */
export function meaningOf<Meaning>(line: string, known: Known<Meaning>[]): Meaning {
  for (const { form, means } of known) {
    const filled = patternOf(form).exec(line);
    if (filled) return means({ ...filled.groups });
  }
  const words = new Set(wordsOf(line));
  const shared = ({ form }: Known<Meaning>) => {
    const own = wordsOf(form);
    return own.filter((word) => words.has(word)).length / Math.max(own.length, words.size);
  };
  const [nearest] = known.toSorted((a, b) => shared(b) - shared(a));
  throw new Error(`"${line}" is no sentence that is known. The nearest one is "${nearest?.form}".`);
}

const wordsOf = (sentence: string) => sentence.split(/[\s,]+/);

function patternOf(form: string): RegExp {
  const literal = form.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  const withGaps = literal.replace(/<(\w+)>/g, (_, gap: Gap) => `(?<${gap}>${gaps[gap]})`);
  return new RegExp(`^${withGaps.replaceAll('\\[', '(?:').replaceAll('\\]', ')?')}$`);
}
