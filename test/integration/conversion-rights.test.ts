import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { rolesYaml, runtimeRights } from '#check';
import { parseYamlDocuments } from '#definition';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { certificates } from '../support/conversion/certificates.ts';
import { ConvertProcess } from '../support/conversion/convert-process.ts';
import { WebhookRig } from '../support/conversion/webhook-rig.ts';
import { conditionOf, shippedText } from '../support/definitions.ts';
import { useRuntimes } from '../support/homeostat.ts';
import { useKubeCluster } from '../support/kube-cluster.ts';
import { untilAllowed } from '../support/rights/access.ts';
import { auditedRequests } from '../support/rights/audited-request.ts';
import { isUsedBy, rightsOfRoles, rightText } from '../support/rights/granted-rule.ts';
import { grantExactly, type Rule, runtimeRules } from '../support/rights/granted-user.ts';

const user = 'limited';
const runtimeUser = 'runtime';
const shared = useControlPlane({ audit: true, users: [user, runtimeUser] });
const launch = useRuntimes(shared);

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

  test('the runtime writes the certificates of a webhook into a CRD with the rights of the chart, and needs all of them', async () => {
    const client = shared.client();
    const namespace = await shared.namespace();
    await client.apply(await certificates(namespace));
    const text = shippedText('web-app.yaml');
    const verbs = ['get', 'list', 'watch', 'create', 'patch', 'update', 'delete'];
    await grantExactly(client, runtimeUser, [
      ...runtimeRules,
      {
        apiGroups: [
          ...['apiextensions.k8s.io', 'web.example.com', 'apps', 'autoscaling', 'events.k8s.io'],
          ...['networking.k8s.io', 'admissionregistration.k8s.io'],
        ],
        resources: ['*'],
        verbs,
      },
      { apiGroups: [''], resources: ['configmaps', 'services'], verbs },
    ]);
    launch({
      definitions: { 'web-app.yaml': text },
      user: runtimeUser,
      flags: ['--webhook-service', `${namespace}/converter`, '--webhook-trial', '1s'],
    });
    const definition = '/apis/homeostat.dev/v1alpha1/operatordefinitions/web-app';
    await client.untilObject(definition, (found) =>
      (conditionOf(found)?.message ?? '').includes(
        `Secret "homeostat-conversion" in namespace "${namespace}". The runtime is not allowed to list secrets in namespace "${namespace}"; grant the rule`,
      ),
    );
    const rules = parseYamlDocuments(
      readFileSync('deploy/chart/files/rights/conversion-bundle.yaml', 'utf8'),
    )[0] as unknown as readonly Rule[];
    const rbac = 'rbac.authorization.k8s.io';
    const metadata = { name: 'bundle', namespace };
    const role = { apiVersion: `${rbac}/v1`, kind: 'Role', metadata, rules };
    await client.apply(role);
    await client.apply({
      ...{ apiVersion: `${rbac}/v1`, kind: 'RoleBinding', metadata },
      roleRef: { apiGroup: rbac, kind: 'Role', name: 'bundle' },
      subjects: [{ apiGroup: rbac, kind: 'User', name: runtimeUser }],
    });
    const crd = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/webapps.web.example.com';
    await client.untilObject(crd, (found) => JSON.stringify(found ?? {}).includes('"caBundle"'));
    const requests = auditedRequests(shared.plane.auditFile ?? '', runtimeUser).filter(
      ({ isForbidden }) => !isForbidden,
    );
    const unused = rightsOfRoles([role]).filter(
      (right) => !requests.some((request) => isUsedBy(right, request)),
    );
    assert.deepEqual(unused.map(rightText), []);
  });
});
