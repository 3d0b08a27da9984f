import type { Health } from '../model/object-summary.ts';
import { type Content, h, type VNode } from '../preact.ts';
import type { ListState } from '../store/object-list.ts';

export type { Content } from '../preact.ts';

const glyphs: Readonly<Record<Health, string>> = {
  ready: '\u25cf',
  progressing: '\u25b2',
  failing: '\u2715',
  unknown: '\u25cb',
};

/** The sign of a state. Screen readers read its name. */
export function glyph(health: Health): VNode {
  return h('span', { class: `glyph ${health}`, role: 'img', 'aria-label': health }, glyphs[health]);
}

/** A sign with the words of the state. */
export function stateText(health: Health, text: string): VNode {
  return h('span', { class: `state ${health}` }, glyph(health), ' ', text);
}

export function link(href: string, content: Content, className = ''): VNode {
  const title = typeof content === 'string' ? titleOfLong(content) : {};
  return h('a', { href, class: className, ...title }, content);
}

export function muted(content: Content): VNode {
  return h('span', { class: 'muted' }, content);
}

/** A long text may be cut, and is shown in full when it is pointed at. */
export function titleOfLong(text: string): { readonly title?: string } {
  return text.length > 32 ? { title: text } : {};
}

export function code(text: string): VNode {
  return h('code', titleOfLong(text), text);
}

interface ButtonOptions {
  readonly isPrimary?: boolean;
  readonly isDisabled?: boolean;
  readonly title?: string;
}

export function button(
  label: Content,
  onClick: () => void,
  { isPrimary = false, isDisabled = false, title }: ButtonOptions = {},
): VNode {
  return h(
    'button',
    {
      type: 'button',
      class: isPrimary ? 'primary' : '',
      disabled: isDisabled,
      onClick,
      ...(title !== undefined && { title }),
    },
    label,
  );
}

export interface Tab {
  readonly label: string;
  readonly href: string;
  readonly isCurrent: boolean;
  /** Shown after the label. */
  readonly count?: number;
}

/** Tabs are links: the address names the open one. */
export function tabs(label: string, entries: readonly Tab[]): VNode {
  return h(
    'nav',
    { class: 'tabs', 'aria-label': label },
    entries.map(({ label: text, href, isCurrent, count }) =>
      h(
        'a',
        { href, key: text, ...(isCurrent && { 'aria-current': 'page' as const }) },
        text,
        count === undefined ? null : h('span', { class: 'count' }, String(count)),
      ),
    ),
  );
}

/** A box in place of content: what is missing, and what to do. */
export function emptyBox(title: string, text: Content = null): VNode {
  return h('div', { class: 'empty' }, h('p', { class: 'empty-title' }, title), h('p', null, text));
}

export function loadingBox(what: string): VNode {
  return h(
    'div',
    { class: 'empty loading', role: 'status' },
    h('p', null, `Loading ${what} \u2026`),
  );
}

export function errorBox(title: string, error: unknown, hint: Content = null): VNode {
  const message = error instanceof Error ? error.message : String(error ?? '');
  return h(
    'div',
    { class: 'empty failure', role: 'alert' },
    h('p', { class: 'empty-title' }, glyph('failing'), ' ', title),
    message === '' ? null : h('p', { class: 'message' }, message),
    hint === null ? null : h('p', null, hint),
  );
}

/** The box for a list that cannot be shown; undefined: it can, perhaps with old objects. */
export function listProblem(
  { status, message, objects }: ListState,
  { what, right }: { readonly what: string; readonly right: string },
): VNode | undefined {
  switch (status) {
    case 'loading':
      return loadingBox(what);
    case 'forbidden':
      return errorBox(`Not permitted to read ${what}`, message, [
        'Ask an administrator for the right: ',
        code(right),
      ]);
    case 'missing':
      return errorBox(`The API server does not serve ${what}`, message);
    case 'failed':
      return objects.length > 0
        ? undefined
        : errorBox(`Cannot read ${what}`, message, 'The console tries again by itself.');
    default:
      return undefined;
  }
}

/** A line above a list whose stream is away. */
export function staleNote({ status, message }: ListState, what: string): VNode | null {
  if (status !== 'stale') return null;
  return h(
    'p',
    { class: 'stale-note', role: 'status' },
    glyph('unknown'),
    ` ${what} may be out of date: the stream is away, reconnecting. ${message}`,
  );
}

/** A section with a title. */
export function section(title: Content, ...content: readonly Content[]): VNode {
  return h('section', null, h('h2', null, title), ...content);
}
