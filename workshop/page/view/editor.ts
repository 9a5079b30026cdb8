// The editor of a lock. During a run each sale is marked at its line.

import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { javascript } from '@codemirror/lang-javascript';
import {
  bracketMatching,
  defaultHighlightStyle,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
} from '@codemirror/language';
import { EditorState, RangeSet, StateEffect, StateField } from '@codemirror/state';
import {
  Decoration,
  EditorView,
  GutterMarker,
  gutter,
  highlightActiveLine,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { html } from 'htm/preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

/** A line, the sales at it, and whether it threw an error. */
export interface Mark {
  line: number;
  sales: string[];
  isBad?: boolean;
}

interface EditorProps {
  text: string;
  label: string;
  /** The id of the text that explains how to leave the editor by keyboard. */
  describedBy: string;
  marks: Mark[];
  onChange(text: string): void;
  /** Receives a function that replaces the whole text, undoably. */
  replace: { current?: (text: string) => void };
}

class Chips extends GutterMarker {
  readonly sales: string[];

  constructor(sales: string[]) {
    super();
    this.sales = sales;
  }

  override eq(other: Chips) {
    return other.sales.join() === this.sales.join();
  }

  override toDOM() {
    const who = document.createElement('span');
    for (const sale of this.sales)
      who.append(Object.assign(document.createElement('b'), { className: `chip c-${sale}`, textContent: sale }));
    return who;
  }
}

const setMarks = StateEffect.define<Mark[]>();
/** Cleared when the text changes: they belong to the previous text. */
const marked = StateField.define<Mark[]>({
  create: () => [],
  update: (marks, { docChanged, effects }) =>
    effects.find((effect) => effect.is(setMarks))?.value ?? (docChanged ? [] : marks),
});
const placesOf = (state: EditorState) =>
  state
    .field(marked)
    .filter(({ line }) => line <= state.doc.lines)
    .toSorted((one, other) => one.line - other.line)
    .map((mark) => ({ ...mark, at: state.doc.line(mark.line).from }));

const marksShown = [
  marked,
  EditorView.decorations.compute([marked], (state) =>
    Decoration.set(
      placesOf(state).map(({ at, sales: [sale], isBad }) =>
        Decoration.line({ class: isBad ? 'cm-bad' : `cm-here c-${sale}` }).range(at),
      ),
    ),
  ),
  gutter({
    class: 'cm-who',
    markers: ({ state }) => RangeSet.of(placesOf(state).map(({ at, sales }) => new Chips(sales).range(at))),
    initialSpacer: () => new Chips(['A']),
  }),
];

/** The default colours, darker on a light background and lighter on a dark one. */
const colours = HighlightStyle.define(
  defaultHighlightStyle.specs.map(({ color, ...spec }) => ({
    ...spec,
    ...(color && {
      color: `light-dark(color-mix(in oklab, ${color}, black 25%), color-mix(in oklab, ${color}, white 60%))`,
    }),
  })),
);

/** `text` is the initial text: from then on only the editor changes it. */
export function Editor({ text, label, describedBy, marks, onChange, replace }: EditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const change = useRef(onChange);
  change.current = onChange;
  useLayoutEffect(() => {
    const made = new EditorView({
      parent: place.current as HTMLDivElement,
      state: EditorState.create({
        doc: text,
        extensions: [
          marksShown,
          lineNumbers(),
          history(),
          indentOnInput(),
          bracketMatching(),
          highlightActiveLine(),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ 'aria-label': label, 'aria-describedby': describedBy, tabindex: '0' }),
          syntaxHighlighting(colours),
          javascript({ typescript: true }),
          // Escape, then Tab leaves the editor.
          keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
          EditorView.updateListener.of(({ docChanged, state }) => {
            if (docChanged) change.current(state.doc.toString());
          }),
        ],
      }),
    });
    view.current = made;
    replace.current = (insert) => made.dispatch({ changes: { from: 0, to: made.state.doc.length, insert } });
    return () => made.destroy();
  }, []);
  useEffect(() => {
    const made = view.current as EditorView;
    const effects: StateEffect<unknown>[] = [setMarks.of(marks)];
    const [first] = placesOf(made.state.update({ effects }).state);
    if (first) effects.push(EditorView.scrollIntoView(first.at, { y: 'nearest', yMargin: 40 }));
    made.dispatch({ effects });
  }, [JSON.stringify(marks)]);
  return html`<div class="editor" ref=${place} />`;
}
