// The editor of a lock.

import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { javascript } from '@codemirror/lang-javascript';
import { bracketMatching, defaultHighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { EditorState } from '@codemirror/state';
import { EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { html } from 'htm/preact';
import { useEffect, useRef } from 'preact/hooks';

interface EditorProps {
  text: string;
  label: string;
  onChange(text: string): void;
}

/** The text is that with which it begins. */
export function Editor({ text, label, onChange }: EditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const change = useRef(onChange);
  change.current = onChange;
  useEffect(() => {
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
          EditorView.contentAttributes.of({ 'aria-label': label }),
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
    return () => made.destroy();
  }, []);
  return html`<div class="editor" ref=${place} />`;
}
