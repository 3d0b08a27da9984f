import { createManifestCheck } from '#check';
import { bundledSchemas, explainDefinition, listReadsSecret, type Rendered } from '#compile';
import { type Diagnostic, type LocatedDefinition, printYaml } from '#definition';
import type { JsonObject } from '#util/json.ts';
import { createLookUp, type PresentValue } from './explain-resource.ts';
import { type DryReconcileOptions, reconcileDry } from './reconcile-dry.ts';

/** The result of an expression over a resource. */
export interface EvaluatedExpression {
  /** `sensitive`: the expression reads a value that may come from a Secret, whatever it computes from it. */
  readonly result: Rendered<unknown> | { readonly kind: 'sensitive' };
  /** What it reads, with the values now. */
  readonly reads: readonly { readonly reference: string; readonly value: PresentValue }[];
}

/** Id of the child whose `forEach` is the expression. It is never created. */
const probeId = 'expressionprobe';

/**
 * Evaluates an expression as a child of the definition would, over the resource and all that its definition reads. Writes nothing.
 * @param key `namespace/name`, `/name` for a cluster-scoped resource
 * @returns undefined: there is no such resource; or a problem of the expression, or of the definition on this cluster
 * @throws KubeError when a request fails
 */
export async function evaluateExpression(
  { document }: LocatedDefinition,
  { key, expression }: { readonly key: string; readonly expression: string },
  options: DryReconcileOptions,
  signal: AbortSignal,
): Promise<EvaluatedExpression | { readonly problem: string } | undefined> {
  const check = createManifestCheck(bundledSchemas());
  const checkProbe = (forEach: string) =>
    check({ file: 'expression', text: printYaml(withProbe(document, forEach)) });
  // Wrapped in a list of one item: a `forEach` must be a list, and a missing value stays apart from an empty list.
  const { documents, diagnostics } = checkProbe(`\${ [{ "value": (${expression}) }] }`);
  const [checked] = documents;
  if (checked?.located === undefined || checked.plan === undefined) {
    // Errors of the syntax are those of the expression alone.
    const bare = checkProbe(`\${ ${expression} }`).diagnostics;
    const found =
      bare.find(({ code }) => code === 'expression-syntax') ?? diagnostics.find(isError);
    return { problem: found?.message ?? 'The definition has errors' };
  }
  const { located } = checked;
  const found = await reconcileDry(located, key, options, signal);
  if (found === undefined || 'problem' in found) return found;
  const { plan, inputs } = found;
  if (inputs === undefined)
    return {
      problem: 'The resource is paused or being deleted: its expressions are not evaluated',
    };
  const lookUp = createLookUp(plan, inputs);
  const probe = explainDefinition(located).children.find(({ id }) => id === probeId);
  const references = (probe?.expressions ?? [])
    .filter(({ field }) => field === 'forEach')
    .flatMap((each) => each.references);
  const isSensitive = listReadsSecret(located, probeId);
  const elements = await plan.startPhase({ ...inputs, phase: 'wanting' }).elements(probeId);
  return {
    result: isSensitive && elements.kind === 'value' ? { kind: 'sensitive' } : resultOf(elements),
    reads: references.map((each) => ({ reference: each.text, value: lookUp(each) })),
  };
}

function isError({ severity }: Diagnostic): boolean {
  return severity === 'error';
}

/** The definition with a child that is never created. */
function withProbe(document: JsonObject, forEach: string): JsonObject {
  const spec = document.spec as JsonObject;
  const children = Array.isArray(spec.children) ? spec.children : [];
  const probe = {
    id: probeId,
    when: '${ false }',
    forEach,
    template: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'probe' } },
  };
  return { ...document, spec: { ...spec, children: [...children, probe] } };
}

function resultOf(elements: Rendered<readonly { readonly item: unknown }[]>): Rendered<unknown> {
  if (elements.kind !== 'value') return elements;
  const item = elements.value[0]?.item as { readonly value?: unknown } | undefined;
  return item?.value === undefined ? { kind: 'missing' } : { kind: 'value', value: item.value };
}
