import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { useControlPlane } from '../support/control-plane/index.ts';
import {
  conditionOf,
  statusOf,
  textMap,
  thing,
  thingDefinition,
  thingPath,
} from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';

const shared = useControlPlane({ audit: true });
const startHomeostat = useHomeostat(shared);

const definition = thingDefinition(
  'patterns',
  `  children:${textMap('matched', '"${ $string($matches(spec.text, spec.pattern)) }"')}${textMap('plain')}
  status: { next: '\${ $nextTime(spec.cron ?? "0 3 * * 1", "Europe/Berlin", "2026-01-02T03:04:05Z") }' }
`,
);

shared.describe('integration/value patterns', () => {
  before(async () => {
    await startHomeostat({ 'patterns.yaml': definition });
  });

  test('an invalid pattern of a resource fails its child until the pattern is corrected', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    await client.apply(thing('patterns', namespace, { text: 'web-1', pattern: '(secret-part' }));
    const failed = await client.untilObject(
      thingPath('patterns', namespace),
      (object) => conditionOf(object)?.reason === 'RenderFailed',
    );
    const message = conditionOf(failed)?.message ?? '';
    assert.match(message, /Expected a regular expression in RE2 syntax .*\$matches\(\)/);
    assert.doesNotMatch(message, /secret-part/);
    const maps = `/api/v1/namespaces/${namespace}/configmaps`;
    await client.untilObject(`${maps}/one-plain`, (object) => object !== undefined);
    assert.equal(await client.get(`${maps}/one-matched`), undefined);
    await client.patch(thingPath('patterns', namespace), { spec: { pattern: '^web-[0-9]+$' } });
    const ready = await client.untilObject(
      thingPath('patterns', namespace),
      (object) => conditionOf(object)?.status === 'True',
    );
    const matched = await client.get(`${maps}/one-matched`);
    assert.deepEqual(matched?.data, { text: 'true' });
    assert.equal(statusOf(ready).next, '2026-01-05T02:00:00.000Z');
  });
});
