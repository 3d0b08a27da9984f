import type { PreviewView } from '../contract.ts';
import {
  type Content,
  emptyBox,
  errorBox,
  loadingBox,
  muted,
  stateText,
} from '../parts/elements.ts';
import { h } from '../preact.ts';
import { changesView } from './changes-view.ts';

/** The result of a preview: changes by resource, what waits, and what is wrong. */
export function previewPanel(preview: PreviewView | undefined, isAsking: boolean): Content {
  if (preview === undefined)
    return isAsking ? loadingBox('the plan') : emptyBox('No plan', 'The text has errors.');
  const { resources, problems } = preview;
  const changed = resources.filter(
    ({ changes, unresolved }) => changes.length > 0 || unresolved.length > 0,
  );
  return [
    problems.map((problem) => errorBox('The plan may be incomplete', problem)),
    changed.length === 0 && problems.length === 0
      ? h('p', null, stateText('ready', 'Nothing would change.'))
      : changed.map(({ title, changes, unresolved }) =>
          h(
            'section',
            { key: title },
            h('h3', null, title),
            changesView(changes, `Changes of ${title}`),
            unresolved.map(({ child, message }) =>
              h('p', { key: child }, stateText('progressing', child), ' ', muted(message)),
            ),
          ),
        ),
  ];
}
