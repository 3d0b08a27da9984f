import { isOwnName } from '../../util/own-name.ts';
import { describeFound } from '../template/found-value.ts';
import { RenderError } from '../template/render-error.ts';
import type { CompiledTemplate, Slot } from '../template/template.ts';
import type { Unit } from './plan-parts.ts';

const maps = ['labels', 'annotations'] as const;

/** Expressions of a manifest that can name labels or annotations: as a whole map, or as the key of one. */
export function namingSlots({ slots, pointer }: CompiledTemplate): readonly Slot[] {
  return slots.filter((slot) =>
    maps.some((field) => {
      const map = `${pointer}/metadata/${field}`;
      return slot.pointer === map || (slot.role === 'key' && slot.pointer.startsWith(`${map}/`));
    }),
  );
}

/** Why the labels and annotations of a rendered manifest cannot be: whoever makes a resource would else say what we know an object by. */
export function ownNameError(
  rendered: unknown,
  { naming, quotes }: Pick<Unit, 'naming' | 'quotes'>,
): RenderError | undefined {
  const [slot] = naming ?? [];
  if (slot === undefined) return undefined;
  const { metadata } = rendered as { readonly metadata?: Metadata };
  for (const field of maps) {
    const name = Object.keys(metadata?.[field] ?? {}).find(isOwnName);
    if (name === undefined) continue;
    const found = describeFound(name, quotes);
    const message = `Names under "homeostat.dev/" are written by Homeostat alone, found ${found} in metadata.${field}`;
    return new RenderError('invalid-manifest', message, slot.place);
  }
  return undefined;
}

type Metadata = { readonly [field in (typeof maps)[number]]?: Readonly<Record<string, unknown>> };
