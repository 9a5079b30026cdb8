// The editor of a lock.

import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { javascript } from '@codemirror/lang-javascript';
import { bracketMatching, defaultHighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { EditorState } from '@codemirror/state';
import { EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { html } from 'htm/preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

interface EditorProps {
  text: string;
  label: string;
  /** The id of what says how one leaves it by keys. */
  describedBy: string;
  onChange(text: string): void;
  /** Is given what puts another text in the place of all, which can be undone. */
  replace: { current?: (text: string) => void };
}

/** `text` is what it begins with: from then on the editor says what is in it, and nobody else. */
export function Editor({ text, label, describedBy, onChange, replace }: EditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const change = useRef(onChange);
  change.current = onChange;
  useLayoutEffect(() => {
    const made = new EditorView({
      parent: place.current as HTMLDivElement,
      state: EditorState.create({
        doc: text,
        extensions: [
          lineNumbers(),
          history(),
          indentOnInput(),
          bracketMatching(),
          highlightActiveLine(),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ 'aria-label': label, 'aria-describedby': describedBy }),
          syntaxHighlighting(defaultHighlightStyle),
          javascript({ typescript: true }),
          // Escape, then Tab leaves the editor.
          keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
          EditorView.updateListener.of(({ docChanged, state }) => {
            if (docChanged) change.current(state.doc.toString());
          }),
        ],
      }),
    });
    replace.current = (insert) => made.dispatch({ changes: { from: 0, to: made.state.doc.length, insert } });
    return () => made.destroy();
  }, []);
  return html`<div class="editor" ref=${place} />`;
}
