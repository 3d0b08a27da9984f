import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { freshMetrics } from '../../../test/support/silent-telemetry.ts';
import type { DecisionRecord } from '../../reconcile/index.ts';
import type { DefinitionState, DefinitionView } from '../definition-view.ts';
import { PassMetrics } from './pass-metrics.ts';

const well: DecisionRecord = { children: [], status: 'written', isReady: true, problemCodes: [] };

function viewOf(state: DefinitionState, problems: readonly string[] = []): DefinitionView {
  return {
    name: 'd',
    revision: '0123456789',
    apiVersion: 'example.com/v1',
    kind: 'Thing',
    state,
    instances: 0,
    orphaned: 0,
    queued: 0,
    problems,
  };
}

describe('runtime/runner/pass-metrics', () => {
  test('all counters are there at 0 before the first pass', async () => {
    const metrics = freshMetrics();
    new PassMetrics(metrics, 'd');
    const text = await metrics.expose();
    for (const line of [
      'homeostat_status_writes_total{definition="d",result="gone"} 0',
      'homeostat_expression_errors_total{definition="d",code="wrong-type"} 0',
    ]) {
      assert.ok(text.includes(line), line);
    }
  });

  test('counts status writes, and of all problems those of expressions', async () => {
    const metrics = freshMetrics();
    const ofDefinition = new PassMetrics(metrics, 'd');
    ofDefinition.recordPass(well);
    ofDefinition.recordPass({
      ...well,
      status: 'unchanged',
      isReady: false,
      problemCodes: ['wrong-type', 'forbidden', 'wrong-type'],
    });
    const text = await metrics.expose();
    for (const line of [
      'homeostat_status_writes_total{definition="d",result="written"} 1',
      'homeostat_status_writes_total{definition="d",result="unchanged"} 1',
      'homeostat_expression_errors_total{definition="d",code="wrong-type"} 2',
    ]) {
      assert.ok(text.includes(line), line);
    }
    assert.ok(!text.includes('forbidden'));
  });

  test('shows the state, the problems and the resources of the moment, and nothing once forgotten', async () => {
    const metrics = freshMetrics();
    const ofDefinition = new PassMetrics(metrics, 'd');
    ofDefinition.observe(viewOf({ kind: 'syncing' }), undefined);
    const readiness = { ready: 3, unready: 2, unknown: 1 };
    ofDefinition.observe(viewOf({ kind: 'running' }, ['Secret: forbidden']), readiness);
    const text = await metrics.expose();
    for (const line of [
      'homeostat_definition_state{definition="d",state="running"} 1',
      'homeostat_definition_state{definition="d",state="syncing"} 0',
      'homeostat_definition_problems{definition="d"} 1',
      'homeostat_resources{definition="d",ready="True"} 3',
      'homeostat_resources{definition="d",ready="False"} 2',
      'homeostat_resources{definition="d",ready="Unknown"} 1',
    ]) {
      assert.ok(text.includes(line), line);
    }
    await ofDefinition.forget();
    assert.doesNotMatch(await metrics.expose(), /definition="d"/);
  });
});
