import type { DiagnosticView } from '../contract.ts';
import type { TextEditor } from '../editor/code-mirror.ts';
import { Component, createRef, h, type VNode } from '../preact.ts';

export interface TextEditorProps {
  /** A new text replaces the edited one. */
  readonly text: string;
  readonly label: string;
  readonly language: 'yaml' | 'plain';
  readonly isReadOnly?: boolean;
  readonly diagnostics?: readonly DiagnosticView[];
  readonly onChange: (text: string) => void;
}

/** An editor for YAML or an expression. Until its code is loaded, a plain text field. */
export class TextEditorView extends Component<TextEditorProps, { isReady: boolean }> {
  override state = { isReady: false };
  readonly #host = createRef<HTMLDivElement>();
  #editor: TextEditor | undefined;
  /** The text of the editor, to tell a replaced text from one that the user typed. */
  #text = '';
  #isMounted = false;

  override componentDidMount(): void {
    this.#isMounted = true;
    this.#text = this.props.text;
    // The plain text field stays if the editor cannot be loaded.
    this.#load().catch(() => undefined);
  }

  override componentDidUpdate(before: TextEditorProps): void {
    const { text, diagnostics = [] } = this.props;
    if (text !== before.text && text !== this.#text) {
      this.#text = text;
      this.#editor?.setText(text);
    }
    if (diagnostics !== before.diagnostics) this.#editor?.setDiagnostics(diagnostics);
  }

  override componentWillUnmount(): void {
    this.#isMounted = false;
    this.#editor?.destroy();
  }

  override render({ text, label, isReadOnly = false, language }: TextEditorProps): VNode {
    const { isReady } = this.state;
    return h(
      'div',
      { class: `editor ${language}` },
      h('div', { class: 'host', ref: this.#host }),
      isReady
        ? null
        : h('textarea', {
            'aria-label': label,
            readOnly: isReadOnly,
            spellcheck: false,
            value: text,
            onInput: (event: Event) => this.#changed((event.target as HTMLTextAreaElement).value),
          }),
    );
  }

  async #load(): Promise<void> {
    const { createTextEditor } = await import('../editor/code-mirror.ts');
    const host = this.#host.current;
    if (host === null || !this.#isMounted) return;
    const { label, language, isReadOnly = false, diagnostics = [] } = this.props;
    this.#editor = createTextEditor(host, {
      label,
      language,
      isReadOnly,
      text: this.#text,
      onChange: (text) => this.#changed(text),
    });
    this.#editor.setDiagnostics(diagnostics);
    this.setState({ isReady: true });
  }

  #changed(text: string): void {
    this.#text = text;
    this.props.onChange(text);
  }
}
