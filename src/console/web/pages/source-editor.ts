import type { DefinitionView, DiagnosticView, PreviewView } from '../contract.ts';
import { countText } from '../model/format.ts';
import { button, code, errorBox, muted } from '../parts/elements.ts';
import { LatestAnswer } from '../parts/latest-answer.ts';
import { TextEditorView } from '../parts/text-editor.ts';
import { diagnosticView } from '../parts/yaml-view.ts';
import { Component, h, type VNode } from '../preact.ts';
import type { View } from '../view.ts';
import { previewPanel } from './preview-panel.ts';

interface Props {
  readonly view: View;
  readonly definition: DefinitionView;
}

interface State {
  readonly text: string;
  readonly diagnostics: readonly DiagnosticView[];
  readonly preview: PreviewView | undefined;
  readonly error: unknown;
  readonly isAsking: boolean;
}

type Answer = Pick<State, 'diagnostics' | 'preview'>;

const typingMs = 150;

/** The source of a definition in an editor: diagnostics while typing, what the change would do, and saving. */
export class SourceEditor extends Component<Props, State> {
  readonly #answers: LatestAnswer<string, Answer>;

  constructor(props: Props) {
    super(props);
    const { text, diagnostics } = props.definition;
    this.#answers = new LatestAnswer(
      (next, signal) => this.#ask(next, signal),
      (answer, error) => this.setState({ isAsking: false, error, ...(answer ?? {}) }),
    );
    this.state = { text, diagnostics, preview: undefined, error: undefined, isAsking: false };
  }

  /** A file that changed elsewhere replaces a text that was not edited. */
  override componentDidUpdate({ definition: before }: Props): void {
    const { text, diagnostics } = this.props.definition;
    if (text !== before.text && this.state.text === before.text)
      this.setState({ text, diagnostics });
  }

  override componentWillUnmount(): void {
    this.#answers.stop();
  }

  override render(
    { view, definition }: Props,
    { text, diagnostics, preview, error, isAsking }: State,
  ): VNode {
    const { file } = definition;
    const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
    const isChanged = text !== definition.text;
    return h(
      'div',
      { class: 'split' },
      h(
        'div',
        null,
        h(
          'div',
          { class: 'actions' },
          button(
            'Save',
            () =>
              view.actions.run(async () => {
                await view.backend.save({ file, text }, new AbortController().signal);
                return `${file} is saved`;
              }),
            { isPrimary: true, isDisabled: !isChanged },
          ),
          button('Reset', () => this.#set(definition.text), { isDisabled: !isChanged }),
          muted([' ', code(file), ' ', errors === 0 ? 'no errors' : countText(errors, 'error')]),
        ),
        h(TextEditorView, {
          text,
          diagnostics,
          language: 'yaml',
          label: `Source ${file}`,
          onChange: (next: string) => this.#set(next),
        }),
        diagnostics.map((each) =>
          h(
            'div',
            { key: `${each.line} ${each.message}` },
            muted(`line ${each.line},`),
            diagnosticView(each),
          ),
        ),
      ),
      h(
        'div',
        { class: 'result', 'aria-live': 'polite', 'aria-busy': isAsking },
        h('h2', null, 'What would happen'),
        error !== undefined
          ? errorBox('Cannot compute it', error)
          : isChanged
            ? previewPanel(preview, isAsking)
            : h(
                'p',
                { class: 'muted' },
                'Edit the source: the plan for all its resources appears here.',
              ),
      ),
    );
  }

  #set(text: string): void {
    this.setState({ text, isAsking: true });
    this.#answers.ask(text, typingMs);
  }

  async #ask(text: string, signal: AbortSignal): Promise<Answer> {
    const { view, definition } = this.props;
    const manifest = { file: definition.file, text };
    const diagnostics = await view.backend.check(manifest, signal);
    if (diagnostics.some(({ severity }) => severity === 'error'))
      return { diagnostics, preview: undefined };
    return {
      diagnostics,
      preview: await view.backend.preview({ kind: 'definition', manifest }, signal),
    };
  }
}
