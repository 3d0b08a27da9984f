import type { CheckContext } from '../check-context.ts';
import type { Reference } from '../language/index.ts';
import { type SchemaType, throughLists } from '../schema/schema-type.ts';
import type { TemplateUse } from '../template-uses.ts';

/**
 * The type of what a path of an expression selects: lists are transparent, as in JSONata, and so are maps. Undefined: not known.
 * @param itemType the type of `$item`
 */
export function elementTypeOf(
  { root, path }: Pick<Reference, 'root' | 'path'>,
  { child }: Pick<TemplateUse, 'child'>,
  { parts, types }: CheckContext,
  itemType: () => SchemaType | undefined,
): SchemaType | undefined {
  const [id = '', ...below] = path;
  switch (root) {
    case 'resource':
      return elementAt(types.root, path);
    case 'item':
      return elementAt(itemType(), path);
    case 'child':
      return elementAt(child?.type, path);
    case 'children':
    case 'observed':
      return elementAt(parts.children.find(({ definition }) => definition.id === id)?.type, below);
    case 'reads':
      return elementAt(parts.reads.find(({ definition }) => definition.id === id)?.type, below);
    default:
      return undefined;
  }
}

function elementAt(start: SchemaType | undefined, path: readonly string[]): SchemaType | undefined {
  const found = path.reduce<SchemaType | undefined>((type, step) => {
    const inner = throughLists(type);
    if (inner?.kind === 'map') return inner.item;
    return inner?.kind === 'struct' ? inner.fields.get(step)?.type : undefined;
  }, start);
  return throughLists(found);
}

/** Whether values of a type are numbers that need not be integers. */
export function isFractionType(type: SchemaType | undefined): boolean {
  return type?.kind === 'scalar' && type.accepts.every((name) => name === 'number');
}
