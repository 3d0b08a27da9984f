/** A node of a JSON schema (draft 7). Messages use `title` to describe the expected value. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** An object with exactly these fields. */
export function objectSchema(
  description: string,
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[] = [],
): JsonSchema {
  return {
    type: 'object',
    description,
    properties,
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
}

/** A list. */
export function listSchema(description: string, items: JsonSchema): JsonSchema {
  return { type: 'array', description, items };
}

/** A map with arbitrary keys. */
export function mapSchema(description: string, values: JsonSchema): JsonSchema {
  return { type: 'object', description, additionalProperties: values };
}

export function stringSchema(description: string, more: JsonSchema = {}): JsonSchema {
  return { type: 'string', description, ...more };
}

export function booleanSchema(description: string, defaultValue?: boolean): JsonSchema {
  return {
    type: 'boolean',
    description,
    ...(defaultValue === undefined ? {} : { default: defaultValue }),
  };
}

/** One of these values. */
export function enumSchema(description: string, values: readonly string[]): JsonSchema {
  return { type: 'string', description, enum: values };
}

/** One of these values; the first is the default. */
export function enumWithDefault(description: string, values: readonly string[]): JsonSchema {
  return { ...enumSchema(description, values), default: values[0] };
}

/** Any value; its strings may contain expressions. */
export function templateSchema(description: string): JsonSchema {
  return { description };
}

/** `30s`, `1h30m`, `500ms`. */
export function durationSchema(description: string, defaultValue?: string): JsonSchema {
  return {
    type: 'string',
    description,
    title: 'a duration such as "30s", "5m" or "1h30m"',
    examples: ['30s', '5m', '1h30m'],
    pattern: '^(?:0|(?:\\d+(?:\\.\\d+)?(?:ms|s|m|h|d))+)$',
    ...(defaultValue === undefined ? {} : { default: defaultValue }),
  };
}

export function integerSchema(description: string, more: JsonSchema = {}): JsonSchema {
  return { type: 'integer', description, ...more };
}
