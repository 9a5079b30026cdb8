// A counterexample as the text of a mermaid sequence diagram, to paste into a document.

import { readable, tell } from '../../prove/words.ts';
import type { ProofCell, ProofStep } from '../evidence/proof.ts';

/** The id of a server in the diagram. */
const idOf = (server: number, masters: number) => (masters > 0 && server > 0 ? `V${server}` : 'V');

/** The steps of a counterexample: commands and replies as arrows, faults and what the processes do as notes. */
export function mermaidOf({ counterexample = [], processes, masters }: ProofCell): string {
  const names = Array.from({ length: processes }, (_, index) => String.fromCharCode('A'.charCodeAt(0) + index));
  const servers = [
    ...(masters > 0 ? ['V as Valkey (stock)'] : ['V as Valkey']),
    ...Array.from({ length: masters }, (_, index) => `V${index + 1} as Valkey ${index + 1}`),
  ];
  const all = `${names[0] ?? 'V'},${idOf(masters, masters)}`;
  /** Where the commands went whose replies have not been read, by the process. */
  const unread = new Map<string, { server: number; reply: string }[]>();

  const lines = counterexample.flatMap((step) => {
    const who = names.includes(step.process) ? step.process : undefined;
    const came = step.told.map(tell).join(', ');
    return [...happened(step, who), ...(who && came ? [note(who, came)] : [])];
  });
  return ['sequenceDiagram', ...[...names, ...servers].map((name) => `participant ${name}`), ...lines].join('\n  ');

  function happened(step: ProofStep, who: string | undefined): string[] {
    const { at, process, kind, command, sent, reply = '', input } = step;
    if (kind === 'clock') return [note(all, `${at} ms`)];
    if (who === undefined) return [note(kind === 'failover' ? 'V' : idOf(1, masters), `${process} ${command}`)];
    if (sent) {
      const to = idOf(sent.server, masters);
      const late = kind === 'let go' ? ', held up until now' : '';
      const asked = `${who}->>${to}: ${escapeMermaid(readable(sent.command) + late)}`;
      if (input) return [asked, `${to}-->>${who}: ${escapeMermaid(reply)}`];
      unread.set(who, [...(unread.get(who) ?? []), { server: sent.server, reply }]);
      return [asked];
    }
    const from = kind === 'reply' ? readFrom(step, who) : undefined;
    return from ? [`${from.to}-->>${who}: ${escapeMermaid(from.reply)}`] : [note(who, command)];
  }

  /** The server whose reply is read. Undefined when two servers have sent the same. */
  function readFrom({ command }: ProofStep, who: string): { to: string; reply: string } | undefined {
    const open = unread.get(who) ?? [];
    const fits = open.filter(({ reply }) => `${command} `.startsWith(`reads the reply ${reply} `));
    const [first] = fits;
    if (first === undefined || fits.some(({ server }) => server !== first.server)) return undefined;
    unread.set(
      who,
      open.filter((each) => each !== first),
    );
    return { to: idOf(first.server, masters), reply: first.reply };
  }
}

const note = (over: string, text: string) => `Note over ${over}: ${escapeMermaid(text)}`;

/** A text as it may stand after a colon: what means something to mermaid is written by its number, a line break as `<br/>`. */
function escapeMermaid(text: string): string {
  return text
    .replace(/[#;<>&%$]/g, (sign) => `#${sign.charCodeAt(0)};`)
    .replace(/[\r\n]+/g, '<br/>')
    .trim();
}
