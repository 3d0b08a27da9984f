import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { createMetricRegistry } from '#telemetry';
import { type MetricSpec, metricCatalogue } from '#telemetry/roles.ts';

interface Dashboard {
  readonly panels: readonly {
    readonly id: number;
    readonly targets?: readonly { readonly expr: string }[];
  }[];
  readonly templating: { readonly list: readonly { readonly query: string | { query: string } }[] };
}

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert: string;
      readonly expr: string;
      readonly annotations: { readonly summary: string };
    }[];
  }[];
}

function textOf(path: string): string {
  return readFileSync(fileURLToPath(new URL(`../../deploy/${path}`, import.meta.url)), 'utf8');
}

const dashboard: Dashboard = JSON.parse(textOf('grafana/homeostat.json'));
const rules: Rules = parse(textOf('prometheus/alerts.yaml'));
const alerts = rules.groups.flatMap((group) => group.rules);
const specs: readonly MetricSpec[] = Object.values(metricCatalogue);

/** Names of metrics, and for each the labels that are asked for, in a piece of PromQL. */
function usesIn(
  expression: string,
): readonly (readonly [name: string, labels: readonly string[]])[] {
  const found = expression.matchAll(
    /\b((?:homeostat|controller_runtime|workqueue|rest_client|leader_election|process|nodejs)_\w+)(?:\{([^}]*)\})?/g,
  );
  return [...found].map(([, name = '', matchers = '']) => [
    name,
    [...matchers.matchAll(/(\w+)\s*[=!]/g)].map(([, label = '']) => label),
  ]);
}

/** What Prometheus adds to every series. */
const targetLabels = ['job', 'instance'];

async function assertKnown(expression: string): Promise<void> {
  const uses = usesIn(expression);
  assert.ok(uses.length > 0, `No metric in ${expression}`);
  const ofProcess = await createMetricRegistry({ processMetrics: true }).expose();
  for (const [name, labels] of uses) {
    const spec = specs.find((each) => each.name === name.replace(/_(bucket|sum|count)$/, ''));
    if (spec === undefined) {
      assert.match(ofProcess, new RegExp(`^# TYPE ${name} `, 'm'), `${name} in ${expression}`);
      continue;
    }
    if (spec.name !== name) assert.equal(spec.type, 'histogram', expression);
    for (const label of labels) {
      assert.ok([...spec.labels, ...targetLabels].includes(label), `${label} in ${expression}`);
    }
  }
}

describe('deploy/monitoring', () => {
  for (const { expr } of dashboard.panels.flatMap(({ targets = [] }) => targets)) {
    test(`the dashboard's "${expr}" names metrics and labels that exist`, () => assertKnown(expr));
  }

  test('the variables of the dashboard name metrics and labels that exist', async () => {
    const queries = dashboard.templating.list.flatMap(({ query }) =>
      typeof query === 'string' ? [] : [query.query],
    );
    assert.equal(queries.length, 2);
    for (const query of queries) await assertKnown(query);
  });

  test('the panels of the dashboard have numbers of their own', () => {
    const ids = dashboard.panels.map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length);
  });

  for (const { alert, expr, annotations } of alerts) {
    test(`the alert ${alert} names metrics and labels that exist, and says what is wrong`, async () => {
      await assertKnown(expr);
      assert.match(alert, /^Homeostat[A-Z]\w+$/);
      assert.notEqual(annotations.summary, '');
    });
  }

  test('every metric of ours is on the dashboard or in an alert', () => {
    const expressions = [
      ...dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
      ...alerts.map(({ expr }) => expr),
    ].join('\n');
    const unused = specs.filter(({ name }) => !expressions.includes(name)).map(({ name }) => name);
    // What counts the same as another, in other words.
    const expected = [
      'workqueue_adds_total',
      'workqueue_retries_total',
      'workqueue_unfinished_work_seconds',
      'workqueue_work_duration_seconds',
    ];
    assert.deepEqual(unused.sort(), expected);
  });

  test('every alert is explained for the person on call', () => {
    const page = readFileSync(
      fileURLToPath(new URL('../../docs/operations.md', import.meta.url)),
      'utf8',
    );
    for (const { alert } of alerts) assert.ok(page.includes(`\`${alert}\``), alert);
  });
});
