import { fieldsOf, isRequired, itemOf, type SchemaNode } from '#compile';

/** A schema as `explain` prints it. */
export interface SchemaView {
  /** As kubectl prints it: `Object`, `[]Container`, `map[string]string`, `integer`. */
  readonly typeName: string;
  readonly description: string;
  /** Values that are accepted; empty: all of the type. */
  readonly enum: readonly unknown[];
  /** Undefined: none. */
  readonly default: unknown;
  /** Fields of the object, of the items of the list, or of the values of the map. */
  readonly fields: readonly SchemaField[];
}

export interface SchemaField {
  readonly name: string;
  readonly isRequired: boolean;
  /** Follows the schema of the field: one that contains itself has no end. */
  view(): SchemaView;
}

export function viewSchema(node: SchemaNode): SchemaView {
  const { schema } = node;
  const inner = innermost(node);
  return {
    typeName: typeNameOf(node),
    description: (node.description ?? inner.description ?? '').trim(),
    enum: Array.isArray(schema.enum)
      ? schema.enum
      : schema.const === undefined
        ? []
        : [schema.const],
    default: schema.default,
    fields: [...fieldsOf(inner)]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, field]) => ({
        name,
        isRequired: isRequired(inner, name),
        view: () => viewSchema(field),
      })),
  };
}

/** Through lists and maps. */
function innermost(node: SchemaNode): SchemaNode {
  const item = itemOf(node);
  return item === undefined ? node : innermost(item);
}

function typeNameOf(node: SchemaNode): string {
  const { schema, name } = node;
  const { type } = schema;
  const item = itemOf(node);
  if (item !== undefined)
    return `${schema.items === undefined ? 'map[string]' : '[]'}${typeNameOf(item)}`;
  if (schema['x-kubernetes-int-or-string'] === true || schema.format === 'int-or-string')
    return 'IntOrString';
  if (name !== undefined && (type === 'object' || type === undefined || schema.oneOf))
    return name.split('.').at(-1) ?? 'Object';
  if (Array.isArray(type)) return type.join(' or ');
  return type === undefined || type === 'object' ? 'Object' : String(type);
}
