import type { JsonSchema } from './json-schema.ts';
import type { ScalarName, ScalarType } from './schema-type.ts';

/** Built-in components that are scalars on the wire whatever their schema says, by the end of their name. */
const scalarComponents: readonly [RegExp, Pick<ScalarType, 'accepts' | 'format'>][] = [
  [/\.api\.resource\.Quantity$/, { accepts: ['string', 'number'], format: 'quantity' }],
  [/\.meta\.v1\.(Micro)?Time$/, { accepts: ['string'], format: 'time' }],
  [/\.intstr\.IntOrString$/, { accepts: ['integer', 'string'], format: 'exact' }],
];

/** The scalar that a built-in component stands for, or undefined when it is something else. */
export function scalarComponent(name: string): ScalarType | undefined {
  const known = scalarComponents.find(([pattern]) => pattern.test(name));
  return known && { kind: 'scalar', builtIn: true, ...known[1] };
}

/** A schema without fields or items. */
export function scalarOf(schema: JsonSchema, builtIn: boolean): ScalarType {
  return {
    kind: 'scalar',
    builtIn,
    accepts: acceptedBy(schema),
    // Custom resources keep base64 as it was written; Go decodes and encodes it anew.
    format: builtIn && schema.format === 'byte' ? 'base64' : 'exact',
    ...(schema.enum === undefined ? {} : { enum: schema.enum }),
  };
}

function acceptedBy(schema: JsonSchema): readonly ScalarName[] {
  if (schema['x-kubernetes-int-or-string'] || schema.format === 'int-or-string')
    return ['integer', 'string'];
  const own = scalarName(schema.type);
  if (own !== undefined) return [own];
  const alternatives = [...(schema.oneOf ?? []), ...(schema.anyOf ?? [])].map(({ type }) =>
    scalarName(type),
  );
  const names = new Set(alternatives.filter((name) => name !== undefined));
  return names.size === 0 ? ['unknown'] : [...names];
}

function scalarName(type: string | undefined): ScalarName | undefined {
  return type === 'string' || type === 'integer' || type === 'number' || type === 'boolean'
    ? type
    : undefined;
}
