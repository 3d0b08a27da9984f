import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import {
  HighlightStyle,
  indentOnInput,
  indentUnit,
  LanguageSupport,
  syntaxHighlighting,
} from '@codemirror/language';
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import type { DiagnosticView } from '../contract.ts';
import { boundedYaml } from './yaml-language.ts';

export interface TextEditorOptions {
  readonly text: string;
  /** For screen readers. */
  readonly label: string;
  /** `plain`: one language without marks, for expressions. */
  readonly language: 'yaml' | 'plain';
  readonly isReadOnly: boolean;
  readonly onChange: (text: string) => void;
}

/** An editor in a part of the page. */
export interface TextEditor {
  /** Replaces the text. Does not call `onChange`. */
  setText(text: string): void;
  setDiagnostics(diagnostics: readonly DiagnosticView[]): void;
  focus(): void;
  destroy(): void;
}

const theme = EditorView.theme({
  '&': {
    color: 'var(--text)',
    backgroundColor: 'var(--field)',
    fontSize: '12.5px',
    height: '100%',
  },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-1px' },
  '.cm-content': { fontFamily: 'var(--mono)', caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'var(--page)', color: 'var(--muted)', border: 'none' },
  '.cm-activeLine': { backgroundColor: 'var(--hover)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground':
    {
      backgroundColor: 'var(--selection)',
    },
  '.cm-tooltip': {
    backgroundColor: 'var(--page)',
    color: 'var(--text)',
    border: '1px solid var(--line)',
  },
  '.cm-diagnostic': { fontFamily: 'var(--sans)', fontSize: '12.5px' },
});

const highlight = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--key)' },
  { tag: tags.comment, color: 'var(--muted)' },
  { tag: [tags.string, tags.content], color: 'var(--text)' },
]);

/** Creates an editor below an element. Its styles are in a shadow root, as the page permits no inline styles. */
export function createTextEditor(parent: HTMLElement, options: TextEditorOptions): TextEditor {
  const { text, label, language, isReadOnly, onChange } = options;
  const root = parent.shadowRoot ?? parent.attachShadow({ mode: 'open' });
  let isSetting = false;
  const view = new EditorView({
    parent: root,
    root,
    state: EditorState.create({
      doc: text,
      extensions: [
        history(),
        drawSelection(),
        highlightActiveLine(),
        indentOnInput(),
        indentUnit.of('  '),
        keymap.of([...defaultKeymap, ...historyKeymap, ...lintKeymap, indentWithTab]),
        ...(language === 'yaml'
          ? [lineNumbers(), lintGutter(), new LanguageSupport(boundedYaml())]
          : [EditorView.lineWrapping]),
        syntaxHighlighting(highlight),
        theme,
        EditorState.readOnly.of(isReadOnly),
        EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged && !isSetting) onChange(update.state.doc.toString());
        }),
      ],
    }),
  });
  return {
    setText(next) {
      if (next === view.state.doc.toString()) return;
      isSetting = true;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } });
      isSetting = false;
    },
    setDiagnostics(diagnostics) {
      view.dispatch(
        setDiagnostics(
          view.state,
          diagnostics.map((each) => marked(view.state, each)),
        ),
      );
    },
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  };
}

/** A diagnostic marks the word at its position. */
function marked(
  state: EditorState,
  { line, column, severity, message, hint }: DiagnosticView,
): Diagnostic {
  const { from, to, text } = state.doc.line(Math.min(Math.max(line, 1), state.doc.lines));
  const start = Math.min(from + column - 1, to);
  const word = /^[\w./$-]+/.exec(text.slice(start - from))?.[0].length ?? 1;
  return {
    from: start,
    to: Math.min(start + word, to),
    severity,
    message: hint === undefined ? message : `${message}. ${hint}`,
  };
}
