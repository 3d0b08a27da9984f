import { type JsonObject, objectAt } from '#util/json.ts';

/** A node of the OpenAPI schema of a CustomResourceDefinition. */
export type KindSchema = JsonObject;

/** An object with exactly these fields. */
export function fields(
  description: string,
  properties: Readonly<Record<string, KindSchema>>,
  required: readonly string[] = [],
): KindSchema {
  return {
    type: 'object',
    description,
    properties,
    ...(required.length > 0 && { required }),
  };
}

/** An object with exactly one of these fields. */
export function oneOf(
  description: string,
  properties: Readonly<Record<string, KindSchema>>,
): KindSchema {
  const names = Object.keys(properties);
  return { ...fields(description, properties), oneOf: names.map((name) => ({ required: [name] })) };
}

export function text(description: string, more: JsonObject = {}): KindSchema {
  return { type: 'string', description, ...more };
}

export function flag(description: string, standard: boolean): KindSchema {
  return { type: 'boolean', description: `${description} Default: ${standard}.` };
}

export function whole(description: string, minimum: number, maximum: number): KindSchema {
  return { type: 'integer', description, minimum, maximum };
}

/** One of these texts. */
export function choice(description: string, values: readonly string[]): KindSchema {
  return { type: 'string', description, enum: values };
}

/** Applied as a whole: a server-side apply that removes the last field of a merged map makes it `null`, which is rejected. */
const atomic: JsonObject = { 'x-kubernetes-map-type': 'atomic' };

/** A map of texts to values of one schema. */
export function mapOf(description: string, values: KindSchema, more: JsonObject = {}): KindSchema {
  return { type: 'object', description, additionalProperties: values, ...atomic, ...more };
}

export function listOf(description: string, items: KindSchema, more: JsonObject = {}): KindSchema {
  return { type: 'array', description, items, 'x-kubernetes-list-type': 'atomic', ...more };
}

/** Any JSON object, whose content is data. */
export function anyFields(description: string): KindSchema {
  return { type: 'object', description, 'x-kubernetes-preserve-unknown-fields': true, ...atomic };
}

/** A text, number or boolean. */
export function scalar(description: string): KindSchema {
  return { description, 'x-kubernetes-preserve-unknown-fields': true };
}

export function duration(description: string): KindSchema {
  return text(description, { pattern: '^(?:0|(?:\\d+(?:\\.\\d+)?(?:ms|s|m|h))+)$' });
}

/** Code of the author: `$( expression )`. */
export function code(description: string): KindSchema {
  return text(description, { maxLength: 4096 });
}

/** A value of a Secret or ConfigMap in the namespace of the object. */
export function valueFrom(description: string): KindSchema {
  const reference = (kind: string) =>
    fields(
      `A key of a ${kind}.`,
      { name: objectName(kind), key: text('The key.', { minLength: 1 }) },
      ['name', 'key'],
    );
  return oneOf(description, {
    secretKeyRef: reference('Secret'),
    configMapKeyRef: reference('ConfigMap'),
  });
}

export function objectName(kind: string): KindSchema {
  return text(`Name of the ${kind}.`, { minLength: 1, maxLength: 253 });
}

/** `status.conditions`. */
export const conditions: KindSchema = {
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
  items: fields(
    'A condition.',
    {
      type: text('`Ready` is the summary.'),
      status: choice('Whether it holds.', ['True', 'False', 'Unknown']),
      reason: text('Reason in CamelCase.'),
      message: text('Message for users.'),
      observedGeneration: { type: 'integer', format: 'int64', description: 'The generation.' },
      lastTransitionTime: text('When the status changed.', { format: 'date-time' }),
    },
    ['type', 'status', 'reason', 'message', 'lastTransitionTime'],
  ),
};

/** Until the controller has seen an object, it is not ready: one without conditions would be. */
const pending: JsonObject = {
  ...{ type: 'Ready', status: 'Unknown', reason: 'Pending' },
  message: 'Waiting for the controller',
  lastTransitionTime: '1970-01-01T00:00:00Z',
};

/** The schema of a whole object. */
export function kindSchema(parts: {
  readonly description: string;
  readonly spec: KindSchema;
  readonly status: Readonly<Record<string, KindSchema>>;
}): KindSchema {
  return {
    type: 'object',
    description: parts.description,
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
      spec: parts.spec,
      status: {
        ...fields('Status, written by Homeostat.', parts.status),
        default: { conditions: [pending] },
      },
    },
  };
}

/** The schema of a field. Undefined: the object has no such field. */
export function fieldSchema(schema: KindSchema, name: string): KindSchema | undefined {
  return objectAt(objectAt(schema, 'properties'), name);
}
