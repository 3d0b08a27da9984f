import type { KubeObject } from '../../util/kube-object.ts';
import { describeFound } from '../template/found-value.ts';
import { missingValue } from '../template/missing-value.ts';
import { RenderError } from '../template/render-error.ts';
import { isObjectName } from './object-name.ts';
import { ownNameError } from './own-names.ts';
import type { Unit } from './plan-parts.ts';

/**
 * Sees to it that a rendered manifest has a name, and no labels and annotations of ours. Kind and apiVersion are literals, which the definition's rules have checked.
 * @throws RenderError
 */
export function checkManifest(
  rendered: unknown,
  { template, quotes, naming }: Pick<Unit, 'template' | 'quotes' | 'naming'>,
): KubeObject {
  const error = naming && ownNameError(rendered, { naming, quotes });
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
