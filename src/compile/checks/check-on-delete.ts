import type { UsesFinder } from '../analysis/uses.ts';
import type { DefinitionParts } from '../definition-parts.ts';
import type { Diagnostics } from '../diagnostics.ts';
import { positionInLeaf } from '../template/slot-position.ts';

export interface OnDeleteOptions {
  readonly parts: DefinitionParts;
  readonly uses: UsesFinder;
  readonly diagnostics: Diagnostics;
}

/** What `onDelete` makes is not there while the resource lives: what reads it would wait for ever. Also through vars. */
export function checkOnDelete({ parts, uses, diagnostics }: OnDeleteOptions): void {
  const late = parts.children.filter(({ stage }) => stage === 'onDelete');
  const ids = new Set(late.map(({ definition }) => definition.id));
  if (ids.size === 0) return;
  for (const { stage, when, forEach, template } of parts.children) {
    if (stage === 'onDelete') continue;
    for (const { slot, reference } of uses.of(when, forEach, template).references) {
      const [id] = reference.path;
      if (reference.root !== 'children' || id === undefined || !ids.has(id)) continue;
      diagnostics.report({
        code: 'unknown-name',
        message: `Child "${id}" is made by "onDelete", when the resource is being deleted`,
        hint: 'Children of "onDelete" may read the others, not the other way round',
        ...positionInLeaf(slot, reference.offset),
      });
    }
  }
}
