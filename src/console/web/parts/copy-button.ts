import { Component, type VNode } from '../preact.ts';
import { button } from './elements.ts';

export interface CopyProps {
  readonly text: string;
  /** @default Copy */
  readonly label?: string;
  readonly isPrimary?: boolean;
}

interface CopyState {
  /** The text that was copied last. */
  readonly copied?: string;
}

/** Copies a text, where the browser permits it: on pages from https or from this machine. */
export class CopyButton extends Component<CopyProps, CopyState> {
  override state: CopyState = {};

  override render(
    { text, label = 'Copy', isPrimary = false }: CopyProps,
    { copied }: CopyState,
  ): VNode | null {
    if (!globalThis.isSecureContext) return null;
    const copy = () =>
      void navigator.clipboard.writeText(text).then(
        () => this.setState({ copied: text }),
        // The user or a policy of the browser does not permit it: the text can be selected.
        () => undefined,
      );
    return button(copied === text ? 'Copied' : label, copy, { isPrimary });
  }
}
