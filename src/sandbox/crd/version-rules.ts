import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { fieldOf, listField, objectField, stringField } from '../json-fields.ts';
import { errorsOf } from '../kinds/field-checks.ts';
import { clientConfig } from '../kinds/webhook-checks.ts';
import { dns1035Label } from '../metadata/name-rules.ts';
import {
  duplicateField,
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
  tooMany,
  unsupportedValue,
} from '../status/field-error.ts';
import { followPath } from './schema-rules/field-path.ts';

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string'];
const columnFormats = [
  'byte',
  'date',
  'date-time',
  'double',
  'float',
  'int32',
  'int64',
  'password',
];

/** Validates the columns that `kubectl get` shows. */
export function columnErrors(columns: readonly Json[], path: string): readonly FieldError[] {
  return columns.flatMap((column, index) =>
    isJsonObject(column) ? oneColumnErrors(column, `${path}[${index}]`) : [],
  );
}

function oneColumnErrors(column: JsonObject, path: string): readonly FieldError[] {
  const stringOf = (name: string) => stringField(column, name) ?? '';
  const errors: FieldError[] = [];
  if (stringOf('name') === '') errors.push(requiredField(`${path}.name`));
  const types = `must be one of ${columnTypes.join(',')}`;
  if (stringOf('type') === '') errors.push(requiredField(`${path}.type`, types));
  else if (!columnTypes.includes(stringOf('type')))
    errors.push(invalidField(`${path}.type`, stringOf('type'), types));
  if (stringOf('format') !== '' && !columnFormats.includes(stringOf('format'))) {
    const detail = `must be one of ${columnFormats.join(',')}`;
    errors.push(invalidField(`${path}.format`, stringOf('format'), detail));
  }
  return [...errors, ...pathErrors(stringOf('jsonPath'), `${path}.JSONPath`, [])];
}

/** Validates a path of dots below one of the roots (`.spec.`); without roots, anywhere. */
function pathErrors(path: string, field: string, roots: readonly string[]): readonly FieldError[] {
  if (path === '') return [requiredField(field)];
  if (!path.startsWith('.'))
    return [invalidField(field, path, 'must be a simple json path starting with .')];
  if (roots.length === 0 || roots.some((root) => path.startsWith(`${root}.`))) return [];
  const where = roots.length === 1 ? roots[0] : `either ${roots.join(' or ')}`;
  return [invalidField(field, path, `should be a json path under ${where}`)];
}

/** Validates the paths of the scale subresource. */
export function subresourceErrors(subresources: JsonObject, path: string): readonly FieldError[] {
  const scale = objectField(subresources, 'scale');
  if (scale === undefined) return [];
  const at = (name: string, roots: readonly string[]) =>
    pathErrors(stringField(scale, name) ?? '', `${path}.scale.${name}`, roots);
  const hasSelector = (stringField(scale, 'labelSelectorPath') ?? '') !== '';
  return [
    ...at('specReplicasPath', ['.spec']),
    ...at('statusReplicasPath', ['.status']),
    ...(hasSelector ? at('labelSelectorPath', ['.spec', '.status']) : []),
  ];
}

const maxSelectableFields = 8;

/** Validates the fields that field selectors may name. */
export function selectableErrors(
  fields: readonly Json[],
  schema: JsonObject | undefined,
  path: string,
): readonly FieldError[] {
  if (fields.length === 0 || schema === undefined) return [];
  const known = new Set<string>();
  const errors = fields.filter(isJsonObject).flatMap((selectable, index): readonly FieldError[] => {
    const field = `${path}[${index}].jsonPath`;
    const text = stringField(selectable, 'jsonPath') ?? '';
    if (text === '') return [requiredField(field)];
    const found = followPath(schema, text, { allowsBrackets: false });
    if ('problem' in found)
      return [invalidField(field, text, `is an invalid path: ${found.problem}`)];
    const isKnown = known.has(found.steps.join('.'));
    known.add(found.steps.join('.'));
    const [root] = found.steps;
    const type = stringField(found.schema ?? {}, 'type') ?? '';
    return [
      ...(root === 'metadata'
        ? [invalidField(field, text, 'must not point to fields in metadata')]
        : []),
      ...(['string', 'boolean', 'integer'].includes(type)
        ? []
        : [
            invalidField(
              field,
              text,
              'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
            ),
          ]),
      ...(isKnown ? [duplicateField(field, text)] : []),
    ];
  });
  return known.size > maxSelectableFields
    ? [...errors, tooMany(path, known.size, maxSelectableFields)]
    : errors;
}

/** Validates the deprecation of a version. */
export function deprecationErrors(version: JsonObject, path: string): readonly FieldError[] {
  const warning = fieldOf(version, 'deprecationWarning');
  if (typeof warning !== 'string') return [];
  const field = `${path}.deprecationWarning`;
  const invalid = (detail: string) => invalidField(field, warning, detail);
  if (version.deprecated !== true) return [invalid('can only be set for deprecated versions')];
  const errors: FieldError[] = [];
  if (new TextEncoder().encode(warning).length > 256)
    errors.push(invalid('must be <= 256 characters long'));
  if (warning === '') errors.push(invalid('must not be an empty string'));
  const at = warning.search(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u);
  if (at >= 0) {
    const bytes = new TextEncoder().encode(warning.slice(0, at)).length;
    const found = `non-printable character found at index ${bytes}`;
    errors.push(invalid(`must only contain printable UTF-8 characters; ${found}`));
  }
  return errors;
}

const atRoot: ReadonlySet<string> = new Set([
  'description',
  'type',
  'format',
  'title',
  'maximum',
  'exclusiveMaximum',
  'minimum',
  'exclusiveMinimum',
  'maxLength',
  'minLength',
  'pattern',
  'maxItems',
  'minItems',
  'uniqueItems',
  'multipleOf',
  'required',
  'items',
  'properties',
  'externalDocs',
  'example',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-validations',
]);

/** With the status subresource, the root allows only keywords that also apply when the status is validated alone. */
export function rootErrors(schema: JsonObject, path: string): readonly FieldError[] {
  const type = stringField(schema, 'type') ?? '';
  if (type !== '' && type !== 'object') {
    const detail =
      'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
    return [invalidField(`${path}.type`, type, detail)];
  }
  if (Object.keys(schema).every((keyword) => atRoot.has(keyword))) return [];
  const allowed = [...atRoot].map(goName).join(' ');
  const detail = `only [${allowed}] fields are allowed at the root of the schema if the status subresource is enabled`;
  return [invalidField(path, schema, detail)];
}

function goName(keyword: string): string {
  const words = keyword.replace(/^x-kubernetes-/, 'x-').split('-');
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

const path = 'spec.conversion';
const configField = `${path}.webhookClientConfig`;
const reviewsField = `${path}.conversionReviewVersions`;

/** Validates the conversion of versions. */
export function conversionErrors(spec: JsonObject): readonly FieldError[] {
  const conversion = objectField(spec, 'conversion') ?? {};
  const strategy = stringField(conversion, 'strategy') ?? '';
  const webhook = objectField(conversion, 'webhook');
  const config = webhook === undefined ? undefined : objectField(webhook, 'clientConfig');
  const reviews = listField(webhook ?? {}, 'conversionReviewVersions').map(String);
  if (strategy === 'Webhook') return [...configErrors(config), ...reviewErrors(reviews)];
  const strategies = ['None', 'Webhook'];
  const field = `${path}.strategy`;
  const errors: FieldError[] = [];
  if (strategy === '') errors.push(requiredField(field));
  else if (strategy !== 'None') errors.push(unsupportedValue(field, strategy, strategies));
  const detail = 'should not be set when strategy is not set to Webhook';
  if (config !== undefined) errors.push(forbiddenField(configField, detail));
  if (reviews.length > 0) errors.push(forbiddenField(reviewsField, detail));
  return errors;
}

function configErrors(config: JsonObject | undefined): readonly FieldError[] {
  if (config === undefined)
    return [requiredField(configField, 'required when strategy is set to Webhook')];
  return errorsOf(clientConfig, config, configField);
}

const understood = ['v1', 'v1beta1'];

function reviewErrors(versions: readonly string[]): readonly FieldError[] {
  if (versions.length === 0) return [requiredField(reviewsField)];
  const errors = versions.flatMap((version, index) => {
    const field = `${reviewsField}[${index}]`;
    if (versions.indexOf(version) < index)
      return [invalidField(field, version, 'duplicate version')];
    return dns1035Label(version).map((problem) => invalidField(field, version, problem));
  });
  if (versions.some((version) => understood.includes(version))) return errors;
  const detail = `must include at least one of ${understood.join(', ')}`;
  return [...errors, invalidField(reviewsField, versions, detail)];
}
