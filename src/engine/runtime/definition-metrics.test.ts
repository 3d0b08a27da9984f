import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { DecisionRecord } from '#reconcile';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { locatedThing, runningView } from '../../../test/support/fakes/thing-texts.ts';
import { freshMetrics } from '../../../test/support/silent-telemetry.ts';
import { DefinitionMetrics } from './definition-metrics.ts';
import type { DefinitionView } from './definition-view.ts';
import type { Rejection } from './desired-definition.ts';

const first = locatedThing('thing');
const second = locatedThing('thing', '  status: { size: "${ 1 }" }\n');
const rejection: Rejection = { message: 'no', diagnostics: [] };

const well: DecisionRecord = { children: [], status: 'written', isReady: true, problemCodes: [] };

function viewOf(state: DefinitionView['state'], problems: readonly string[] = []): DefinitionView {
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

function setUp() {
  const registry = freshMetrics();
  const clock = new FakeClock();
  const metrics = new DefinitionMetrics(registry, clock, 'thing');
  const observe = (view: DefinitionView, rejected?: Rejection) =>
    metrics.recordFacts({
      origin: { source: 'configmap', ref: 'ns/ops/thing.yaml' },
      warnings: [],
      view,
      isPaused: false,
      isDeleted: false,
      persisted: {
        ...{ revisions: [], kinds: { resources: [], children: [] } },
        ...(view.rollout && { rollout: view.rollout }),
      },
      ...(rejected && { rejection: rejected }),
    });
  const assertLines = async (...lines: readonly string[]) => {
    const text = await registry.expose();
    for (const line of lines) assert.ok(text.includes(`\n${line}\n`), `${line}\n${text}`);
  };
  return { registry, clock, metrics, observe, assertLines };
}

describe('runtime/definition-metrics', () => {
  test('counts revisions that were taken, and says which one runs since when', async () => {
    const { observe, clock, assertLines, registry } = setUp();
    observe(runningView(first, { state: { kind: 'starting', message: 'Asking' } }));
    await assertLines('homeostat_definition_reloads_total{definition="thing",result="accepted"} 0');
    observe(runningView(first));
    observe(runningView(first));
    await clock.advance(60_000);
    observe(runningView(second));
    const { revision } = second.definition;
    await assertLines(
      'homeostat_definition_reloads_total{definition="thing",result="accepted"} 2',
      'homeostat_definition_reloads_total{definition="thing",result="rejected"} 0',
      `homeostat_definition_info{definition="thing",revision="${revision}",source="configmap"} 1`,
      `homeostat_definition_last_accepted_timestamp_seconds{definition="thing"} ${clock.nowMs() / 1_000}`,
    );
    assert.ok(!(await registry.expose()).includes(first.definition.revision));
  });

  test('counts each text that was rejected once', async () => {
    const { observe, assertLines } = setUp();
    observe(runningView(first));
    observe(runningView(first), rejection);
    observe(runningView(first), { ...rejection });
    observe(runningView(first), { ...rejection, message: 'still not' });
    await assertLines(
      'homeostat_definition_reloads_total{definition="thing",result="rejected"} 2',
      'homeostat_definition_rejected{definition="thing"} 1',
    );
    observe(runningView(first));
    await assertLines('homeostat_definition_rejected{definition="thing"} 0');
  });

  test('shows a roll-out while there is one, and nothing of a definition that is gone', async () => {
    const { observe, assertLines, metrics, registry } = setUp();
    const rollout = {
      from: 'a',
      to: 'b',
      state: 'held',
      reached: 3,
      total: 10,
      deletions: 12,
      failed: [],
      message: '',
    } as const;
    observe(runningView(first, { rollout }));
    await assertLines(
      'homeostat_definition_rollout{definition="thing",state="held"} 1',
      'homeostat_definition_rollout{definition="thing",state="rolling"} 0',
      'homeostat_definition_rollout_pending_resources{definition="thing"} 7',
    );
    await metrics.forget();
    assert.doesNotMatch(await registry.expose(), /definition="thing"/);
  });

  test('what only some definitions have is shown while they have it', async () => {
    const { observe, assertLines, registry } = setUp();
    observe(runningView(first));
    const ofVersions = /homeostat_conversion_stored_versions/;
    assert.doesNotMatch(await registry.expose(), ofVersions);
    const version = { name: 'v1', served: true, storage: true, stored: true, proven: true };
    observe(runningView(first, { versions: [version] }));
    await assertLines('homeostat_conversion_stored_versions{definition="thing"} 1');
    observe(runningView(first));
    assert.doesNotMatch(await registry.expose(), /stored_versions\{/);
  });

  test('all counters are there at 0 before the first pass', async () => {
    const metrics = freshMetrics();
    new DefinitionMetrics(metrics, new FakeClock(), 'd');
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
    const ofDefinition = new DefinitionMetrics(metrics, new FakeClock(), 'd');
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
    const ofDefinition = new DefinitionMetrics(metrics, new FakeClock(), 'd');
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
