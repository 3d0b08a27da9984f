import type { ChangeView } from '../contract.ts';
import { placeOf } from '../model/object-summary.ts';
import { code } from '../parts/elements.ts';
import { h, type VNode } from '../preact.ts';

const signs: Readonly<Record<ChangeView['action'], string>> = {
  create: '+',
  change: '~',
  replace: '\u00b1',
  delete: '-',
};

/** Changes of objects, each with its fields before and after. */
export function changesView(changes: readonly ChangeView[], label: string): VNode {
  return h(
    'ul',
    { class: 'changes', 'aria-label': label },
    changes.map((change) => {
      const { action, kind, fields } = change;
      return h(
        'li',
        { key: `${kind} ${placeOf(change)}`, class: action },
        h(
          'p',
          null,
          h('span', { class: 'sign', 'aria-hidden': true }, signs[action]),
          ` ${action} `,
          h('span', { class: 'kind' }, kind),
          ` ${placeOf(change)}${change.losesData === true ? ' (holds data)' : ''}`,
        ),
        fields.length === 0
          ? null
          : h(
              'ul',
              null,
              fields.map(({ path, before, after }) =>
                h(
                  'li',
                  { key: path },
                  code(path),
                  before === undefined ? null : h('del', null, before),
                  before === undefined || after === undefined ? null : ' \u2192 ',
                  after === undefined ? null : h('ins', null, after),
                ),
              ),
            ),
      );
    }),
  );
}
