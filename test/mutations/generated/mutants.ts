// Mutants: small bugs that are made from the syntax of a source, and from nothing that is known of it.

import { parser } from '@lezer/javascript';

/** What was done to the source. */
export type Kind = 'dropped' | 'swapped' | 'number' | 'await' | 'negated';

/** A source with one small change. */
export interface Mutant {
  kind: Kind;
  /** The line in which the change begins, from 1. */
  line: number;
  /** The change, in one line: what was there, and what is there now. */
  change: string;
  text: string;
}

interface Edit {
  kind: Kind;
  from: number;
  to: number;
  by: string;
}

const typescript = parser.configure({ dialect: 'ts' });
type Node = ReturnType<typeof typescript.parse>['topNode'];

/** Every mutant of a source, in the order of its lines. No two have the same text. */
export function mutantsOf(file: string, source: string): Mutant[] {
  const edits = file.endsWith('.lua') ? editsOfLua(source) : editsOfTypescript(source);
  const mutants = new Map<string, Mutant>();
  for (const edit of edits.toSorted((one, other) => one.from - other.from)) {
    const text = source.slice(0, edit.from) + edit.by + source.slice(edit.to);
    if (text !== source && !mutants.has(text)) mutants.set(text, { ...told(source, edit), text });
  }
  return [...mutants.values()];
}

function told(source: string, { kind, from, to, by }: Edit): Omit<Mutant, 'text'> {
  const line = source.slice(0, from).split('\n').length;
  const inOneLine = (text: string) => text.trim().replace(/\s+/g, ' ');
  const lineStart = source.lastIndexOf('\n', from - 1) + 1;
  const lineEnd = (source.indexOf('\n', to) + source.length + 1) % (source.length + 1);
  // A number or a condition says nothing without its line.
  const before = inOneLine(source.slice(lineStart, lineEnd));
  const after = inOneLine(source.slice(lineStart, from) + by + source.slice(to, lineEnd));
  return { kind, line, change: kind === 'dropped' ? inOneLine(source.slice(from, to)) : `${before} → ${after}` };
}

/** Nothing is left of a file whose imports or functions are gone: it does not even load. */
const isDeclaration = ({ name }: Node) => /Declaration$/.test(name);
const endsItsBlock = ({ name }: Node) => /^(Return|Throw|Break|Continue)Statement$/.test(name);

function editsOfTypescript(source: string): Edit[] {
  const edits: Edit[] = [];
  const textOf = ({ from, to }: { from: number; to: number }) => source.slice(from, to);

  function negate(condition: Node) {
    const { from, to } = condition;
    const text = textOf(condition);
    edits.push({
      kind: 'negated',
      from,
      to,
      by: condition.name === 'ParenthesizedExpression' ? `(!${text})` : `!(${text})`,
    });
  }

  /** True when the second statement can't do without the first: it uses what that declares. */
  function needs(first: Node, second: Node) {
    if (first.name !== 'VariableDeclaration') return isDeclaration(first);
    const names = textOf(first).split('=')[0]?.match(/\w+/g) ?? [];
    return names.some((name) => new RegExp(`\\b${name}\\b`).test(textOf(second)));
  }

  function changeBlock(block: Node) {
    const statements = childrenOf(block).filter(({ name }) => /(Statement|Declaration)$/.test(name));
    for (const [at, statement] of statements.entries()) {
      const { from, to } = statement;
      if (!isDeclaration(statement)) edits.push({ kind: 'dropped', from, to, by: '' });
      const next = statements[at + 1];
      if (next === undefined || endsItsBlock(next) || needs(statement, next)) continue;
      if (isDeclaration(next) && next.name !== 'VariableDeclaration') continue;
      const between = source.slice(to, next.from);
      edits.push({ kind: 'swapped', from, to: next.to, by: textOf(next) + between + textOf(statement) });
    }
  }

  typescript.parse(source).iterate({
    enter({ name, node, from, to }) {
      if (name === 'Block') changeBlock(node);
      if (name === 'Number')
        edits.push(...numbersFor(textOf(node)).map((by) => ({ kind: 'number', from, to, by }) as const));
      if (name === 'AwaitExpression') edits.push({ kind: 'await', from, to: from + 'await '.length, by: '' });
      if (name === 'IfStatement' || name === 'WhileStatement') {
        const condition = node.getChild('ParenthesizedExpression');
        if (condition) negate(condition);
        const body = node.lastChild;
        // A body without braces is a statement of no block.
        if (body && body.name !== 'Block') edits.push({ kind: 'dropped', from: body.from, to: body.to, by: ';' });
      }
      if (name === 'ConditionalExpression' && node.firstChild) negate(node.firstChild);
    },
  });
  return edits;
}

function childrenOf(node: Node): Node[] {
  const children: Node[] = [];
  for (let child = node.firstChild; child; child = child.nextSibling) children.push(child);
  return children;
}

/** What may stand in the place of a number: nothing, one more and one less, and of a large one a thousand times and a thousandth of it. */
function numbersFor(text: string): string[] {
  const number = Number(text.replaceAll('_', ''));
  const others = [0, number + 1, number - 1, ...(number >= 10 ? [number * 1_000, number / 1_000] : [])];
  return others.filter((other) => other !== number).map(String);
}

/** Lua by its lines: a statement is a line, as in every script here. */
function editsOfLua(source: string): Edit[] {
  const edits: Edit[] = [];
  let from = 0;
  const lines = source.split('\n').map((text) => {
    const line = { text, from, to: from + text.length };
    from = line.to + 1;
    return line;
  });
  for (const [at, line] of lines.entries()) {
    if (line.text.trim() === '' || isComment(line.text)) continue;
    if (isLuaStatement(line.text)) edits.push({ kind: 'dropped', from: line.from, to: line.to, by: '' });
    const next = lines[at + 1];
    if (next && isLuaStatement(line.text) && isLuaStatement(next.text) && isSwapped(line.text, next.text))
      edits.push({ kind: 'swapped', from: line.from, to: next.to, by: `${next.text}\n${line.text}` });
    edits.push(...luaNumbers(line), ...luaConditions(line));
  }
  return edits;
}

const isComment = (line: string) => line.trim().startsWith('--');
/** Without what opens, parts and ends a block. */
const isLuaStatement = (line: string) =>
  /^\s*(redis\.call|return\b|local .*=|\w+(, \w+)* = )/.test(line) && !/ then$/.test(line);

function isSwapped(first: string, second: string) {
  if (/^\s*return\b/.test(first) || /^\s*return\b/.test(second)) return false;
  const names = /^\s*(?:local )?([\w, ]+) = /.exec(first)?.[1]?.split(', ') ?? [];
  return !names.some((name) => new RegExp(`\\b${name}\\b`).test(second));
}

interface Line {
  text: string;
  from: number;
}

/** Those that stand for themselves: no part of a name, and in no text. */
function luaNumbers({ text, from }: Line): Edit[] {
  const withoutTexts = text.replace(/'[^']*'/g, (part) => ' '.repeat(part.length));
  return [...withoutTexts.matchAll(/(?<![\w.])\d+(?![\w.])/g)].flatMap(({ 0: number, index }) => {
    const isPlace = withoutTexts[index - 1] === '[';
    // Lua counts from 1.
    const others = isPlace ? numbersFor(number).filter((each) => /^[1-9]$/.test(each)) : numbersFor(number);
    return others.map((by): Edit => ({ kind: 'number', from: from + index, to: from + index + number.length, by }));
  });
}

function luaConditions({ text, from }: Line): Edit[] {
  const [, start = '', condition] = /^(\s*(?:if|elseif|until) )(.*?)(?: then)?$/.exec(text) ?? [];
  if (condition === undefined) return [];
  const at = from + start.length;
  return [{ kind: 'negated', from: at, to: at + condition.length, by: `not (${condition})` }];
}
