import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type SimulatedConsole, simulateConsole } from '../support/console/simulated-console.ts';
import { thing, thingDefinition } from '../support/definitions.ts';

/** HTML, a script, a text that reverses what follows it, one that hides it, and a million characters. */
const html = '<img src=x onerror=alert(1)><script>alert(2)</script>"\'&lt;';
const bidi = 'a\u202eb\u2066c\u200fd\u061ce';
const hostile = `${html} ${bidi} \u0000\u001b[2J ${'long '.repeat(200_000)} end`;

/** Characters that change the order of a text, and control characters. */
const acting = /[[\p{Cc}\p{Bidi_Control}]--[\t\n]]/v;

const flow = { name: 'test', priority: 'object' } as const;
const { signal } = new AbortController();
const resource = { apiVersion: 'one.example.com/v1', kind: 'Thing', name: 'one' };

const pages: Readonly<Record<string, string>> = {
  overview: '#/',
  'a resource': '#/resources/one.example.com/v1/Thing/default/one',
  'its Events': '#/resources/one.example.com/v1/Thing/default/one?detail=events',
  'all resources': '#/resources',
  'a definition': '#/definitions/one',
  'its resources': '#/definitions/one?tab=resources',
};

describe('attacks/console: texts of the cluster in pages', () => {
  let simulated: SimulatedConsole;

  before(async () => {
    const definition = thingDefinition(
      'one',
      `  children:
    - id: map
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: one-map } }
`,
    );
    simulated = await simulateConsole(
      [{ file: 'one.yaml', text: definition }],
      [thing('one', 'default', {})],
    );
    const { simulation } = simulated;
    const send = (path: string, body: object) =>
      simulation.drive(
        simulation.client.request(
          {
            method: 'PATCH',
            path,
            body: body as never,
            flow,
            contentType: 'application/merge-patch+json',
          },
          signal,
        ),
      );
    const path = '/apis/one.example.com/v1/namespaces/default/things/one';
    // Paused: the runtime does not write the status again.
    await send(path, {
      metadata: { annotations: { 'homeostat.dev/paused': 'true', note: hostile.slice(0, 1_000) } },
      spec: { text: bidi },
    });
    const condition = { status: 'False', lastTransitionTime: '2026-01-01T00:00:00Z' };
    await send(`${path}/status`, {
      status: {
        conditions: [
          { ...condition, type: 'Ready', reason: 'Hostile', message: hostile },
          { ...condition, type: bidi, reason: html, message: hostile },
        ],
        children: [
          {
            id: 'map',
            apiVersion: 'v1',
            kind: 'ConfigMap',
            namespace: 'default',
            name: 'one-map',
            state: 'Failed',
            message: hostile.slice(0, 400_000),
          },
        ],
      },
    });
    const event = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'hostile', namespace: 'default' },
      involvedObject: { ...resource, namespace: 'default' },
      type: 'Warning',
      reason: bidi,
      message: hostile.slice(0, 900_000),
      lastTimestamp: '2026-01-01T00:00:00Z',
      count: 1,
      source: { component: html },
    };
    await simulation.drive(
      simulation.client.request(
        {
          method: 'PATCH',
          path: '/api/v1/namespaces/default/events/hostile',
          flow,
          body: event as never,
          query: { fieldManager: 'test' },
          contentType: 'application/apply-patch+yaml',
        },
        signal,
      ),
    );
  });
  after(() => simulated.close());

  for (const [what, hash] of Object.entries(pages))
    test(`${what}: no element, no order and no megabytes`, async () => {
      const page = await simulated.render(hash);
      assert.match(page, /one/);
      assert.doesNotMatch(page, /<img|<script/);
      assert.doesNotMatch(page, acting);
      // The YAML of an object is whole.
      const yaml = page.match(/<pre class="yaml"[\s\S]*?<\/pre>/g)?.join('') ?? '';
      assert.ok(page.length - yaml.length < 200_000, `${page.length} characters`);
    });
});
