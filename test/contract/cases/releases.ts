import type { ContractCase } from '../driver/index.ts';
import { apply, configMap, configMaps, get, merge, remove, thing, things } from './requests.ts';

const held = { finalizers: ['example.com/ours', 'example.com/theirs'] };
const save = { uid: 'metadata.uid', rv: 'metadata.resourceVersion' };

/** How an owner lets go of what it has made, and a finalizer of what it has held. */
export const releases: readonly ContractCase[] = [
  {
    name: 'managedFields without an entry: its fields stay, and have no owner',
    steps: [
      apply({
        to: `${configMaps}/x`,
        by: 'ours',
        body: configMap({ a: '1' }),
        expect: { status: 201 },
      }),
      apply({
        to: `${configMaps}/x`,
        by: 'theirs',
        body: configMap({ b: '2' }),
        expect: { status: 200 },
        save,
      }),
      merge(
        `${configMaps}/x`,
        {
          metadata: {
            uid: '$(uid)',
            resourceVersion: '$(rv)',
            managedFields: [
              {
                manager: 'theirs',
                operation: 'Apply',
                apiVersion: 'v1',
                fieldsType: 'FieldsV1',
                fieldsV1: { 'f:data': { 'f:b': {} } },
              },
            ],
          },
        },
        {
          status: 200,
          body: { data: { a: '1', b: '2' }, metadata: { managedFields: [{ manager: 'theirs' }] } },
        },
      ),
      // Whose it is not any more cannot take it away.
      apply({
        to: `${configMaps}/x`,
        by: 'ours',
        body: configMap({}),
        expect: { status: 200, body: { data: { a: '1' } } },
      }),
    ],
  },
  {
    name: 'an empty entry leaves no manager with a field',
    steps: [
      apply({
        to: `${configMaps}/x`,
        by: 'ours',
        body: configMap({ a: '1' }),
        expect: { status: 201 },
      }),
      merge(
        `${configMaps}/x`,
        { metadata: { managedFields: [{}] } },
        { status: 200, body: { data: { a: '1' }, metadata: { managedFields: null } } },
      ),
    ],
  },
  {
    name: 'a finalizer is removed by a merge patch under the version; with the last one the object is deleted',
    ranked: [22],
    steps: [
      apply({
        to: `${things}/x`,
        by: 'ours',
        body: thing({}, held),
        expect: { status: 201 },
        save,
      }),
      remove(`${things}/x`, undefined, { status: 200 }),
      merge(
        `${things}/x`,
        { metadata: { resourceVersion: '$(rv)', finalizers: ['example.com/theirs'] } },
        { status: 409 },
      ),
      get(`${things}/x`, { status: 200 }, { save }),
      merge(
        `${things}/x`,
        {
          metadata: { uid: '$(uid)', resourceVersion: '$(rv)', finalizers: ['example.com/theirs'] },
        },
        { status: 200, body: { metadata: { finalizers: ['example.com/theirs'] } } },
        { save },
      ),
      merge(
        `${things}/x`,
        { metadata: { uid: '$(uid)', resourceVersion: '$(rv)', finalizers: [] } },
        { status: 200 },
      ),
      get(`${things}/x`, { status: 404 }),
    ],
  },
  {
    name: 'in an object that is being deleted a finalizer stays with who applies it, and no other comes',
    ranked: [23],
    steps: [
      apply({ to: `${things}/x`, by: 'ours', body: thing({}, held), expect: { status: 201 } }),
      remove(`${things}/x`, undefined, { status: 200 }),
      apply({
        to: `${things}/x`,
        by: 'ours',
        body: thing({}, { ...held, annotations: { note: 'done' } }),
        expect: { status: 200, body: { metadata: { annotations: { note: 'done' } } } },
      }),
      apply({
        to: `${things}/x`,
        by: 'others',
        body: thing({}, { finalizers: ['example.com/new'] }),
        expect: { status: 422, message: /no new finalizers can be added/ },
      }),
    ],
  },
];
