import type { DiagnosticView, PreviewView } from '../contract.ts';
import { countText } from '../model/format.ts';
import { previewPanel } from '../pages/preview-panel.ts';
import { button, type Content, errorBox, glyph, muted } from '../parts/elements.ts';
import { LatestAnswer } from '../parts/latest-answer.ts';
import { TextEditorView } from '../parts/text-editor.ts';
import { diagnosticView } from '../parts/yaml-view.ts';
import { Component, h, type VNode } from '../preact.ts';
import type { FileCheck, Workbench, WorkbenchFile } from './workbench.ts';
import { devDialog, GalleryDialog, ShareDialog } from './workbench-dialogs.ts';

interface Props {
  readonly workbench: Workbench;
  /** Of the workbench, for comparisons. */
  readonly state: Workbench['state'];
}

interface State {
  readonly selected: string;
  readonly diagnostics: readonly DiagnosticView[];
  readonly preview: PreviewView | undefined;
  readonly error: unknown;
  readonly isAsking: boolean;
  readonly dialog: 'gallery' | 'share' | 'dev' | undefined;
}

const typingMs = 150;
const unchecked = { diagnostics: [], preview: undefined, error: undefined };

/** Definitions and samples in tabs, with their diagnostics, what an edit would change, and what can be done with them. */
export class FilesPane extends Component<Props, State> {
  override state: State = { ...unchecked, selected: '', isAsking: false, dialog: undefined };
  readonly #answers: LatestAnswer<WorkbenchFile, FileCheck>;

  constructor(props: Props) {
    super(props);
    this.#answers = new LatestAnswer(
      (file, signal) => this.props.workbench.check(file, signal),
      (answer, error) => this.setState({ isAsking: false, error, ...(answer ?? {}) }),
    );
  }

  override componentDidUpdate({ state: before }: Props): void {
    const { opened, applies, isApplying } = this.props.state;
    if (opened !== before.opened) this.#select(this.#file?.file ?? '');
    else if (applies !== before.applies || (before.isApplying && !isApplying)) this.#ask(0);
  }

  override componentWillUnmount(): void {
    this.#answers.stop();
  }

  override render({ workbench, state }: Props, { dialog }: State): VNode {
    const { files, title, opened } = state;
    const close = () => this.setState({ dialog: undefined });
    return h(
      'section',
      {
        class: 'files',
        'aria-label': 'Files',
        onKeyDown: (event: KeyboardEvent) => this.#key(event),
      },
      h(
        'div',
        { class: 'actions' },
        button('Examples', () => this.setState({ dialog: 'gallery' })),
        button('Share', () => this.setState({ dialog: 'share' }), {
          isDisabled: files.length === 0,
        }),
        button('Open in dev', () => this.setState({ dialog: 'dev' }), {
          isDisabled: files.length === 0,
        }),
        button('Reset', () => workbench.reset(), {
          isDisabled: files.length === 0,
          title: 'The files as they were opened, in a new sandbox',
        }),
        title === '' ? null : h('span', { class: 'strong title' }, title),
      ),
      files.length === 0 ? null : [this.#tabs(), h('div', { key: opened }, this.#editor())],
      dialog === 'gallery' ? h(GalleryDialog, { workbench, onClose: close }) : null,
      dialog === 'share' ? h(ShareDialog, { workbench, onClose: close }) : null,
      dialog === 'dev' ? devDialog(state, close) : null,
    );
  }

  /** The open file; after another example was opened, its first one. */
  get #file(): WorkbenchFile | undefined {
    const { files } = this.props.state;
    return files.find(({ file }) => file === this.state.selected) ?? files[0];
  }

  /** Whether some of the files runs. */
  get #isRunning(): boolean {
    return this.props.workbench.state.files.some(({ applied }) => applied !== undefined);
  }

  #tabs(): VNode {
    const { files } = this.props.state;
    const open = this.#file?.file;
    return h(
      'div',
      { class: 'file-tabs', role: 'tablist', 'aria-label': 'Files' },
      files.map(({ file, text, applied }) => {
        const isOpen = file === open;
        return h(
          'button',
          {
            key: file,
            type: 'button',
            role: 'tab',
            id: tabId(file),
            'aria-selected': isOpen,
            'aria-controls': 'file-panel',
            tabIndex: isOpen ? 0 : -1,
            onClick: () => this.#select(file),
          },
          file,
          text === applied
            ? null
            : h('span', { class: 'unsaved', role: 'img', 'aria-label': 'not applied' }, ' \u2217'),
        );
      }),
    );
  }

  #editor(): VNode | null {
    const file = this.#file;
    if (file === undefined) return null;
    const { workbench, state } = this.props;
    const { diagnostics } = this.state;
    const isChanged = state.files.some(({ text, applied }) => text !== applied);
    const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
    return h(
      'div',
      { id: 'file-panel', role: 'tabpanel', 'aria-labelledby': tabId(file.file) },
      h(TextEditorView, {
        key: file.file,
        text: file.text,
        diagnostics,
        language: 'yaml',
        label: `File ${file.file}`,
        onChange: (text: string) => this.#edit(file, text),
      }),
      h(
        'div',
        { class: 'actions' },
        button(state.isApplying ? 'Applying \u2026' : 'Apply', () => void workbench.apply(), {
          isPrimary: true,
          isDisabled: !isChanged || state.isApplying,
          title: 'Run these files (Ctrl+S)',
        }),
        errors === 0
          ? muted('no errors')
          : h(
              'span',
              { class: 'state failing' },
              glyph('failing'),
              ' ',
              countText(errors, 'error'),
            ),
        appliedNote(state),
      ),
      diagnostics.map((each) =>
        h(
          'div',
          { key: `${each.line} ${each.column} ${each.message}` },
          muted(`line ${each.line},`),
          diagnosticView(each),
        ),
      ),
      this.#changes(file),
    );
  }

  #changes(file: WorkbenchFile): VNode | null {
    const { preview, error, isAsking } = this.state;
    if (!this.#isRunning || (file.text === file.applied && error === undefined)) return null;
    return h(
      'div',
      { class: 'result', 'aria-live': 'polite', 'aria-busy': isAsking },
      h('h2', null, 'What would happen'),
      error === undefined ? previewPanel(preview, isAsking) : errorBox('Cannot compute it', error),
    );
  }

  #select(file: string): void {
    this.setState({ ...unchecked, selected: file, isAsking: true });
    this.#ask(0, file);
  }

  #edit({ file }: WorkbenchFile, text: string): void {
    this.props.workbench.edit(file, text);
    this.setState({ isAsking: true });
    this.#ask(typingMs);
  }

  #ask(delayMs: number, name = this.#file?.file): void {
    const file = this.props.workbench.state.files.find((each) => each.file === name);
    const isOpening = this.props.workbench.state.isApplying && !this.#isRunning;
    // What was opened is checked as soon as it runs.
    if (file !== undefined && !isOpening) this.#answers.ask(file, delayMs);
  }

  #key(event: KeyboardEvent): void {
    const { workbench, state } = this.props;
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 's') {
      event.preventDefault();
      void workbench.apply();
      return;
    }
    if ((event.target as HTMLElement).getAttribute('role') !== 'tab') return;
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    const names = state.files.map(({ file }) => file);
    const next = names.at((names.indexOf(this.#file?.file ?? '') + step) % names.length);
    if (step === 0 || next === undefined) return;
    event.preventDefault();
    this.#select(next);
    document.getElementById(tabId(next))?.focus();
  }
}

function tabId(file: string): string {
  return `tab-${file}`;
}

/** What is wrong with the sandbox or the link. */
export function workbenchNotes(workbench: Workbench): Content {
  const { problem, isBusy } = workbench.state;
  if (problem === undefined && !isBusy) return null;
  return h(
    'div',
    { class: 'notes', key: 'notes' },
    problem === undefined ? null : errorBox(problem.title, problem.text),
    isBusy ? busyNote(workbench) : null,
  );
}

function busyNote(workbench: Workbench): VNode {
  return h(
    'div',
    { class: 'stale-note', role: 'alert' },
    glyph('progressing'),
    ' The sandbox computes and does not respond. ',
    button('Stop it', () => workbench.stop(), { title: 'A new, empty sandbox; the files stay' }),
  );
}

function appliedNote({ applied, isApplying }: Workbench['state']): VNode | null {
  if (applied === undefined || isApplying) return null;
  const { done, problems } = applied;
  return h(
    'div',
    { class: 'applied', role: 'status' },
    problems.map((problem) =>
      h('p', { key: problem, class: 'state failing' }, glyph('failing'), ' ', problem),
    ),
    problems.length === 0 ? h('p', { class: 'state ready' }, glyph('ready'), ' Applied') : null,
    done.length === 0 ? null : h('p', null, muted(done.join('. '))),
  );
}
