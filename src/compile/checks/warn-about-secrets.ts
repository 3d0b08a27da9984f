import type { Gvk } from '../../util/gvk.ts';
import { followSecrets } from '../analysis/secret-flow.ts';
import type { UsesFinder } from '../analysis/uses.ts';
import { type DefinitionParts, isSecret } from '../definition-parts.ts';
import type { Diagnostics } from '../diagnostics.ts';
import type { CompiledTemplate } from '../template/template.ts';
import { reportUses } from './report-uses.ts';

export interface SecretsOptions {
  readonly parts: DefinitionParts;
  readonly uses: UsesFinder;
  /** Of the custom resource. */
  readonly kind: Gvk;
  readonly diagnostics: Diagnostics;
}

/** Whoever may create a resource chooses the Secret: its values must not land where they can be read without a right on it. */
export function warnAboutSecrets({ parts, uses, kind, diagnostics }: SecretsOptions): void {
  for (const read of parts.reads) {
    const { name } = read;
    if (name === undefined || !isSecret(read.definition.gvk)) continue;
    if (!uses.of(name).references.some(({ reference }) => reference.root === 'resource')) continue;
    const flow = followSecrets({ parts, uses, kind, readId: read.definition.id });
    const target = targetsOf(parts).find(({ template, childId }) =>
      flow.reaches([template], childId),
    );
    if (target === undefined) continue;
    diagnostics.report({
      severity: 'warning',
      code: 'suspicious-expression',
      message: `Whoever may create a ${kind.kind} can read any Secret of its namespace in ${target.where}`,
      hint: 'Write the name of the Secret out, or pass it on by name',
      path: name.pointer,
    });
  }
}

interface Target {
  readonly where: string;
  /** Of the child that it is the template of. */
  readonly childId?: string;
  readonly template: CompiledTemplate;
}

function targetsOf(parts: DefinitionParts): readonly Target[] {
  return [
    ...[...parts.status].map(([name, template]) => ({ where: `"status.${name}"`, template })),
    ...reportTargets(parts),
    ...parts.children.map(({ definition, template }) => ({
      where: `child "${definition.id}"`,
      childId: definition.id,
      template,
    })),
  ];
}

function reportTargets({ reporting }: DefinitionParts): readonly Target[] {
  const patches = reporting?.patches ?? [];
  return [
    ...reportUses(reporting).flatMap(({ role, template }) =>
      role === 'condition' || role === 'event' ? [{ where: `its ${role}s`, template }] : [],
    ),
    ...patches.map(({ definition, patch }) => ({
      where: `patch "${definition.id}"`,
      template: patch,
    })),
  ];
}
