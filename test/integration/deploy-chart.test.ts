import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { manifestFiles, manifestText } from '../../scripts/deploy/manifests.ts';
import { PlaneRequestError, useControlPlane } from '../support/control-plane/index.ts';
import { customKind } from '../support/definitions.ts';
import { createHelm, type Helm, objectsOf } from '../support/helm/index.ts';
import { apiServers, rejectedValues, scrapers, valueSets } from '../support/helm/value-sets.ts';
import { runCli } from '../support/homeostat-process.ts';

const shared = useControlPlane();
const namespace = 'homeostat-system';
const place = ['homeostat', 'deploy/chart', '--namespace', namespace];
const applyType = 'application/apply-patch+yaml';

/** Applies without changing anything, as strict as the server can be. */
async function dryRun(object: KubeObject): Promise<void> {
  const client = shared.client();
  const path = await client.pathOf(object);
  const query = 'fieldManager=dry&force=true&fieldValidation=Strict&dryRun=All';
  const request = { method: 'PATCH', path: `${path}?${query}`, body: object };
  await client.must({ ...request, contentType: applyType });
}

function manifests(): readonly KubeObject[] {
  const folder = 'deploy/manifests';
  const texts = readdirSync(folder)
    .sort()
    .map((file) => readFileSync(join(folder, file), 'utf8'));
  return texts.flatMap(objectsOf);
}

interface Deployment extends KubeObject {
  readonly spec: {
    readonly replicas: number;
    readonly selector: object;
    readonly template: PodTemplate;
  };
}

interface PodTemplate {
  readonly metadata: object;
  readonly spec: {
    readonly containers: readonly {
      readonly args: readonly string[];
      readonly env: readonly { readonly name: string; readonly value?: string }[];
    }[];
  };
}

function podTemplate(): PodTemplate {
  const deployment = manifests().find(({ kind }) => kind === 'Deployment');
  assert.ok(deployment);
  return (deployment as Deployment).spec.template;
}

function createPod(spec: object): Promise<KubeObject> {
  const path = `/api/v1/namespaces/${namespace}/pods?dryRun=All`;
  const metadata = { ...podTemplate().metadata, name: 'tried', namespace };
  return shared.client().create(path, { apiVersion: 'v1', kind: 'Pod', metadata, spec });
}

shared.describe('integration/deploy-chart', () => {
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-chart-'));
  let helm: Helm;
  const valuesFile = (values: object) => {
    const file = join(folder, 'values.json');
    writeFileSync(file, JSON.stringify(values));
    return file;
  };

  before(
    async () => {
      helm = await createHelm();
      const client = shared.client();
      await client.create('/api/v1/namespaces', { metadata: { name: namespace } });
      const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
      const monitor = { group: 'monitoring.coreos.com', kind: 'ServiceMonitor' };
      await client.installCrd(customKind({ ...monitor, properties: { spec: open } }));
    },
    { timeout: 1_800_000 },
  );
  after(() => rmSync(folder, { recursive: true, force: true }));

  test('helm finds nothing to say about the chart', async () => {
    const { code, output, errors } = await helm.run('lint', '--strict', 'deploy/chart');
    assert.equal(code, 0, output + errors);
    assert.doesNotMatch(output, /\[(?:WARNING|ERROR)\]/);
  });

  for (const manifest of manifestFiles)
    test(`deploy/manifests/${manifest.file} is what the chart renders`, async () => {
      const committed = readFileSync(join('deploy/manifests', manifest.file), 'utf8');
      assert.equal(committed, await manifestText(helm, manifest), 'Run "npm run generate"');
    });

  for (const { what, values, has = [], hasNot = [] } of valueSets)
    test(`${what}: the server takes every object`, async () => {
      const objects = objectsOf(await helm.template(...place, '--values', valuesFile(values)));
      const names = objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
      for (const name of has) assert.ok(names.includes(name), `${name} in ${names}`);
      for (const name of hasNot) assert.ok(!names.includes(name), `no ${name} in ${names}`);
      for (const object of objects) await dryRun(object);
    });

  test('the token for the records of reconciles is mounted from its Secret, and none by default', async () => {
    const deploymentOf = async (values: object) => {
      const objects = objectsOf(await helm.template(...place, '--values', valuesFile(values)));
      return JSON.stringify(objects.find(({ kind }) => kind === 'Deployment'));
    };
    assert.doesNotMatch(await deploymentOf({}), /records/);
    const text = await deploymentOf({ console: { recordsSecret: 'my-token' } });
    assert.match(text, /"--console-records=\/var\/run\/homeostat\/records\/token"/);
    assert.match(
      text,
      /"secretName":"my-token","items":\[\{"key":"token","path":"token"\}\]|"items":\[\{"key":"token","path":"token"\}\],"secretName":"my-token"/,
    );
    assert.match(text, /"mountPath":"\/var\/run\/homeostat\/records"/);
  });

  for (const [values, says] of rejectedValues)
    test(`rejected: ${JSON.stringify(values)}`, async () => {
      const { code, errors } = await helm.run('template', ...place, '--values', valuesFile(values));
      assert.notEqual(code, 0);
      assert.match(errors, says);
    });

  test('without definitions the runtime may read no Secret, and nothing is given wholesale', async () => {
    const objects = objectsOf(await helm.template(...place));
    const roles = objects.filter(({ kind }) => kind === 'Role' || kind === 'ClusterRole');
    assert.equal(roles.length, 2);
    assert.doesNotMatch(JSON.stringify(roles), /secrets|"\*"|escalate/);
  });

  test('the runtime may read the certificates of the conversion webhook by name, and there only', async () => {
    const rolesWith = async (conversion: object) => {
      const values = valuesFile({ conversion, examples: { enabled: true } });
      const objects = objectsOf(await helm.template(...place, '--values', values));
      return objects.filter((each) => JSON.stringify(each).includes('"homeostat-conversion"]'));
    };
    const named = (objects: readonly KubeObject[]) =>
      objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace}/${metadata.name}`);
    assert.deepEqual(named(await rolesWith({ enabled: true })), [
      `Role ${namespace}/homeostat-conversion`,
      `Role ${namespace}/homeostat`,
    ]);
    assert.deepEqual(named(await rolesWith({ enabled: true, certificateSecret: 'tls' })), []);
  });

  test('the runtime looks for certificates of the conversion webhook unless another program writes them', async () => {
    const isExternal = async (conversion: object) => {
      const objects = objectsOf(
        await helm.template(...place, '--values', valuesFile({ conversion })),
      );
      return JSON.stringify(objects).includes('"--webhook-external-ca"');
    };
    assert.equal(await isExternal({ enabled: true }), false);
    assert.equal(await isExternal({ enabled: true, certificateSecret: 'tls' }), true);
  });

  for (const [whom, from, ingress] of [
    ['nobody', [], []],
    [
      'the peers that it names, to one port,',
      scrapers,
      [{ from: scrapers, ports: [{ port: 'http', protocol: 'TCP' }] }],
    ],
  ] as const)
    test(`a NetworkPolicy lets ${whom} in`, async () => {
      const values = valuesFile({ networkPolicy: { enabled: true, from } });
      const objects = objectsOf(await helm.template(...place, '--values', values));
      const policy = objects.find(({ kind }) => kind === 'NetworkPolicy');
      const deployment = objects.find(({ kind }) => kind === 'Deployment') as Deployment;
      const { selector: podSelector } = deployment.spec;
      assert.deepEqual(policy?.spec, { podSelector, policyTypes: ['Ingress'], ingress });
    });

  test('a NetworkPolicy limits outgoing connections to its rules and DNS', async () => {
    const dns = {
      to: [
        { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } } },
      ],
      ports: [
        { port: 53, protocol: 'UDP' },
        { port: 53, protocol: 'TCP' },
      ],
    };
    for (const [settings, egress] of [
      [{}, [dns, apiServers]],
      [{ dns: false }, [apiServers]],
    ] as const) {
      const values = {
        networkPolicy: { egress: { enabled: true, rules: [apiServers], ...settings } },
      };
      const objects = objectsOf(await helm.template(...place, '--values', valuesFile(values)));
      const policy = objects.find(({ kind }) => kind === 'NetworkPolicy');
      const deployment = objects.find(({ kind }) => kind === 'Deployment') as Deployment;
      const { selector: podSelector } = deployment.spec;
      assert.deepEqual(policy?.spec, { podSelector, policyTypes: ['Egress'], egress });
    }
  });

  test('kubeconfigs are read by the names of their Secrets, and their servers are given to the runtime', async () => {
    const values = {
      clusters: {
        enabled: true,
        secretNames: ['paris-1'],
        servers: ['*.example.com', '10.0.0.0/8'],
      },
    };
    const objects = objectsOf(await helm.template(...place, '--values', valuesFile(values)));
    const role = objects.find(({ metadata }) => metadata.name === 'homeostat-cluster-secrets');
    assert.deepEqual(role?.rules, [
      {
        apiGroups: [''],
        resources: ['secrets'],
        resourceNames: ['paris-1'],
        verbs: ['list', 'watch'],
      },
    ]);
    assert.ok(JSON.stringify(objects).includes('"--cluster-servers=*.example.com,10.0.0.0/8"'));
  });

  test('objects behind HTTP get their kinds, flags and rights only where they are enabled', async () => {
    const values = {
      http: {
        ...{ enabled: true, namespaces: ['shop'], names: ['api'], serviceAccounts: ['robot'] },
        allow: ['*.example.com:443'],
      },
    };
    const objects = objectsOf(await helm.template(...place, '--values', valuesFile(values)));
    const role = objects.find(
      ({ kind, metadata }) => kind === 'Role' && metadata.name === 'homeostat-http',
    );
    assert.equal(role?.metadata.namespace, 'shop');
    const rules = role?.rules as readonly { readonly resources: unknown; resourceNames: unknown }[];
    assert.deepEqual(
      rules.map(({ resources, resourceNames }) => [resources, resourceNames]),
      [
        [['secrets'], ['api']],
        [['configmaps'], ['api']],
        [['serviceaccounts'], ['robot']],
        [['serviceaccounts/token'], ['robot']],
      ],
    );
    const text = JSON.stringify(objects);
    assert.ok(text.includes('"--http-objects","--http-allow=*.example.com:443"'));
    assert.ok(text.includes('httpobjects.homeostat.dev'));
    const without = JSON.stringify(objectsOf(await helm.template(...place)));
    assert.doesNotMatch(without, /http-objects|httpobjects|endpointslices/);
  });

  test('the operators together fit into a ConfigMap', () => {
    const maps = manifests().filter(({ kind }) => kind === 'ConfigMap');
    assert.equal(maps.length, 1);
    for (const map of maps) assert.ok(JSON.stringify(map).length < 1_048_576 / 2);
  });

  test('helm installs, upgrades, uninstalls and installs again; the CRD stays', async () => {
    const client = shared.client();
    const target = ['--kubeconfig', shared.plane.kubeconfigPath(), '--namespace', 'tried'];
    const must = async (...args: readonly string[]) => {
      const { code, output, errors } = await helm.run(...args, ...target);
      assert.equal(code, 0, `helm ${args.join(' ')}: ${output}${errors}`);
      return output;
    };
    const values = ['--values', valuesFile({ examples: { enabled: true } })];
    const install = ['install', 'mine', 'deploy/chart', '--create-namespace', ...values];
    assert.match(
      await must(...install),
      /homeostat rights my-operators\/ .*\n.*tried\/mine-homeostat/,
    );
    const deployment = '/apis/apps/v1/namespaces/tried/deployments/mine-homeostat';
    const role = '/apis/rbac.authorization.k8s.io/v1/clusterroles/tried:mine-homeostat';
    assert.ok(await client.get(deployment));
    assert.ok(await client.get(role));
    await must('upgrade', 'mine', 'deploy/chart', '--set', 'replicas=3');
    const upgraded = await client.get<Deployment>(deployment);
    assert.equal(upgraded?.spec.replicas, 3);
    await must('uninstall', 'mine');
    await client.untilGone(deployment);
    assert.equal(await client.get(role), undefined);
    const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    assert.ok(await client.get(`${crds}/operatordefinitions.homeostat.dev`));
    await must(...install);
    await must('uninstall', 'mine');
  });

  test('the plain manifests can be applied, in the order of their names, and again', async () => {
    const client = shared.client();
    for (const object of manifests()) await client.apply(object);
    for (const object of manifests()) {
      const before = await client.get(await client.pathOf(object));
      const again = await client.apply(object);
      // The Deployment has a status by now.
      assert.equal(again.metadata.generation, before?.metadata.generation, object.kind);
    }
  });

  test('a Pod of the Deployment is accepted where the Pod Security level is "restricted"', async () => {
    const { spec } = podTemplate();
    await createPod(spec);
    const [container] = spec.containers;
    const root = [{ ...container, securityContext: {} }];
    await assert.rejects(
      createPod({ ...spec, containers: root }),
      (error) => error instanceof PlaneRequestError && /restricted/.test(error.message),
    );
  });

  test('every argument of a container is a flag of its command, and the runtime knows the Service of the webhook', async () => {
    const values = valuesFile({ conversion: { enabled: true } });
    const objects = objectsOf(await helm.template(...place, '--values', values));
    const deployments = objects.filter(({ kind }) => kind === 'Deployment');
    const argumentsOf = (name: string): readonly string[] => {
      const found = deployments.find(({ metadata }) => metadata.name === name);
      const spec = found?.spec as { readonly template: PodTemplate } | undefined;
      return spec?.template.spec.containers[0]?.args ?? [];
    };
    assert.equal(deployments.length, 2);
    for (const name of ['homeostat', 'homeostat-conversion']) {
      const [command = '', ...given] = argumentsOf(name);
      const { stdout } = await runCli(command, '--help');
      assert.ok(given.length > 4);
      for (const argument of given)
        assert.match(stdout, new RegExp(`^\\s+${argument.replace(/=.*/, '')}\\b`, 'm'));
    }
    const service = `--webhook-service=${namespace}/homeostat-conversion`;
    assert.ok(argumentsOf('homeostat').includes(service));
    assert.ok(
      objects.some(
        ({ kind, metadata }) =>
          kind === 'Service' &&
          `--webhook-service=${metadata.namespace}/${metadata.name}` === service,
      ),
    );
    const usual = podTemplate().spec.containers[0]?.args ?? [];
    assert.deepEqual(
      usual.filter((argument) => argument.startsWith('--webhook')),
      [],
    );
  });
});
