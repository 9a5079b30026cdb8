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
  /** The id of what says how one leaves it by keys. */
  describedBy: string;
  onChange(text: string): void;
}

/** Another text takes the place of what is in it, and can be undone. */
export function Editor({ text, label, describedBy, onChange }: EditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const change = useRef(onChange);
  change.current = onChange;
  const editor = useRef<EditorView>(undefined);
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
    editor.current = made;
    return () => made.destroy();
  }, []);
  useEffect(() => {
    const { doc } = editor.current?.state ?? {};
    if (doc && doc.toString() !== text)
      editor.current?.dispatch({ changes: { from: 0, to: doc.length, insert: text } });
  }, [text]);
  return html`<div class="editor" ref=${place} />`;
}
