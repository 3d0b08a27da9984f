import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { locatedThing, runningView } from '../../../test/support/fakes/definition-world.ts';
import { freshMetrics } from '../../../test/support/silent-telemetry.ts';
import type { DefinitionView } from '../definition-view.ts';
import type { Refusal } from '../wanted-definition.ts';
import { arrangeTold } from './told-definitions.ts';
import { ToldMetrics } from './told-metrics.ts';

const first = locatedThing('thing');
const second = locatedThing('thing', '  status: { size: "${ 1 }" }\n');
const refusal: Refusal = { message: 'no', diagnostics: [] };

function setUp() {
  const registry = freshMetrics();
  const clock = new FakeClock();
  const metrics = new ToldMetrics(registry, clock);
  const observe = (located = first, view?: DefinitionView, refused?: Refusal) => {
    const origin = { source: 'configmap', ref: 'ns/ops/thing.yaml' } as const;
    const wanted = { located, origin, ...(refused && { refusal: refused }) };
    const { holders } = arrangeTold({ definitions: [wanted] });
    metrics.observe(holders, new Map(view && [[view.name, view]]));
  };
  const assertLines = async (...lines: readonly string[]) => {
    const text = await registry.expose();
    for (const line of lines) assert.ok(text.includes(`\n${line}\n`), `${line}\n${text}`);
  };
  return { registry, clock, metrics, observe, assertLines };
}

describe('runtime/objects/told-metrics', () => {
  test('counts revisions that were taken, and says which one runs since when', async () => {
    const { observe, clock, assertLines, registry } = setUp();
    observe();
    await assertLines('homeostat_definition_reloads_total{definition="thing",result="accepted"} 0');
    observe(first, runningView(first));
    observe(first, runningView(first));
    await clock.advance(60_000);
    observe(second, runningView(second));
    const { revision } = second.definition;
    await assertLines(
      'homeostat_definition_reloads_total{definition="thing",result="accepted"} 2',
      'homeostat_definition_reloads_total{definition="thing",result="refused"} 0',
      `homeostat_definition_info{definition="thing",revision="${revision}",source="configmap"} 1`,
      `homeostat_definition_last_accepted_timestamp_seconds{definition="thing"} ${clock.nowMs() / 1_000}`,
    );
    assert.ok(!(await registry.expose()).includes(first.definition.revision));
  });

  test('counts each text that was refused once', async () => {
    const { observe, assertLines } = setUp();
    observe(first, runningView(first));
    observe(first, runningView(first), refusal);
    observe(first, runningView(first), { ...refusal });
    observe(first, runningView(first), { ...refusal, message: 'still not' });
    await assertLines(
      'homeostat_definition_reloads_total{definition="thing",result="refused"} 2',
      'homeostat_definition_refused{definition="thing"} 1',
    );
    observe(first, runningView(first));
    await assertLines('homeostat_definition_refused{definition="thing"} 0');
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
      message: '',
    } as const;
    observe(first, runningView(first, { rollout }));
    await assertLines(
      'homeostat_definition_rollout{definition="thing",state="held"} 1',
      'homeostat_definition_rollout{definition="thing",state="rolling"} 0',
      'homeostat_definition_rollout_pending_resources{definition="thing"} 7',
    );
    metrics.observe([], new Map());
    await new Promise((resolve) => setImmediate(resolve));
    assert.doesNotMatch(await registry.expose(), /definition="thing"/);
  });
});
