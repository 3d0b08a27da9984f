import { type CompiledChild, isSecret } from '../compiled-templates.ts';
import { expressionsOf } from '../template/template.ts';
import type { DependencyFinder } from './dependencies.ts';

/**
 * Whether objects of the child that are no longer desired are deleted only when all children are ready. By default for ConfigMaps and
 * Secrets whose name follows their content: Pods of the earlier revision still need the earlier one.
 */
export function prunesAfterReady(child: CompiledChild, uses: DependencyFinder): boolean {
  const { definition, name } = child;
  if (definition.prune !== undefined) return definition.prune === 'AfterReady';
  const { gvk } = definition;
  const isConfig = isSecret(gvk) || (gvk.group === '' && gvk.kind === 'ConfigMap');
  if (!isConfig || name === undefined) return false;
  // The slots of variables that the name uses, too.
  const slots = [...name.slots, ...uses.of(name).references.map(({ slot }) => slot)];
  return slots.some(({ leaf }) =>
    expressionsOf(leaf).some(({ source }) => /\$hash\b/.test(source)),
  );
}
