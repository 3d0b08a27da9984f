import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { init } from '#cli/commands/init.ts';
import { test as runTests } from '#cli/commands/test.ts';
import type { Output } from '#cli/output.ts';

const fixtures = 'test/fixtures/init';
const flags = { group: 'apps.example.com' };

interface Shape {
  /** Texts of the definition: the name of the release has become an expression there. */
  readonly has?: readonly string[];
  /** Texts that it must not have. */
  readonly lacks?: RegExp;
  /** Notes and errors, without the folder. */
  readonly says?: readonly RegExp[];
  readonly parameter?: readonly string[];
  readonly code?: number;
}

const name = '${ metadata.name }';
const space = '${ metadata.namespace }';

/** Constructions of public charts, and what becomes of them. */
const shapes: Readonly<Record<string, Shape>> = {
  'instance-labels': {
    has: [
      `app.kubernetes.io/instance: ${name}`,
      'app.kubernetes.io/name: cache',
      `- ${name}-cache:6379`,
      `- ${name}\n`,
    ],
    lacks: /rel1|helm\.sh/,
    says: [/instance-labels\.yaml:36:34: The name of the resource takes the place of "rel1"/],
  },
  'release-named-as-chart': {
    has: [
      'app.kubernetes.io/name: cache',
      `app.kubernetes.io/instance: ${name}`,
      `value: http://${name}:6379`,
      `value: ${name}-0.${name}.${space}.svc.cluster.local`,
      'port: cache',
      'key: cache.conf',
      'mountPath: /var/cache',
    ],
    says: [/release-named-as-chart\.yaml:15:3: "cache" may be the name of the release in a text/],
  },
  'fullname-override': {
    code: 1,
    says: [
      /cannot exist side by side/,
      /fullname-override\.yaml:6:3: The selector "app\.kubernetes\.io\/instance=rel1,app\.kubernetes\.io\/name=store" of Service "cache" also selects the Pods of Deployment "cache" of other resources/,
    ],
  },
  hooks: {
    has: [`- --db=${name}-shop-db`],
    lacks: /rel1|hook/,
    says: [/hooks\.yaml:14:13: Job "rel1-shop-notify" is left out/],
  },
  'octal-modes': { has: ['defaultMode: 288', 'mode: 256'], lacks: /rel1/ },
  'several-namespaces': {
    has: [
      `namespace: ${space}`,
      'namespace: kube-system',
      `- --namespace=${space}`,
      `- --self=${name}-metrics.${space}.svc`,
      `value: ${space}`,
    ],
    lacks: /monitoring|rel1/,
    says: [
      /3:13: Namespace "monitoring" is left out: a resource has its objects in its own namespace/,
    ],
  },
  'namespaces-of-the-release': {
    has: [`namespace: ${name}-system`, '- "*-system"', '- systemNamespace'],
    says: [/Users who create resources choose a namespace "\*-system"/],
  },
  webhooks: {
    has: [
      `name: ${name}-guard-webhook\n                namespace: ${space}`,
      `cert-manager.io/inject-ca-from: ${space}/${name}-guard-webhook`,
      `guard.example.com/instance: ${name}`,
    ],
    lacks: /rel1|: guard$/,
    says: [/ValidatingWebhookConfiguration/],
  },
  subcharts: {
    has: [`value: ${name}-db`, `value: postgres://shop@${name}-db:5432/${name}_shop`],
    lacks: /rel1/,
    says: [/"rel1-db-credentials" is not among the manifests/],
  },
  'stateful-headless': {
    has: [
      `serviceName: ${name}-store-headless`,
      `${name}-store-1=http://${name}-store-1.${name}-store-headless.${space}.svc.cluster.local`,
    ],
    lacks: /rel1|data\.svc/,
  },
  checksums: {
    has: [`release: ${name}`, 'app: portal', `url: http://${name}-portal/`],
    lacks: /rel1/,
  },
  'crds-in-chart': {
    has: [`broker: ${name}-mq`],
    lacks: /CustomResourceDefinition|rel1/,
    says: [/3:13: CustomResourceDefinition "queues\.mq\.example\.com" is left out/],
  },
  autoscaling: { has: [`- ${name}\n`, 'kubernetes.io/os: linux'], lacks: /rel1/ },
  'network-policy': {
    has: [`${name}-vault-client: "true"`, `- key: ${name}-vault-admin`],
    lacks: /rel1/,
  },
  'service-monitor': {
    has: [
      `expr: absent(up{service="${name}-exporter"} == 1)`,
      `summary: "${name}-exporter: \\\\{{ $labels.pod }} is down, see $\${RUNBOOKS}"`,
      'release: prometheus',
    ],
    lacks: /rel1/,
    says: [/no schema of ServiceMonitor of monitoring\.coreos\.com\/v1/],
  },
  'cluster-roles': {
    has: [
      `name: ${name}-operator:manager`,
      `- ${name}-operator-leader`,
      `- --leader-election-namespace=${space}`,
    ],
    lacks: /rel1/,
    says: [
      /same name in two namespaces would share these objects.*: ClusterRole, ClusterRoleBinding/,
    ],
  },
  'secret-base64': {
    has: ['$base64encode("postgres://shop:x${\'-\'}@" & metadata.name & "-db:5432/shop-é")'],
    lacks: /rel1/,
  },
  scripts: {
    has: ['${ $uppercase($replace(metadata.name, "-", "_")) }_DB_SERVICE_HOST:-', `${name}.conf`],
    lacks: /rel1/i,
  },
  'fixed-selectors': {
    code: 1,
    says: [
      /fixed-selectors\.yaml:5:3: The selector "app=web" of Service "rel1-web" also selects/,
      /fixed-selectors\.yaml:12:3: The selector "app=web" of Deployment "rel1-web"/,
      /fixed-selectors\.yaml:18:78: The selector "app=web" of Deployment "rel1-web"/,
      /fixed-selectors\.yaml:24:9: The empty selector of NetworkPolicy "rel1-deny"/,
      /Add a label with "\$\{ metadata\.name \}"/,
    ],
  },
  'shared-values': {
    code: 1,
    has: [`host: ${name}.example.com`],
    lacks: /nodePort|healthCheckNodePort|clusterIP/i,
    says: [
      /:8:3: The "healthCheckNodePort" of Service "rel1-edge" is left out/,
      /:9:3: The "clusterIP"/,
      /:11:35: The "nodePort"/,
      /Note: .*:7:3: Service "rel1-edge" has the address "192\.0\.2\.10" for each resource/,
      /--parameter spec\.host=Ingress\/rel1-edge:spec\.rules\[0\]\.host/,
      /DaemonSet "rel1-edge" has the network of the node for each resource/,
      / {2}.*:26:61: PersistentVolumeClaim "rel1-edge" has the volume "nfs-7" for each resource/,
    ],
  },
  'no-common-name': {
    code: 1,
    says: [
      /no-common-name\.yaml:4:3: Service "frontend" has the same name for each resource/,
      /no-common-name\.yaml:5:9: The selector "app=shop" of Service "frontend"/,
    ],
  },
  'stateful-broker': {
    has: [
      `serviceName: ${name}-broker-headless`,
      `broker@$(MY_POD_NAME).${name}-broker-headless.${space}.svc`,
      `${name}-broker.conf: \${ $base64encode("load_definitions = /app/" & metadata.name & "-broker.json") }`,
    ],
    lacks: /rel1|helm\.sh/,
  },
  'agent-roles': {
    has: [
      `name: ${name}-agent:system:auth-delegator`,
      'name: system:auth-delegator',
      `- --lock=${space}/${name}-agent-lock`,
      `${name}.yaml: |`,
    ],
    lacks: /rel1(?!-config)/,
    says: [/RoleBinding/],
  },
  'autoscaled-api': {
    has: [`value: http://${name}-api`, `value: ${name}\n`],
    lacks: /rel1/,
    says: [/Ingress "rel1-api" has the host "api\.example\.com" for each resource/],
  },
  'hooks-and-subchart': {
    has: [`cluster_name = '${name}-postgresql'`, `- ${name}-postgresql\n`],
    lacks: /rel1-(?!postgresql\n|web\n)/,
    says: [/Pod "rel1-test-connection" is left out/],
  },
  'selector-by-release': {
    has: [`app: ${name}\n`, `serviceName: ${name}-cache`],
    lacks: /rel1|CustomResourceDefinition/,
  },
  'vault-policies': {
    has: [`- ${name}-client`, `.${name}-vault:8200`, `- ${name}.local`],
    lacks: /rel1/,
    says: [/"rel1-vault-env" is not among the manifests/],
  },
  'scheduled-backup': {
    has: [
      `- s3://backups/${name}/`,
      '$base64encode(metadata.name & "-backup")',
      `name: ${name}-low`,
    ],
    lacks: /rel1/,
  },
  'webhook-certificate': {
    has: [
      `- ${name}-guard.${space}.svc.cluster.local`,
      `cert-manager.io/inject-ca-from: ${space}/${name}-guard-cert`,
      `- kube-system\n                    - ${space}\n`,
    ],
    lacks: /rel1|- guard$/m,
  },
  'cluster-kinds': {
    has: [
      `runtimeClassName: ${name}-sandboxed`,
      `priorityClassName: ${name}-critical`,
      `name: v1.metrics.${name}.example.com`,
    ],
    lacks: /rel1/,
  },
};

describe('homeostat init --from: shapes of public charts', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'homeostat-init-'));
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });

  async function convert(shape: string, parameter?: readonly string[]) {
    const { lines, output } = recorded();
    const dir = join(folder, parameter === undefined ? shape : `${shape}-parameter`);
    const from = [`${fixtures}/${shape}.yaml`];
    const given = { ...flags, from, ...(parameter && { parameter }) };
    const code = await init('shop', dir, given, output);
    const definition = readFileSync(join(dir, 'shop.yaml'), 'utf8');
    return { code, dir, definition, text: lines.join('\n') };
  }

  for (const [shape, { has = [], lacks, says = [], code = 0 }] of Object.entries(shapes))
    test(`${shape}: ${code === 0 ? 'two resources share nothing' : 'what two resources share is reported'}`, async () => {
      const converted = await convert(shape);
      const { definition, text } = converted;
      assert.equal(converted.code, code, text);
      for (const each of has) assert.ok(definition.includes(each), `${each}\n${definition}`);
      if (lacks !== undefined) assert.doesNotMatch(templatesOf(definition), lacks);
      for (const each of says) assert.match(text, each);
      const isProved = text.includes('Two resources side by side share no name and no selector');
      assert.equal(isProved, code === 0);
      assert.equal(text.includes('creates the same'), code === 0);
      if (code !== 0) return;
      const tested = recorded();
      assert.equal(await runTests([converted.dir], {}, tested.output), 0, tested.lines.join('\n'));
    });

  test('values that only one resource can have are fields without a default, and the sample has them', async () => {
    const { code, dir, definition, text } = await convert('shared-values', [
      'spec.volume=PersistentVolumeClaim/rel1-edge:spec.volumeName',
      'spec.host=Ingress/rel1-edge:spec.rules[0].host',
      'spec.nodePort=Service/rel1-edge:spec.ports[name=http].nodePort',
    ]);
    assert.equal(code, 0, text);
    assert.match(definition, /nodePort: \$\{ spec\.nodePort \}/);
    assert.doesNotMatch(definition, /default: (?:30080|nfs-7|edge)/);
    const sample = readFileSync(join(dir, 'samples/shop.yaml'), 'utf8');
    assert.match(sample, /volume: nfs-7\n {2}host: edge\.example\.com\n {2}nodePort: 30080/);
  });
});

/** Without the names of children, which are made of those of the objects. */
function templatesOf(definition: string): string {
  return definition.replaceAll(/^ +- (?:id: )?rel1\w+$/gm, '');
}

function recorded(): { readonly lines: string[]; readonly output: Output } {
  const lines: string[] = [];
  const add = (line: string) => void lines.push(line);
  return { lines, output: { print: add, error: add, hasColor: false, isTerminal: false } };
}
