import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { locatedThing, runningView } from '../../../test/support/fakes/thing-texts.ts';
import { freshMetrics } from '../../../test/support/silent-telemetry.ts';
import type { DefinitionView } from '../definition-view.ts';
import type { Rejection } from '../desired-definition.ts';
import { DefinitionMetrics } from './definition-metrics.ts';

const first = locatedThing('thing');
const second = locatedThing('thing', '  status: { size: "${ 1 }" }\n');
const rejection: Rejection = { message: 'no', diagnostics: [] };

function setUp() {
  const registry = freshMetrics();
  const clock = new FakeClock();
  const metrics = new DefinitionMetrics(registry, clock);
  const observe = (view: DefinitionView, rejected?: Rejection) =>
    metrics.observe('thing', {
      origin: { source: 'configmap', ref: 'ns/ops/thing.yaml' },
      warnings: [],
      view,
      isPaused: false,
      isDeleted: false,
      persisted: { revisions: [], kinds: { resources: [], children: [] } },
      ...(rejected && { rejection: rejected }),
      ...(view.rollout && { rollout: view.rollout }),
    });
  const assertLines = async (...lines: readonly string[]) => {
    const text = await registry.expose();
    for (const line of lines) assert.ok(text.includes(`\n${line}\n`), `${line}\n${text}`);
  };
  return { registry, clock, metrics, observe, assertLines };
}

describe('runtime/definitions/definition-metrics', () => {
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
    metrics.forget('thing');
    await new Promise((resolve) => setImmediate(resolve));
    assert.doesNotMatch(await registry.expose(), /definition="thing"/);
  });
});
