import { Component, h, type VNode } from '../preact.ts';

export interface LiveAgeProps {
  /** Time since the home was last heard, in ms. */
  readonly silentMs: () => number | undefined;
}

const everyMs = 500;

/** The age of what is shown: `0.4 s`. It draws itself, not the page. Screen readers read the state beside it. */
export class LiveAge extends Component<LiveAgeProps> {
  #timer: ReturnType<typeof setInterval> | undefined;

  override componentDidMount(): void {
    this.#timer = setInterval(() => this.forceUpdate(), everyMs);
  }

  override componentWillUnmount(): void {
    clearInterval(this.#timer);
  }

  override render({ silentMs }: LiveAgeProps): VNode {
    const ms = silentMs();
    return h(
      'span',
      { class: 'age', 'aria-hidden': true, title: 'Time since the console was last heard' },
      ms === undefined ? '' : ` ${(ms / 1_000).toFixed(1)} s`,
    );
  }
}
