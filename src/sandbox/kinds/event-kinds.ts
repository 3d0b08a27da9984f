import type { JsonObject } from '../../util/json.ts';
import { fieldOf, objectField, stringField, withField } from '../json-fields.ts';
import { type FieldError, invalidField, requiredField, unsupportedValue } from '../status/index.ts';
import type { BuiltinRules } from './builtin-kind.ts';
import { resourceNames } from './resource-names.ts';
import type { Conversion } from './served-kind.ts';

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
  selectableFields: [...coreFields, 'reason', 'reportingComponent', 'source', 'type'],
  writtenZeros: withWrittenZeros,
  validate: (event) => namespaceErrors(event, 'involvedObject'),
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

function namespaceErrors(event: JsonObject, field: string): readonly FieldError[] {
  const metadata = objectField(event, 'metadata') ?? {};
  const namespace = stringField(metadata, 'namespace') ?? '';
  const involved = stringField(objectField(event, field) ?? {}, 'namespace') ?? '';
  if (involved === namespace || (involved === '' && namespace === 'default')) return [];
  // Whatever the version, the server names the field of the core one.
  return [invalidField('involvedObject.namespace', involved, 'does not match event.namespace')];
}

/** The same fields by other names. */
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

/** The Events of the core group by the names of their new one. */
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
  validate: (event) => [...namespaceErrors(event, 'regarding'), ...newEventErrors(event)],
};

/** Whoever writes Events in their new form says who and what. */
function newEventErrors(event: JsonObject): readonly FieldError[] {
  const required = (field: string, name = field) =>
    stringField(event, field) ? [] : [requiredField(name)];
  const type = stringField(event, 'type') ?? '';
  const types = ['Normal', 'Warning'];
  if (event.eventTime === null || event.eventTime === undefined) return [];
  return [
    ...required('reportingController'),
    ...required('reportingInstance'),
    ...required('action'),
    ...required('reason'),
    ...(types.includes(type) ? [] : [unsupportedValue('type', type, types)]),
  ];
}
