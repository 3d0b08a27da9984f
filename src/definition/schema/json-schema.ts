/** A node of a JSON schema (draft 7). `title` says in a few words what is expected: messages use it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** A map with these fields and no others. */
export function struct(
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

/** A list of one kind of items. */
export function listOf(description: string, items: JsonSchema): JsonSchema {
  return { type: 'array', description, items };
}

/** A map with free names. */
export function mapOf(description: string, values: JsonSchema): JsonSchema {
  return { type: 'object', description, additionalProperties: values };
}

export function text(description: string, more: JsonSchema = {}): JsonSchema {
  return { type: 'string', description, ...more };
}

export function flag(description: string, byDefault?: boolean): JsonSchema {
  return {
    type: 'boolean',
    description,
    ...(byDefault === undefined ? {} : { default: byDefault }),
  };
}

/** One of these words. */
export function word(description: string, values: readonly string[]): JsonSchema {
  return { type: 'string', description, enum: values };
}

/** One of these words; the first is the default. */
export function choice(description: string, values: readonly string[]): JsonSchema {
  return { ...word(description, values), default: values[0] };
}

/** Any value, whose texts may hold expressions. */
export function template(description: string): JsonSchema {
  return { description };
}

/** `30s`, `1h30m`, `500ms`. */
export function duration(description: string, byDefault?: string): JsonSchema {
  return {
    type: 'string',
    description,
    title: 'a duration such as "30s", "5m" or "1h30m"',
    pattern: '^(?:0|(?:\\d+(?:\\.\\d+)?(?:ms|s|m|h|d))+)$',
    ...(byDefault === undefined ? {} : { default: byDefault }),
  };
}

export function wholeNumber(description: string, more: JsonSchema = {}): JsonSchema {
  return { type: 'integer', description, ...more };
}
