import { parseRoute } from './route.ts';
import type { Actions, UiState } from './view.ts';

/** Time between the two keys of `g d`. */
const chordMs = 1_000;

/** Handles the keys of the whole page. Returns the function that stops it. */
export function handleKeys(window: Window, actions: Actions, ui: () => UiState): () => void {
  const { document } = window;
  let chordAt = Number.NEGATIVE_INFINITY;
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (isTyping(event)) {
      if (event.key === 'Escape' && document.activeElement instanceof HTMLElement)
        document.activeElement.blur();
      if (event.key === 'Enter' && document.activeElement?.id === 'search') moveFocus(document, 1);
      return;
    }
    const isChord = event.timeStamp - chordAt < chordMs;
    chordAt = event.key === 'g' ? event.timeStamp : Number.NEGATIVE_INFINITY;
    if (run(event.key, isChord)) event.preventDefault();
  };
  const run = (key: string, isChord: boolean): boolean => {
    if (isChord && key === 'd') return go('#/');
    if (isChord && key === 'r') return go('#/resources');
    if (isChord && key === 'c') return go('#/clusters');
    switch (key) {
      case '/':
        document.getElementById('search')?.focus();
        return true;
      case 'j':
        return moveFocus(document, 1);
      case 'k':
        return moveFocus(document, -1);
      case '?':
        actions.set({ isHelpOpen: true });
        return true;
      case 'e': {
        const route = parseRoute(window.location.hash);
        if (route.page !== 'resource') return false;
        actions.go({ ...route, tab: 'edit' });
        return true;
      }
      case 'Escape': {
        if (ui().isHelpOpen || ui().question !== undefined) return false;
        if (ui().search !== '') actions.set({ search: '' });
        else if (window.location.hash.length > 2) window.history.back();
        return true;
      }
      default:
        return false;
    }
  };
  const go = (hash: string): true => {
    window.location.hash = hash;
    return true;
  };
  document.addEventListener('keydown', onKey);
  return () => document.removeEventListener('keydown', onKey);
}

/** The target of the event may be hidden in the shadow root of an editor. */
function isTyping(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName))
  );
}

/** Moves the focus to the link of the next or previous row. */
function moveFocus(document: Document, step: number): true {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')];
  const links = rows.map((row) => (row.matches('a') ? row : row.querySelector<HTMLElement>('a')));
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const start = at < 0 ? (step > 0 ? 0 : rows.length - 1) : at + step;
  for (let index = start; index >= 0 && index < links.length; index += step) {
    const link = links[index];
    if (link === null || link === undefined) continue;
    link.focus();
    link.scrollIntoView({ block: 'nearest' });
    return true;
  }
  return true;
}
