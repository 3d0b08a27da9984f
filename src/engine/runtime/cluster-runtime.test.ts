import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import { PublishedDefinitions } from '../../../test/support/fakes/published-definitions.ts';

describe('runtime/cluster-runtime', () => {
  test('without a definition, listeners notice, too, that all has been read', async (t) => {
    const hub = new PublishedDefinitions();
    hub.cluster.block(
      'OperatorDefinition',
      new KubeError('unexpected', 'Try again', { status: 500 }),
    );
    await hub.start();
    t.after(() => hub.stop());
    // The sources are read before the objects are listed.
    await hub.wait(1_000);
    const noticed: boolean[] = [];
    hub.runtime.onChange(() => noticed.push(hub.runtime.isPublished));
    assert.equal(hub.runtime.isPublished, false);
    hub.cluster.unblock('OperatorDefinition');
    // Less than the patience with sources that are not read.
    await hub.wait(5_000);
    assert.equal(hub.runtime.isPublished, true);
    assert.equal(noticed.at(-1), true);
  });
});
