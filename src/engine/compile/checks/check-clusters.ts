import { isClusterKind } from '../analysis/child-plans.ts';
import { traceSecrets } from '../analysis/secret-flow.ts';
import type { CheckContext } from '../check-context.ts';
import { isSecret } from '../compiled-templates.ts';
import { positionInLeaf } from '../template/values.ts';

/**
 * Desired objects may use the metadata of a `Cluster` and its condition `Connected`. Its other status fields change without a change of the
 * member, so objects would be created and deleted for no reason.
 */
export function checkClusterStatus({ parts, uses, diagnostics }: CheckContext): void {
  const ids = new Set(
    parts.reads
      .filter(({ definition }) => isClusterKind(definition.gvk) && !definition.placement)
      .map(({ definition }) => definition.id),
  );
  if (ids.size === 0) return;
  const desired = parts.children.flatMap((child) => [
    child.when,
    child.forEach,
    child.cluster,
    child.template,
  ]);
  for (const { slot, reference } of uses.of(...desired).references) {
    const [id, field, inner] = reference.path;
    if (reference.root !== 'reads' || id === undefined || !ids.has(id)) continue;
    if (field !== 'status' || inner === 'conditions') continue;
    diagnostics.report({
      code: 'forbidden-expression',
      message: `Desired objects cannot depend on "${reference.path.slice(1).join('.')}" of a Cluster`,
      hint: 'Use its metadata or "$condition(cluster, "Connected")"; "status" of the definition can use all fields',
      ...positionInLeaf(slot, reference.offset),
    });
  }
}

/** Warns if values of a Secret are written to a cluster that labels choose. */
export function warnAboutPlacedSecrets(context: CheckContext): void {
  const { parts, diagnostics } = context;
  const placed = parts.children.filter(({ cluster }) => (cluster?.slots.length ?? 0) > 0);
  if (placed.length === 0) return;
  const flow = traceSecrets(context, { into: 'objects' });
  for (const { definition, template, cluster } of placed) {
    if (!flow.reaches([template], { childId: definition.id })) continue;
    const what = isSecret(definition.gvk) ? 'this Secret' : `child "${definition.id}"`;
    diagnostics.report({
      severity: 'warning',
      code: 'suspicious-expression',
      message: `Users who can label Cluster objects can receive values of a Secret through ${what}`,
      hint: 'Restrict the right to create and update Cluster objects, or write a literal "cluster"',
      path: cluster?.pointer ?? template.pointer,
    });
  }
}
