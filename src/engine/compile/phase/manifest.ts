import { kindsOf } from '#definition';
import { isNamespaceName } from '#util/glob.ts';
import { apiVersionOf, type Gvk } from '#util/gvk.ts';
import { invariant } from '#util/homeostat-error.ts';
import { isHomeostatKey, type KubeObject } from '#util/kube-object.ts';
import type { CompiledChild } from '../compiled-templates.ts';
import { type Place, RenderError } from '../template/render-error.ts';
import type { CompiledTemplate, Slot } from '../template/template.ts';
import { describeFound, missingValue } from '../template/values.ts';
import type { EvaluationUnit } from './evaluation-plan.ts';

const maps = ['labels', 'annotations'] as const;

/** The first expression of a manifest that can set keys of labels or annotations: all of it, the whole map, or a key of it. */
export function computedMetadataSlot({ slots, pointer }: CompiledTemplate): Slot | undefined {
  return slots.find((slot) =>
    maps.some((field) => {
      const map = `${pointer}/metadata/${field}`;
      return (
        slot.pointer === pointer ||
        slot.pointer === map ||
        (slot.role === 'key' && slot.pointer.startsWith(`${map}/`))
      );
    }),
  );
}

/**
 * An error if rendered labels or annotations use reserved names. Otherwise users who create a resource could set the
 * labels by which Homeostat identifies objects.
 */
export function reservedNameError(
  rendered: unknown,
  { computedMetadata, quotes }: Pick<EvaluationUnit, 'computedMetadata' | 'quotes'>,
): RenderError | undefined {
  if (computedMetadata === undefined) return undefined;
  const { metadata } = rendered as { readonly metadata?: Metadata };
  for (const field of maps) {
    const name = Object.keys(metadata?.[field] ?? {}).find(isHomeostatKey);
    if (name === undefined) continue;
    const found = describeFound(name, quotes);
    const message = `Names under "homeostat.dev/" are reserved for Homeostat, found ${found} in metadata.${field}`;
    return new RenderError('invalid-manifest', message, computedMetadata.place);
  }
  return undefined;
}

type Metadata = { readonly [field in (typeof maps)[number]]?: Readonly<Record<string, unknown>> };

/** The value, if it can be the name of a member cluster. @throws RenderError */
export function clusterName(value: unknown, place: Place, quotes: boolean): string {
  if (typeof value === 'string' && value !== 'hub' && isNamespaceName(value)) return value;
  const message = `Expected the name of a member cluster at ${place.field}, found ${describeFound(value, quotes)}`;
  throw new RenderError('wrong-type', message, place);
}

/** The kind that a computed `apiVersion` and `kind` name, of those that the child lists. @throws RenderError */
export function chosenKind(
  value: unknown,
  { definition, kind }: CompiledChild,
  quotes: boolean,
): Gvk {
  const chosen = value as Readonly<Record<'apiVersion' | 'kind', unknown>>;
  const kinds = kindsOf(definition);
  const found = kinds.find(
    (gvk) => apiVersionOf(gvk) === chosen.apiVersion && gvk.kind === chosen.kind,
  );
  if (found !== undefined) return found;
  const slot = kind?.slots.find(({ place }) => place.field === 'kind') ?? kind?.slots[0];
  invariant(slot !== undefined, `Child "${definition.id}" has no computed kind`);
  const known = kinds.map((gvk) => `"${apiVersionOf(gvk)}/${gvk.kind}"`).join(', ');
  const text = `${String(chosen.apiVersion)}/${String(chosen.kind)}`;
  const message = `Expected one of ${known} at ${slot.place.field}, found ${describeFound(text, quotes)}`;
  throw new RenderError('invalid-manifest', message, slot.place);
}

/** Whether this is a possible object name that is safe in a URL path. The server checks the rules of each kind. */
export function isObjectName(text: string): boolean {
  return text !== '' && text !== '.' && text !== '..' && text.length <= 253 && !/[/%]/.test(text);
}

/**
 * Checks that a rendered manifest has a valid name and no reserved labels or annotations. The rules of the definition
 * have checked `kind` and `apiVersion`, which are literals.
 * @throws RenderError
 */
export function checkManifest(
  rendered: unknown,
  template: CompiledTemplate,
  { quotes, computedMetadata }: Pick<EvaluationUnit, 'quotes' | 'computedMetadata'>,
): KubeObject {
  const error = reservedNameError(rendered, { computedMetadata, quotes });
  if (error !== undefined) throw error;
  const manifest = rendered as KubeObject;
  const name: unknown = manifest.metadata?.name;
  if (typeof name === 'string' && isObjectName(name)) return manifest;
  const slot = template.slots.find((each) => each.place.field === 'metadata.name');
  const place = slot?.place ?? { ...template.place, field: 'metadata.name' };
  if (name === undefined) {
    throw new RenderError('missing-value', missingValue(slot), place);
  }
  const message = `Expected a name at metadata.name, found ${describeFound(name, quotes)}`;
  throw new RenderError('invalid-manifest', message, place);
}
