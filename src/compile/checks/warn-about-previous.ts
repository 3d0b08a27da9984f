import type { DefinitionParts } from '../definition-parts.ts';
import type { Diagnostics } from '../diagnostics.ts';
import { positionInLeaf } from '../template/slot-position.ts';
import { referencesOf } from '../template/template.ts';
import { reportUses, seesPrevious } from './report-uses.ts';

/** Within a pass only the status becomes another one: what else `$previous` has is what the resource has. */
export function warnAboutPrevious({ reporting }: DefinitionParts, diagnostics: Diagnostics): void {
  for (const { role, template } of reportUses(reporting)) {
    if (!seesPrevious(role)) continue;
    for (const { slot, reference } of referencesOf(template)) {
      const [field] = reference.path;
      if (reference.root !== 'previous' || field === undefined || field === 'status') continue;
      const name = reference.path.join('.');
      diagnostics.report({
        severity: 'warning',
        code: 'suspicious-expression',
        message: `"$previous.${name}" is always what "${name}" is: within a pass only the status changes`,
        hint: 'Map what you want to compare with into the status, and look at "$previous.status"',
        ...positionInLeaf(slot, reference.offset),
      });
    }
  }
}
