import type { JsonObject } from '#util/json.ts';
import type { ContractCase } from '../driver/index.ts';
import { get, merge, post, remove } from './requests.ts';

const core = '/api/v1/namespaces/$(ns)/events';
const events = '/apis/events.k8s.io/v1/namespaces/$(ns)/events';
const object = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', namespace: '$(ns)' };

const event = (fields: JsonObject = {}): JsonObject => ({
  apiVersion: 'events.k8s.io/v1',
  kind: 'Event',
  metadata: { name: 'x' },
  eventTime: '2026-01-01T00:00:00.123456Z',
  reportingController: 'demo.io/controller',
  reportingInstance: 'one',
  action: 'Act',
  reason: 'Because',
  regarding: object,
  note: 'said',
  type: 'Normal',
  ...fields,
});

const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };

/** Events of both groups are the same objects. */
export const eventCases: readonly ContractCase[] = [
  {
    name: 'a new Event is read by its old names',
    steps: [
      post(events, event(), { status: 201 }),
      get(`${core}/x`, { status: 200, body: { involvedObject: { name: 'x' }, message: 'said' } }),
      get(`${events}/x`, { status: 200, body: { regarding: { name: 'x' }, note: 'said' } }),
      get(`${events}?fieldSelector=regarding.name=x`, { status: 200 }),
      get(`${core}?fieldSelector=involvedObject.name=x,reason=Because`, { status: 200 }),
      get(core, { status: 200 }, { headers: table }),
      get(events, { status: 200 }, { headers: table }),
      remove(`${core}/x`, undefined, { status: 200 }),
      get(`${events}/x`, { status: 404 }),
    ],
  },
  {
    name: 'an old Event is read by its new names',
    steps: [
      post(
        core,
        {
          apiVersion: 'v1',
          kind: 'Event',
          metadata: { name: 'y' },
          involvedObject: object,
          reason: 'Because',
          message: 'said',
          source: { component: 'me' },
          firstTimestamp: '2026-01-01T00:00:00Z',
          lastTimestamp: '2026-01-01T00:00:00Z',
          count: 2,
          type: 'Warning',
        },
        { status: 201 },
      ),
      get(`${events}/y`, { status: 200 }),
    ],
  },
  {
    name: 'an Event is counted',
    steps: [
      post(events, event(), { status: 201 }),
      merge(
        `${events}/x`,
        { series: { count: 2, lastObservedTime: '2026-01-01T00:01:00.000000Z' } },
        { status: 200 },
      ),
      get(`${core}/x`, { status: 200 }),
    ],
  },
  {
    name: 'what a new Event must say',
    steps: [
      post(events, event({ action: '' }), { status: 422 }),
      post(events, event({ reportingController: '' }), { status: 422 }),
      post(events, event({ type: 'Loud' }), { status: 422 }),
      post(events, event({ regarding: { ...object, namespace: '' } }), { status: 422 }),
      post(events, event({ eventTime: null }), { status: 422 }),
      post(events, event({ deprecatedCount: 1 }), { status: 422 }),
      post(events, event({ regarding: { ...object, namespace: 'other' } }), { status: 201 }),
    ],
  },
];
