import type { JsonObject } from '#util/json.ts';
import type { ContractCase, ContractStep } from '../driver/index.ts';
import { crd, crds, gadget, gadgets, sizes, whenServed } from './gadgets.ts';
import { apply, get, jsonPatch, merge, post } from './requests.ts';

const name = 'gadgets.$(ns).io';
const old = '/apis/$(ns).io/v1alpha1/namespaces/$(ns)/gadgets';
const one = `${gadgets}/x`;

const version = (version: string, more: JsonObject = {}): JsonObject => ({
  name: version,
  served: true,
  storage: version === 'v1',
  subresources: { status: {} },
  schema: {
    openAPIV3Schema: {
      type: 'object',
      properties: {
        ...(sizes({ mode: { type: 'string' } }).properties as JsonObject),
        status: { type: 'object', properties: { phase: { type: 'string' } } },
      },
    },
  },
  ...more,
});

const alpha = (object: JsonObject): JsonObject => ({ ...object, apiVersion: '$(ns).io/v1alpha1' });
const config = (fields: JsonObject): JsonObject => ({
  apiVersion: '$(ns).io/v1',
  kind: 'Gadget',
  metadata: { name: 'x' },
  ...fields,
});

const message = /^request to convert CR to an invalid group\/version: .*\.io\/v1alpha1$/;

/** An object that clients wrote in both versions, of which one is then removed. */
const wroteBoth: readonly ContractStep[] = [
  post(crds, crd({ versions: [version('v1'), version('v1alpha1')] }), { status: 201 }),
  { until: gadgets, expect: { status: 200 } },
  { until: old, expect: { status: 200 } },
  post(`${old}?fieldManager=maker`, alpha(gadget({ size: 1 })), { status: 201 }),
  apply({
    to: `${one}/status`,
    by: 'runtime',
    body: config({ status: { phase: 'on' } }),
    expect: { status: 200 },
  }),
];

const removed: readonly ContractStep[] = [
  ...wroteBoth,
  merge(
    `${crds}/${name}`,
    { spec: { versions: [version('v1')] } },
    { status: 200, differs: { status: whenServed.status } },
  ),
  { until: old, expect: { status: 404 } },
  // A server answers for the removed version with what it has last read of the CRD, and for the others, for a moment longer,
  // with the storage of before.
  {
    untilAnswer: apply({
      to: one,
      by: 'other',
      force: true,
      query: '&dryRun=All',
      body: config({ spec: { mode: 'a' } }),
      expect: { status: 500, message },
    }),
  },
];

const owners = {
  'maker (Update)': ['.spec.size', '.spec/'],
  'runtime (Apply of status)': ['.status.phase'],
};

/** Objects whose managedFields name a version that their CRD no longer has. */
export const removedVersions: readonly ContractCase[] = [
  {
    name: 'an apply to an object with fields of a removed version is an internal error',
    steps: [
      ...removed,
      get(one, { status: 200, owners }),
      apply({
        to: one,
        by: 'other',
        body: config({ spec: { mode: 'a' } }),
        expect: { status: 500, message },
      }),
      apply({
        to: one,
        by: 'other',
        force: true,
        query: '&dryRun=All',
        body: config({ spec: { mode: 'a' } }),
        expect: { status: 500, message },
      }),
      apply({
        to: `${one}/status`,
        by: 'runtime',
        force: true,
        body: config({ status: { phase: 'off' } }),
        expect: { status: 500, message },
      }),
      get(one, { status: 200, owners }),
    ],
  },
  {
    name: 'a version that is no longer served takes part in an apply',
    steps: [
      ...wroteBoth,
      merge(
        `${crds}/${name}`,
        { spec: { versions: [version('v1'), version('v1alpha1', { served: false })] } },
        { status: 200, differs: { status: whenServed.status } },
      ),
      { until: old, expect: { status: 404 } },
      apply({ to: one, by: 'other', body: config({ spec: { size: 2 } }), expect: { status: 409 } }),
      apply({
        to: one,
        by: 'other',
        force: true,
        body: config({ spec: { size: 2 } }),
        expect: {
          status: 200,
          owners: {
            other: ['.spec.size'],
            'maker (Update)': ['.spec'],
            'runtime (Apply of status)': ['.status.phase'],
          },
        },
      }),
    ],
  },
  {
    name: 'an update of an object with fields of a removed version drops all owners',
    steps: [
      ...removed,
      merge(one, { metadata: { labels: { a: 'b' } } }, { status: 200, owners: {} }),
      apply({
        to: `${one}/status`,
        by: 'runtime',
        force: true,
        body: config({ status: { phase: 'off' } }),
        expect: { status: 200 },
      }),
      get(one, { status: 200 }),
    ],
  },
  {
    name: 'an update of the status of such an object drops all owners',
    steps: [
      ...removed,
      merge(`${one}/status`, { status: { phase: 'off' } }, { status: 200, owners: {} }),
    ],
  },
  {
    name: 'an update without a change of such an object drops all owners',
    steps: [
      ...removed,
      merge(one, {}, { status: 200, owners: {} }),
      get(one, { status: 200, owners: {} }),
    ],
  },
  {
    name: 'an update that names a version of the CRD for such fields keeps their owners',
    steps: [
      ...removed,
      get(one, { status: 200, owners }, { save: { rv: 'metadata.resourceVersion' } }),
      merge(
        one,
        {
          metadata: {
            resourceVersion: '$(rv)',
            managedFields: [
              {
                manager: 'maker',
                operation: 'Update',
                apiVersion: '$(ns).io/v1',
                time: '2024-01-01T00:00:00Z',
                fieldsType: 'FieldsV1',
                fieldsV1: { 'f:spec': { '.': {}, 'f:size': {}, 'f:gone': { 'f:deep': {} } } },
              },
              {
                manager: 'runtime',
                operation: 'Apply',
                apiVersion: '$(ns).io/v1',
                time: '2024-01-01T00:00:00Z',
                fieldsType: 'FieldsV1',
                fieldsV1: { 'f:status': { 'f:phase': {} } },
                subresource: 'status',
              },
            ],
          },
        },
        {
          status: 200,
          owners: {
            'maker (Update)': ['.spec.size', '.spec/', '.spec.gone.deep'],
            'runtime (Apply of status)': ['.status.phase'],
          },
        },
      ),
      apply({
        to: `${one}/status`,
        by: 'runtime',
        force: true,
        body: config({ status: { phase: 'off' } }),
        expect: { status: 200 },
      }),
      apply({ to: one, by: 'maker', body: config({ spec: { size: 1 } }), expect: { status: 200 } }),
      apply({
        to: one,
        by: 'maker',
        force: true,
        body: config({ spec: { size: 3 } }),
        expect: { status: 200 },
      }),
    ],
  },
  {
    name: 'fields of another group count as those of a removed version',
    steps: [
      ...wroteBoth,
      jsonPatch(
        one,
        [{ op: 'replace', path: '/metadata/managedFields/0/apiVersion', value: 'other.io/v1' }],
        { status: 200, owners: {} },
      ),
    ],
  },
];
