import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import { locatedThing, runningView } from '../../../../test/support/fakes/thing-texts.ts';
import type { DefinitionTask } from './decide.ts';
import { factsOf } from './definition-facts.ts';
import { here } from './task-places.ts';

const located = locatedThing('thing');
const record = {
  origin: { source: 'object', ref: 'thing' },
  isPaused: false,
  isDeleted: false,
} as const;
const report = { revisions: [], kinds: { resources: [], children: [] } };
const task = { kind: 'run', desired: { located } } satisfies DefinitionTask;

describe('runtime/definitions/definition-facts', () => {
  test('an error in the newest text comes before what the cluster has against the one that is wanted', () => {
    const rejection = { message: 'Wrong', diagnostics: ['a:1:1: Wrong'] };
    const ofCluster = { message: 'Not here', diagnostics: [] };
    const view = runningView(located, { rejection: ofCluster });
    const decision = { ...task, desired: { ...task.desired, rejection } };
    assert.deepEqual(factsOf({ record, decision, view, report }).rejection, rejection);
    assert.deepEqual(factsOf({ record, decision: task, view, report }).rejection, ofCluster);
  });

  test('a status that may not be written is reported where the definition stands, until it may', () => {
    const right = { verb: 'patch', group: 'homeostat.dev', resource: 'operatordefinitions/status' };
    const shown = (view: ReturnType<typeof runningView>, recordError?: KubeError) =>
      here.viewOf({ name: 'thing', view, recordError, state: report }, task);
    const forbidden = new KubeError('forbidden', 'no', { status: 403, right });
    const { state } = shown(
      runningView(located, { state: { kind: 'starting', message: '' } }),
      forbidden,
    );
    assert.match(
      'message' in state ? state.message : '',
      /not allowed to patch operatordefinitions/,
    );
    const running = runningView(located);
    assert.deepEqual([shown(running).state.kind, shown(running).problems], ['running', []]);
    const tooLong = shown(running, new KubeError('rejected', 'too long', { status: 422 }));
    assert.deepEqual([tooLong.state.kind, tooLong.problems], ['running', ['too long']]);
  });
});
