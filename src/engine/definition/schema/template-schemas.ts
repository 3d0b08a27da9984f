import type { JsonSchema } from './json-schema.ts';

/** A boolean, or an expression that returns one. */
export const conditionTemplate = (description: string, defaultValue?: boolean): JsonSchema => ({
  type: ['boolean', 'string'],
  description,
  title: 'true, false or an expression "${ ... }"',
  examples: ['${ $exists(spec.host) }'],
  ...(defaultValue === undefined ? {} : { default: defaultValue }),
});

/** A list, or an expression that returns one. */
export const listTemplate = (description: string): JsonSchema => ({
  type: ['array', 'string'],
  description,
  title: 'a list or an expression "${ ... }" that returns one',
  examples: ['${ spec.hosts }', '${ [0..spec.replicas - 1] }'],
});

/** The manifest of an object. */
export const manifest: JsonSchema = {
  type: 'object',
  description:
    'The manifest. Strings may contain expressions, `apiVersion` and `kind` only with `kinds`. Default namespace: the namespace of the resource.',
  examples: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: '${ metadata.name }' } }],
};
