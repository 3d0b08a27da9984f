import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { useControlPlane } from '../support/control-plane/index.ts';
import { shippedText } from '../support/definitions.ts';
import { DevProcess } from '../support/dev-process.ts';
import { createRuntimeNamespace, webhookFlags } from '../support/homeostat.ts';

const shared = useControlPlane();

shared.describe('integration/dev-conversions', () => {
  let dev: DevProcess | undefined;
  after(() => dev?.stop());

  test('on a cluster, dev serves the conversion webhook of a kind whose versions differ', async () => {
    await createRuntimeNamespace(shared);
    const client = shared.client();
    dev = new DevProcess({
      files: { 'web-app.yaml': shippedText('web-app.yaml') },
      args: ['--kubeconfig', shared.plane.kubeconfigPath(), ...(await webhookFlags())],
    });
    await dev.untilSaid(/Operator "web-app" is running/);
    const namespace = await shared.namespace();
    const at = (version: string) =>
      `/apis/web.example.com/${version}/namespaces/${namespace}/webapps/one`;
    await client.apply({
      apiVersion: 'web.example.com/v1alpha1',
      kind: 'WebApp',
      metadata: { name: 'one', namespace },
      spec: { host: 'a.example.com' },
    });
    const read = await client.get(at('v1'));
    const { ingress } = (read?.spec ?? {}) as { readonly ingress?: unknown };
    assert.deepEqual(ingress, { host: 'a.example.com' });
  });
});
