import { apiVersionOf } from '#util/gvk.ts';
import { pointerTo } from '#util/json.ts';
import { traceSecrets } from '../analysis/secret-flow.ts';
import type { CheckContext } from '../check-context.ts';
import { bundledKinds } from '../schema/bundled-schemas.ts';
import { literalFields } from '../template/template.ts';
import { targetTemplates } from '../template-uses.ts';

/**
 * Reports the status of another object in a patch without `status: true`: the API server ignores it, because a status is written through a subresource. Only
 * built-in kinds are known to have one; kinds of CustomResourceDefinitions need not.
 */
export function checkPatchedStatus({ parts, diagnostics }: CheckContext): void {
  for (const { definition, patch, pointer } of parts.reporting.patches) {
    const { target } = definition;
    if (target?.gvk === undefined || definition.status === true) continue;
    if (!literalFields(patch.root).has('status')) continue;
    const isBuiltin = bundledKinds(apiVersionOf(target.gvk)).includes(target.gvk.kind);
    const problem = isBuiltin
      ? ({
          severity: 'error',
          code: 'invalid-value',
          message: `The API server ignores the status of a ${target.gvk.kind} in a patch`,
        } as const)
      : ({
          severity: 'warning',
          code: 'suspicious-expression',
          message: `The API server ignores the status in a patch, if the kind "${target.gvk.kind}" has the subresource "status"`,
        } as const);
    diagnostics.report({
      ...problem,
      hint: 'Add "status: true" to write it through the subresource, or set a field that its controller reads',
      path: pointerTo(pointerTo(pointer, 'patch'), 'status'),
      at: 'key',
    });
  }
}

/** The target of a patch that can be withdrawn is recorded on the resource, so it may not contain a value of a Secret. */
export function checkRecordedTargets(context: CheckContext): void {
  const { parts, diagnostics } = context;
  const recorded = parts.reporting.patches.filter(
    ({ definition }) => definition.owned?.withdraws === true,
  );
  if (recorded.length === 0) return;
  const flow = traceSecrets(context, { into: 'messages' });
  for (const patch of recorded) {
    if (!flow.reaches(targetTemplates(patch), { patchId: patch.definition.id })) continue;
    diagnostics.report({
      code: 'forbidden-expression',
      message:
        'The target of a patch that can be withdrawn is recorded on the resource, and may contain a value of a Secret here',
      hint: 'Compute the target without Secrets, or add "withdraw: false"',
      path: pointerTo(patch.pointer, 'target'),
      at: 'key',
    });
  }
}
