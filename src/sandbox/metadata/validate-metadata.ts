import { deepEqual } from '#util/deep-equal.ts';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { goQuote } from '../go-value.ts';
import { listField, objectField, stringField } from '../json-fields.ts';
import {
  type FieldError,
  forbiddenField,
  invalidField,
  invalidStruct,
  requiredField,
  tooLong,
} from '../status/field-error.ts';
import { dnsLabel, labelValueRule, type NameRule, qualifiedName } from './name-rules.ts';

export interface MetadataRules {
  readonly namespaced: boolean;
  readonly nameRule: NameRule;
  /** Rejects finalizers without a domain; for custom resources they only cause a warning. */
  readonly strictFinalizers: boolean;
}

const maxAnnotationBytes = 256 * 1024;

/** Validates the metadata of an object. */
export function validateMetadata(
  metadata: JsonObject,
  rules: MetadataRules,
): readonly FieldError[] {
  return [
    ...nameErrors(metadata, rules),
    ...namespaceErrors(metadata, rules),
    ...labelErrors(objectField(metadata, 'labels') ?? {}, 'metadata.labels'),
    ...annotationErrors(objectField(metadata, 'annotations') ?? {}, 'metadata.annotations'),
    ...(Number(metadata.generation ?? 0) < 0
      ? [
          invalidField(
            'metadata.generation',
            metadata.generation,
            'must be greater than or equal to 0',
          ),
        ]
      : []),
    ...ownerErrors(metadata),
    ...finalizerErrors(metadata, rules),
  ];
}

function nameErrors(metadata: JsonObject, { nameRule }: MetadataRules): readonly FieldError[] {
  const name = stringField(metadata, 'name') ?? '';
  const generateName = stringField(metadata, 'generateName') ?? '';
  const prefixErrors =
    generateName === ''
      ? []
      : nameRule(generateName.replace(/-$/, 'a')).map((message) =>
          invalidField('metadata.generateName', generateName, message),
        );
  if (name === '')
    return [...prefixErrors, requiredField('metadata.name', 'name or generateName is required')];
  const errors = nameRule(name).map((message) => invalidField('metadata.name', name, message));
  return [...prefixErrors, ...errors];
}

function namespaceErrors(metadata: JsonObject, { namespaced }: MetadataRules) {
  const namespace = stringField(metadata, 'namespace') ?? '';
  if (!namespaced) {
    if (namespace === '') return [];
    return [forbiddenField('metadata.namespace', 'not allowed on this type')];
  }
  if (namespace === '') return [requiredField('metadata.namespace')];
  return dnsLabel(namespace).map((message) =>
    invalidField('metadata.namespace', namespace, message),
  );
}

/** Validates labels of an object or a selector. */
export function labelErrors(labels: JsonObject, at: string): readonly FieldError[] {
  return Object.entries(labels).flatMap(([key, value]) => [
    ...qualifiedName(key).map((message) => invalidField(at, key, message)),
    ...labelValueRule(String(value)).map((message) => invalidField(at, value, message)),
  ]);
}

export function annotationErrors(annotations: JsonObject, at: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  let size = 0;
  for (const [key, value] of Object.entries(annotations)) {
    size += key.length + String(value).length;
    for (const message of qualifiedName(key.toLowerCase()))
      errors.push(invalidField(at, key, message));
  }
  if (size > maxAnnotationBytes) errors.push(tooLong(at, maxAnnotationBytes));
  return errors;
}

function ownerErrors(metadata: JsonObject): readonly FieldError[] {
  const field = 'metadata.ownerReferences';
  const errors: FieldError[] = [];
  let controller: string | undefined;
  const owners = listField(metadata, 'ownerReferences');
  for (const owner of owners) {
    if (!isJsonObject(owner)) continue;
    for (const name of ['apiVersion', 'kind', 'name', 'uid'] as const) {
      if ((stringField(owner, name) ?? '') !== '') continue;
      const detail = name === 'apiVersion' ? 'version must not be empty' : 'must not be empty';
      errors.push(invalidField(`${field}.${name}`, '', detail));
    }
    if (owner.controller !== true) continue;
    const name = `${owner.kind}/${owner.name}`;
    if (controller !== undefined) {
      const detail = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`;
      errors.push(invalidStruct(field, owners.filter(isJsonObject).map(inGoOrder), detail));
    }
    controller ??= name;
  }
  return errors;
}

/** The server prints owner references with their fields in this order. */
function inGoOrder(owner: JsonObject): JsonObject {
  const names = ['apiVersion', 'kind', 'name', 'uid', 'controller', 'blockOwnerDeletion'];
  const present = names.filter((name) => owner[name] !== undefined);
  return Object.fromEntries(present.map((name) => [name, owner[name]]));
}

const orphan = 'orphan';
const foreground = 'foregroundDeletion';
const standardFinalizers = new Set([orphan, foreground, 'kubernetes']);

function finalizerErrors(metadata: JsonObject, rules: MetadataRules): readonly FieldError[] {
  const field = 'metadata.finalizers';
  const finalizers = stringsOf(metadata, 'finalizers');
  const errors = finalizers.flatMap((finalizer) =>
    qualifiedName(finalizer).map((message) => invalidField(field, finalizer, message)),
  );
  if (rules.strictFinalizers) errors.push(...strictFinalizerErrors(metadata));
  if (finalizers.includes(orphan) && finalizers.includes(foreground)) {
    const detail = `finalizer ${orphan} and ${foreground} cannot be both set`;
    errors.push(invalidField(field, finalizers, detail));
  }
  return errors;
}

/** Finalizers of built-in kinds must be standard ones or have a domain. */
export function strictFinalizerErrors(metadata: JsonObject): readonly FieldError[] {
  const detail = 'name is neither a standard finalizer name nor is it fully qualified';
  return stringsOf(metadata, 'finalizers').flatMap((finalizer, index) => {
    const isKnown = finalizer.includes('/') || standardFinalizers.has(finalizer);
    return isKnown ? [] : [invalidField(`metadata.finalizers[${index}]`, finalizer, detail)];
  });
}

/** Warnings for finalizers that the server accepts but discourages. */
export function finalizerWarnings(
  metadata: JsonObject,
  before: JsonObject | undefined,
): readonly string[] {
  const old = new Set(before === undefined ? [] : stringsOf(before, 'finalizers'));
  return stringsOf(metadata, 'finalizers')
    .filter((finalizer) => !old.has(finalizer))
    .filter((finalizer) => !finalizer.includes('/') && !standardFinalizers.has(finalizer))
    .sort()
    .map((finalizer) => {
      const how = finalizer.includes('.') ? ' including a path (/)' : '';
      return `metadata.finalizers: ${goQuote(finalizer)}: prefer a domain-qualified finalizer name${how} to avoid accidental conflicts with other finalizer writers`;
    });
}

/** Changes of immutable metadata. */
export function validateMetadataUpdate(
  metadata: JsonObject,
  before: JsonObject,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (before.deletionTimestamp !== undefined) {
    const old = new Set(stringsOf(before, 'finalizers'));
    const added = stringsOf(metadata, 'finalizers').filter((finalizer) => !old.has(finalizer));
    const list = `[]string{${added.sort().map(goQuote).join(', ')}}`;
    const detail = `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`;
    if (added.length > 0) errors.push(forbiddenField('metadata.finalizers', detail));
  }
  for (const name of [
    'name',
    'namespace',
    'uid',
    'creationTimestamp',
    'deletionTimestamp',
    'deletionGracePeriodSeconds',
  ] as const) {
    const value: Json | undefined = metadata[name];
    if (!deepEqual(value, before[name]))
      errors.push(invalidField(`metadata.${name}`, value, 'field is immutable'));
  }
  return errors;
}

/** The strings of a list; other items are ignored. */
export function stringsOf(object: JsonObject, name: string): readonly string[] {
  return listField(object, name).filter((item) => typeof item === 'string');
}
