import type { ContractCase } from '../driver/index.ts';
import { apply, configMap, configMaps, get, merge, post, put, thing, things } from './requests.ts';

const save = { rv: 'metadata.resourceVersion' };
const x = `${things}/x`;
const deployments = '/apis/apps/v1/namespaces/$(ns)/deployments';

const conflict = (field: string, message: string) => ({
  reason: 'FieldManagerConflict',
  message,
  field,
});

const deployment = (replicas: number) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'x' },
  spec: {
    replicas,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'c', image: 'web:1' }] },
    },
  },
});

/** Who wins when two say different things. */
export const applyConflicts: readonly ContractCase[] = [
  {
    name: 'another value of another manager conflicts, and nothing changes',
    ranked: [5],
    steps: [
      apply({
        to: x,
        by: 'a',
        body: thing({ size: 1, title: 'abc' }),
        expect: { status: 201 },
        save,
      }),
      apply({
        to: x,
        by: 'b',
        body: thing({ size: 2 }),
        expect: {
          status: 409,
          message: /^Apply failed with 1 conflict: conflict with "a": \.spec\.size$/,
          body: {
            reason: 'Conflict',
            details: { causes: [conflict('.spec.size', 'conflict with "a"')] },
          },
        },
      }),
      apply({
        to: x,
        by: 'b',
        body: thing({ size: 2, title: 'xyz', on: true }),
        force: false,
        expect: {
          status: 409,
          message:
            /^Apply failed with 2 conflicts: conflicts with "a":\n- \.spec\.size\n- \.spec\.title$/,
        },
      }),
      get(x, {
        status: 200,
        body: { metadata: { resourceVersion: '$(rv)' }, spec: { size: 1, title: 'abc' } },
        owners: { a: ['.spec.size', '.spec.title'] },
      }),
    ],
  },
  {
    name: 'conflicts with several managers are reported by manager',
    ranked: [5],
    steps: [
      apply({ to: x, by: 'c', body: thing({ size: 1 }), expect: { status: 201 } }),
      apply({ to: x, by: 'a', body: thing({ title: 'abc' }), expect: { status: 200 } }),
      apply({
        to: x,
        by: 'b',
        body: thing({ size: 2, title: 'xyz' }),
        expect: {
          status: 409,
          message:
            /^Apply failed with 2 conflicts: conflicts with "a":\n- \.spec\.title\nconflicts with "c":\n- \.spec\.size$/,
        },
      }),
      apply({
        to: `${configMaps}/x`,
        by: 'a',
        body: configMap({ 'some.key': '1' }),
        expect: { status: 201 },
      }),
      apply({
        to: `${configMaps}/x`,
        by: 'b',
        body: configMap({ 'some.key': '2' }),
        expect: {
          status: 409,
          message: /^Apply failed with 1 conflict: conflict with "a": \.data\.some\.key$/,
        },
      }),
    ],
  },
  {
    name: 'a conflict with an updater names its version, one with a status writer its subresource',
    ranked: [5, 20],
    steps: [
      post(`${things}?fieldManager=u`, thing({ size: 1 }), { status: 201 }),
      apply({
        to: x,
        by: 'a',
        body: thing({ size: 2 }),
        expect: {
          status: 409,
          message: /^Apply .* conflict with "u" using contract\.demo\.io\/v1: \.spec\.size$/,
        },
      }),
      merge(`${x}/status?fieldManager=s`, { status: { phase: 'x' } }, { status: 200 }),
      apply({
        to: `${x}/status`,
        by: 'a',
        body: { ...thing({}), status: { phase: 'y' } },
        expect: {
          status: 409,
          message: /conflict with "s" with subresource "status" using .*: \.status\.phase$/,
        },
      }),
      apply({
        to: `${x}/status`,
        by: 'a',
        body: { ...thing({ size: 9 }), status: { ready: 1 } },
        expect: {
          status: 200,
          body: { spec: { size: 1 }, status: { ready: 1 } },
          owners: {
            'u (Update)': ['.spec/', '.spec.level', '.spec.size'],
            's (Update of status)': ['.status/', '.status.phase'],
            'a (Apply of status)': ['.status.ready'],
          },
        },
      }),
      apply({
        to: x,
        by: 'a',
        body: { ...thing({}), status: { ready: 9 } },
        expect: { status: 200, body: { status: { ready: 1 } } },
      }),
    ],
  },
  {
    name: 'a conflict over the replicas of a Deployment',
    ranked: [5, 6],
    steps: [
      post(`${deployments}?fieldManager=u`, deployment(1), { status: 201 }),
      apply({
        to: `${deployments}/x`,
        by: 'a',
        body: deployment(2),
        expect: {
          status: 409,
          message:
            /^Apply failed with 1 conflict: conflict with "u" using apps\/v1: \.spec\.replicas$/,
        },
      }),
      apply({
        to: `${deployments}/x`,
        by: 'a',
        body: deployment(2),
        force: true,
        expect: { status: 200, body: { spec: { replicas: 2 } } },
      }),
    ],
  },
  {
    name: 'force moves what is said otherwise, and an owner of nothing is not listed',
    ranked: [6],
    steps: [
      apply({ to: x, by: 'a', body: thing({ size: 1, title: 'abc' }), expect: { status: 201 } }),
      apply({
        to: x,
        by: 'b',
        body: thing({ size: 2 }),
        force: true,
        expect: {
          status: 200,
          body: { spec: { size: 2, title: 'abc' } },
          owners: { a: ['.spec.title'], b: ['.spec.size'] },
        },
      }),
      apply({
        to: x,
        by: 'b',
        body: thing({ size: 2, title: 'xyz' }),
        force: true,
        expect: {
          status: 200,
          body: { spec: { size: 2, title: 'xyz' } },
          owners: { b: ['.spec.size', '.spec.title'] },
        },
      }),
      // Who lost everything has nothing to withdraw.
      apply({
        to: x,
        by: 'a',
        body: thing({}),
        expect: {
          status: 200,
          body: { spec: { size: 2, title: 'xyz' } },
          owners: { a: ['.spec'], b: ['.spec.size', '.spec.title'] },
        },
      }),
    ],
  },
  {
    name: 'force takes from updaters, too, and shares what is equal',
    ranked: [6],
    steps: [
      post(`${things}?fieldManager=u`, thing({ size: 1, title: 'abc', level: 3 }), { status: 201 }),
      apply({
        to: x,
        by: 'a',
        body: thing({ size: 2, title: 'abc' }),
        force: true,
        expect: {
          status: 200,
          owners: {
            'u (Update)': ['.spec/', '.spec.level', '.spec.title'],
            a: ['.spec.size', '.spec.title'],
          },
        },
      }),
    ],
  },
  {
    name: 'an update in between takes what it changes, and its siblings stay when others go',
    ranked: [8],
    steps: [
      apply({
        to: `${configMaps}/x`,
        by: 'a',
        body: configMap({ a: '1', b: '1' }, { labels: { app: 'x' } }),
        expect: { status: 201, owners: { a: ['.data.a', '.data.b', '.metadata.labels.app'] } },
      }),
      put(`${configMaps}/x?fieldManager=u`, configMap({ a: '1', b: '2', c: '3' }), {
        status: 200,
        owners: { a: ['.data.a'], 'u (Update)': ['.data.b', '.data.c'] },
      }),
      apply({
        to: `${configMaps}/x`,
        by: 'a',
        body: configMap({ a: '1', b: '1' }),
        expect: { status: 409 },
      }),
      apply({
        to: `${configMaps}/x`,
        by: 'a',
        body: configMap({ a: '1' }),
        expect: { status: 200, body: { data: { b: '2', c: '3' } } },
      }),
      apply({
        to: `${configMaps}/x`,
        by: 'a',
        body: configMap({}),
        expect: { status: 200, body: { data: { a: null, b: '2', c: '3' } } },
      }),
    ],
  },
  {
    name: 'what an apply no longer contains is removed; what an updater added beside it stays',
    ranked: [8],
    steps: [
      apply({
        to: x,
        by: 'a',
        body: thing({
          size: 1,
          nested: { a: 'x', deep: { x: '1' } },
          labels: { mine: '1', both: '1' },
          items: [{ name: 'mine', value: 1 }],
        }),
        expect: { status: 201 },
      }),
      merge(
        `${x}?fieldManager=u`,
        { spec: { nested: { b: 'u' }, labels: { theirs: '1' } } },
        { status: 200 },
      ),
      apply({
        to: x,
        by: 'a',
        body: thing({ nested: { a: 'x' }, labels: { both: '1' } }),
        expect: {
          status: 200,
          body: {
            spec: {
              size: null,
              nested: { a: 'x', b: 'u', deep: null },
              labels: { mine: null, both: '1', theirs: '1' },
              items: null,
            },
          },
        },
      }),
      // A required field that others have a sibling of cannot go.
      apply({ to: x, by: 'a', body: thing({}), expect: { status: 422 } }),
    ],
  },
];
