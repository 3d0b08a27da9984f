import { pointerTo } from '#util/json.ts';
import type { CheckContext } from '../check-context.ts';
import type { CompiledChild } from '../compiled-templates.ts';
import { nodeAt } from '../template/template.ts';
import { literalAt, writtenText } from './typed-nodes.ts';

/**
 * Warns about `replicas` of a workload that a HorizontalPodAutoscaler of the same definition scales: each reconcile would set it back.
 * An autoscaler with a condition is not meant: `replicas` may be an expression with the same condition.
 */
export function warnAboutAutoscalers({ parts: { children }, diagnostics }: CheckContext): void {
  for (const { definition, template, when } of children) {
    const { group, kind } = definition.gvk;
    if (group !== 'autoscaling' || kind !== 'HorizontalPodAutoscaler' || when !== undefined)
      continue;
    const target = nodeAt(template.root, ['spec', 'scaleTargetRef']);
    const name = writtenText(template, ['spec', 'scaleTargetRef', 'name']);
    const scaled = children.find(
      (child) => child.definition.gvk.kind === literalAt(target, 'kind') && isNamed(child, name),
    );
    if (scaled === undefined) continue;
    const replicas = nodeAt(scaled.template.root, ['spec', 'replicas']);
    // An expression may have no result, or read the replicas that the autoscaler has set.
    const { conflicts, leave } = scaled.definition;
    const isLeft = conflicts === 'Report' || leave?.includes('spec.replicas') === true;
    if (replicas?.kind !== 'constant' || isLeft) continue;
    diagnostics.report({
      severity: 'warning',
      code: 'suspicious-expression',
      message: `HorizontalPodAutoscaler "${definition.id}" scales this ${scaled.definition.gvk.kind}, and "replicas" sets it back in each reconcile`,
      hint: 'Set "fields: { leave: [spec.replicas] }" on the child, or leave "replicas" out',
      path: ['spec', 'replicas'].reduce<string>(pointerTo, scaled.template.pointer),
    });
  }
}

/** Whether a text is the name of a child as it is written, or a reference to it. */
function isNamed({ definition, template }: CompiledChild, text: string | undefined): boolean {
  if (text === undefined) return false;
  const reference = /^\$\{\s*children\.(\w+)\.metadata\.name\s*\}$/.exec(text)?.[1];
  return reference === definition.id || writtenText(template, ['metadata', 'name']) === text;
}
