import { isJsonObject, type Json } from '../../util/json.ts';
import { isJsonList } from '../json-fields.ts';
import { type StructuralSchema, schemaOfField } from '../schema/index.ts';

const reserved: ReadonlySet<string> = new Set([
  'true',
  'false',
  'null',
  'in',
  'as',
  'break',
  'const',
  'continue',
  'else',
  'for',
  'function',
  'if',
  'import',
  'let',
  'loop',
  'package',
  'namespace',
  'return',
  'var',
  'void',
  'while',
]);

/** A value as rules see it: integers are integers, fields have names that CEL can write. */
export function toCel(value: Json, schema: StructuralSchema | undefined): unknown {
  if (isJsonList(value)) return value.map((item) => toCel(item, schema?.items));
  if (isJsonObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([name, field = null]) => [
        schema?.properties === undefined ? name : celName(name),
        toCel(field, schemaOfField(schema, name)),
      ]),
    );
  if (typeof value === 'number')
    return Number.isInteger(value) && schema?.type !== 'number' ? BigInt(value) : value;
  if (typeof value === 'string' && schema?.type === 'string' && isTime(schema.format))
    return new Date(value);
  return value;
}

function isTime(format: string | undefined): boolean {
  return format === 'date-time' || format === 'date';
}

/** `a-b` is written `a__dash__b`, `namespace` is `__namespace__`. */
export function celName(name: string): string {
  if (reserved.has(name)) return `__${name}__`;
  return name
    .replaceAll('__', '__underscores__')
    .replaceAll('.', '__dot__')
    .replaceAll('-', '__dash__')
    .replaceAll('/', '__slash__');
}
