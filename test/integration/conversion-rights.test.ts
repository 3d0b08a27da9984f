import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rolesYaml, runtimeRights } from '#check';
import { parseYamlDocuments } from '#definition';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { ConvertProcess } from '../support/conversion/convert-process.ts';
import { WebhookRig } from '../support/conversion/webhook-rig.ts';
import { useKubeCluster } from '../support/kube-cluster.ts';
import { untilAllowed } from '../support/rights/access.ts';
import { auditedRequests } from '../support/rights/audited-request.ts';
import { isUsedBy, rightsOfRoles, rightText } from '../support/rights/granted-rule.ts';

const user = 'limited';
const shared = useControlPlane({ audit: true, users: [user] });

shared.describe('integration/conversion-rights', () => {
  const cluster = useKubeCluster(shared);

  test('a webhook is served with the rights that are printed for it, and needs all of them', async () => {
    const rig = await WebhookRig.start(shared, cluster);
    const { conversion, conversionSecret } = runtimeRights({ leaseName: 'x' });
    const inNamespace = conversionSecret.map((rule) => ({ ...rule, namespaces: [rig.namespace] }));
    const name = 'conversion';
    const serviceAccount = { namespace: rig.namespace, name };
    const roles = parseYamlDocuments(
      rolesYaml({ name, serviceAccount, rules: [...conversion, ...inNamespace] }),
    ) as unknown as readonly KubeObject[];
    const subjects = [{ kind: 'User', name: user, apiGroup: 'rbac.authorization.k8s.io' }];
    for (const role of roles)
      await shared.client().apply(role.kind.endsWith('Binding') ? { ...role, subjects } : role);
    const granted = roles.filter(({ kind }) => !kind.endsWith('Binding'));
    await untilAllowed(shared.client(), user, rightsOfRoles(granted));
    const converter = await ConvertProcess.start({
      ...{ namespace: rig.namespace, url: rig.balancer.url },
      kubeconfig: shared.plane.kubeconfigPath(user),
    });
    try {
      rig.balancer.setEndpoints([converter.port]);
      await rig.install();
      // Made anew, with an authority that follows the last one.
      await rig.kind.deleteSecret();
      await rig.kind.untilSecret((data) => data['servers.json'] !== undefined);
      const load = await rig.load();
      assert.deepEqual(await load.stop(), []);
      // A CRD that it does not know is read.
      await converter.review('/convert/unknown.example.com/ab', 'example.com/v1');
      const requests = auditedRequests(shared.plane.auditFile ?? '', user);
      assert.deepEqual(
        requests.filter(({ isForbidden }) => isForbidden).map(({ uri }) => uri),
        [],
      );
      const unused = rightsOfRoles(granted).filter(
        (right) => !requests.some((request) => isUsedBy(right, request)),
      );
      assert.deepEqual(unused.map(rightText), []);
    } finally {
      await rig.stop();
      await converter.kill();
    }
  });
});
