import type { JsonObject } from '#util/json.ts';
import type { ContractCase, ContractStep, Expectation } from '../driver/index.ts';
import { converted, gadget, old, oldOne, one, withStatus } from './converted-gadgets.ts';
import { gadgets } from './gadgets.ts';
import { apply, get, jsonPatch, merge, post, put, remove } from './requests.ts';

interface Applied {
  readonly version: string;
  readonly by: string;
  readonly spec: JsonObject;
  readonly force?: boolean;
  readonly expect: Expectation;
}

const applied = ({ version, spec, ...step }: Applied) =>
  apply({ ...step, to: version === 'v1' ? one : oldOne, body: gadget(version, spec) });

const refused =
  /^conversion webhook for .*\.io\/v1(alpha1)?, Kind=Gadget failed: Post "https:\/\/127\.0\.0\.1:\d+\/convert\/gadgets\..*\?timeout=30s": dial tcp 127\.0\.0\.1:\d+: connect: connection refused$/;
const unknown: Expectation = { status: 500, message: /has no conversion rules with the digest/ };
const failed: Expectation = { status: 500, message: refused };
const failedWrite: Expectation = {
  ...failed,
  differs: {
    message:
      'a server has the object in its cache, and fails when it converts it to the stored version',
  },
};

const large = 'e'.repeat(70_000);
const missing: Expectation = {
  status: 500,
  message: /Fields of another version are missing in this object/,
};

const deletion = { kind: 'DeleteOptions', apiVersion: 'v1' };

/** It is read in the other version, and no write in that version is stored: the server has such objects converted without `resourceVersion`. */
const unfitToWrite: readonly ContractStep[] = [
  post(old, gadget('v1alpha1', { size: 1, extra: large }), { status: 201 }),
  get(
    one,
    { status: 200, body: { spec: { replicas: 1 } } },
    { save: { rv: 'metadata.resourceVersion' } },
  ),
  get(gadgets, { status: 200 }),
  merge(one, { spec: { replicas: 2 } }, missing),
  // A dry run is converted as it was read.
  merge(`${one}?dryRun=All`, { spec: { replicas: 2 } }, { status: 200 }),
  merge(one, { metadata: { labels: { a: 'b' } } }, missing),
  jsonPatch(one, [{ op: 'replace', path: '/spec/replicas', value: 5 }], missing),
  merge(`${one}/status`, { status: { phase: 'a' } }, missing),
  applied({ version: 'v1', by: 'b', spec: { color: 'blue' }, force: true, expect: missing }),
  apply({ to: `${one}/status`, by: 'e', body: withStatus('v1', 'off'), expect: missing }),
  // What was not read is complete: fields that it does not name are removed.
  put(`${one}?dryRun=All`, gadget('v1', { replicas: 6 }, { resourceVersion: '$(rv)' }), {
    status: 200,
    body: { spec: { replicas: 6 } },
  }),
  // A server encodes the object in the stored version before it deletes it.
  remove(one, undefined, missing),
  remove(one, { ...deletion, propagationPolicy: 'Foreground' }, missing),
  remove(one, { ...deletion, dryRun: ['All'] }, { status: 200 }),
  remove(gadgets, undefined, missing),
  get(oldOne, { status: 200, body: { spec: { size: 1, extra: large } } }),
  // In the stored version everything is as usual, also with a manager of the other one.
  merge(`${oldOne}?fieldManager=c`, { spec: { size: 4 } }, { status: 200 }),
  apply({
    to: `${oldOne}/status`,
    by: 'd',
    body: withStatus('v1alpha1', 'on'),
    expect: { status: 200 },
  }),
  remove(oldOne, undefined, { status: 200 }),
  get(one, { status: 404 }),
];

/** Nothing of it is stored. */
const unfitToStore: readonly ContractStep[] = [
  post(old, gadget('v1alpha1', { size: 1, extra: large }), {
    status: 500,
    message: /Version "v1" cannot express all fields/,
  }),
  get(one, { status: 404 }),
  post(old, gadget('v1alpha1', { size: 1, extra: 'e' }), { status: 201 }),
  merge(
    oldOne,
    { spec: { extra: large } },
    {
      status: 500,
      message: /Version "v1" cannot express all fields/,
    },
  ),
  get(oldOne, { status: 200, body: { spec: { size: 1, extra: 'e' } } }),
];

/** Versions of a kind that differ, with a webhook that converts between them. */
export const conversions: readonly ContractCase[] = ['v1', 'v1alpha1'].flatMap(
  (stored): readonly ContractCase[] => [
    {
      name: `an object is read in each version, stored in ${stored}`,
      steps: [
        ...converted(stored),
        post(old, gadget('v1alpha1', { size: 2, mode: 'fast' }), {
          status: 201,
          body: { apiVersion: '$(ns).io/v1alpha1', spec: { size: 2, mode: 'fast', color: 'red' } },
        }),
        get(one, {
          status: 200,
          body: { spec: { replicas: 2, strategy: { type: 'Parallel' }, color: 'red' } },
        }),
        get(oldOne, { status: 200, body: { spec: { size: 2, mode: 'fast', color: 'red' } } }),
        get(gadgets, { status: 200, body: { items: [{ spec: { replicas: 2 } }] } }),
        get(old, { status: 200, body: { items: [{ spec: { size: 2 } }] } }),
        post(gadgets, gadget('v1', { replicas: 4 }, { name: 'y' }), {
          status: 201,
          body: { spec: { replicas: 4 } },
        }),
        get(`${old}/y`, { status: 200, body: { spec: { size: 4 } } }),
        get(`${gadgets}/y`, { status: 200, body: { spec: { replicas: 4 } } }),
        get(old, { status: 200, body: { items: [{ spec: { size: 2 } }, { spec: { size: 4 } }] } }),
      ],
    },
    {
      name: `writes in each version change an object that is stored in ${stored}`,
      steps: [
        ...converted(stored),
        post(gadgets, gadget('v1', { replicas: 1, strategy: { type: 'Ordered' } }), {
          status: 201,
        }),
        merge(
          oldOne,
          { spec: { size: 3 } },
          { status: 200, body: { spec: { size: 3, mode: 'slow' } } },
        ),
        merge(oldOne, { spec: { size: 3 } }, { status: 200, body: { spec: { size: 3 } } }),
        jsonPatch(one, [{ op: 'replace', path: '/spec/replicas', value: 5 }], {
          status: 200,
          body: { spec: { replicas: 5, strategy: { type: 'Ordered' } } },
        }),
        get(
          oldOne,
          { status: 200, body: { spec: { size: 5 } } },
          {
            save: { rv: 'metadata.resourceVersion' },
          },
        ),
        put(oldOne, gadget('v1alpha1', { size: 6 }, { resourceVersion: '$(rv)' }), {
          status: 200,
          body: { spec: { size: 6, color: 'red' } },
        }),
        get(one, { status: 200, body: { spec: { replicas: 6, strategy: null } } }),
        merge(`${oldOne}?dryRun=All`, { spec: { mode: 'fast' } }, { status: 200 }),
        merge(`${oldOne}/status`, { status: { phase: 'a' } }, { status: 200 }),
        get(`${one}/status`, { status: 200, body: { status: { phase: 'a' } } }),
        merge(one, { metadata: { labels: { a: 'b' } } }, { status: 200 }),
        get(`${old}?labelSelector=a%3Db`, {
          status: 200,
          body: { items: [{ spec: { size: 6 } }] },
        }),
        remove(oldOne, undefined, { status: 200 }),
        get(one, { status: 404 }),
      ],
    },
    {
      name: `a field that a version cannot express is kept, stored in ${stored}`,
      steps: [
        ...converted(stored),
        post(old, gadget('v1alpha1', { size: 1, mode: 'odd', extra: 'e' }), { status: 201 }),
        get(one, { status: 200 }),
        merge(one, { spec: { replicas: 2 } }, { status: 200 }),
        get(oldOne, { status: 200, body: { spec: { size: 2, mode: 'odd', extra: 'e' } } }),
      ],
    },
    {
      name: `a watch has the objects in its version, stored in ${stored}`,
      steps: [
        ...converted(stored),
        {
          watch: `${old}?watch=true`,
          during: [
            post(gadgets, gadget('v1', { replicas: 1 }), { status: 201 }),
            merge(one, { spec: { replicas: 2 } }, { status: 200 }),
            remove(oldOne, undefined, { status: 200 }),
          ],
          events: 3,
          expect: [
            { type: 'ADDED', object: { spec: { size: 1 } } },
            { type: 'MODIFIED', object: { spec: { size: 2 } } },
            { type: 'DELETED', object: { spec: { size: 2 } } },
          ],
        },
        {
          watch: `${gadgets}?watch=true`,
          during: [
            post(old, gadget('v1alpha1', { size: 1, mode: 'slow' }), { status: 201 }),
            merge(`${oldOne}/status`, { status: { phase: 'a' } }, { status: 200 }),
          ],
          events: 2,
          expect: [
            { type: 'ADDED', object: { spec: { strategy: { type: 'Ordered' } } } },
            { type: 'MODIFIED', object: { status: { phase: 'a' } } },
          ],
        },
      ],
    },
    {
      name: `field managers of two versions own what they wrote, stored in ${stored}`,
      steps: [
        ...converted(stored),
        applied({
          version: 'v1alpha1',
          by: 'a',
          spec: { size: 1, mode: 'fast' },
          expect: { status: 201 },
        }),
        applied({
          version: 'v1',
          by: 'b',
          spec: { color: 'blue' },
          force: true,
          expect: { status: 200, owners: { a: ['.spec.size', '.spec.mode'], b: ['.spec.color'] } },
        }),
        applied({ version: 'v1', by: 'b', spec: { replicas: 2 }, expect: { status: 409 } }),
        applied({
          version: 'v1',
          by: 'b',
          spec: { replicas: 1, color: 'blue' },
          expect: {
            status: 200,
            owners: { a: ['.spec.size', '.spec.mode'], b: ['.spec.color', '.spec.replicas'] },
          },
        }),
        applied({
          version: 'v1',
          by: 'b',
          spec: { replicas: 3, color: 'blue' },
          force: true,
          expect: {
            status: 200,
            owners: { a: ['.spec.mode'], b: ['.spec.color', '.spec.replicas'] },
          },
        }),
        merge(
          `${oldOne}?fieldManager=c`,
          { spec: { size: 4 } },
          {
            status: 200,
            owners: { a: ['.spec.mode'], b: ['.spec.color'], 'c (Update)': ['.spec.size'] },
          },
        ),
        apply({
          to: `${oldOne}/status`,
          by: 'd',
          body: withStatus('v1alpha1', 'on'),
          expect: { status: 200 },
        }),
        apply({
          to: `${one}/status`,
          by: 'e',
          body: withStatus('v1', 'off'),
          expect: { status: 409 },
        }),
        apply({
          to: `${one}/status`,
          by: 'e',
          force: true,
          body: withStatus('v1', 'off'),
          expect: { status: 200 },
        }),
      ],
    },
    {
      name: `an apply in another version removes what the manager no longer sets, stored in ${stored}`,
      steps: [
        ...converted(stored),
        applied({
          version: 'v1alpha1',
          by: 'a',
          spec: { size: 1, mode: 'fast', extra: 'e' },
          expect: { status: 201 },
        }),
        applied({
          version: 'v1alpha1',
          by: 'b',
          spec: { mode: 'fast', color: 'blue' },
          force: true,
          expect: { status: 200 },
        }),
        applied({ version: 'v1', by: 'a', spec: { color: 'blue' }, expect: { status: 200 } }),
        get(oldOne, { status: 200, body: { spec: { size: null, mode: 'fast', color: 'blue' } } }),
        applied({ version: 'v1alpha1', by: 'b', spec: { color: 'blue' }, expect: { status: 200 } }),
        get(one, { status: 200 }),
      ],
    },
    {
      name: `an object that does not fit into a version, stored in ${stored}`,
      steps: [...converted(stored), ...(stored === 'v1' ? unfitToStore : unfitToWrite)],
    },
    {
      name: `rules that the webhook does not know are an error, stored in ${stored}`,
      steps: [
        ...converted(stored, { digest: '0123456789abcdef' }),
        post(gadgets, gadget('v1', { replicas: 2 }), stored === 'v1' ? { status: 201 } : unknown),
        post(
          old,
          gadget('v1alpha1', { size: 2 }, { name: 'y' }),
          stored === 'v1' ? unknown : { status: 201 },
        ),
      ],
    },
    {
      name: `without its webhook only the stored version is read and written, stored in ${stored}`,
      steps: [...converted(stored), ...unreachable(stored)],
    },
  ],
);

/** What a server answers while it cannot convert. */
function unreachable(stored: string): readonly ContractStep[] {
  const isNew = stored === 'v1';
  const [here, there] = isNew ? [gadgets, old] : [old, gadgets];
  const [of, other] = isNew ? ['v1', 'v1alpha1'] : ['v1alpha1', 'v1'];
  const size = isNew ? 'replicas' : 'size';
  return [
    post(there, gadget(other, { color: 'a' }), { status: 201 }),
    merge(`${here}/x?fieldManager=b`, { spec: { [size]: 1 } }, { status: 200 }),
    { webhook: 'stops' },
    get(`${there}/x`, failed),
    get(`${here}/x`, { status: 200 }),
    get(here, { status: 200 }),
    post(there, gadget(other, {}, { name: 'z' }), failed),
    post(here, gadget(of, { [size]: 1 }, { name: 'z' }), { status: 201 }),
    merge(`${there}/x`, { spec: { color: 'b' } }, failedWrite),
    apply({ to: `${there}/x`, by: 'd', body: gadget(other, {}), expect: failedWrite }),
    // Field managers of the other version need it.
    apply({ to: `${here}/x`, by: 'd', body: gadget(of, { [size]: 1 }), expect: failed }),
    apply({
      to: `${here}/z`,
      by: 'd',
      force: true,
      body: gadget(of, { [size]: 2 }, { name: 'z' }),
      expect: { status: 200 },
    }),
    apply({ to: `${here}/x/status`, by: 'd', body: withStatus(of, 'on'), expect: failed }),
    merge(`${here}/x?dryRun=All`, { spec: { [size]: 7 } }, { status: 200, owners: {} }),
    merge(`${here}/x`, { metadata: { labels: { a: 'b' } } }, { status: 200, owners: {} }),
    remove(`${there}/x`, undefined, failed),
    { webhook: 'starts' },
    { until: `${there}/x`, expect: { status: 200 } },
    apply({
      to: `${here}/x`,
      by: 'd',
      force: true,
      body: gadget(of, { [size]: 2 }),
      expect: { status: 200 },
    }),
    remove(`${there}/x`, undefined, { status: 200 }),
  ];
}
