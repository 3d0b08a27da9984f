import type { UsesFinder } from '../analysis/uses.ts';
import type { DefinitionParts } from '../definition-parts.ts';
import type { Diagnostics } from '../diagnostics.ts';
import { positionInLeaf } from '../template/slot-position.ts';
import { templateUses } from './template-use.ts';

export interface SourcesOptions {
  readonly parts: DefinitionParts;
  readonly uses: UsesFinder;
  readonly diagnostics: Diagnostics;
}

/**
 * What is another thing in every pass cannot decide what children are: each pass would change them. Also through vars;
 * `status`, `when` and `ready` may ask for the time.
 */
export function checkSources({ parts, uses, diagnostics }: SourcesOptions): void {
  for (const { role, template } of templateUses(parts)) {
    if (role === 'status' || role === 'var') continue;
    for (const { slot, reference } of uses.of(template).references) {
      const { root, offset } = reference;
      if (root !== 'now' && root !== 'random') continue;
      if (root === 'now' && (role === 'when' || role === 'ready')) continue;
      const what = root === 'now' ? 'The time' : 'A random value';
      diagnostics.report({
        code: 'forbidden-expression',
        message: `${what} is another one in every pass and cannot be used in a template`,
        hint: 'To keep the first value takes "observed", which is not supported yet',
        ...positionInLeaf(slot, offset),
      });
    }
  }
}

/** A restart of one child would delete the other. Also through vars. */
export function warnAboutWhen({ parts, uses, diagnostics }: SourcesOptions): void {
  for (const { definition, when } of parts.children) {
    for (const { slot, reference } of uses.of(when).references) {
      if (reference.root !== 'children') continue;
      const id = reference.path[0] ?? 'id';
      diagnostics.report({
        severity: 'warning',
        code: 'suspicious-expression',
        message: `"when" of "${definition.id}" reads "children.${id}": a change there can delete this child`,
        hint: `Write "after: [${id}]" for what must be there first`,
        ...positionInLeaf(slot, reference.offset),
      });
    }
  }
}
