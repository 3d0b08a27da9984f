import { isJsonObject, type Json } from '#util/json.ts';
import type { CelEnvironment } from '../../cel/cel-environment.ts';
import { readRules } from '../../cel/rule-set.ts';
import { fieldOf, isJsonList, objectField } from '../../json-fields.ts';
import { validateEmbedded } from '../../kinds/embedded-resources.ts';
import { pruneObject, type StructuralSchema } from '../../schema/structural-schema.ts';
import { validateValue } from '../../schema/validate-value.ts';
import { type FieldError, invalidField } from '../../status/field-error.ts';
import type { BareNode, SchemaNode } from './schema-node.ts';

/** Defaults that do not fit their own schema. Defaults of metadata are forbidden; those below additional properties are not checked. */
export function defaultErrors(
  root: SchemaNode,
  environment: CelEnvironment,
): readonly FieldError[] {
  const metaFields = ['apiVersion', 'kind', 'metadata'];
  const fields = root.fields.filter(({ name }) => !metaFields.includes(name));
  const below = [...fields, root.items].flatMap((node) =>
    node === undefined ? [] : errorsBelow(node, environment),
  );
  const value = fieldOf(root.schema, 'default') ?? null;
  if (value === null) return below;
  // The root is also a resource.
  const schema = { ...root.schema, 'x-kubernetes-embedded-resource': true };
  return [...errorsOf({ path: root.path, schema }, value, environment), ...below];
}

function errorsBelow(node: SchemaNode, environment: CelEnvironment): readonly FieldError[] {
  const { items, fields } = node;
  const value = fieldOf(node.schema, 'default') ?? null;
  return [
    ...(value === null ? [] : errorsOf(node, value, environment)),
    ...(items === undefined ? [] : errorsBelow(items, environment)),
    ...fields.flatMap((field) => errorsBelow(field, environment)),
  ];
}

function errorsOf(
  { schema, path }: BareNode,
  value: Json,
  environment: CelEnvironment,
): readonly FieldError[] {
  const field = `${path}.default`;
  const structural = schema as StructuralSchema;
  const wrapper = { type: 'object', properties: { value: structural } };
  const { unknownFields } = pruneObject(wrapper, { value });
  const pruned =
    unknownFields.length === 0 ? [] : [invalidField(field, value, 'must not have unknown fields')];
  const embedded = validateEmbedded(structural, value, field);
  if (embedded.length > 0) return [...pruned, ...embedded];
  const untyped = withoutIntOrString(schema) as StructuralSchema;
  const wrong = validateValue({ schema: untyped, value, path: '', before: undefined });
  if (wrong.length > 0)
    return [...pruned, ...wrong.map((error) => placed(error, field, structural))];
  const rules = readRules(environment, structural);
  const newErrors = rules.check(value, undefined).errors;
  // An error that the previous version has too does not reject the CRD.
  const broken = newErrors.length > 0 ? newErrors : rules.check(value, value).errors;
  return [...pruned, ...broken.map((error) => placed(error, field, structural))];
}

/** The server does not check the type of defaults for integer-or-string fields. */
function withoutIntOrString(value: Json): Json {
  if (isJsonList(value)) return value.map(withoutIntOrString);
  if (!isJsonObject(value)) return value;
  const { 'x-kubernetes-int-or-string': _, ...kept } = value;
  const entries = Object.entries(kept).map(([name, field = null]): [string, Json] => [
    name,
    withoutIntOrString(field),
  ]);
  return Object.fromEntries(entries);
}

/** The server writes the path within a default after a dot, and keys of maps with one dot more. */
function placed(error: FieldError, field: string, schema: StructuralSchema): FieldError {
  const { field: at, message } = error;
  if (at === '' || at === '<nil>') return { ...error, field };
  const [name = ''] = at.split(/[.[]/, 1);
  const isKey =
    typeof schema.additionalProperties === 'object' &&
    !Object.hasOwn(objectField(schema as never, 'properties') ?? {}, name);
  const text = isKey ? message.replace(`: ${at} in body`, `: .${at} in body`) : message;
  return { ...error, field: `${field}.${at}`, message: text };
}
