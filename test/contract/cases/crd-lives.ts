import type { ContractCase } from '../driver/index.ts';
import { crd, crds, gadget, gadgets, sizes } from './gadgets.ts';
import { get, merge, post, remove } from './requests.ts';

const name = 'gadgets.$(ns).io';
const one = `${crds}/${name}`;
const made = post(crds, crd({ schema: sizes({}) }), { status: 201 });
const served = { until: gadgets, expect: { status: 200 } };
const gone = { until: one, expect: { status: 404 } };
const accepted = [
  { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts' },
  { type: 'Established', status: 'True', reason: 'InitialNamesAccepted' },
];
const cleanup = 'customresourcecleanup.apiextensions.k8s.io';

const named = (object: string, finalizers?: readonly string[]) => ({
  ...gadget({ size: 1 }),
  metadata: { name: object, ...(finalizers === undefined ? {} : { finalizers }) },
});

/** From the making of a CRD to its end, and anew. */
export const crdLives: readonly ContractCase[] = [
  {
    name: 'a CRD has its names accepted, then it is established and served',
    ranked: [48],
    steps: [
      get(gadgets, { status: 404 }),
      post(crds, crd({ schema: sizes({}) }), {
        status: 201,
        body: { status: { conditions: null, acceptedNames: { plural: '', kind: '' } } },
      }),
      served,
      {
        until: one,
        expect: {
          status: 200,
          body: {
            metadata: { generation: 1, finalizers: null },
            status: {
              acceptedNames: {
                plural: 'gadgets',
                singular: 'gadget',
                kind: 'Gadget',
                listKind: 'GadgetList',
              },
              conditions: accepted,
              storedVersions: ['v1'],
            },
          },
        },
      },
    ],
  },
  {
    name: 'with its CRD go all custom resources, and created again it is empty',
    ranked: [48],
    steps: [
      made,
      served,
      post(gadgets, named('a'), { status: 201 }, { save: { rv: 'metadata.resourceVersion' } }),
      post(gadgets, named('b'), { status: 201 }),
      {
        watch: `${gadgets}?watch=1&resourceVersion=$(rv)`,
        during: [
          remove(one, undefined, {
            status: 200,
            body: {
              kind: 'CustomResourceDefinition',
              metadata: { name, finalizers: [cleanup] },
              status: {
                conditions: [
                  ...accepted,
                  { type: 'Terminating', status: 'True', reason: 'InstanceDeletionPending' },
                ],
              },
            },
          }),
        ],
        events: 3,
        expect: [{ type: 'ADDED' }, { type: 'DELETED' }, { type: 'DELETED' }],
      },
      gone,
      { until: gadgets, expect: { status: 404 } },
      made,
      served,
      get(gadgets, { status: 200, body: { items: [] } }),
      get(`${gadgets}/a`, { status: 404 }),
      post(gadgets, named('a'), { status: 201, body: { metadata: { generation: 1 } } }),
    ],
  },
  {
    name: 'a CRD that is deleted waits for what a finalizer holds, which can be read and released, not made',
    ranked: [48],
    steps: [
      made,
      served,
      post(gadgets, named('held', ['demo.io/hold']), { status: 201 }),
      post(gadgets, named('free'), { status: 201 }),
      remove(one, undefined, { status: 200 }),
      {
        until: `${gadgets}/held`,
        expect: { status: 200, body: { metadata: { deletionGracePeriodSeconds: 0 } } },
      },
      { until: `${gadgets}/free`, expect: { status: 404 } },
      {
        until: one,
        expect: {
          status: 200,
          body: {
            metadata: { finalizers: [cleanup] },
            status: {
              conditions: [
                ...accepted,
                { type: 'Terminating', status: 'True', reason: 'InstanceDeletionInProgress' },
              ],
            },
          },
        },
      },
      post(gadgets, named('late'), {
        status: 403,
        message: /create not allowed while custom resource definition is terminating$/,
      }),
      remove(one, undefined, { status: 200, body: { metadata: { finalizers: [cleanup] } } }),
      post(crds, crd({ schema: sizes({}) }), {
        status: 409,
        message: /^object is being deleted: .* already exists$/,
      }),
      merge(`${gadgets}/held`, { metadata: { finalizers: null } }, { status: 200 }),
      gone,
      { until: gadgets, expect: { status: 404 } },
    ],
  },
];
