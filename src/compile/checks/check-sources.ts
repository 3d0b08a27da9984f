import type { UsesFinder } from '../analysis/uses.ts';
import type { DefinitionParts } from '../definition-parts.ts';
import type { Diagnostics } from '../diagnostics.ts';
import type { Reference } from '../language/index.ts';
import { nameTemplate } from '../phase/name-template.ts';
import { positionInLeaf } from '../template/slot-position.ts';
import type { CompiledTemplate } from '../template/template.ts';
import { isOfReport } from './report-uses.ts';
import { templateUses } from './template-use.ts';

export interface SourcesOptions {
  readonly parts: DefinitionParts;
  readonly uses: UsesFinder;
  readonly diagnostics: Diagnostics;
}

/**
 * What is another thing in every pass cannot decide what children are: each pass would change them. Also through vars;
 * `status`, `when`, `ready` and `deleteWhen` may ask for the time. A template may, where the first value is kept: behind `observed`, or in a
 * child that is left alone once it is there.
 */
export function checkSources({ parts, uses, diagnostics }: SourcesOptions): void {
  for (const { role, template, child } of templateUses(parts)) {
    if (role === 'status' || role === 'var' || isOfReport(role)) continue;
    const inName = role === 'template' ? namingOf(template, uses) : noReferences;
    const isLeftAlone = child?.definition.updateStrategy.type === 'OnDelete';
    for (const each of uses.of(template).references) {
      const { root, behindObserved } = each.reference;
      if (root !== 'now' && root !== 'random') continue;
      if (root === 'now' && (role === 'when' || role === 'ready' || role === 'deleteWhen'))
        continue;
      const isKept = behindObserved === true || isLeftAlone;
      if (role === 'template' && isKept && !inName.has(each.reference)) continue;
      diagnostics.report({
        code: 'forbidden-expression',
        message: `${nameOf(root)} is another one in every pass and cannot be used in a ${inName.has(each.reference) ? 'name' : 'template'}`,
        hint: inName.has(each.reference) ? undefined : keepHint,
        ...positionInLeaf(each.slot, each.reference.offset),
      });
    }
  }
}

const keepHint = 'Write "observed.<id>.<path> ?? ..." to keep the first value';
const noReferences: ReadonlySet<Reference> = new Set();

function nameOf(root: 'now' | 'random'): string {
  return root === 'now' ? 'The time' : 'A random value';
}

/** What the name of an object is made of: another name is another object. */
function namingOf(template: CompiledTemplate, uses: UsesFinder): ReadonlySet<Reference> {
  const name = nameTemplate(template);
  return new Set(uses.of(name).references.map(({ reference }) => reference));
}

/** A restart of one child would delete the other. Also through vars. */
export function warnAboutWhen({ parts, uses, diagnostics }: SourcesOptions): void {
  for (const { definition, when, stage } of parts.children) {
    // What is made when the resource goes is deleted by nobody before.
    if (stage === 'onDelete') continue;
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
