import type { JsonObject } from '#util/json.ts';
import { fieldOf, objectField, stringField, withField } from '../json-fields.ts';
import { pathSegment, qualifiedName } from '../metadata/name-rules.ts';
import { type FieldError, invalidField, requiredField } from '../status/field-error.ts';
import type { BuiltinRules } from './builtin-kind.ts';
import { changedFields } from './field-checks.ts';
import { type Conversion, resourceNames } from './served-kind.ts';

const coreFields = [
  'involvedObject.kind',
  'involvedObject.namespace',
  'involvedObject.name',
  'involvedObject.uid',
  'involvedObject.apiVersion',
  'involvedObject.resourceVersion',
  'involvedObject.fieldPath',
];

export const eventRules: BuiltinRules = {
  names: resourceNames({
    apiVersion: 'v1',
    kind: 'Event',
    plural: 'events',
    namespaced: true,
    shortNames: ['ev'],
  }),
  createsOnUpdate: true,
  nameRule: pathSegment,
  selectableFields: [...coreFields, 'reason', 'reportingComponent', 'source', 'type'],
  writtenZeros: withWrittenZeros,
  validate: (event) => eventErrors(event, 'reportingComponent'),
};

/** Fields of an Event that are always written, null or empty. */
function withWrittenZeros(object: JsonObject): JsonObject {
  return {
    ...object,
    reportingComponent: object.reportingComponent ?? '',
    reportingInstance: object.reportingInstance ?? '',
    source: object.source ?? {},
  };
}

/** Rules for Events of both groups; Events of `events.k8s.io` need an eventTime. */
function eventErrors(event: JsonObject, reporterField: string): readonly FieldError[] {
  const required = (field: string, name = field) =>
    stringField(event, field) ? [] : [requiredField(name)];
  const isNew = typeof event.eventTime === 'string';
  const short = (field: string, most: number) =>
    String(event[field] ?? '').length > most
      ? [invalidField(field, '', `can have at most ${most} characters`)]
      : [];
  return [
    ...namespaceErrors(event, isNew),
    ...(isNew
      ? [
          ...required('reportingComponent', reporterField),
          ...reporterErrors(event, reporterField),
          ...required('reportingInstance'),
          ...required('action'),
          ...required('reason'),
          ...['reportingInstance', 'action', 'reason'].flatMap((field) => short(field, 128)),
        ]
      : []),
  ];
}

function reporterErrors(event: JsonObject, field: string): readonly FieldError[] {
  const reporter = stringField(event, 'reportingComponent') ?? '';
  return qualifiedName(reporter).map((message) => invalidField(field, reporter, message));
}

function namespaceErrors(event: JsonObject, isNew: boolean): readonly FieldError[] {
  const metadata = objectField(event, 'metadata') ?? {};
  const namespace = stringField(metadata, 'namespace') ?? '';
  const involved = stringField(objectField(event, 'involvedObject') ?? {}, 'namespace') ?? '';
  const allowedNamespaces = isNew ? ['default', 'kube-system'] : ['default'];
  if (involved === '' ? allowedNamespaces.includes(namespace) : isNew || involved === namespace)
    return [];
  return [invalidField('involvedObject.namespace', involved, 'does not match event.namespace')];
}

/** The same fields with different names. */
const renamed: readonly (readonly [core: string, name: string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
];

const conversion: Conversion = {
  fromStored(event) {
    const converted = rename(event, renamed);
    return ['reportingController', 'reportingInstance']
      .filter((name) => converted[name] === '')
      .reduce((kept, name) => withField(kept, name, undefined), converted);
  },
  toStored: (event) =>
    withWrittenZeros(
      rename(
        event,
        renamed.map(([core, name]) => [name, core]),
      ),
    ),
};

function rename(event: JsonObject, names: readonly (readonly [string, string])[]): JsonObject {
  return names.reduce((converted, [from, to]) => {
    const value = fieldOf(converted, from);
    if (value === undefined) return converted;
    return withField(withField(converted, from, undefined), to, value);
  }, event);
}

/** Events in `events.k8s.io`, stored as core Events. */
export const newEventRules: BuiltinRules = {
  names: resourceNames({
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    plural: 'events',
    namespaced: true,
    shortNames: ['ev'],
  }),
  storedAs: { collection: '/events', apiVersion: 'v1', ...conversion },
  createsOnUpdate: true,
  selectableFields: [
    ...coreFields.map((field) => field.replace('involvedObject', 'regarding')),
    'reason',
    'reportingController',
    'type',
  ],
  validate: (event) => eventErrors(conversion.toStored(event), 'reportingController'),
  validateCreate: newEventErrors,
  validateUpdate: (event, before) =>
    changedFields(conversion.toStored(event), conversion.toStored(before), fixed).map((error) => ({
      ...error,
      field: error.field.replace('Component', 'Controller'),
    })),
};

/** What an update in `events.k8s.io` does not change, by the names in the core form. */
const fixed = {
  involvedObject: null,
  reason: '',
  message: '',
  source: null,
  firstTimestamp: null,
  lastTimestamp: null,
  count: 0,
  type: '',
  eventTime: null,
  action: '',
  related: null,
  reportingComponent: '',
  reportingInstance: '',
};

/** Events created in `events.k8s.io` must not set fields of the core form. */
function newEventErrors(event: JsonObject): readonly FieldError[] {
  const type = stringField(event, 'type') ?? '';
  const set = (field: string, name: string) =>
    event[field] === undefined || event[field] === null
      ? []
      : [invalidField(name, '', 'needs to be unset')];
  return [
    ...(typeof event.eventTime === 'string' ? [] : [requiredField('eventTime')]),
    ...(['Normal', 'Warning'].includes(type)
      ? []
      : [invalidField('type', '', `has invalid value: ${type}`)]),
    ...set('deprecatedFirstTimestamp', 'firstTimestamp'),
    ...set('deprecatedLastTimestamp', 'lastTimestamp'),
    ...set('deprecatedCount', 'count'),
  ];
}
