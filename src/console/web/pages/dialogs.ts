import { button, type Content } from '../parts/elements.ts';
import { Component, createRef, h, type VNode } from '../preact.ts';
import type { Actions, UiState } from '../view.ts';

/** The open dialog: help, or a question. */
export function dialog({ isHelpOpen, question }: UiState, actions: Actions): VNode | null {
  if (question !== undefined) {
    const { title, text, action, run } = question;
    const close = () => actions.set({ question: undefined });
    return h(Modal, { title, onClose: close, key: 'question' }, [
      h('p', null, text),
      h(
        'div',
        { class: 'actions' },
        button('Cancel', close),
        button(
          action,
          () => {
            close();
            actions.run(run);
          },
          { isPrimary: true },
        ),
      ),
    ]);
  }
  if (!isHelpOpen) return null;
  const close = () => actions.set({ isHelpOpen: false });
  return h(Modal, { title: 'Help', onClose: close, key: 'help' }, [
    h(
      'table',
      { class: 'keys' },
      h(
        'tbody',
        null,
        keys.map(([key, about]) =>
          h('tr', { key }, h('th', { scope: 'row' }, h('kbd', null, key)), h('td', null, about)),
        ),
      ),
    ),
    h(
      'p',
      { class: 'muted' },
      '\u25cf ready  \u25b2 progressing  \u2715 failing  \u25cb unknown or not wanted',
    ),
    h('div', { class: 'actions' }, button('Close', close, { isPrimary: true })),
  ]);
}

const keys: readonly (readonly [string, string])[] = [
  ['/', 'search'],
  ['j k', 'next and previous row or node'],
  ['Enter', 'open'],
  ['Esc', 'back, or close'],
  ['g d', 'definitions'],
  ['g r', 'resources'],
  ['g c', 'clusters'],
  ['e', 'edit the resource, or see what an edit would do'],
  ['?', 'this help'],
];

interface ModalProps {
  readonly title: string;
  readonly onClose: () => void;
  /** @default '' */
  readonly className?: string;
  readonly children?: Content;
}

/** A dialog of the browser: it keeps the focus, and Escape closes it. */
export class Modal extends Component<ModalProps> {
  readonly #element = createRef<HTMLDialogElement>();

  override componentDidMount(): void {
    this.#element.current?.showModal();
  }

  override render({ title, onClose, className = '', children }: ModalProps): VNode {
    return h(
      'dialog',
      { ref: this.#element, class: className, 'aria-labelledby': 'dialog-title', onClose },
      h('h2', { id: 'dialog-title' }, title),
      children,
    );
  }
}
